"""The review application: a local web server over `workflows.review`. It is the only package that imports FastAPI."""
