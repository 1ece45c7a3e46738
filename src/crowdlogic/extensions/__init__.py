"""Extensions: packages that plug into the core through its registries.

The core never imports an extension, and extensions never import each other. Each one lists what it adds in `ENTRIES`
(and `COMMANDS`) of its `__init__.py`. Deleting its folder removes the extension and nothing else.
"""
