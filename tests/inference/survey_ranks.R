# Design-based rank tests by R's survey on tests/formula/survey_sample.csv: regressions of ridits by svyglm, Wald tests
# of their slopes. svyranktest does the same with other ranks: it averages cumulated weights over tied rows without
# weights, so that its ranks depend on the order of the rows (its statistics are up to 4 % off these).
# Rscript survey_ranks.R writes survey_ranks.csv (read by test_describe_survey.py).
suppressMessages(library(survey))
d <- read.csv("../formula/survey_sample.csv")
d$three <- cut(d$age, c(0, 35, 55, 200), labels = 1:3)
d$two <- d$age > 45
share <- tapply(d$w, d$pid, sum) / sum(d$w)
d$ridit <- (cumsum(share) - share / 2)[as.character(d$pid)]
options(survey.lonely.psu = "adjust")
designs <- list(
  "weights alone" = svydesign(ids = ~1, weights = ~w, data = d),
  "strata and PSUs" = svydesign(ids = ~psu, strata = ~s, weights = ~w, data = d),
  "population sizes" = svydesign(ids = ~psu, strata = ~s, fpc = ~N, weights = ~w, data = d))
models <- list(c("three", "Kruskal-Wallis", "ridit ~ three"), c("two", "Kruskal-Wallis", "ridit ~ two"),
               c("three", "trend", "ridit ~ as.numeric(three)"))
out <- NULL
for (case in names(designs)) for (model in models) {
  design <- designs[[case]]
  fit <- svyglm(as.formula(model[3]), design)
  b <- coef(fit)[-1]
  statistic <- drop(b %*% solve(vcov(fit)[-1, -1, drop = FALSE], b)) / length(b)
  den_df <- degf(design) - length(b)
  p <- pf(statistic, length(b), den_df, lower.tail = FALSE)
  out <- rbind(out, data.frame(case, by = model[1], test = model[2], statistic = sprintf("%.12g", statistic), den_df,
                               p_value = sprintf("%.12g", p)))
}
write.csv(out, "survey_ranks.csv", row.names = FALSE, quote = FALSE)
cat(as.character(packageVersion("survey")), R.version.string, "\n")
