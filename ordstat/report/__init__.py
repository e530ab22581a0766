"""Summaries as data, and their renderers."""
