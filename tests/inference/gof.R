# Goodness-of-fit tests on sim500, written out; Rscript gof.R writes gof.csv (read by test_goodness.py).
library(ordinal)
d <- read.csv("../golden/reference/data/sim500.csv")
d$y <- factor(d$y, ordered = TRUE); d$f <- factor(d$f, levels = c("lo", "mid", "hi")); d$g <- factor(d$g)
K <- 5
cells <- function(group, y, p) {
  O <- unclass(table(group, y)); E <- rowsum(p, group)
  list(pearson = sum((O - E)^2 / E))
}
out <- NULL
add <- function(test, name, link, groups, statistic, df)
  out <<- rbind(out, data.frame(test, name, link, groups, statistic, df,
                                p_value = pchisq(statistic, df, lower.tail = FALSE)))
tight <- clm.control(gradTol = 1e-12, relTol = 1e-14, convergence = "silent")
for (link in c("logit", "probit", "cloglog")) {
  m <- clm(y ~ x1 + x2 + f + g, data = d, link = link, control = tight)
  p <- predict(m, newdata = subset(d, select = -y), type = "prob")$fit
  score <- drop(p %*% 1:K)
  for (G in c(5, 10)) {
    d$group <- factor(ceiling(rank(score) * G / nrow(d)))
    c1 <- cells(d$group, d$y, p)
    add("hosmer-lemeshow", "Pearson chi2", link, G, c1$pearson, (G - 2) * (K - 1) + (K - 2))
  }
}
out$statistic <- sprintf("%.15g", out$statistic); out$p_value <- sprintf("%.15g", out$p_value)
write.csv(out, "gof.csv", row.names = FALSE, quote = FALSE)
