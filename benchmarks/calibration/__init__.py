"""How far stated confidences can be believed: `python -m benchmarks.calibration`."""
