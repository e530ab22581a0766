# Answers and times R's ordinalNet, at its defaults, for `python -m benchmarks penalised`. The argument is a folder with
# rows.csv. Each line on standard input is "JOB REPEATS"; the answer is the mean seconds of the processor for a call, then
# for each lambda: the lambda, the intercepts and the coefficients.
library(ordinalNet)
rows <- read.csv(file.path(commandArgs(trailingOnly = TRUE)[1], "rows.csv"))
x <- as.matrix(rows[names(rows) != "y"])
y <- factor(rows$y)

input <- file("stdin")
open(input)
cat("ready\n")
while (length(line <- readLines(input, 1)) > 0) {
  repeats <- as.integer(strsplit(line, " ")[[1]][2])
  taken <- system.time(for (i in seq_len(repeats)) fit <- ordinalNet(x, y))
  seconds <- (taken[["user.self"]] + taken[["sys.self"]]) / repeats
  cat(sprintf("%.15g", c(seconds, rbind(fit$lambdaVals, t(fit$coefs)))), "\n")
}
