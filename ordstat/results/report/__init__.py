"""Summaries as data, and the one place that prints them."""
