"""One list of each kind of thing: truth methods, classifiers, formats, predicates, pages, ...

A list maps the name that people use to the place of the thing, as "module:attribute". Nothing is imported before it is
asked for. Help texts, enumerations, error messages and exports are made from these lists, so a new thing is one module
and one entry here.

Other packages add to a list through an entry point of its group, read when the list is first asked for:

    [project.entry-points."crowdlogic.methods"]
    my-method = "my_package.my_method:MyMethod"
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from importlib import import_module, metadata
from typing import Any, TypeVar

from crowdlogic.errors import CrowdLogicWarning, MissingExtraError, OptionError, did_you_mean, name_list

EXTRAS = {
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
"""Which extra of crowdlogic brings a package that not everyone needs."""


LayerKind = TypeVar("LayerKind")


@cache
def _installed() -> Any:
    """The entry points of all installed packages, looked through once."""
    return metadata.entry_points()


def entry_points(group: str) -> Iterable[metadata.EntryPoint]:
    """Those of one group."""
    return tuple(_installed().select(group=group))


_REGISTRIES: list[Registry] = []
"""Every registry, so that the one that serves a type can be found."""


class Registry:
    """Things of one kind by name.

    Attributes:
        kind: What one of them is called in messages, such as "truth method".
        group: The group of entry points through which other packages add to the list.
    """

    def __init__(self, kind: str, group: str, entries: Mapping[str, str]) -> None:
        self.kind, self.group = kind, group
        self._entries = dict(entries)
        self._types: list[Any] = []
        self._points: dict[str, metadata.EntryPoint] = {}
        _REGISTRIES.append(self)

    @cached_property
    def _places(self) -> dict[str, str]:
        """Name -> "module:attribute", those of other packages behind ours."""
        places = dict(self._entries)
        for point in entry_points(group=self.group):
            if point.name in self._entries:
                warnings.warn(
                    f"{point.value}: the entry point {point.name!r} of {self.group} is ignored, because crowdlogic has "
                    f"a {self.kind} of that name. Give it another name.",
                    CrowdLogicWarning,
                    stacklevel=2,
                )
            else:
                places[point.name] = point.value
                self._points[point.name] = point
        return places

    def names(self) -> tuple[str, ...]:
        """All names, in the order of the list."""
        return tuple(self._places)

    @property
    def has_more(self) -> bool:
        """Whether others added to our list."""
        return len(self._places) > len(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def add(self, name: str, place: str) -> None:
        """Add one for this process, as "module:attribute"; an entry point does it for good."""
        if name in self._places:
            raise OptionError(f"There is a {self.kind} called {name!r} already. Give it another name.")
        self._places[name] = place

    def check(self, name: str) -> str:
        """The name itself, if something has it; else an error that names those that are there."""
        if name not in self._places:
            raise OptionError(
                f"No {self.kind} is called {name!r}.{did_you_mean(name, self.names())} "
                f"There are {name_list(self, most=30)}."
            )
        return name

    def load(self, name: str) -> Any:
        """The thing of that name, imported now."""
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
        """The error of a place where nothing is."""
        place, point = self._places[name], self._points.get(name)
        if point is None:
            return MissingExtraError(f"The {self.kind} {name!r} was added as {place}, but {why}. Correct its place.")
        package = f"the package {point.dist.name}" if point.dist is not None else "its package"
        return MissingExtraError(
            f"The entry point {name!r} of {self.group} is {place}, but {why}. Reinstall or remove {package}."
        )

    def loadable(self) -> list[str]:
        """All names but those of other packages that cannot be loaded, of which a warning says why."""
        return [name for name in self if name in self._entries or self._can_load(name)]

    def _can_load(self, name: str) -> bool:
        try:
            self.load(name)
        except MissingExtraError as problem:
            warnings.warn(f"{problem} It is left out.", CrowdLogicWarning, stacklevel=3)
            return False
        return True

    def create(self, name: str) -> Any:
        """The thing of that name, with its default options."""
        return self.load(name)()

    def serves(self, kind: LayerKind) -> LayerKind:
        """Say which type its things have: an option of that type can then be given by name. A class decorator, too."""
        self._types.append(kind)
        return kind


def registry_serving(kind: Any) -> Registry | None:
    """The registry whose things have that type; None when there is none."""
    return next((registry for registry in _REGISTRIES if kind in registry._types), None)


ENGINES = Registry(
    "engine",
    "crowdlogic.engines",
    {
        "local": "crowdlogic.extensions.scale.coded_files:open_local",
        "ray": "crowdlogic.extensions.scale.ray:open_ray",
        "spark": "crowdlogic.extensions.scale.spark:open_spark",
    },
)

TRUTH_METHODS = Registry(
    "truth method",
    "crowdlogic.methods",
    {
        "ensemble": "crowdlogic.truth.ensemble:Ensemble",
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
        "zero-based-skill": "crowdlogic.extensions.compat.zero_based_skill:ZeroBasedSkill",
        "kos": "crowdlogic.extensions.compat.kos:KOS",
        "m-msr": "crowdlogic.extensions.compat.m_msr:MMSR",
        "hmm-crowd": "crowdlogic.truth.hmm_crowd:HMMCrowd",
        "bsc-seq": "crowdlogic.truth.bsc_seq:BSCSeq",
    },
)
"""What is true, from the labels alone."""

ANNOTATOR_MODELS = Registry(
    "annotator model",
    "crowdlogic.annotators",
    {
        "confusion": "crowdlogic.annotators.confusion:ConfusionMatrices",
        "variational": "crowdlogic.annotators.confusion:VariationalConfusion",
        "one-coin": "crowdlogic.annotators.one_coin:Coin",
        "class-accuracy": "crowdlogic.annotators.class_accuracy:ClassAccuracy",
        "abstaining": "crowdlogic.annotators.abstaining:Abstaining",
        "sequential": "crowdlogic.annotators.sequential:Sequential",
    },
)
"""What an annotator's label says of the truth."""

