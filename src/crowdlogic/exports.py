"""What a package exports: the imports in the stub beside its `__init__.py`, each carried out when it is first needed.

The stub `__init__.pyi` is the one list of a package's public names. Type checkers and editors read it as it is; at run
time `lazy_exports` does, so that `import crowdlogic` loads neither numpy nor any method. A new public name is one
line of the stub:

    from crowdlogic.truth.dawid_skene import DawidSkene as DawidSkene
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def read_stub(path: str | Path) -> dict[str, str]:
    """The public names of a stub and the module that each is imported from."""
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in imports for alias in node.names}


def lazy_exports(package: str, file: str) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """`__all__`, `__getattr__` and `__dir__` of a package, from the stub beside its `__init__.py`.

    Args:
        package: The package's `__name__`.
        file: Its `__file__`.
    """
    places = read_stub(Path(file).with_suffix(".pyi"))
    public = sorted(places)

    def load(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if places[name] == package:  # a module of the package itself
            return import_module(f"{package}.{name}")
        value = getattr(import_module(places[name]), name)
        setattr(sys.modules[package], name, value)  # looked up once only
        return value

    def listing() -> list[str]:
        return sorted({*vars(sys.modules[package]), *public})

    return public, load, listing
