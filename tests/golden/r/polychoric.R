# Correlations of ordered and numeric columns by polycor, errors of two steps by lavaan;
# writes polychoric.csv, and counts of two pairs of psych's bfi, polychoric_tables.csv.
# Run in this folder: Rscript polychoric.R
suppressMessages({library(polycor); library(lavaan); library(psych)})
options(digits = 17)
sim <- read.csv("../reference/data/sim500.csv")
sim$y <- factor(sim$y, ordered = TRUE)
sim$f <- factor(sim$f, levels = c("lo", "mid", "hi"), ordered = TRUE)
tight <- list(reltol = 1e-12, maxit = 1500)
out <- NULL
add <- function(data, first, second, kind, method, fit, error)
  out <<- rbind(out, data.frame(data, first, second, kind, method, rho = fit$rho, std_error = error,
                                chisq = fit$chisq, df = fit$df))
ordered_pair <- function(data, first, second, x, y) for (ml in c(FALSE, TRUE)) {
  fit <- suppressWarnings(polycor::polychor(x, y, ML = ml, std.err = TRUE, control = tight))
  if (ml) for (again in 1:6)  # the simplex search stops early
    fit <- suppressWarnings(polycor::polychor(x, y, ML = TRUE, std.err = TRUE, control = tight,
      start = list(rho = fit$rho, row.thresholds = fit$row.cuts, col.thresholds = fit$col.cuts)))
  error <- if (ml) sqrt(fit$var[1, 1]) else NA
  if (!ml && data == "sim500") {
    d <- data.frame(x = x, y = y)
    whole <- lavCor(d, ordered = c("x", "y"), se = "robust.sem", output = "fit")
    error <- subset(parameterEstimates(whole), lhs == "x" & op == "~~" & rhs == "y")$se
  }
  add(data, first, second, "polychoric", if (ml) "ml" else "two-step", fit, error)
}
ordered_pair("sim500", "y", "f", sim$y, sim$f)
counts <- NULL
for (pair in list(c("A1", "A2"), c("A4", "N3"))) {
  d <- na.omit(bfi[, pair])
  d[] <- lapply(d, factor, ordered = TRUE)
  name <- paste(pair, collapse = "-")
  ordered_pair(name, pair[1], pair[2], d[[1]], d[[2]])
  n <- as.data.frame(table(d[[1]], d[[2]]))
  counts <- rbind(counts, data.frame(data = name, x = n$Var1, y = n$Var2, n = n$Freq))
}
for (x in c("x1", "x2")) for (y in c("y", "f")) {
  add("sim500", x, y, "polyserial", "two-step", polycor::polyserial(sim[[x]], sim[[y]], std.err = TRUE, control = tight), NA)
  add("sim500", x, y, "polyserial", "ml",
      polycor::polyserial(sim[[x]], sim[[y]], ML = TRUE, std.err = TRUE, control = tight), NA)
}
r <- cor(sim$x1, sim$x2)
add("sim500", "x1", "x2", "Pearson", "two-step",
    list(rho = r, chisq = polycor:::chisq(sim$x1, sim$x2, r, zerotol = 0), df = 14), NA)
near <- matrix(c(1, .9, .2, .9, 1, .9, .2, .9, 1), 3)
cat("nearPD:", as.vector(Matrix::nearPD(near, corr = TRUE, conv.tol = 1e-12, maxit = 10000)$mat), "\n")
write.csv(out, "polychoric.csv", row.names = FALSE, quote = FALSE)
write.csv(counts, "polychoric_tables.csv", row.names = FALSE, quote = FALSE)
cat(as.character(packageVersion("polycor")), as.character(packageVersion("lavaan")), R.version.string, "\n")
