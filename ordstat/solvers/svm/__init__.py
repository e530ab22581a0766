"""Duals of support vector machines with thresholds, and the routes to their optimum."""
