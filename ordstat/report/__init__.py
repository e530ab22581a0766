"""Summaries as data, and what prints them."""
