"""Gradient boosting against loops that hide nothing."""
