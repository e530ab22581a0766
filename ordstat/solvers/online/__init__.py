"""Passes of perceptrons over the rows, plain and with kernels."""
