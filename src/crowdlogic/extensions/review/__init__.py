"""Review web application, and recommendations for further labels."""

from crowdlogic.registry import lazy_exports

ENTRIES = {
    "pages": {
        "plan": "crowdlogic.extensions.review.plan_page:PAGE",
    },
}
"""Mapping from registry to component name to "module:attribute"; see crowdlogic.registry."""

COMMANDS = {
    "next": (
        "acting",
        "crowdlogic.extensions.review.next_command",
        "Recommend which items to label next, and by whom.",
    ),
    "review": (
        "acting",
        "crowdlogic.extensions.review.command",
        "Review doubtful items in the browser and refit with the decisions.",
    ),
}
"""Mapping from command to help panel, module and one-line help; see crowdlogic.cli.app."""

__all__, __getattr__, __dir__ = lazy_exports(__name__, __file__)
