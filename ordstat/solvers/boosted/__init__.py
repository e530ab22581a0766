"""Gradient boosting of trees on binned columns, with thresholds that move."""
