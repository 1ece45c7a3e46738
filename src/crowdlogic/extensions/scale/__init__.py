"""Data larger than memory, SQL patterns, databases, Ray and Spark."""

ENTRIES = {
    "sources": {
        "patterns": "crowdlogic.extensions.scale.sources:find_patterns",
        "shards": "crowdlogic.extensions.scale.sources:find_shards",
        "sequences": "crowdlogic.extensions.scale.sources:find_sequences",
    },
    "engines": {
        "local": "crowdlogic.extensions.scale.coded_files:open_local",
        "ray": "crowdlogic.extensions.scale.ray:open_ray",
        "spark": "crowdlogic.extensions.scale.spark:open_spark",
    },
    "databases": {
        "duckdb": "crowdlogic.extensions.scale.databases:DUCKDB",
        "sqlite": "crowdlogic.extensions.scale.databases:SQLITE",
        "postgresql": "crowdlogic.extensions.scale.databases:POSTGRESQL",
    },
}
"""Group of components -> name -> "module:attribute"; see crowdlogic.registry."""

COMMANDS = {
    "patterns": (
        "labels",
        "crowdlogic.extensions.scale.patterns_command",
        "Group items with identical labels, locally or by SQL in a warehouse.",
    ),
}
"""Command -> panel of the help, module, help in one line; see crowdlogic.cli.app."""
