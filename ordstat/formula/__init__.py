"""From a formula and a frame to a sample of arrays, and the same columns again for new
data.
"""
