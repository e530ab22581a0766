"""Marginal effects, marginal means, trends and contrasts."""
