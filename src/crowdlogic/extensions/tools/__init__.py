"""Readers and writers for the exports of annotation and evaluation tools (Label Studio, promptfoo, ...)."""

ENTRIES = {
    "formats": {
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
}
"""Mapping from registry to component name to "module:attribute"; see crowdlogic.registry."""

CSV_COLUMNS = {"label-studio": "annotation_id"}
"""Formats that may have the suffix .csv, and a column of their files: other csv files are read without loading them."""
