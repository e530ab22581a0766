# How imputed.csv was made, and the values that test_against_r.py stores; R 4.2, mice 3.15.0, mitml 0.4-4,
# ordinal 2022.11-16. `Rscript pooled.R` prints them; with the argument "impute" it writes imputed.csv anew.
suppressMessages({library(mice); library(mitml); library(ordinal)})
options(digits = 12)
if ("impute" %in% commandArgs(TRUE)) {
  set.seed(1); n <- 80
  x1 <- round(rnorm(n), 2); g <- sample(c("a", "b"), n, TRUE); x2 <- round(0.5 * x1 + rnorm(n), 2)
  eta <- 0.9 * x1 - 0.6 * x2 + 0.7 * (g == "b")
  y <- cut(eta + rlogis(n), c(-Inf, -1.2, 0.4, 1.8, Inf), labels = 1:4, ordered_result = TRUE)
  d <- data.frame(y, x1, x2, g = factor(g))
  d$x1[runif(n) < plogis(-1.4 + 0.5 * x2)] <- NA; d$x2[runif(n) < 0.2] <- NA
  d$g[runif(n) < 0.15] <- NA; d$y[sample(n, 6)] <- NA
  long <- complete(mice(d, m = 6, maxit = 10, seed = 3, printFlag = FALSE), "long")
  names(long)[1] <- "imp"
  write.csv(long[, c("imp", "y", "x1", "x2", "g")], "imputed.csv", row.names = FALSE, quote = FALSE)
}
long <- read.csv("imputed.csv")
long$y <- factor(long$y, ordered = TRUE)
long$b <- as.integer(long$y > 2)
frames <- split(long, long$imp)
exact <- clm.control(gradTol = 1e-12)
fits <- function(formula, ...) lapply(frames, function(d) clm(formula, data = d, control = exact, ...))
large <- fits(y ~ x1 + x2 + g); small <- fits(y ~ g)

print(pool(as.mira(large))$pooled)
print(summary(pool(as.mira(large)), conf.int = TRUE))
print(pool(as.mira(large), dfcom = Inf)$pooled[, c("term", "df", "fmi")])
print(D1(as.mira(large), as.mira(small))$result)                          # Reiter's df
print(testModels(large, small, method = "D1")$test)                       # Li, Raghunathan & Rubin's
print(testModels(large[1:3], small[1:3], method = "D1")$test)             # the same for t <= 4
print(D2(as.mira(large), as.mira(small))$result)
print(D2(as.mira(large), as.mira(small), use = "likelihood")$result)
# D3 of mice fails for clm ("non-conformable arguments"): its formulas, on likelihoods written out
loglik <- function(d, b) {
  a <- c(-Inf, b[1:3], Inf); k <- as.integer(d$y)
  eta <- drop(model.matrix(~ x1 + x2 + g, d)[, names(b)[-(1:3)], drop = FALSE] %*% b[-(1:3)])
  sum(log(plogis(a[k + 1] - eta) - plogis(a[k] - eta)))
}
q1 <- rowMeans(sapply(large, coef)); q0 <- rowMeans(sapply(small, coef))
d3 <- function(use) {
  m <- length(use); k <- 2
  own <- mean(2 * (sapply(large[use], logLik) - sapply(small[use], logLik)))
  q1 <- rowMeans(sapply(large[use], coef)); q0 <- rowMeans(sapply(small[use], coef))
  at <- mean(2 * (sapply(frames[use], loglik, b = q1) - sapply(frames[use], loglik, b = q0)))
  r <- (m + 1) / (k * (m - 1)) * (own - at); v <- k * (m - 1); D <- at / (k * (1 + r))
  w <- if (v > 4) 4 + (v - 4) * (1 + (1 - 2 / v) / r)^2 else v * (1 + 1 / k) * (1 + 1 / r)^2 / 2
  print(c(F = D, df = k, df_denom = w, p = pf(D, k, w, lower.tail = FALSE), riv = r))
}
d3(1:6); d3(1:3)
# D3 of mice as it is, of logistic regressions: it fits the intercept again to each data set
g1 <- lapply(frames, function(d) glm(b ~ x1 + x2 + g, binomial, data = d, epsilon = 1e-14))
g0 <- lapply(frames, function(d) glm(b ~ g, binomial, data = d, epsilon = 1e-14))
print(D3(as.mira(g1), as.mira(g0))$result); print(D1(as.mira(g1), as.mira(g0))$result)
print(pool(as.mira(fits(y ~ x1, nominal = ~ g, scale = ~ x2)))$pooled)
Q <- sapply(large, function(f) sum(coef(f)[c("x1", "x2")]))
U <- sapply(large, function(f) sum(vcov(f)[c("x1", "x2"), c("x1", "x2")]))
print(unlist(pool.scalar(Q, U, n = 80, k = 6)[c("qbar", "t", "df", "r", "fmi")]))
