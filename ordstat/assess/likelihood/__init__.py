"""The numerics of likelihood models: row terms, residuals, influence, tests."""
