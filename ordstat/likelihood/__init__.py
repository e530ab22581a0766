"""Cumulative link, adjacent-category and sequential models: families, Newton's method,
covariances, profiles.
"""
