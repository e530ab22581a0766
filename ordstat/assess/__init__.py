"""Errors, agreement, margins, bounds: arrays in, numbers out."""
