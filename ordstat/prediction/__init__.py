"""Models made to predict: boosted trees, forests, kernels, blends, calibration."""
