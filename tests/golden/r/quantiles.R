# Means, quantiles and exceedance probabilities of orm fits, with limits under the logistic family; writes quantiles.csv.
# Run in this folder: Rscript quantiles.R
suppressMessages(library(rms))
options(digits = 17)
d <- read.csv("../reference/data/sim500.csv")
d$f <- factor(d$f, levels = c("lo", "mid", "hi"))
d$age <- round(d$age)
rows <- c(1, 2, 91, 412)
out <- NULL
report <- function(case, what, at, values) {
  limits <- attr(values, "limits")
  if (is.null(limits)) limits <- list(lower = NA, upper = NA)
  out <<- rbind(out, data.frame(case = case, what = what, at = at, row = rows - 1, estimate = as.numeric(values),
                                lower = as.numeric(limits$lower), upper = as.numeric(limits$upper)))
}
cases <- list(
  list(name = "age logistic", formula = age ~ x1 + f, family = "logistic", values = c(30, 45.5, 62)),
  list(name = "y logistic", formula = y ~ x1 + f, family = "logistic", values = c(2, 3.5, 4)),
  list(name = "age probit", formula = age ~ x1 + f, family = "probit", values = c(30, 45.5, 62))
)
for (case in cases) {
  fit <- orm(case$formula, data = d, family = case$family, eps = 1e-12, maxit = 100, x = TRUE, y = TRUE)
  X <- predict(fit, d[rows, ], type = "x")
  colnames(X) <- tail(names(coef(fit)), ncol(X))  # limits find their columns by these names
  lp <- predict(fit, d[rows, ], kint = fit$interceptRef)
  level <- if (case$family == "logistic") 0.95 else 0
  asked <- function(f, ...) if (level > 0) f(..., X = X, conf.int = level) else f(..., lp = lp)
  report(case$name, "mean", NA, if (level > 0) Mean(fit)(X = X, conf.int = level) else Mean(fit)(lp))
  for (q in c(0.1, 0.5, 0.8)) {
    report(case$name, "discrete", q, asked(Quantile(fit), q = q, method = "discrete"))
    report(case$name, "interpolated", q, asked(Quantile(fit), q = q))
  }
  for (y in case$values) {
    p <- if (level > 0) ExProb(fit)(X = X, y = y, conf.int = level) else ExProb(fit)(lp, y = y)
    report(case$name, "exceed", y, p)
  }
}
write.csv(out, "quantiles.csv", row.names = FALSE)
