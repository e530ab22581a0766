# Standard errors of survey designs on survey_sample.csv; Rscript survey.R writes survey.csv (read by test_survey_against_r.py).
# ordinal 2022.11-16, survey 4.1.1, sandwich 3.0.2 (estfun of a clm): scores and information at the exact maximum, handed to
# svyrecvar and withReplicates. svyolr takes its information from differences of gradients; how far its standard errors
# are off is printed: 4e-4 (logit), 1e-4 (probit).
suppressMessages({library(survey); library(ordinal); library(sandwich)})
d <- read.csv("survey_sample.csv")
d$y <- factor(d$pid, ordered = TRUE)
tight <- clm.control(gradTol = 1e-12, relTol = 1e-14, convergence = "silent")
out <- NULL
add <- function(case, link, estimate, V, df)
  out <<- rbind(out, data.frame(case, link, term = names(estimate), estimate, se = sqrt(diag(V)), df))
fitted_to <- function(data, link) {
  m <- clm(y ~ selfLR + age + educ, data = data, weights = w, link = link, control = tight)
  list(coef = coef(m), influence = estfun(m) %*% vcov(m))
}
linearised <- function(case, link, design, data = d) {
  m <- fitted_to(data, link)
  V <- svyrecvar(m$influence, design$cluster, design$strata, design$fpc, postStrata = design$postStrata)
  add(case, link, m$coef, V, degf(design))
}
plain <- svydesign(ids = ~psu, strata = ~s, weights = ~w, data = d)
for (link in c("logit", "probit")) {
  linearised("strata and PSUs", link, plain)
  o <- svyolr(y ~ selfLR + age + educ, plain, method = if (link == "logit") "logistic" else link,
              control = list(reltol = 1e-15, maxit = 1000))
  se <- out[out$case == "strata and PSUs" & out$link == link, ]
  here <- se$se[match(c(names(o$coefficients), names(o$zeta)), se$term)]
  cat(link, "svyolr against the exact maximum:", max(abs(sqrt(diag(o$var)) / here - 1)), "\n")
}
linearised("weights alone", "logit", svydesign(ids = ~1, weights = ~w, data = d))
linearised("strata of rows", "logit", svydesign(ids = ~1, strata = ~s, weights = ~w, data = d))
linearised("PSUs alone", "logit", svydesign(ids = ~psu, weights = ~w, data = d))
linearised("population sizes", "logit", svydesign(ids = ~psu, strata = ~s, fpc = ~N, weights = ~w, data = d))
d$share <- 6 / d$N
linearised("shares", "logit", svydesign(ids = ~psu, strata = ~s, fpc = ~share, weights = ~w, data = d))
d$short <- d$psu %% 100
linearised("nested labels", "logit", svydesign(ids = ~short, strata = ~s, nest = TRUE, weights = ~w, data = d))
linearised("a domain", "logit", subset(plain, age > 60 & psu %% 100 != 3), subset(d, age > 60 & psu %% 100 != 3))
for (lonely in c("remove", "certainty", "adjust", "average")) {
  options(survey.lonely.psu = lonely)
  linearised(paste("lonely", lonely), "logit", svydesign(ids = ~psu1, strata = ~s1, weights = ~w, data = d))
  linearised(paste("lonely", lonely, "fpc"), "logit",
             svydesign(ids = ~psu1, strata = ~s1, fpc = ~N1, weights = ~w, data = d))
}
# Replicate weights, by rules that the test repeats.
g <- match(d$psu, sort(unique(d$psu))) - 1
R24 <- 0:23
H <- matrix(1, 1, 1); for (k in 1:3) H <- rbind(cbind(H, H), cbind(H, -H))
half <- g %% 2; pair <- (g %/% 2) %% 7 + 1
sign <- H[, pair + 1] * rep(ifelse(half == 0, 1, -1), each = 8)
weights_of <- list(
  BRR = d$w * t(1 + sign), Fay = d$w * t(1 + 0.7 * sign),
  JK1 = d$w * outer(g, R24, function(g, r) ifelse(g == r, 0, 24 / 23)),
  JKn = d$w * outer(g, R24, function(g, r) ifelse(g == r, 0, ifelse(g %/% 6 == r %/% 6, 6 / 5, 1))),
  bootstrap = d$w * outer(g, R24, function(g, r) ((g * 5 + r * 3 + g * r) %% 4) / 1.5))
for (type in names(weights_of)) for (mse in c(FALSE, TRUE)) {
  arguments <- list(weights = ~w, data = d, repweights = weights_of[[type]], type = type, mse = mse,
                    combined.weights = TRUE)
  if (type == "Fay") arguments$rho <- 0.3
  if (type == "JKn") arguments <- c(arguments, list(scale = 1, rscales = rep(5 / 6, 24)))
  design <- suppressWarnings(do.call(svrepdesign, arguments))
  found <- withReplicates(design, function(w, data) {
    data$rw <- w
    coef(clm(y ~ selfLR + age + educ, data = data[w > 0, ], weights = rw, link = "logit", control = tight))
  })
  add(paste(type, if (mse) "mse" else "mean"), "logit", coef(found), vcov(found), degf(design))
}
out[, c("estimate", "se")] <- lapply(out[, c("estimate", "se")], function(x) sprintf("%.12g", x))
write.csv(out, "survey.csv", row.names = FALSE, quote = FALSE)
