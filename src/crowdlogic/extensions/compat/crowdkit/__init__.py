"""crowd-kit's names, arguments and frames over crowdlogic's code: replace the import, keep the rest.

    from crowdlogic.extensions.compat.crowdkit import DawidSkene  # was: from crowdkit.aggregation import DawidSkene

Where crowd-kit's documentation and its code differ, this follows the documentation; see
docs/reference/from-crowd-kit.md.
"""

from crowdlogic.exports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(__name__, __file__)
