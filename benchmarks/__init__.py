"""Benchmarks behind claims about speed and accuracy; each script measures crowdlogic and its peers in one run."""
