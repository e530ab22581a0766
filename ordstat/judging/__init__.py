"""Errors, cross-validation, importance, intervals of ranks, margins and their bounds."""
