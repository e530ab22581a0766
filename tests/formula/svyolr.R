# svyolr itself on survey_sample.csv; Rscript svyolr.R writes svyolr.csv (read by test_survey_svyolr.py). R 4.2.2, survey 4.1.1.
# step 1e-3: as it is called by default, its optimum to reltol = 1e-8 and its information by differences of gradients over
# steps of 1e-3. step 1e-5: handed to optim are the maximum (by ordinal 2022.11-16) to start from, reltol = 1e-16 and that
# step, which leaves an error of 1e-7. Its "cloglog" is the loglog link of clm. Its cauchit ends at thresholds of +-100, where
# a Cauchy distribution has 0.3 % left, and is not compared.
suppressMessages({library(survey); library(ordinal)})
d <- read.csv("survey_sample.csv")
d$y <- factor(d$pid, ordered = TRUE)
tight <- clm.control(gradTol = 1e-12, relTol = 1e-14, convergence = "silent")
options(survey.lonely.psu = "adjust")
designs <- list(
  "weights alone" = svydesign(ids = ~1, weights = ~w, data = d),
  "strata and PSUs" = svydesign(ids = ~psu, strata = ~s, weights = ~w, data = d),
  "population sizes" = svydesign(ids = ~psu, strata = ~s, fpc = ~N, weights = ~w, data = d),
  "lonely PSU" = svydesign(ids = ~psu1, strata = ~s1, weights = ~w, data = d))
designs[["a domain"]] <- subset(designs[["strata and PSUs"]], age > 60)
out <- NULL
for (case in names(designs)) for (method in c("logistic", "probit", "cloglog")) {
  link <- c(logistic = "logit", probit = "probit", cloglog = "loglog")[[method]]
  rows <- if (case == "a domain") subset(d, age > 60) else d
  m <- coef(clm(y ~ selfLR + age + educ, data = rows, weights = w, link = link, control = tight))
  start <- c(m[7:9], m[1], log(diff(m[1:6])))
  for (step in c(1e-3, 1e-5)) {
    o <- if (step == 1e-3) svyolr(y ~ selfLR + age + educ, designs[[case]], method = method) else
      svyolr(y ~ selfLR + age + educ, designs[[case]], method = method, start = start,
             control = list(reltol = 1e-16, maxit = 1000, ndeps = rep(step, 9)))
    value <- c(o$coefficients, o$zeta)
    out <- rbind(out, data.frame(case, link, step, term = names(value), estimate = sprintf("%.12g", value),
                                 se = sprintf("%.12g", sqrt(diag(o$var)))))
  }
}
write.csv(out, "svyolr.csv", row.names = FALSE, quote = FALSE)
