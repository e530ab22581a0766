# Times clm and clm.fit on request: arguments are a file of doubles (column-major X), a file of integer
# ranks, n and p; each line on standard input is "NAME REPEATS", each answer the mean seconds of a call.
suppressPackageStartupMessages(library(ordinal))
args <- commandArgs(trailingOnly = TRUE)
n <- as.integer(args[3]); p <- as.integer(args[4])
X <- matrix(readBin(args[1], "double", n * p), n, p, dimnames = list(NULL, paste0("x", seq_len(p))))
y <- factor(readBin(args[2], "integer", n), ordered = TRUE)
frame <- data.frame(y = y, X)
form <- as.formula(paste("y ~", paste(colnames(X), collapse = " + ")))
Xi <- cbind("(Intercept)" = 1, X)
calls <- list(clm = function() clm(form, data = frame), clm.fit = function() clm.fit(y, Xi))
input <- file("stdin"); open(input)
cat("ready\n")
while (length(line <- readLines(input, 1)) > 0) {
  words <- strsplit(line, " ")[[1]]
  repeats <- as.integer(words[2])
  taken <- system.time(for (i in seq_len(repeats)) calls[[words[1]]]())[["elapsed"]]
  cat(format(taken / repeats, digits = 15), "\n")
}
