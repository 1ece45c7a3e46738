"""scikit-learn estimators, and drop-in replacements for crowd-kit and cleanlab."""

from crowdlogic.registry import lazy_exports

ENTRIES = {
    "methods": {
        "zero-based-skill": "crowdlogic.extensions.compat.zero_based_skill:ZeroBasedSkill",
        "kos": "crowdlogic.extensions.compat.kos:KOS",
        "m-msr": "crowdlogic.extensions.compat.m_msr:MMSR",
    },
}
"""Mapping from registry to component name to "module:attribute"; see crowdlogic.registry."""

__all__, __getattr__, __dir__ = lazy_exports(__name__, __file__)
