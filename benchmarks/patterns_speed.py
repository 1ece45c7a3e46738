"""Measure patterns: from a wide Parquet file to an answer for every pattern, against a plain GROUP BY in DuckDB.

    python -m benchmarks.patterns_speed --items 1e9 --folder build/patterns

The data are simulated: five judges, five classes, 3 % empty cells, strings. The file is written first, and kept for the
next run unless --remove is given. Every figure comes from a separate process: wall-clock and CPU seconds, two threads.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

JUDGES = [f"judge_{j}" for j in range(5)]
CLASSES = ("excellent", "good", "fair", "poor", "wrong")
BLOCK, POOL = 4_000_000, 1 << 16
"""Number of rows drawn at a time, and number of distinct rows to draw from."""


def write_wide(path: Path, size: int) -> None:
    """Write a wide table whose rows are drawn from a pool of rows labelled by judges with different skills."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 5, POOL)
    right = rng.random((POOL, 5)) < np.array([0.9, 0.8, 0.7, 0.6, 0.5])
    pool = np.where(right, truth[:, None], rng.integers(0, 5, (POOL, 5))).astype(np.int8)
    pool[rng.random(pool.shape) < 0.03] = -1
    names = pa.array(CLASSES)
    coded = pa.dictionary(pa.int8(), pa.string())  # strings, which Parquet stores with dictionary encoding
    schema = pa.schema([("item", pa.int64()), *((name, coded) for name in JUDGES)])
    options = {"use_dictionary": JUDGES, "column_encoding": {"item": "DELTA_BINARY_PACKED"}, "store_schema": False}
    with pq.ParquetWriter(path, schema, compression="snappy", **options) as writer:
        for begin in range(0, size, BLOCK):
            drawn = pool[rng.integers(0, POOL, min(BLOCK, size - begin), dtype=np.uint16)]
            cells = [pa.DictionaryArray.from_arrays(pa.array(one, mask=one < 0), names) for one in drawn.T]
            items = pa.array(np.arange(begin, begin + len(drawn)))
            table = pa.Table.from_arrays([items, *cells], schema=schema)
            writer.write_table(table, row_group_size=1_000_000)


GROUP_BY = """
import duckdb, sys
with duckdb.connect(config={"threads": 2}) as c:
    c.execute("SET enable_progress_bar = false")
    query = "SELECT {0}, count(*) FROM read_parquet($1) GROUP BY {0}".format(sys.argv[2])
    found = c.execute(query, [sys.argv[1]])
    print(len(found.fetchall()), "patterns")
"""


def timed(name: str, *words: str) -> tuple[float, float]:
    """Run a command and return its wall-clock and CPU seconds."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, *words], check=True)
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{name:45} {wall:8.1f} s wall {cpu:8.1f} s processor  peak {after.ru_maxrss / 2**20:.1f} GiB", flush=True)
    return wall, cpu


def main() -> None:
    """Print every figure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--items", type=float, default=1e8)
    parser.add_argument("--folder", type=Path, default=Path("build/patterns"))
    parser.add_argument("--remove", action="store_true", help="Remove the files at the end.")
    parser.add_argument("--join", action="store_true", help="Also join the answers back to the items.")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    wide = given.folder / f"wide-{given.items:.0e}.parquet"
    if not wide.exists():
        write_wide(wide, int(given.items))
    print(f"{int(given.items):,} items, 5 judges, {wide.stat().st_size / 2**30:.2f} GiB of Parquet", flush=True)
    crowdlogic = ("-m", "crowdlogic")
    patterns, answers = str(given.folder / "patterns.parquet"), str(given.folder / "answers.parquet")
    who, bare, ours = str(given.folder / "who.csv"), [], []
    for _ in range(2):
        bare.append(timed("DuckDB, plain GROUP BY", "-c", GROUP_BY, str(wide), ", ".join(JUDGES)))
        wall, cpu = timed("crowdlogic patterns", *crowdlogic, "patterns", str(wide), "--wide", "-o", patterns)
        words = ("aggregate", patterns, "--wide", "-m", "dawid-skene", "-o", answers, "--annotators", who)
        more, more_cpu = timed("crowdlogic aggregate", *crowdlogic, *words)
        ours.append((wall + more, cpu + more_cpu))
    print(f"wall {min(ours)[0] / min(bare)[0]:.2f} times, ", end="")
    print(f"processor {min(o[1] for o in ours) / min(b[1] for b in bare):.2f} times the plain GROUP BY (best of two)")
    if given.join:
        to_items = ("aggregate", str(wide), "--wide", "-m", "dawid-skene", "-o", str(given.folder / "joined.parquet"))
        timed("grouped, fitted and joined back", *crowdlogic, *to_items)
    if given.remove:
        for file in given.folder.iterdir():
            file.unlink()


if __name__ == "__main__":
    main()
