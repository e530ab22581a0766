# Rao-Scott tests on sample.csv; Rscript rao_scott.R writes rao_scott.csv (read by test_rao_scott.py).
# survey 4.1.1 (pFsum, regTermTest, svyrecvar, svyglm), ordinal 2022.11-16, sandwich 3.0.2. The ordinal cases are the
# formula of Lumley & Scott (2014) on exact maxima of clm; svyolr's own test is printed beside them, as its information
# comes from differences of gradients. The binary ones are regTermTest itself.
suppressMessages({library(survey); library(ordinal); library(sandwich)})
d <- read.csv("sample.csv")
d$w <- d$w / mean(d$w)
d$y <- factor(d$pid, ordered = TRUE); d$high <- as.numeric(d$pid > 3); d$party <- factor(d$vote <- d$psu %% 3)
tight <- clm.control(gradTol = 1e-12, relTol = 1e-14, convergence = "silent")
design <- svydesign(ids = ~psu, strata = ~s, weights = ~w, data = d)
full <- clm(y ~ selfLR + age + educ + party, data = d, weights = w, control = tight)
V0 <- vcov(full)
V <- svyrecvar(estfun(full) %*% V0, design$cluster, design$strata, design$fpc, postStrata = design$postStrata)
rownames(V) <- colnames(V) <- rownames(V0)
terms <- list(selfLR = "selfLR", age = "age", educ = "educ", party = c("party1", "party2"))
out <- NULL
add <- function(case, term, chisq, lambda, p, df)
  out <<- rbind(out, data.frame(case, term, df = length(lambda), chisq, mean = mean(lambda), p, ddf = df))
of <- function(case, term, names, small) {
  chisq <- 2 * as.numeric(logLik(full) - logLik(small))
  lambda <- Re(eigen(solve(V0[names, names]) %*% V[names, names], only.values = TRUE)$values)
  p <- survey:::pFsum(chisq, rep(1, length(lambda)), lambda, ddf = degf(design), lower.tail = FALSE)
  add(case, term, chisq, lambda, p, degf(design))
}
for (term in names(terms))
  of("ordinal", term, terms[[term]], update(full, as.formula(paste(". ~ . -", term))))
of("ordinal", "age + educ", c("age", "educ"), update(full, . ~ . - age - educ))
o <- svyolr(y ~ selfLR + age + educ + party, design)
print(regTermTest(o, ~party, method = "LRT", df = degf(design)))
print(regTermTest(o, ~age, method = "LRT", df = degf(design)))
g <- svyglm(high ~ selfLR + age + educ + party, design, family = quasibinomial(), epsilon = 1e-14)
for (term in names(terms)) {
  t <- regTermTest(g, as.formula(paste("~", term)), method = "LRT", df = degf(design))
  add("binary", term, t$chisq, t$lambda, t$p, t$ddf)
}
write.csv(format(out, digits = 12), "rao_scott.csv", row.names = FALSE, quote = FALSE)
print(out)
