"""What crowdlogic keeps on disk: estimates, checkpoints, and run directories. No pickle, nothing that can run.

The store holds plain data (arrays, tables, mappings) and knows neither learning nor rules: what is saved hands itself
over as plain data, and is rebuilt from it.

    files        one codec: JSON, JSON lines, named arrays (safetensors) and tables (Parquet), each written whole
    damage       validation of what a file holds, and the error for a damaged run
    digests      fingerprints of what a fit depends on
    layout       the files of a run directory, and its status
    locks        which folder a run may write to
    checkpoints  the state of a fit, to resume it after a kill
    estimates    an Estimate in a folder
    runs         a finished run; its tables are in run_tables
    records      flat dataclasses as rows of JSON, and back
    options      options as plain data and back
"""

from crowdlogic.registry import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(__name__, __file__)
