"""Experiments of the paper, CRF-MA and the public benchmark data sets."""

from crowdlogic.registry import lazy_exports

ENTRIES = {
    "learners": {
        "crf-ma": "crowdlogic.extensions.paper.crf_ma:CRFMA",
    },
}
"""Mapping from registry to component name to "module:attribute"; see crowdlogic.registry."""

COMMANDS = {
    "reproduce": (
        "paper",
        "crowdlogic.extensions.paper.reproduce_command",
        "Run the paper's methods over several seeds and write its tables and figures.",
    ),
    "datasets": (
        "paper",
        "crowdlogic.extensions.paper.datasets_command",
        "List the public data sets and say which ones are available.",
    ),
}
"""Mapping from command to help panel, module and one-line help; see crowdlogic.cli.app."""

__all__, __getattr__, __dir__ = lazy_exports(__name__, __file__)
