"""Files of crowdlogic: runs, checkpoints and estimates. They contain data only, and no pickle or other executable code.

The store reads and writes plain data (arrays, tables, mappings) and does not depend on learning or rules. Other
packages convert their objects to plain data and back.

    files        JSON, arrays (safetensors) and tables (Parquet), their validation and checksums; layout of a run
    checkpoints  state of a fit, so that it can be resumed; folders that runs may write to
    estimates    an Estimate in a folder; flat dataclasses as rows of JSON
    runs         finished runs
    options      options as plain data
"""

from crowdlogic.registry import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(__name__, __file__)
