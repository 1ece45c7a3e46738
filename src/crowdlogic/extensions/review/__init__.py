"""The review web application, and recommendations for further labels."""

from crowdlogic.exports import lazy_exports

ENTRIES = {
    "pages": {
        "plan": "crowdlogic.extensions.review.plan_page:PAGE",
    },
}
"""Group of components -> name -> "module:attribute"; see crowdlogic.registry."""

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
"""Command -> panel of the help, module, help in one line; see crowdlogic.cli.app."""

__all__, __getattr__, __dir__ = lazy_exports(__name__, __file__)
