"""Weighted sums and counts of weak rankers, round by round."""
