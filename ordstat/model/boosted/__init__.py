"""Fitted sums of Newton trees."""
