"""Files of crowdlogic: estimates, checkpoints and runs. No pickle, and nothing that can be executed.

The store reads and writes plain data (arrays, tables, mappings) and does not depend on learning or rules. Other
packages convert their objects to plain data and back.

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
