"""Optimisers: arrays in, small frozen dataclasses out."""
