# Answers commands on standard input, one a line, its words between tabs:
#   fit CSV CALL MENDS KIND...  what R's clm says of a data set: a call as text; which of R's faults to mend, between
#                               commas, or "none"; kinds of answers
#   rows                        the rows that the last fit was made of, for a likelihood computed elsewhere
#   held PLACE VALUE            the log-likelihood of the last fit with one of its location and scale effects held
# An answer is lines "n NAME numbers..." and "w NAME words" and the line "end".
suppressPackageStartupMessages(library(ordinal))
options(warn = 1)
data <- NULL; fit <- NULL; given <- NULL

numbers <- function(name, values) {
  values <- as.numeric(as.vector(values))
  cat("n\t", name, "\t", paste(ifelse(is.na(values), "NaN", sprintf("%.17g", values)), collapse = " "), "\n", sep = "")
}
words <- function(name, text) cat("w\t", name, "\t", gsub("[\t\n]+", " ", paste(text, collapse = "; ")), "\n", sep = "")

# Mends: "ends" of the line at 1e12 in the place of 1e5; "containment" of a term by others asked of all variables of
# theirs; "units" of hypotheses such that each has variance 1, before directions of little variance are left out;
# "contrasts" as attributes of the columns; "weights" as repeated rows in types I and II.
mends <- character()
patched <- list(
  ends = c("clm.newRho", "1e+05", "1e+12"),
  containment = c("term_contain", "== 1", "> 0"),
  units = c("contestMD", "VLbeta <- L", "L <- L / sqrt(diag(L %*% vcov_beta %*% t(L))); VLbeta <- L")
)
plain <- lapply(patched, function(patch) getFromNamespace(patch[1], "ordinal"))
mend <- function(wanted) {
  mends <<- wanted
  for (name in names(patched)) {
    text <- deparse(plain[[name]], width.cutoff = 500)
    if (name %in% wanted) text <- gsub(patched[[name]][2], patched[[name]][3], text, fixed = TRUE)
    assignInNamespace(patched[[name]][1], eval(parse(text = text), asNamespace("ordinal")), "ordinal")
  }
}
with_contrasts <- function(call) {
  for (name in names(call$contrasts)[-1]) contrasts(data[[name]]) <<- call$contrasts[[name]]
  call$contrasts <- NULL
  call
}

read_data <- function(csv) {
  d <- read.csv(csv, stringsAsFactors = TRUE)
  for (name in names(d)) if (startsWith(name, "o")) d[[name]] <- factor(d[[name]], ordered = TRUE)
  d$y <- factor(d$y, ordered = TRUE)
  d
}

# Errors become words of the answer, warnings are collected.
attempt <- function(name, work) {
  told <- character()
  value <- tryCatch(
    withCallingHandlers(work, warning = function(w) {
      told <<- c(told, conditionMessage(w)); invokeRestart("muffleWarning")
    }),
    error = function(e) { words(paste0(name, ".error"), conditionMessage(e)); NULL }
  )
  if (length(told)) words(paste0(name, ".warning"), unique(told))
  value
}

estimates <- function() {
  b <- coef(fit)
  V <- fit$vcov
  spread <- function(values) { out <- rep(NA_real_, length(b)); out[!is.na(b)] <- values; out }
  numbers("estimates", b)
  numbers("se", spread(sqrt(diag(V))))
  numbers("step", spread(abs(V %*% fit$gradient)))
  numbers("code", max(abs(fit$convergence$code)) * if (any(fit$convergence$code < 0)) -1 else 1)
  numbers("loglik", fit$logLik)
  numbers("edf", fit$edf)
  numbers("nobs", nobs(fit))
  words("message", c(fit$convergence$messages, fit$message))
}

some_rows <- function() {
  used <- complete.cases(data)
  if (!is.null(given$weights)) used <- used & data[[as.character(given$weights)]] > 0
  head(data[used, setdiff(names(data), "y"), drop = FALSE], 10)
}
flat <- function(values) as.vector(t(values))
predictions <- function() {
  rows <- some_rows()
  found <- predict(fit, rows, type = "prob", se.fit = TRUE)
  numbers("prob", flat(found$fit)); numbers("prob.se", flat(found$se.fit))
  below <- seq_len(ncol(found$fit) - 1)
  found <- predict(fit, rows, type = "cum.prob", se.fit = TRUE)
  numbers("cum_prob", flat(found$cprob1[, below])); numbers("cum_prob.se", flat(found$se.cprob1[, below]))
  found <- predict(fit, rows, type = "linear.predictor", se.fit = TRUE)
  numbers("linear_predictor", flat(found$eta1[, below])); numbers("linear_predictor.se", flat(found$se.eta1[, below]))
}

