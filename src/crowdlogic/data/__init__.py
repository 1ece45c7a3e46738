"""What users bring, and the shapes everything else speaks in: labels, corpus, estimates, files."""
