"""Ray: shards live in actors, on one machine or on a cluster, and each step moves only parameters and count tables.

An actor reads its shards from the coded folder once, when it starts. A step is sent to all actors; what belongs to the
units (states) stays in the object store of the machine where it was made, and only references to it are kept here. A
worker that dies is started again by Ray, reads its shards again and does its step again: the answer is the same.

Axes: i unit.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import ray
from numpy.typing import NDArray

from crowdlogic.data.blocks import Arrays, Step, add_counts
from crowdlogic.errors import ResourceError
from crowdlogic.extensions.scale.coded_files import read_shard
from crowdlogic.extensions.scale.remote import RemoteEngine, require_manifest, size_of

RayStates = tuple[Any, ...]
"""References to the states of each worker's shards, in the order of the workers."""

LOOPBACK = "127.0.0.1"
"""The address that a Ray started here listens at: this machine alone."""

PATIENCE = 30.0
"""Seconds to wait for a free processor core."""


class ShardWorker:
    """Some shards, and steps over them; Ray runs one such object in a process of its own."""

    def __init__(self, folder: str, shards: Sequence[int]) -> None:
        self.shards = [read_shard(Path(folder), at) for at in shards]

    def sum(
        self, step: Step, parameters: Arrays, states: Sequence[Arrays] | None
    ) -> tuple[dict[str, NDArray[Any]], list[Arrays]]:
        """The counts of these shards, added in their order, and the new states."""
        own = _own(parameters)
        found = [step(shard, own, states[at] if states else {}) for at, shard in enumerate(self.shards)]
        counts = dict(found[0][0])
        for more, _ in found[1:]:
            counts = add_counts(counts, more)
        return counts, [state for _, state in found]

    def state(self, step: Step, parameters: Arrays, states: Sequence[Arrays] | None, at: int) -> Arrays:
        """The new state of one of these shards."""
        return step(self.shards[at], _own(parameters), states[at] if states else {})[1]

    def process(self) -> int:
        """The number of the process, once the shards are loaded."""
        return os.getpid()


class RayEngine(RemoteEngine):
    """The `Engine` of Ray.

    Attributes:
        n_workers: Number of actors.
    """

    def __init__(self, folder: Path, *, workers: int = 2, address: str | None = None) -> None:
        super().__init__(require_manifest(folder))
        size = len(self.manifest.shards)
        self._started = not ray.is_initialized()
        if self._started:
            start_ray(workers, address)
        self.n_workers = max(min(workers, size, _free_cores()), 1)
        # Shards are dealt out in turn, so that all workers have one of those that are streamed next
        self._dealt = [list(range(at, size, self.n_workers)) for at in range(self.n_workers)]
        actor = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=-1)(ShardWorker)
        self._workers = [actor.remote(str(folder.resolve()), shards) for shards in self._dealt]
        self.processes()

    def processes(self) -> list[int]:
        """The number of each worker's process, once all shards are loaded."""
        return _get([worker.process.remote() for worker in self._workers])

    def sum(self, step: Step, parameters: Arrays, states: RayStates | None = None) -> tuple[Arrays, RayStates]:
        """The counts of all shards, and references to the new states."""
        sent = ray.put(dict(parameters))
        given = states or (None,) * self.n_workers
        calls = [
            worker.sum.options(num_returns=2).remote(step, sent, own)
            for worker, own in zip(self._workers, given, strict=True)
        ]
        found = _get([counts for counts, _ in calls])
        self.traffic.add(parameters=size_of(parameters) * self.n_workers, counts=sum(map(size_of, found)))
        total = found[0]
        for more in found[1:]:
            total = add_counts(total, more)
        return total, tuple(kept for _, kept in calls)

    def stream(self, step: Step, parameters: Arrays, states: RayStates | None = None) -> Iterator[tuple[slice, Arrays]]:
        """The new state of each shard, in the order of the units; a few shards ahead of who reads them."""
        sent, given = ray.put(dict(parameters)), states or (None,) * self.n_workers
        waiting: list[Any] = []
        for at, run in enumerate(self.runs()):
            who, place = at % self.n_workers, at // self.n_workers
            waiting.append((run, self._workers[who].state.remote(step, sent, given[who], place)))
            if len(waiting) > 2 * self.n_workers:
                yield self._receive(*waiting.pop(0))
        for run, reference in waiting:
            yield self._receive(run, reference)

    def _receive(self, run: slice, reference: Any) -> tuple[slice, Arrays]:
        (state,) = _get([reference])
        self.traffic.add(states=size_of(state))
        return run, state

    def scatter(self, arrays: Arrays) -> RayStates:
        """States from arrays with all units as first axis."""
        runs = self.runs()
        self.traffic.add(states=size_of(arrays))
        return tuple(
            ray.put([{name: np.ascontiguousarray(array[runs[at]]) for name, array in arrays.items()} for at in shards])
            for shards in self._dealt
        )

    def gather(self, states: RayStates) -> dict[str, NDArray[Any]]:
        """Arrays with all units as first axis from states."""
        by_shard: dict[int, Arrays] = {}
        for shards, found in zip(self._dealt, _get(list(states)), strict=True):
            by_shard |= dict(zip(shards, found, strict=True))
        self.traffic.add(states=sum(map(size_of, by_shard.values())))
        return {name: np.concatenate([by_shard[at][name] for at in sorted(by_shard)]) for name in by_shard[0]}

    def close(self) -> None:
        """End the workers, and Ray itself where it was started here."""
        for worker in self._workers:
            with suppress(ray.exceptions.RayError):
                ray.kill(worker)
        if self._started:
            ray.shutdown()


def open_ray(folder: Path, *, workers: int = 2, address: str | None = None) -> RayEngine:
    """The engine over a coded folder, which all machines of a cluster must see at the same path.

    Args:
        folder: The coded folder.
        workers: Number of actors, each with a processor core.
        address: The cluster's address, such as auto or ray://host:10001; None for one on this machine alone.
    """
    return RayEngine(folder, workers=workers, address=address)


def start_ray(workers: int, address: str | None = None) -> None:
    """Connect to a cluster, or start Ray on this machine, for nobody else to reach."""
    quietly: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address is not None:
        ray.init(address=address, **quietly)
        return
    ray.init(num_cpus=workers, include_dashboard=False, _node_ip_address=LOOPBACK, **quietly)


def _free_cores() -> int:
    """How many processor cores nobody uses; a worker that waits for one would wait for ever.

    Those of workers that have just ended are free a moment later, so it is asked again for a while.
    """
    deadline = time.monotonic() + PATIENCE
    while not (free := int(ray.available_resources().get("CPU", 0))):
        if time.monotonic() > deadline:
            raise ResourceError("Ray has no free processor core: all are in use. Wait, or give it another --address.")
        time.sleep(0.1)
    return free


def _get(references: list[Any]) -> list[Any]:
    """What the references stand for; a worker or a machine that cannot be replaced is an error in one sentence."""
    try:
        return list(ray.get(references))
    except (ray.exceptions.RayActorError, ray.exceptions.ObjectLostError) as problem:
        raise ResourceError(
            f"Ray lost a worker and could not replace it ({str(problem).splitlines()[0][:120]}). Run it again; with "
            f"--checkpoint it goes on from where it was."
        ) from problem


def _own(parameters: Arrays) -> dict[str, NDArray[Any]]:
    """The parameters as arrays of this process: those that Ray hands over are read-only views of shared memory."""
    return {name: np.array(array) for name, array in parameters.items()}