CLASSIFIERS = Registry(
    "classifier",
    "crowdlogic.classifiers",
    {
        "linear": "crowdlogic.classifiers.linear:Linear",
        "crf": "crowdlogic.classifiers.crf:CRF",
        "kim-cnn": "crowdlogic.extensions.networks.kim_cnn:KimCNN",
        "cnn-gru": "crowdlogic.extensions.networks.cnn_gru:CNNGRU",
        "bilstm-crf": "crowdlogic.extensions.networks.bilstm_crf:BiLSTMCRF",
        "mlp": "crowdlogic.extensions.networks.mlp:MLP",
        "scikit": "crowdlogic.classifiers.scikit:Scikit",
        "transformer": "crowdlogic.extensions.networks.transformer:Transformer",
        "prior": "crowdlogic.classifiers.class_prior:ClassPrior",
    },
)
"""What learns from the items."""

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
        "spacy": "crowdlogic.extensions.tools.spacy_docbin:SPACY",
        "fasttext": "crowdlogic.extensions.tools.fasttext:FASTTEXT",
        "huggingface": "crowdlogic.extensions.tools.huggingface:HUGGINGFACE",
        "promptfoo": "crowdlogic.extensions.tools.promptfoo:PROMPTFOO",
        "inspect": "crowdlogic.extensions.tools.inspect_log:INSPECT",
        "deepeval": "crowdlogic.extensions.tools.deepeval:DEEPEVAL",
        "lm-eval": "crowdlogic.extensions.tools.lm_eval:LM_EVAL",
        "langfuse": "crowdlogic.extensions.tools.langfuse:LANGFUSE",
        "opik": "crowdlogic.extensions.tools.opik:OPIK",
        "label-studio": "crowdlogic.extensions.tools.label_studio:LABEL_STUDIO",
        "prodigy": "crowdlogic.extensions.tools.prodigy:PRODIGY",
        "doccano": "crowdlogic.extensions.tools.doccano:DOCCANO",
        "potato": "crowdlogic.extensions.tools.potato:POTATO",
        "argilla": "crowdlogic.extensions.tools.argilla:ARGILLA",
        "webanno-tsv": "crowdlogic.extensions.tools.webanno_tsv:WEBANNO_TSV",
        "wrench": "crowdlogic.extensions.tools.wrench:WRENCH",
        "label-matrix": "crowdlogic.extensions.tools.label_matrix:LABEL_MATRIX",
    },
)
"""How files are read and written. Where several formats share a suffix, the first one is its default."""

