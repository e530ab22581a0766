# Marginal effects of ordinal::clm and VGAM::vglm(acat) fits, from their coefficients alone, with errors by
# numDeriv::jacobian; writes marginal_effects.csv. Run in this folder: Rscript marginal_effects.R
# ordinal 2022.11.16, VGAM 1.1.7, numDeriv 2016.8.1.1, R 4.2.2
suppressMessages({library(ordinal); library(numDeriv)})
options(digits = 17)
sim <- read.csv("../reference/data/sim500.csv")
sim$y <- factor(sim$y, levels = 1:5)
sim$f <- factor(sim$f, levels = c("lo", "mid", "hi"))
sim$g <- factor(sim$g, levels = c("A", "B", "C", "D"))
tight <- clm.control(gradTol = 1e-12, relTol = 1e-14, maxIter = 200)
out <- NULL
report <- function(what, b, V, f) {
  J <- matrix(jacobian(f, b), ncol = length(b))
  estimate <- f(b)
  S <- J %*% V %*% t(J)
  out <<- rbind(out, data.frame(what = what, output = seq_along(estimate), estimate = estimate,
                                std_error = sqrt(diag(S)), row.names = NULL))
  invisible(list(estimate = estimate, S = S))
}
chisq <- function(what, found) {
  value <- drop(found$estimate %*% solve(found$S, found$estimate))
  out <<- rbind(out, data.frame(what = what, output = 1, estimate = value, std_error = NA))
}
w <- sim$w / sum(sim$w)
weighted <- function(p, rows = rep(TRUE, nrow(p))) colSums(w[rows] * p[rows, , drop = FALSE]) / sum(w[rows])
slope <- function(prob, d, v) {
  h <- if (v == "age") 0.1 else 5e-3
  at <- function(s) { d[[v]] <- d[[v]] + s; prob(d) }
  (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)
}
setting <- function(d, v, value) { d[[v]] <- if (is.factor(d[[v]])) factor(value, levels(d[[v]])) else value; d }

# 1. nominal and scale effects, a logarithm, an interaction, weights; probit
m <- clm(y ~ x1 * f + log(age) + x2, nominal = ~ x3, scale = ~ x2, weights = w, data = transform(sim, w = sim$w),
         link = "probit", control = tight)
probabilities <- function(b) function(d) {
  X <- model.matrix(~ x1 * f + log(age) + x2, d)[, -1, drop = FALSE]
  theta <- outer(rep(1, nrow(d)), b[1:4]) + outer(d$x3, b[5:8])
  beta <- b[8 + 1:ncol(X)]
  zeta <- b[8 + ncol(X) + 1]
  cum <- cbind(0, pnorm((theta - drop(X %*% beta)) / exp(d$x2 * zeta)), 1)
  t(apply(cum, 1, diff))
}
rank <- function(p) p %*% 1:5
b <- coef(m); V <- vcov(m)
for (v in c("x1", "age", "x2", "x3")) report(paste("average", v), b, V, function(b) weighted(slope(probabilities(b), sim, v)))
groups <- levels(sim$f)
report("x1 by f", b, V, function(b) sapply(groups, function(k) weighted(rank(slope(probabilities(b), sim, "x1")), sim$f == k)))
found <- report("x1 by f, differences", b, V, function(b) {
  s <- sapply(groups, function(k) weighted(rank(slope(probabilities(b), sim, "x1")), sim$f == k))
  c(s[2] - s[1], s[3] - s[1], s[3] - s[2])
})
chisq("x1 by f, equal", list(estimate = found$estimate[1:2], S = found$S[1:2, 1:2]))
report("f at x1 = -1, 1", b, V, function(b) c(sapply(c(-1, 1), function(x) {
  p <- probabilities(b); d <- setting(sim, "x1", x)
  c(weighted(p(setting(d, "f", "mid")) - p(setting(d, "f", "lo"))), weighted(p(setting(d, "f", "hi")) - p(setting(d, "f", "lo"))))
})))
typical <- as.data.frame(lapply(sim[c("x1", "x2", "x3", "age")], function(x) sum(w * x)))
typical$f <- factor(names(which.max(tapply(w, sim$f, sum))), levels(sim$f))
report("x1 at the mean", b, V, function(b) c(slope(probabilities(b), typical, "x1")))
report("age at the mean", b, V, function(b) c(slope(probabilities(b), typical, "age")))
report("x1 + 1", b, V, function(b) weighted(rank(probabilities(b)(transform(sim, x1 = x1 + 1)) - probabilities(b)(sim))))
repeated <- rep(seq_len(nrow(sim)), sim$w)
report("x1 + SD", b, V, function(b) weighted(rank(probabilities(b)(transform(sim, x1 = x1 + sd(sim$x1[repeated]))) - probabilities(b)(sim))))
report("age 30 to 60", b, V, function(b) weighted(probabilities(b)(setting(sim, "age", 60)) - probabilities(b)(setting(sim, "age", 30))))
report("x1 in rows 1 to 3", b, V, function(b) c(t(slope(probabilities(b), sim[1:3, ], "x1"))))

# 2. unweighted, cloglog; interquartile range
m <- clm(y ~ x1 + f, data = sim, link = "cloglog", control = tight)
cloglog <- function(b) function(d) {
  H <- drop(model.matrix(~ x1 + f, d)[, -1, drop = FALSE] %*% b[5:7])
  t(apply(cbind(0, 1 - exp(-exp(outer(-H, b[1:4], "+"))), 1), 1, diff))
}
q <- quantile(sim$x1, c(0.25, 0.75))
report("cloglog x1 iqr", coef(m), vcov(m), function(b) colMeans(cloglog(b)(setting(sim, "x1", q[2])) - cloglog(b)(setting(sim, "x1", q[1]))))
report("cloglog x1", coef(m), vcov(m), function(b) colMeans(slope(cloglog(b), sim, "x1")))

# 3. adjacent categories
suppressMessages(library(VGAM))
m <- vglm(ordered(y) ~ x1 * f + x2, acat(parallel = TRUE), data = sim, epsilon = 1e-13, maxit = 100)
adjacent <- function(b) function(d) {
  H <- drop(model.matrix(~ x1 * f + x2, d)[, -1, drop = FALSE] %*% b[-(1:4)])
  s <- cbind(0, t(apply(outer(H, b[1:4], "+"), 1, cumsum)))
  exp(s) / rowSums(exp(s))
}
stopifnot(max(abs(adjacent(coef(m))(sim) - fitted(m))) < 1e-10)
report("acat x1", coef(m), vcov(m), function(b) colMeans(slope(adjacent(b), sim, "x1")))
report("acat f", coef(m), vcov(m), function(b) colMeans(adjacent(b)(setting(sim, "f", "hi")) - adjacent(b)(setting(sim, "f", "mid"))))
report("acat x1 in rows 1 to 3", coef(m), vcov(m), function(b) c(t(slope(adjacent(b), sim[1:3, ], "x1"))))
write.csv(out, "marginal_effects.csv", row.names = FALSE)
