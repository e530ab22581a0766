"""Scores of few clusters: adjusted for CR2, and at other values for score tests."""
