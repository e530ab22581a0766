"""Questions to a likelihood fit: tests, residuals, goodness of fit,
bootstrap, pooling.
"""
