"""When a fit stops, and which epoch is kept: by a dev score, by held-out labels, or after fixed epochs."""
