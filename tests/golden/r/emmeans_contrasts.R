# Contrasts, adjustments, weights, trends and joint tests by emmeans 1.8.4.1 on fits of ordinal 2022.11.16 (R 4.2.2);
# writes emmeans_contrasts.csv. Run in this folder: Rscript emmeans_contrasts.R
suppressMessages({library(ordinal); library(emmeans)})
emm_options(opt.digits = FALSE)
tight <- clm.control(gradTol = 1e-12, relTol = 1e-14, maxIter = 200)
housing <- transform(MASS::housing, Infl = factor(as.character(Infl), levels = c("Low", "Medium", "High")))
sim <- read.csv("../reference/data/sim500.csv")
sim <- transform(sim, y = factor(y, ordered = TRUE), f = factor(f, levels = c("lo", "mid", "hi")), g = factor(g))
h <- clm(Sat ~ Infl + Type + Cont, weights = Freq, data = housing, control = tight)
hi <- clm(Sat ~ Infl * Type + Cont, weights = Freq, data = housing, control = tight)
w <- clm(rating ~ temp * contact, data = wine, control = tight)
s <- clm(y ~ f * x1 + g + x2, data = sim, control = tight)
out <- NULL
keep <- function(case, e) {
  d <- as.data.frame(e)
  numbers <- c("estimate", "emmean", "x1.trend", "prob", "cumprob", "exc.prob", "mean.class")
  value <- intersect(numbers, names(d))[1]
  get <- function(...) { n <- intersect(c(...), names(d)); if (length(n)) d[[n[1]]] else NA }
  test <- setdiff(names(d), c(numbers, "SE", "df", "df1", "df2", "F.ratio", "asymp.LCL", "asymp.UCL", "z.ratio", "p.value"))
  out <<- rbind(out, data.frame(case = case, label = do.call(paste, c(lapply(d[test], as.character), sep = "|")),
    estimate = if (is.na(value)) NA else d[[value]], std_error = get("SE"), lower = get("asymp.LCL"),
    upper = get("asymp.UCL"), p_value = get("p.value"), df = get("df1"), chisq = if (is.null(d$F.ratio)) NA else d$df1 * d$F.ratio))
}
both <- function(x, ...) summary(x, infer = c(TRUE, TRUE), ...)
for (adjust in c("none", "tukey", "sidak", "bonferroni", "holm", "fdr"))
  keep(paste("pairs", adjust), both(contrast(emmeans(h, "Type"), "revpairwise", adjust = adjust)))
keep("default of two", both(contrast(emmeans(h, "Cont"), "revpairwise")))
keep("by", both(contrast(emmeans(hi, ~ Type | Infl), "revpairwise")))
keep("reverse", both(pairs(emmeans(hi, ~ Type | Infl))))
keep("reference", both(contrast(emmeans(h, "Type"), "trt.vs.ctrl", ref = 2, adjust = "sidak")))
keep("sequential", both(contrast(emmeans(h, "Type"), "consec", adjust = "holm")))
own <- list(highrise = c(1, -1, -1, -1) / c(1, 3, 3, 3), other = c(0, 1, -1, 0))
for (adjust in c("none", "mvt")) keep(paste("own", adjust), both(contrast(emmeans(h, "Type"), own, adjust = adjust)))
keep("prob", emmeans(w, ~ rating | temp, mode = "prob"))
keep("prob contrasts", both(contrast(emmeans(w, ~ temp | rating + contact, mode = "prob"), "revpairwise")))
keep("prob tukey", both(contrast(emmeans(hi, ~ Infl | Sat, mode = "prob"), "revpairwise")))
keep("exc_prob", emmeans(w, ~ cut | temp, mode = "exc.prob"))
keep("cum_prob", emmeans(hi, ~ cut | Infl, mode = "cum.prob"))
keep("mean_class", both(contrast(emmeans(hi, ~ Infl, mode = "mean.class"), "revpairwise")))
for (weights in c("equal", "proportional", "cells")) {
  keep(paste("weights", weights), emmeans(s, "f", weights = weights))
  keep(paste("weights prob", weights), emmeans(s, ~ y | f, weights = weights, mode = "prob"))
}
keep("at", emmeans(s, ~ f | x1, at = list(x1 = c(-1, 0.5))))
keep("at mean_class", both(contrast(emmeans(s, ~ f | x1, at = list(x1 = c(-1, 0.5)), mode = "mean.class"), "revpairwise")))
keep("trends", emtrends(s, "f", var = "x1"))
keep("trends contrasts", both(contrast(emtrends(s, "f", var = "x1"), "revpairwise")))
keep("joint s", joint_tests(s))
keep("joint hi", joint_tests(hi))
keep("joint hi by", joint_tests(hi, by = "Infl"))
keep("joint w", joint_tests(w))
keep("joint w by", joint_tests(w, by = "contact"))
gap <- clm(y ~ f * g + x1, data = subset(sim, !(f == "hi" & g == "D")), control = tight)
keep("joint gap", subset(joint_tests(gap), `model term` != "(confounded)")[1:5])
keep("joint gap by", subset(as.data.frame(joint_tests(gap, by = "f")), `model term` != "(confounded)")[1:6])
keep("gap cells", emmeans(gap, "f", weights = "cells"))
write.csv(out, "emmeans_contrasts.csv", row.names = FALSE)
