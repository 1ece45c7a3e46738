"""Options as plain data and back: what a run's config.json holds, what a TOML file and --set can change.

Options are frozen dataclasses, nested. As plain data each is a mapping; one that may be of several kinds (a classifier,
an imitation, a truth method) says which by `name`, and is found in the registry of its kind. Reading goes by the types
of the fields, so there is no second list of options; a wrong name or value is refused with its dotted path.
"""
