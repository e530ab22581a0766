# Average effects and marginal means of clm fits, computed from their coefficients alone; writes effects.csv.
# Run in this folder: Rscript effects.R
library(ordinal)
options(digits = 17)
read <- function(name, factors) {
  d <- read.csv(file.path("../reference/data", paste0(name, ".csv")))
  for (f in names(factors)) d[[f]] <- factor(d[[f]], levels = factors[[f]])
  d
}
wine <- read("wine", list(rating = 1:5, temp = c("cold", "warm"), contact = c("no", "yes")))
sim <- read("sim500", list(y = 1:5, f = c("lo", "mid", "hi"), g = c("A", "B", "C", "D")))
tight <- clm.control(gradTol = 1e-12, relTol = 1e-14, maxIter = 200)

cdf <- list(logit = plogis, probit = pnorm)
# Rows of probabilities at coefficients b, for model matrices X (location, no intercept) and S (scale, no intercept).
probabilities <- function(b, X, S, link) {
  beta <- b[4 + seq_len(ncol(X))]
  zeta <- b[4 + ncol(X) + seq_len(ncol(S))]
  eta <- (outer(-drop(X %*% beta), b[1:4], "+")) / exp(drop(S %*% zeta))
  cum <- cbind(0, cdf[[link]](eta), 1)
  t(apply(cum, 1, diff))
}
latent <- function(b, X, S) {
  (drop(X %*% b[4 + seq_len(ncol(X))]) - mean(b[1:4])) / exp(drop(S %*% b[4 + ncol(X) + seq_len(ncol(S))]))
}
matrices <- function(d, location, scale) {
  list(X = model.matrix(location, d)[, -1, drop = FALSE], S = model.matrix(scale, d)[, -1, drop = FALSE])
}
jacobian <- function(f, b) {
  h <- 1e-4
  sapply(seq_along(b), function(j) {
    e <- replace(numeric(length(b)), j, h)
    (8 * (f(b + e) - f(b - e)) - (f(b + 2 * e) - f(b - 2 * e))) / (12 * h)
  })
}
out <- NULL
report <- function(case, what, fit, f) {
  b <- coef(fit)
  J <- matrix(jacobian(f, b), ncol = length(b))
  out <<- rbind(out, data.frame(case = case, what = what, output = seq_along(f(b)), estimate = f(b),
                                std_error = sqrt(diag(J %*% vcov(fit) %*% t(J)))))
}
ranks <- function(p) drop(p %*% 1:5)

# wine, temp: contrast of probabilities, expected rank and latent variable
m <- clm(rating ~ temp * contact, data = wine, link = "probit", control = tight)
mats <- lapply(c("cold", "warm"), function(v) matrices(transform(wine, temp = factor(v, levels(temp))), ~ temp * contact, ~ 1))
difference <- function(g) function(b) g(b, mats[[2]]) - g(b, mats[[1]])
report("wine", "effects temp prob", m, difference(function(b, M) colMeans(probabilities(b, M$X, M$S, "probit"))))
report("wine", "effects temp mean", m, difference(function(b, M) mean(ranks(probabilities(b, M$X, M$S, "probit")))))
report("wine", "effects temp latent", m, difference(function(b, M) mean(latent(b, M$X, M$S))))
grid <- expand.grid(contact = factor(c("no", "yes")), temp = factor(c("cold", "warm")))
M <- matrices(grid, ~ temp * contact, ~ 1)
cells <- function(rows) lapply(M, function(a) a[rows, , drop = FALSE])
for (what in c("prob", "mean", "latent")) {
  f <- function(b) unlist(lapply(list(1:2, 3:4), function(rows) {
    A <- cells(rows)
    p <- probabilities(b, A$X, A$S, "probit")
    switch(what, prob = colMeans(p), mean = mean(ranks(p)), latent = mean(latent(b, A$X, A$S)))
  }))
  report("wine", paste("emmeans temp", what), m, f)
}

# sim500 with weights and a scale part: slope of x1 (quadratic, interacting with f), contrast of f
form <- ~ x1 + I(x1^2) + x1:f + f + x2
m <- clm(y ~ x1 + I(x1^2) + x1:f + f + x2, scale = ~ x2, weights = w, data = sim, control = tight)
w <- sim$w / sum(sim$w)
h <- 1e-4
at <- function(d) matrices(d, form, ~ x2)
shifted <- lapply(c(-2, -1, 1, 2) * h, function(s) at(transform(sim, x1 = x1 + s)))
slope <- function(g) function(b) {
  v <- lapply(shifted, function(M) g(b, M))
  (8 * (v[[3]] - v[[2]]) - (v[[4]] - v[[1]])) / (12 * h)
}
prob <- function(b, M) colSums(w * probabilities(b, M$X, M$S, "logit"))
report("sim500", "effects x1 prob", m, slope(prob))
report("sim500", "effects x1 latent", m, slope(function(b, M) sum(w * latent(b, M$X, M$S))))
f3 <- lapply(c("lo", "mid", "hi"), function(v) at(transform(sim, f = factor(v, levels(f)))))
report("sim500", "effects f prob", m, function(b) c(prob(b, f3[[2]]) - prob(b, f3[[1]]), prob(b, f3[[3]]) - prob(b, f3[[1]])))
odds <- function(b, M) {
  above <- 1 - t(apply(probabilities(b, M$X, M$S, "logit"), 1, cumsum))[, 1:4]
  colSums(w * log(above / (1 - above)))
}
report("sim500", "effects f log_odds", m, function(b) c(odds(b, f3[[2]]) - odds(b, f3[[1]]), odds(b, f3[[3]]) - odds(b, f3[[1]])))
grid <- data.frame(f = factor(c("lo", "mid", "hi"), c("lo", "mid", "hi")), x1 = sum(w * sim$x1), x2 = sum(w * sim$x2))
G <- at(grid)
report("sim500", "emmeans f prob", m, function(b) c(t(probabilities(b, G$X, G$S, "logit"))))
report("sim500", "emmeans f latent", m, function(b) latent(b, G$X, G$S))
contrast <- rbind(c(-1, 1, 0), c(-1, 0, 1), c(0, -1, 1))
report("sim500", "contrasts f latent", m, function(b) drop(contrast %*% latent(b, G$X, G$S)))
report("sim500", "contrasts f mean", m, function(b) drop(contrast %*% ranks(probabilities(b, G$X, G$S, "logit"))))
write.csv(out, "effects.csv", row.names = FALSE)
