# Answers and times R's calls of `python -m benchmarks asked`. The argument is a folder of CSV files. Each line on standard
# input is "JOB REPEATS"; the answer is the mean seconds of the processor for a call, then the numbers that it gives, or
# "missing" where a package is not installed; 0 repeats only look for the packages.
options(mc.cores = 1L) # psych would use two
folder <- commandArgs(trailingOnly = TRUE)[1]
table_of <- function(name) {
  path <- file.path(folder, paste0(name, ".csv"))
  if (file.exists(path)) read.csv(path)
}
items <- table_of("items")
scored <- table_of("scored")
times <- table_of("times")
coarse <- table_of("coarse")
continuous <- table_of("continuous")
more_levels <- table_of("more_levels")
trial <- table_of("trial")
stays <- table_of("stays")
ratings <- table_of("ratings")
control <- c(0.15, 0.25, 0.25, 0.2, 0.15)
states <- c("home", "ward", "icu", "dead")
stays$y <- factor(stays$y, states)
stays$previous <- factor(stays$previous, states[1:3])
first <- stays[stays$time == 1, ][1:20, ]

quietly <- function(value) suppressMessages(suppressWarnings(value))

occupied <- function() {
  fit <- rms::lrm(y ~ previous + time + arm, data = stays, eps = 1e-10, maxit = 50)
  each <- lapply(seq_len(nrow(first)), function(i) {
    Hmisc::soprobMarkovOrdm(fit, first[i, c("previous", "arm")], 1:14, states, absorb = "dead", tvarname = "time",
                            pvarname = "previous")
  })
  as.vector(t(Reduce(`+`, each) / length(each)))
}

slopes <- function(frame) {
  fit <- rms::orm(y ~ ., data = frame)
  p <- ncol(frame) - 1
  c(tail(coef(fit), p), tail(sqrt(diag(vcov(fit))), p))
}

turnbull <- function() {
  exact <- !is.na(coarse$high) & coarse$low == coarse$high
  # of whole numbers, (low, high] is [low + 1/2, high]; missing ends are open
  response <- survival::Surv(coarse$low + ifelse(exact, 0, 0.5), coarse$high, type = "interval2")
  fit <- survival::survfit(response ~ 1)
  stats::approx(fit$time, fit$surv, 1:11, method = "constant", yleft = 1, rule = 2)$y
}

jobs <- list(
  polychoric = list("psych", function() {
    correlations <- quietly(psych::polychoric(items, correct = 0, global = FALSE))$rho
    correlations[lower.tri(correlations)]
  }),
  pair = list("polycor", function() {
    found <- quietly(polycor::polychor(items[[1]], items[[2]], ML = TRUE, std.err = TRUE))
    c(found$rho, sqrt(found$var[1, 1]))
  }),
  polyserial = list("polycor", function() {
    quietly(polycor::polyserial(scored$x, scored$y, ML = TRUE, std.err = TRUE))$rho
  }),
  kaplan_meier = list("survival", function() {
    fit <- survival::survfit(survival::Surv(time, event) ~ 1, data = times)
    fit$surv[fit$n.event > 0]
  }),
  hazards = list("survival", function() {
    fit <- survival::coxph(survival::Surv(time, event) ~ x1 + x2 + x3, data = times)
    c(coef(fit), sqrt(diag(vcov(fit))))
  }),
  turnbull = list("survival", turnbull),
  orm = list("rms", function() slopes(continuous)),
  orm_more = list("rms", function() slopes(more_levels)),
  wins = list("stats", function() {
    active <- trial$y[trial$arm == 1]
    other <- trial$y[trial$arm == 0]
    suppressWarnings(wilcox.test(active, other, exact = FALSE))$statistic / (length(active) * length(other))
  }),
  occupancy = list(c("rms", "Hmisc"), occupied),
  size = list("Hmisc", function() {
    # its p are the mean shares of both groups
    mean_shares <- (control + Hmisc::pomodm(p = control, odds.ratio = 1.8)) / 2
    Hmisc::posamsize(mean_shares, 1.8, power = 0.9)$n
  }),
  power = list("Hmisc", function() {
    mean_shares <- (control + Hmisc::pomodm(p = control, odds.ratio = 1.8)) / 2
    Hmisc::popower(mean_shares, 1.8, 300)$power
  }),
  agreement = list("psych", function() quietly(psych::cohen.kappa(ratings))$weighted.kappa)
)

input <- file("stdin")
open(input)
cat("ready\n")
while (length(line <- readLines(input, 1)) > 0) {
  words <- strsplit(line, " ")[[1]]
  job <- jobs[[words[1]]]
  if (!all(vapply(job[[1]], requireNamespace, logical(1), quietly = TRUE))) {
    cat("missing\n")
    next
  }
  repeats <- as.integer(words[2])
  numbers <- NULL
  taken <- system.time(for (i in seq_len(repeats)) numbers <- job[[2]]())
  # processes that a package starts count too
  seconds <- sum(taken[c("user.self", "sys.self", "user.child", "sys.child")]) / max(repeats, 1)
  cat(sprintf("%.15g", c(seconds, as.numeric(numbers))), "\n")
}
