"""Noisy crowd labels and the rules people already know, made into clean labels and a verdict on every annotator.

The public names are listed in `__init__.pyi`; each is imported when it is first used.
"""

from crowdlogic.exports import lazy_exports

__version__ = "0.1.0"

_AGGREGATE = "crowdlogic.aggregate(labels), or with a method: crowdlogic.aggregate(labels, 'dawid-skene')"
_FIT = "crowdlogic.LogicLNCL('linear').fit(items, labels), with save='run' to keep it"
_RULES = "learned.rule_table(), of what fit or crowdlogic.load_run('run') gave: a verdict on each rule"
_REPORT = "crowdlogic.report_to_html('labels.csv'), or of a run: crowdlogic.report_to_html('run')"
_SCORE = "crowdlogic.truth.compare_methods(['ensemble', 'majority'], labels, gold={'t1': 'billing'})"
_LABELS = "crowdlogic.read_labels('labels.csv'), or of a frame: crowdlogic.from_frame(frame)"

__all__, __getattr__, __dir__ = lazy_exports(
    __name__,
    __file__,
    guessed={
        "aggregate_labels": _AGGREGATE,
        "audit": _RULES,
        "audit_rules": _RULES,
        "compare": _SCORE,
        "evaluate": _SCORE,
        "explain": "learned.explain(item), of what fit or crowdlogic.load_run('run') gave; print it",
        "fit": _FIT,
        "from_pandas": _LABELS,
        "from_polars": _LABELS,
        "infer": _AGGREGATE,
        "load": "crowdlogic.load_run('run'), or crowdlogic.load_estimate(folder)",
        "make_report": _REPORT,
        "score": _SCORE,
        "predict": "learned.predict(texts), of what fit or crowdlogic.load_run('run') gave",
        "read_csv": _LABELS,
        "read_frame": _LABELS,
        "report": _REPORT,
        "rule_table": _RULES,
        "train": _FIT,
        "verdicts": "crowdlogic.annotator_table(labels, estimate); of rules learned.rule_table()",
        "write_report": _REPORT,
    },
)
