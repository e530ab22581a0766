"""Prediction errors, cross-validation, importance, conformal intervals, margins,
bounds.
"""
