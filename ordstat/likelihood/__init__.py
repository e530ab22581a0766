"""Cumulative link and adjacent-category models: families, Newton's method, covariances, profiles."""
