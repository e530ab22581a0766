"""Data larger than memory: read block by block, fitted by sums over blocks."""
