"""Support vector machines with thresholds, and machines on pairs of rows."""
