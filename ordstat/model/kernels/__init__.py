"""Kernels, and how they are checked."""
