# Processor seconds of R's clmm, by its scalar route and by its sparse matrices: arguments are a CSV file and a formula.
suppressPackageStartupMessages(library(ordinal))
args <- commandArgs(trailingOnly = TRUE)
data <- read.csv(args[1], stringsAsFactors = TRUE)
data$y <- factor(data$y, ordered = TRUE)
for (name in intersect(c("g", "h"), names(data))) data[[name]] <- factor(data[[name]])
form <- as.formula(args[2])
once <- function(matrices) {
  taken <- system.time(fit <- clmm(form, data = data, control = clmm.control(useMatrix = matrices)))
  c(taken[["user.self"]] + taken[["sys.self"]], as.numeric(logLik(fit)))
}
routes <- if (args[3] == "both") c(FALSE, TRUE) else TRUE
for (matrices in routes) cat(format(once(matrices), digits = 15), "\n")
