"""Errors, cross-validation, importance, intervals of ranks, margins, bounds."""
