from crowdlogic.extensions.paper.benchmarks import load_benchmark as load_benchmark
from crowdlogic.extensions.paper.crf_ma import CRFMA as CRFMA

ENTRIES: dict[str, dict[str, str]]
COMMANDS: dict[str, tuple[str, str, str]]
