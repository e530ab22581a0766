"""A page about one fit, for people who were not there: `fit.report("report.html")`."""
