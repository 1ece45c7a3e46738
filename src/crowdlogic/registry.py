"""Registries of components by name, and public names of packages. Objects are imported when they are first used.

A registry has the components of one kind (truth methods, classifiers, formats, predicates, ...). It maps the name that
users write to the place of the object, as "module:attribute". Help texts, enumerations and error messages are derived
from the registries, so a new component is one module and one entry. Entries come from three places, in this order:

1. The core, in this file.
2. Extensions: each package below `crowdlogic/extensions/` lists what it adds in `ENTRIES` of its `__init__.py`. The
   folders are found with pkgutil, so an extension can be removed by deleting its folder.
3. Other distributions, through an entry point:

       [project.entry-points."crowdlogic.methods"]
       my-method = "my_package.my_method:MyMethod"

The public names of a package (PEP 562) are in the stub `__init__.pyi` next to its `__init__.py`, which is their only
list. Type checkers and editors read it directly; at run time `lazy_exports` reads it, so that `import crowdlogic` loads
neither numpy nor any method. A new public name is one line of the stub:

    from crowdlogic.truth.dawid_skene import DawidSkene as DawidSkene
"""

from __future__ import annotations

import ast
import difflib
import pkgutil
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from crowdlogic.errors import CrowdLogicWarning, MissingExtraError, OptionError, did_you_mean, name_list

if TYPE_CHECKING:
    from importlib import metadata

MAX_SUGGESTIONS = 4
"""Maximum number of names that an error message suggests."""


def read_stub(path: str | Path) -> dict[str, str]:
    """Return the public names of a stub, with the module that each is imported from."""
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


EXTRAS = {
    "duckdb": "duckdb",
    "psycopg": "postgresql",
    "torch": "torch",
    "openpyxl": "excel",
    "pyspark": "spark",
    "ray": "ray",
    "transformers": "hf",
    "spacy": "spacy",
    "fastapi": "web",
    "uvicorn": "web",
    "starlette": "web",
    "pydantic": "web",
}
"""Extra of crowdlogic that installs an optional package."""


ComponentType = TypeVar("ComponentType")


@cache
def extensions() -> tuple[ModuleType, ...]:
    """Return the packages below `crowdlogic/extensions/`, sorted by name."""
    try:
        folder = import_module("crowdlogic.extensions")
    except ModuleNotFoundError:  # the core may be installed without extensions
        return ()
    names = sorted(found.name for found in pkgutil.iter_modules(folder.__path__) if found.ispkg)
    return tuple(import_module(f"crowdlogic.extensions.{name}") for name in names)


@cache
def _installed() -> Any:
    """Return the entry points of all installed distributions, read once."""
    from importlib import metadata  # the largest part of `import crowdlogic` otherwise

    return metadata.entry_points()


def entry_points(group: str) -> Iterable[metadata.EntryPoint]:
    """Return the entry points of one group."""
    return tuple(_installed().select(group=group))


_REGISTRIES: list[Registry] = []
"""Every registry, to look up the one whose components have a given type."""


