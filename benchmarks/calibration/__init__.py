"""Benchmarks of calibrated confidence: `python -m benchmarks.calibration`."""
