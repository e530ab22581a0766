"""Models for prediction: boosted trees, forests, kernels, blends, calibration."""
