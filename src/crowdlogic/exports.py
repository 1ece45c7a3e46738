"""What a package exports: the imports in the stub beside its `__init__.py`, each carried out when it is first needed.

The stub `__init__.pyi` is the one list of a package's public names. Type checkers and editors read it as it is; at run
time `lazy_exports` does, so that `import crowdlogic` loads neither numpy nor any method. A new public name is one
line of the stub:

    from crowdlogic.truth.dawid_skene import DawidSkene as DawidSkene
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any


def read_stub(path: str | Path) -> dict[str, str]:
    """The public names of a stub and the module that each is imported from."""
    lines = re.findall(r"^from (\S+) import (\w+)", Path(path).read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {name: module for module, name in lines}


MOST_NAMED = 4
"""How many names a message offers in place of one that is not there."""


def _hint(name: str, package: str, folder: Path, guessed: Mapping[str, str]) -> str:
    """What is there instead of a name: where it is, or what sounds like it, with the whole way to write it."""
    if name.startswith("_"):  # asked for by tools, and by no person
        return ""
    if name.casefold() in guessed:
        return f". Write {guessed[name.casefold()]}."
    known = _names_below(package, folder)
    near = _like(name, list(known))[:MOST_NAMED]
    if not near:
        return f". dir({package}) lists what is there."
    where = [f"{known[one]}.{one}" for one in near]
    exact = [way for way, one in zip(where, near, strict=True) if one == name]
    return f". It is {exact[0]}." if exact else f". Did you mean {' or '.join(where)}?"


def _names_below(package: str, folder: Path) -> dict[str, str]:
    """The public names of a package and of its subpackages, each with the shortest way to it."""
    stubs = sorted(folder.rglob("__init__.pyi"), key=lambda stub: len(stub.parts))
    found: dict[str, str] = {}
    for stub in stubs:
        way = ".".join([package, *stub.parent.relative_to(folder).parts])
        found = dict.fromkeys(read_stub(stub), way) | found
    return found


def _like(name: str, known: list[str]) -> list[str]:
    """The same name but for its case, else those that sound like it, then those that have it in them."""
    import difflib  # here: only a name that is not there needs it

    bare = {one: one.replace("_", "").casefold() for one in known}
    asked = name.replace("_", "").casefold()
    same = [one for one in known if bare[one] == asked]
    if same:
        return same[:1]
    close = difflib.get_close_matches(asked, list(bare.values()), n=2, cutoff=0.8)
    sounding = [one for word in close for one in known if bare[one] == word]
    holding = [one for one in known if asked in bare[one] and len(asked) > 2]
    return list(dict.fromkeys([*sounding, *holding]))


def lazy_exports(
    package: str, file: str, *, guessed: Mapping[str, str] | None = None
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """`__all__`, `__getattr__` and `__dir__` of a package, from the stub beside its `__init__.py`.

    Args:
        package: The package's `__name__`.
        file: Its `__file__`.
        guessed: Names that people try and that are not there, in lower case, with what to write instead.
    """
    places = read_stub(Path(file).with_suffix(".pyi"))
    public = sorted(places)

    def load(name: str) -> Any:
        if name not in places:
            raise AttributeError(
                f"module {package!r} has no attribute {name!r}{_hint(name, package, Path(file).parent, guessed or {})}"
            )
        if places[name] == package:  # a module of the package itself
            return import_module(f"{package}.{name}")
        value = getattr(import_module(places[name]), name)
        setattr(sys.modules[package], name, value)  # looked up once only
        return value

    def listing() -> list[str]:
        return sorted({*vars(sys.modules[package]), *public})

    return public, load, listing
