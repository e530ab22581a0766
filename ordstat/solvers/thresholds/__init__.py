"""Threshold models by their loss: all-threshold logistic regression and networks."""
