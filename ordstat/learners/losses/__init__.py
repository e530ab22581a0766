"""Losses of boosting, and the weights that they give to rows."""
