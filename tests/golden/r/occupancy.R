# State occupancy of a Markov model by Hmisc's soprobMarkovOrdm, of a fit of rms's lrm; writes occupancy_data.csv and
# occupancy.csv. Run in this folder: Rscript occupancy.R
suppressMessages(library(rms))
options(digits = 17)
set.seed(3)
times <- c(1, 2, 4, 7)
levels <- c("home", "ward", "icu", "dead")
rows <- NULL
for (id in 1:150) {
  previous <- sample(levels[1:3], 1)
  arm <- id %% 2
  before <- 0
  for (t in times) {
    score <- c(home = -1.5, ward = 0, icu = 1.2)[[previous]] - 0.6 * arm - 0.1 * t + 0.1 * (t - before) + rlogis(1)
    y <- levels[1 + sum(score > c(-0.5, 0.9, 3))]
    rows <- rbind(rows, data.frame(id = id, time = t, gap = t - before, previous = previous, arm = arm, y = y))
    if (y == "dead") break
    previous <- y
    before <- t
  }
}
write.csv(rows, "occupancy_data.csv", row.names = FALSE, quote = FALSE)
rows$y <- factor(rows$y, levels)
rows$previous <- factor(rows$previous, levels[1:3])
fit <- lrm(y ~ previous + time + gap + arm, data = rows, eps = 1e-14, tol = 1e-14, maxit = 200)
out <- NULL
for (start in levels[1:3]) for (arm in 0:1) {
  first <- data.frame(previous = start, arm = arm)
  p <- soprobMarkovOrdm(fit, first, times, levels, absorb = "dead", tvarname = "time", pvarname = "previous", gap = "gap")
  out <- rbind(out, data.frame(start = start, arm = arm, time = times, p))
}
write.csv(out, "occupancy.csv", row.names = FALSE, quote = FALSE)