IMITATIONS = Registry(
    "imitation",
    "crowdlogic.imitations",
    {
        "growing": "crowdlogic.learning.imitation:GrowingImitation",
        "constant": "crowdlogic.learning.imitation:ConstantImitation",
    },
)
"""How much of the rules' view the targets of an epoch take in."""

PREDICATES = Registry(
    "predicate",
    "crowdlogic.predicates",
    {
        "Label": "crowdlogic.rules.predicates.definition:LABEL",
        "Predicted": "crowdlogic.rules.predicates.definition:PREDICTED",
        "Contains": "crowdlogic.rules.predicates.text:CONTAINS",
        "Matches": "crowdlogic.rules.predicates.text:MATCHES",
        "After": "crowdlogic.rules.predicates.text:AFTER",
        "Before": "crowdlogic.rules.predicates.text:BEFORE",
        "Token": "crowdlogic.rules.predicates.tokens:TOKEN",
        "Shape": "crowdlogic.rules.predicates.tokens:SHAPE",
        "InList": "crowdlogic.rules.predicates.tokens:IN_LIST",
        "Previous": "crowdlogic.rules.predicates.sequences:PREVIOUS",
        "Next": "crowdlogic.rules.predicates.sequences:NEXT",
        "First": "crowdlogic.rules.predicates.sequences:FIRST",
        "Last": "crowdlogic.rules.predicates.sequences:LAST",
        "SameSequence": "crowdlogic.rules.predicates.sequences:SAME_SEQUENCE",
    },
)
"""What rules may speak of."""

PAGES = Registry(
    "page of the report",
    "crowdlogic.pages",
    {
        "overview": "crowdlogic.report.pages.overview:PAGE",
        "labels": "crowdlogic.report.pages.labels:PAGE",
        "annotators": "crowdlogic.report.pages.annotators:PAGE",
        "plan": "crowdlogic.extensions.review.plan_page:PAGE",
        "rules": "crowdlogic.report.pages.rules:PAGE",
        "training": "crowdlogic.report.pages.training:PAGE",
        "comparison": "crowdlogic.report.pages.comparison:PAGE",
    },
)
"""The pages of a report, in their order."""

LEARNING_METHODS = Registry(
    "learning method",
    "crowdlogic.learners",
    {
        "logic-lncl": "crowdlogic.learning.algorithm:LogicLNCL",
        "aggnet": "crowdlogic.learning.baselines.aggnet:AggNet",
        "raykar": "crowdlogic.learning.baselines.aggnet:Raykar",
        "two-stage": "crowdlogic.learning.baselines.two_stage:TwoStage",
        "fixed-truth": "crowdlogic.learning.baselines.fixed_truth:FixedTruth",
        "gold": "crowdlogic.learning.baselines.two_stage:Gold",
        "crowd-layer": "crowdlogic.extensions.networks.crowd_layer_method:CrowdLayer",
        "dl-dn": "crowdlogic.extensions.networks.doctor_nets:DoctorNets",
        "dl-wdn": "crowdlogic.extensions.networks.doctor_nets:WeightedDoctorNets",
        "crf-ma": "crowdlogic.extensions.paper.crf_ma:CRFMA",
    },
)
"""What learns a classifier, the annotators and the truth together."""

DEFAULT_LEARNING_METHOD = "logic-lncl"
"""The learning method when none is named."""

PRESETS = Registry(
    "preset",
    "crowdlogic.presets",
    {
        "sentiment": "crowdlogic.extensions.networks.presets:sentiment_preset",
        "sentiment-paper": "crowdlogic.extensions.networks.presets:sentiment_paper_preset",
        "sentiment-encoder": "crowdlogic.extensions.networks.presets:sentiment_encoder_preset",
        "ner": "crowdlogic.extensions.networks.presets:ner_preset",
        "ner-released": "crowdlogic.extensions.networks.presets:ner_released_preset",
        "ner-paper": "crowdlogic.extensions.networks.presets:ner_paper_preset",
    },
)
"""Configurations of learning methods: functions of the classes."""