class Registry:
    """Components of one kind by name.

    Attributes:
        kind: Name of the kind in messages, such as "truth method".
        group: Group of entry points, such as "crowdlogic.methods"; extensions use its last part as key of `ENTRIES`.
    """

    def __init__(self, kind: str, group: str, entries: Mapping[str, str]) -> None:
        self.kind, self.group = kind, group
        self._core = dict(entries)
        self._types: list[Any] = []
        self._points: dict[str, metadata.EntryPoint] = {}
        _REGISTRIES.append(self)

    @cached_property
    def _entries(self) -> dict[str, str]:
        """Name -> "module:attribute" of the core and its extensions."""
        found = dict(self._core)
        for extension in extensions():
            found |= extension.ENTRIES.get(self.group.removeprefix("crowdlogic."), {})
        return found

    @cached_property
    def _places(self) -> dict[str, str]:
        """Name -> "module:attribute" of everything, other distributions last."""
        places = dict(self._entries)
        for point in entry_points(group=self.group):
            if point.name in self._entries:
                warnings.warn(
                    f"{point.value}: the entry point {point.name!r} of {self.group} is ignored, because crowdlogic "
                    f"already has a {self.kind} with that name. Choose another name.",
                    CrowdLogicWarning,
                    stacklevel=2,
                )
            else:
                places[point.name] = point.value
                self._points[point.name] = point
        return places

    def names(self) -> tuple[str, ...]:
        """Return all names, in order."""
        return tuple(self._places)

    @property
    def has_more(self) -> bool:
        """Whether another distribution added an entry."""
        return len(self._places) > len(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def add(self, name: str, place: str) -> None:
        """Add an entry, as "module:attribute", for this process only. Use an entry point to add it permanently."""
        if name in self._places:
            raise OptionError(f"There is already a {self.kind} called {name!r}. Choose another name.")
        self._places[name] = place

    def check(self, name: str) -> str:
        """Return the name if it is registered; otherwise raise an error that lists the registered names."""
        if name not in self._places:
            raise OptionError(
                f"No {self.kind} is called {name!r}.{did_you_mean(name, self.names())} "
                f"There are {name_list(self, most=30)}."
            )
        return name

    def load(self, name: str) -> Any:
        """Import and return the registered object."""
        module, _, attribute = self._places[self.check(name)].partition(":")
        try:
            found = import_module(module)
        except ModuleNotFoundError as problem:
            if problem.name in EXTRAS:
                raise MissingExtraError(
                    f"{name} needs the package {problem.name}, which is not installed: "
                    f"pip install crowdlogic[{EXTRAS[problem.name]}]"
                ) from problem
            if name in self._entries:
                raise
            raise self._broken(name, f"there is no module {problem.name}") from problem
        if name not in self._entries and not hasattr(found, attribute):
            raise self._broken(name, f"{module} has no {attribute}")
        return getattr(found, attribute)

    def _broken(self, name: str, why: str) -> MissingExtraError:
        """Return the error for an entry whose object does not exist."""
        place, point = self._places[name], self._points.get(name)
        if point is None:
            return MissingExtraError(f"The {self.kind} {name!r} was added as {place}, but {why}. Correct its place.")
        package = f"the package {point.dist.name}" if point.dist is not None else "its package"
        return MissingExtraError(
            f"The entry point {name!r} of {self.group} is {place}, but {why}. Reinstall or remove {package}."
        )

    def loadable(self) -> list[str]:
        """Return all names that can be loaded, and warn about entries of other distributions that cannot."""
        found = []
        for name in self:
            try:
                if name not in self._entries:
                    self.load(name)
                found.append(name)
            except MissingExtraError as problem:
                warnings.warn(f"{problem} It is left out.", CrowdLogicWarning, stacklevel=2)
        return found

    def create(self, name: str) -> Any:
        """Return an instance with default options."""
        return self.load(name)()

    def serves(self, kind: ComponentType) -> ComponentType:
        """Declare the type of the components, so that an option of that type accepts a name. Usable as a decorator."""
        self._types.append(kind)
        return kind


def registry_serving(kind: Any) -> Registry | None:
    """Return the registry whose components have this type, or None."""
    return next((registry for registry in _REGISTRIES if kind in registry._types), None)


ENGINES = Registry("engine", "crowdlogic.engines", {})
"""Where labels that do not fit into memory are processed; all of them come from extensions."""

PREDICTION_ENGINES = Registry("engine for predictions", "crowdlogic.prediction_engines", {})
"""Functions that run `predict` on items that do not fit into memory, piece by piece; all of them are in extensions."""

SOURCES = Registry("source of labels", "crowdlogic.sources", {})
"""Functions that open labels which `aggregate` does not read into memory, tried in this order."""

TRUTH_METHODS = Registry(
    "truth method",
    "crowdlogic.methods",
    {
        "pool": "crowdlogic.truth.pool:MethodPool",
        "ensemble": "crowdlogic.truth.pool:Ensemble",
        "majority": "crowdlogic.truth.majority:MajorityVote",
        "wawa": "crowdlogic.truth.weighting:Wawa",
        "dawid-skene": "crowdlogic.truth.dawid_skene:DawidSkene",
        "one-coin": "crowdlogic.truth.one_coin:OneCoin",
        "ibcc": "crowdlogic.truth.ibcc:IBCC",
        "ebcc": "crowdlogic.truth.ebcc:EBCC",
        "glad": "crowdlogic.truth.glad:GLAD",
        "mace": "crowdlogic.truth.mace:MACE",
        "pm": "crowdlogic.truth.weighting:PM",
        "catd": "crowdlogic.truth.weighting:CATD",
        "hmm-crowd": "crowdlogic.truth.hmm_crowd:HMMCrowd",
        "bsc-seq": "crowdlogic.truth.bsc_seq:BSCSeq",
    },
)
"""Methods that estimate true labels from crowd labels alone."""

ANNOTATOR_MODELS = Registry(
    "annotator model",
    "crowdlogic.annotators",
    {
        "confusion": "crowdlogic.annotators.confusion:ConfusionMatrices",
        "variational": "crowdlogic.annotators.confusion:VariationalConfusion",
        "one-coin": "crowdlogic.annotators.one_coin:Coin",
        "class-accuracy": "crowdlogic.annotators.class_accuracy:ClassAccuracy",
        "assumed-accuracy": "crowdlogic.annotators.confusion:AssumedAccuracy",
        "abstaining": "crowdlogic.annotators.abstaining:Abstaining",
        "sequential": "crowdlogic.annotators.sequential:Sequential",
    },
)
"""Models of how an annotator's labels depend on the true label."""

CLASSIFIERS = Registry(
    "classifier",
    "crowdlogic.classifiers",
    {
        "linear": "crowdlogic.classifiers.linear:Linear",
        "crf": "crowdlogic.classifiers.crf:CRF",
        "scikit": "crowdlogic.classifiers.scikit:Scikit",
        "prior": "crowdlogic.classifiers.class_prior:ClassPrior",
    },
)
"""Classifiers and taggers that learn from the items."""

FORMATS = Registry(
    "file format",
    "crowdlogic.formats",
    {
        "csv": "crowdlogic.data.formats.delimited:CSV",
        "tsv": "crowdlogic.data.formats.delimited:TSV",
        "xlsx": "crowdlogic.data.formats.excel:EXCEL",
        "parquet": "crowdlogic.data.formats.parquet:PARQUET",
        "jsonl": "crowdlogic.data.formats.jsonl:JSONL",
        "json": "crowdlogic.data.formats.jsonl:JSON",
        "conll": "crowdlogic.data.formats.conll:CONLL",
        "conll2003": "crowdlogic.data.formats.conll:CONLL2003",
    },
)
"""File formats. The first format with a suffix is the default for that suffix."""

DATABASES = Registry("database", "crowdlogic.databases", {})
"""Databases by the scheme of their addresses, such as duckdb:warehouse.db/labels; all of them come from extensions."""

IMITATIONS = Registry(
    "imitation",
    "crowdlogic.imitations",
    {
        "growing": "crowdlogic.learning.algorithm:GrowingImitation",
        "constant": "crowdlogic.learning.algorithm:ConstantImitation",
    },
)
"""Schedules k(epoch): the share of the rules' posterior in the training targets (eq. 9)."""

PREDICATES = Registry(
    "predicate",
    "crowdlogic.predicates",
    {
        "Label": "crowdlogic.rules.predicates.definition:LABEL",
        "Predicted": "crowdlogic.rules.predicates.definition:PREDICTED",
        "Contains": "crowdlogic.rules.predicates.words_and_contrast_clauses:CONTAINS",
        "Matches": "crowdlogic.rules.predicates.patterns:MATCHES",
        "After": "crowdlogic.rules.predicates.words_and_contrast_clauses:AFTER",
        "Before": "crowdlogic.rules.predicates.words_and_contrast_clauses:BEFORE",
        "Token": "crowdlogic.rules.predicates.tokens:TOKEN",
        "Shape": "crowdlogic.rules.predicates.tokens:SHAPE",
        "InList": "crowdlogic.rules.predicates.tokens:IN_LIST",
        "Previous": "crowdlogic.rules.predicates.sequences:PREVIOUS",
        "Next": "crowdlogic.rules.predicates.sequences:NEXT",
        "First": "crowdlogic.rules.predicates.sequences:FIRST",
        "Last": "crowdlogic.rules.predicates.sequences:LAST",
        "SameSequence": "crowdlogic.rules.predicates.sequences:SAME_SEQUENCE",
        "Above": "crowdlogic.rules.predicates.features:ABOVE",
        "Below": "crowdlogic.rules.predicates.features:BELOW",
        "Nearest": "crowdlogic.rules.predicates.features:NEAREST",
    },
)
"""Predicates that rules may use."""

PAGES = Registry(
    "page of the report",
    "crowdlogic.pages",
    {
        "overview": "crowdlogic.reporting.pages.overview:PAGE",
        "labels": "crowdlogic.reporting.pages.labels:PAGE",
        "annotators": "crowdlogic.reporting.pages.annotators:PAGE",
        "rules": "crowdlogic.reporting.pages.rules:PAGE",
        "training": "crowdlogic.reporting.pages.training:PAGE",
        "comparison": "crowdlogic.reporting.pages.comparison:PAGE",
    },
)
"""Pages of the report, in their order; pages of extensions come last."""

COSTS = Registry(
    "cost estimate",
    "crowdlogic.costs",
    {
        "linear": "crowdlogic.learning.choice:linear_cost",
        "crf": "crowdlogic.learning.choice:crf_cost",
    },
)
"""Time that a classifier takes, by its name: functions of a `Workload`, with which `train` chooses a classifier."""

MODEL_ADAPTERS = Registry("model adapter", "crowdlogic.models", {})
"""Functions that convert an object or path given by a user to a classifier, or return None."""

STOPPING_RULES = Registry(
    "stopping rule",
    "crowdlogic.stopping",
    {
        "dev": "crowdlogic.learning.stopping:DevScore",
        "held-out": "crowdlogic.learning.stopping:HeldOutLikelihood",
        "fixed": "crowdlogic.learning.stopping:FixedEpochs",
        "settled": "crowdlogic.learning.stopping:SettledAnswers",
    },
)
"""Rules that decide when training stops and which epoch is kept."""

LEARNING_METHODS = Registry(
    "learning method",
    "crowdlogic.learners",
    {
        "logic-lncl": "crowdlogic.learning.algorithm:LogicLNCL",
        "aggnet": "crowdlogic.learning.baselines:AggNet",
        "raykar": "crowdlogic.learning.baselines:Raykar",
        "two-stage": "crowdlogic.learning.baselines:TwoStage",
        "fixed-truth": "crowdlogic.learning.baselines:FixedTruth",
        "gold": "crowdlogic.learning.baselines:Gold",
    },
)
"""Methods that learn a classifier, the annotators and the truth together."""

DEFAULT_LEARNING_METHOD = "logic-lncl"
"""Default learning method."""

PRESETS = Registry("preset", "crowdlogic.presets", {"linear-paper": "crowdlogic.learning.presets:linear_paper_preset"})
"""Ready-made configurations of learning methods: functions of the classes."""
