"""Inference from likelihood fits: tests, residuals, goodness of fit, bootstrap,
pooling.
"""
