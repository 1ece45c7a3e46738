"""Workflows from files to files, used by the command line, the web application and other front ends.

Each workflow is a function of one options object. It reads, calls the packages below, writes, and returns a result
object; it never prints. What a person should know of the inputs is in the result's `notices`; long jobs report their
progress through a callback.
"""

from crowdlogic.registry import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(__name__, __file__)
