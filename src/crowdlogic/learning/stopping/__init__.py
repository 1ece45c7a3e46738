"""When a fit stops, and which epoch it answers with: by a dev score, by held-out labels, or after fixed epochs."""
