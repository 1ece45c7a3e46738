"""Processing of data larger than memory, patterns by SQL, databases, Ray and Spark."""

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
    "prediction_engines": {
        "local": "crowdlogic.extensions.scale.prediction:predict_locally",
        "ray": "crowdlogic.extensions.scale.ray_prediction:predict_with_ray",
        "spark": "crowdlogic.extensions.scale.spark_prediction:predict_with_spark",
    },
    "databases": {
        "duckdb": "crowdlogic.extensions.scale.databases:DUCKDB",
        "sqlite": "crowdlogic.extensions.scale.databases:SQLITE",
        "postgresql": "crowdlogic.extensions.scale.databases:POSTGRESQL",
    },
}
"""Mapping from registry to component name to "module:attribute"; see crowdlogic.registry."""

COMMANDS = {
    "patterns": (
        "labels",
        "crowdlogic.extensions.scale.patterns_command",
        "Group items with identical labels, locally or by SQL in a warehouse.",
    ),
}
"""Mapping from command to help panel, module and one-line help; see crowdlogic.cli.app."""
