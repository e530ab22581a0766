# Marginal means by the emmeans package with its defaults, on clm fits; writes emmeans.csv.
# Run in this folder: Rscript emmeans.R
suppressMessages({library(ordinal); library(emmeans)})
options(digits = 17)
sim <- read.csv("../reference/data/sim500.csv")
sim$y <- factor(sim$y, ordered = TRUE)
sim$f <- factor(sim$f, levels = c("lo", "mid", "hi"))
sim$g <- factor(sim$g)
sim$b <- ifelse(sim$x3 > 0.5, 3, 1)  # a number of two values, not balanced
tight <- clm.control(gradTol = 1e-12, relTol = 1e-14, maxIter = 200)
fits <- list(
  weighted = clm(y ~ f + x2, data = sim, weights = w, control = tight),
  two_values = clm(y ~ f + x1 + b, data = sim, weights = w, control = tight),
  crossed = clm(y ~ f * b + I(x1^2) + g, data = sim, link = "probit", control = tight),
  scale = clm(y ~ f + x1 + b, scale = ~ g + b, data = sim, weights = w, control = tight),
  own_scale = clm(y ~ f + x1, scale = ~ f, data = sim, link = "cloglog", control = tight),
  nominal = clm(y ~ f + x1, nominal = ~ b, data = sim, link = "loglog", control = tight)
)
columns <- c(latent = "emmean", prob = "prob", mean.class = "mean.class", cum.prob = "cumprob")
out <- NULL
for (case in names(fits)) for (variable in c("f", if (grepl("b", deparse(fits[[case]]$formula))) "b")) for (mode in names(columns)) {
  specs <- switch(mode, prob = paste("~ y |", variable), cum.prob = paste("~ cut |", variable), paste("~", variable))
  e <- as.data.frame(emmeans(fits[[case]], as.formula(specs), mode = mode))
  out <- rbind(out, data.frame(case = case, variable = variable, mode = mode, value = as.character(e[[variable]]),
                               estimate = e[[columns[[mode]]]], std_error = e$SE))
}
write.csv(out, "emmeans.csv", row.names = FALSE)