table_of <- function(name, found, statistic, df = "Df", share = 1) {
  numbers(paste0(name, ".df"), found[[df]]); numbers(name, found[[statistic]] * share)
}
wald <- function(type, model = fit, share = 1) {
  name <- paste0("anova.", type)
  found <- attempt(name, anova(model, type = type))
  if (!is.null(found)) table_of(name, found, "Chisq", share = share)
}
# R's types I and II leave case weights out of their contrasts: rows repeated by their weights mend that.
repeated <- function(type) {
  w <- data[[as.character(given$weights)]]
  share <- if (all(w == round(w))) 1 else 4
  whole <- data
  data <<- data[rep(seq_along(w), round(w * share)), ]
  call <- given
  call$weights <- NULL
  call$start <- coef(fit, na.rm = TRUE)
  refitted <- attempt("repeated", eval(call, globalenv()))
  if (!is.null(refitted)) wald(type, refitted, 1 / share)
  data <<- whole
}
observed <- function() {
  found <- predict(fit, type = "prob", se.fit = TRUE)
  numbers("observed", head(found$fit, 10)); numbers("observed.se", head(found$se.fit, 10))
}
tables <- list(
  observed = function() attempt("observed", observed()),
  predict = function() attempt("predict", predictions()),
  anova.I = function() if ("weights" %in% mends) repeated("I") else wald("I"),
  anova.II = function() if ("weights" %in% mends) repeated("II") else wald("II"),
  anova.III = function() wald("III"),
  drop1 = function() {
    found <- attempt("drop1", drop1(fit, test = "Chisq"))
    if (!is.null(found)) table_of("drop1", found, "LRT")
  },
  nominal_test = function() {
    found <- attempt("nominal_test", nominal_test(fit))
    if (!is.null(found)) table_of("nominal_test", found, "LRT")
  },
  scale_test = function() {
    found <- attempt("scale_test", scale_test(fit))
    if (!is.null(found)) table_of("scale_test", found, "LRT")
  },
  profile = function() {
    found <- attempt("profile", confint(fit, type = "profile"))
    if (!is.null(found)) numbers("profile", flat(found))
  }
)

answer <- function(csv, text, wanted, kinds) {
  mend(strsplit(wanted, ",")[[1]])
  data <<- read_data(csv)
  given <<- parse(text = text)[[1]]
  if ("contrasts" %in% mends) given <<- with_contrasts(given)
  fit <<- attempt("fit", eval(given, globalenv()))
  if (is.null(fit)) return(invisible())
  estimates()
  if (!any(is.na(fit$vcov))) for (kind in kinds) tables[[kind]]()
}
rows <- function() {
  rho <- ordinal:::get_clmRho.clm(fit)
  numbers("upper", flat(rho$B1)); numbers("lower", flat(rho$B2)); numbers("scale", if (rho$k) flat(rho$S) else numeric())
  numbers("upper.offset", rho$o1); numbers("lower.offset", rho$o2)
  numbers("scale.offset", rep_len(rho$Soff, nrow(rho$B1))); numbers("weights", rho$wts)
}
held <- function(place, value) {
  name <- names(c(fit$beta, fit$zeta))[place]
  call <- given
  call$method <- "design"
  parts <- attempt("held", eval(call, globalenv()))
  if (place <= length(fit$beta)) {
    parts$offset <- parts$offset + value * parts$X[, name]
    parts$X <- parts$X[, colnames(parts$X) != name, drop = FALSE]
  } else {
    parts$S.off <- parts$S.off + value * parts$S[, name]
    parts$S <- parts$S[, colnames(parts$S) != name, drop = FALSE]
  }
  parts$doFit <- TRUE
  parts$control$method <- "Newton"
  found <- attempt("held", ordinal:::clm.fit.default(parts))
  if (!is.null(found)) numbers("loglik", found$logLik)
}

input <- file("stdin"); open(input)
words("version", as.character(packageVersion("ordinal")))
# Type III of main effects beside an interaction: averages over the other factor, or its first level alone.
numbers("balanced", anova(clm(rating ~ temp * contact, data = wine), type = "III")["temp", "Chisq"] > 15)
cat("end\n")
while (length(line <- readLines(input, 1)) > 0) {
  command <- strsplit(line, "\t")[[1]]
  switch(command[1],
    fit = answer(command[2], command[3], command[4], command[-(1:4)]),
    rows = rows(),
    held = held(as.integer(command[2]), as.numeric(command[3])))
  cat("end\n")
}
