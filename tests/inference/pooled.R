# How imputed.csv was made, and the values that test_pooling_against_r.py stores; R 4.2, mice 3.15.0, mitml 0.4-4,
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
g1 <- lapply(frames, function(d) glm(b ~ x1 + x2 + g, binomial, data = d, epsilon = 1e-14))
g0 <- lapply(frames, function(d) glm(b ~ g, binomial, data = d, epsilon = 1e-14))
print(D1(as.mira(g1), as.mira(g0))$result)
print(pool(as.mira(fits(y ~ x1, nominal = ~ g, scale = ~ x2)))$pooled)
Q <- sapply(large, function(f) sum(coef(f)[c("x1", "x2")]))
U <- sapply(large, function(f) sum(vcov(f)[c("x1", "x2"), c("x1", "x2")]))
print(unlist(pool.scalar(Q, U, n = 80, k = 6)[c("qbar", "t", "df", "r", "fmi")]))
