"""The bars of starting, and how a command is timed."""

from benchmarks.startup import COMMANDS, processor_seconds


def test_the_bars_are_those_that_were_promised():
    assert [command.bar for command in COMMANDS] == [0.4, 0.4, 1.0, 0.25]


def test_waiting_costs_no_processor_time_and_computing_does(tmp_path):
    waiting = processor_seconds(("-S", "-c", "import time; time.sleep(0.5)"), tmp_path)
    computing = processor_seconds(("-S", "-c", "sum(range(10_000_000))"), tmp_path)

    assert 0 < waiting < 0.3
    assert computing > waiting
