"""Drop-in replacement for crowd-kit: its names, arguments and data frames, implemented by crowdlogic.

    from crowdlogic.extensions.compat.crowdkit import DawidSkene  # was: from crowdkit.aggregation import DawidSkene

Where crowd-kit's documentation and code differ, this package follows the documentation; see
docs/reference/from-crowd-kit.md.
"""

from crowdlogic.registry import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(__name__, __file__)
