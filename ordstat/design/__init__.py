"""From a formula and a frame to a Sample, and the same columns again for new data."""
