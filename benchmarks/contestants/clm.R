# Times R's packages on request: arguments are a file of doubles (column-major X), a file of integer ranks, n and p;
# each line on standard input is "NAME REPEATS", each answer the mean seconds of a call, on the wall and of the processor.
suppressPackageStartupMessages(library(ordinal))
args <- commandArgs(trailingOnly = TRUE)
n <- as.integer(args[3]); p <- as.integer(args[4])
X <- matrix(readBin(args[1], "double", n * p), n, p, dimnames = list(NULL, paste0("x", seq_len(p))))
y <- factor(readBin(args[2], "integer", n), ordered = TRUE)
frame <- data.frame(y = y, X)
unordered <- data.frame(y = factor(y, ordered = FALSE), X)
form <- as.formula(paste("y ~", paste(colnames(X), collapse = " + ")))
Xi <- cbind("(Intercept)" = 1, X)
fitted <- NULL
# of suite effects: the last two columns are the codes of factors
factors <- frame
if (p > 2) factors[p:(p + 1)] <- lapply(factors[p:(p + 1)], factor)
with_factor <- as.formula(paste("y ~", paste(colnames(X)[seq_len(p - 1)], collapse = " + ")))
last <- as.formula(paste("~", colnames(X)[p]))
first <- as.formula(paste("~", colnames(X)[max(p - 1, 1)]))
calls <- list(
  clm = function() clm(form, data = frame),
  clm.fit = function() clm.fit(y, Xi),
  clm.wine = function() clm(rating ~ temp + contact, data = wine),
  clm.wine.errors = function() sqrt(diag(vcov(clm(rating ~ temp + contact, data = wine)))),
  polr = function() MASS::polr(form, data = frame, Hess = TRUE),
  orm = function() rms::orm(form, data = frame),
  vglm = function() VGAM::vglm(form, VGAM::cumulative(parallel = TRUE, reverse = TRUE), data = frame),
  cratio = function() diag(vcov(VGAM::vglm(form, VGAM::cratio(parallel = TRUE), data = frame))),
  sratio = function() diag(vcov(VGAM::vglm(form, VGAM::sratio(parallel = TRUE), data = frame))),
  acat = function() diag(vcov(VGAM::vglm(form, VGAM::acat(parallel = TRUE), data = frame))),
  multinomial = function() diag(vcov(VGAM::vglm(form, VGAM::multinomial(refLevel = 1), data = unordered))),
  rrvglm = function() VGAM::rrvglm(form, VGAM::multinomial(refLevel = 1), data = unordered, Index.corner = nlevels(y) - 1),
  multinom = function() diag(vcov(nnet::multinom(form, data = unordered, Hess = TRUE, trace = FALSE))),
  nominal = function() clm(with_factor, nominal = last, data = factors),
  scale = function() clm(with_factor, scale = first, data = factors),
  flexible = function() clm(with_factor, link = "Aranda-Ordaz", data = factors),
  profile = function() confint(fitted)
)
input <- file("stdin"); open(input)
cat("ready\n")
while (length(line <- readLines(input, 1)) > 0) {
  words <- strsplit(line, " ")[[1]]
  repeats <- as.integer(words[2])
  if (words[1] == "profile" && is.null(fitted)) fitted <- clm(form, data = frame)
  taken <- system.time(for (i in seq_len(repeats)) calls[[words[1]]]())
  cat(format(c(taken[["elapsed"]], taken[["user.self"]] + taken[["sys.self"]]) / repeats, digits = 15), "\n")
}
