"""Lazy public names of a package (PEP 562), read from the stub next to its `__init__.py`.

The stub `__init__.pyi` is the only list of a package's public names. Type checkers and editors read it directly; at run
time `lazy_exports` reads it, so that `import crowdlogic` loads neither numpy nor any method. A new public name is one
line of the stub:

    from crowdlogic.truth.dawid_skene import DawidSkene as DawidSkene
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

MAX_SUGGESTIONS = 4
"""Maximum number of names that an error message suggests."""


def read_stub(path: str | Path) -> dict[str, str]:
    """Return the public names of a stub, with the module that each is imported from."""
    import ast  # only needed when a package is imported

    nodes = ast.parse(Path(path).read_text(encoding="utf-8")).body
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    return {alias.name: node.module or "" for node in imports for alias in node.names}


def lazy_exports(package: str, file: str) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__all__`, `__getattr__` and `__dir__` of a package, from the stub beside its `__init__.py`.

    Args:
        package: The package's `__name__`.
        file: Its `__file__`.
    """
    modules = read_stub(Path(file).with_suffix(".pyi"))

    def load(name: str) -> Any:
        if name not in modules:
            hint = "" if name.startswith("_") else suggest(name, package, Path(file).parent)
            raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}")
        if modules[name] == package:
            return import_module(f"{package}.{name}")
        value = getattr(import_module(modules[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    def listing() -> list[str]:
        return sorted({*vars(sys.modules[package]), *modules})

    return sorted(modules), load, listing


def suggest(name: str, package: str, folder: Path) -> str:
    """Return a hint for the error message: where a name is defined, or similar names."""
    import difflib

    known: dict[str, str] = {}  # name -> the package that exports it, outer packages first
    for stub in sorted(folder.rglob("__init__.pyi"), key=lambda stub: (len(stub.parts), stub)):
        owner = ".".join([package, *stub.parent.relative_to(folder).parts])
        known = dict.fromkeys(read_stub(stub), owner) | known
    if name in known:
        return f". It is {known[name]}.{name}."
    bare = {one: one.replace("_", "").casefold() for one in known}
    wanted = name.replace("_", "").casefold()
    similar = [one for one in known if bare[one] == wanted]
    if not similar:
        close = difflib.get_close_matches(wanted, list(bare.values()), n=2, cutoff=0.8)
        similar = [one for one in known if bare[one] in close or (wanted in bare[one] and len(wanted) > 2)]
    if not similar:
        return f". dir({package}) lists what is there."
    return f". Did you mean {' or '.join(f'{known[one]}.{one}' for one in similar[:MAX_SUGGESTIONS])}?"
