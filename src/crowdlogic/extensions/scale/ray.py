"""Ray engine: shards live in actors on one machine or a cluster; steps only transfer parameters and count tables.

An actor reads its shards from the encoded folder when it starts. A step is sent to all actors. Per-unit states stay in
the object store of the machine that created them, and the driver only keeps references. If a worker dies, Ray restarts
it; it reads its shards and repeats its step with the same result.

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
from crowdlogic.extensions.scale.coded_files import read_shard, require_manifest
from crowdlogic.extensions.scale.remote import RemoteEngine, size_of

RayStates = tuple[Any, ...]
"""References to the states of the shards, one per worker."""

LOOPBACK = "127.0.0.1"
"""Address of a locally started Ray, reachable from this machine only."""

CORE_TIMEOUT = 30.0
"""Seconds to wait for a free processor core."""


class ShardWorker:
    """Ray actor that owns some shards and runs steps on them in its own process."""

    def __init__(self, folder: str, shards: Sequence[int]) -> None:
        self.shards = [read_shard(Path(folder), at) for at in shards]

    def sum(
        self, step: Step, parameters: Arrays, states: Sequence[Arrays] | None
    ) -> tuple[dict[str, NDArray[Any]], list[Arrays]]:
        """Return the sum of the counts of these shards, in order, and the new states."""
        own = _own(parameters)
        found = [step(shard, own, states[at] if states else {}) for at, shard in enumerate(self.shards)]
        counts = dict(found[0][0])
        for more, _ in found[1:]:
            counts = add_counts(counts, more)
        return counts, [state for _, state in found]

    def state(self, step: Step, parameters: Arrays, states: Sequence[Arrays] | None, at: int) -> Arrays:
        """Return the new state of one of these shards."""
        return step(self.shards[at], _own(parameters), states[at] if states else {})[1]

    def process(self) -> int:
        """Return the process id, once the shards are loaded."""
        return os.getpid()


class RayEngine(RemoteEngine):
    """`Engine` for Ray.

    Attributes:
        n_workers: Number of actors.
    """

    def __init__(self, folder: Path, *, workers: int = 2, address: str | None = None) -> None:
        super().__init__(require_manifest(folder))
        size = len(self.manifest.shards)
        self._started = not ray.is_initialized()
        if self._started:
            start_ray(workers, address)
        self.n_workers = max(min(workers, size, free_cores()), 1)
        # Shards are assigned round-robin, so that all workers take part in streaming
        self._dealt = [list(range(at, size, self.n_workers)) for at in range(self.n_workers)]
        actor = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=-1)(ShardWorker)
        self._workers = [actor.remote(str(folder.resolve()), shards) for shards in self._dealt]
        self.processes()

    def processes(self) -> list[int]:
        """Return the process ids of the workers, once all shards are loaded."""
        return _get([worker.process.remote() for worker in self._workers])

    def sum(self, step: Step, parameters: Arrays, states: RayStates | None = None) -> tuple[Arrays, RayStates]:
        """Return the sum of all counts, and references to the new states."""
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
        """Yield the new state of each shard in the order of the units, prefetching a few shards."""
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
        """Create states from arrays with all units as first axis."""
        runs = self.runs()
        self.traffic.add(states=size_of(arrays))
        return tuple(
            ray.put([{name: np.ascontiguousarray(array[runs[at]]) for name, array in arrays.items()} for at in shards])
            for shards in self._dealt
        )

    def gather(self, states: RayStates) -> dict[str, NDArray[Any]]:
        """Collect states into arrays with all units as first axis."""
        by_shard: dict[int, Arrays] = {}
        for shards, found in zip(self._dealt, _get(list(states)), strict=True):
            by_shard |= dict(zip(shards, found, strict=True))
        self.traffic.add(states=sum(map(size_of, by_shard.values())))
        return {name: np.concatenate([by_shard[at][name] for at in sorted(by_shard)]) for name in by_shard[0]}

    def close(self) -> None:
        """Stop the workers; shut Ray down if this engine started it."""
        for worker in self._workers:
            with suppress(ray.exceptions.RayError):
                ray.kill(worker)
        if self._started:
            ray.shutdown()


def open_ray(folder: Path, *, workers: int = 2, address: str | None = None) -> RayEngine:
    """Open the engine over an encoded folder, which all machines of a cluster must see at the same path.

    Args:
        folder: The encoded folder.
        workers: Number of actors, each of which uses one processor core.
        address: Address of the cluster, such as auto or ray://host:10001; None to start Ray on this machine.
    """
    return RayEngine(folder, workers=workers, address=address)


def start_ray(workers: int, address: str | None = None) -> None:
    """Connect to a cluster, or start Ray on this machine, reachable from here only."""
    quietly: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address is not None:
        ray.init(address=address, **quietly)
        return
    ray.init(num_cpus=workers, include_dashboard=False, _node_ip_address=LOOPBACK, **quietly)


def free_cores() -> int:
    """Return the number of free processor cores, since a worker without a free core would wait forever.

    The cores of workers that just stopped are only released after a moment, so this polls for a while.
    """
    deadline = time.monotonic() + CORE_TIMEOUT
    while not (free := int(ray.available_resources().get("CPU", 0))):
        if time.monotonic() > deadline:
            raise ResourceError("Ray has no free processor core. Wait until one is free, or set another --address.")
        time.sleep(0.1)
    return free


def _get(references: list[Any]) -> list[Any]:
    """Fetch the referenced objects; a lost worker or machine becomes an error of one sentence."""
    try:
        return list(ray.get(references))
    except LOST_WORKER as problem:
        raise lost_worker_error(problem) from problem


LOST_WORKER = (ray.exceptions.RayActorError, ray.exceptions.ObjectLostError)
"""Exceptions of Ray for a worker, or a machine, that is gone."""


def lost_worker_error(problem: Exception) -> ResourceError:
    """Return the error for a worker that Ray lost and could not replace."""
    return ResourceError(
        f"Ray lost a worker and could not replace it ({str(problem).splitlines()[0][:120]}). Run it again; a fit "
        f"with --checkpoint resumes where it stopped."
    )


def _own(parameters: Arrays) -> dict[str, NDArray[Any]]:
    """Copy the parameters, since Ray passes read-only views of shared memory."""
    return {name: np.array(array) for name, array in parameters.items()}
