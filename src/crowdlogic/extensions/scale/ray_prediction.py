"""Prediction with Ray: every actor loads the run once and answers pieces; see `prediction`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

import ray
from ray.util import ActorPool

from crowdlogic.extensions.scale.prediction import Piece, PieceAnswered, PiecePredictor, predict_pieces
from crowdlogic.extensions.scale.ray import LOST_WORKER, free_cores, lost_worker_error, start_ray
from crowdlogic.workflows.predict import Predicted, PredictOptions

DEFAULT_WORKERS = 2


def predict_with_ray(options: PredictOptions) -> Predicted:
    """Predict piece by piece in actors, on this machine or on a cluster."""

    def answer_all(predictor: PiecePredictor, pieces: Sequence[Piece]) -> Iterator[PieceAnswered]:
        wanted, started = options.workers or DEFAULT_WORKERS, not ray.is_initialized()
        if started:
            start_ray(wanted, options.address)
        # A worker that dies is restarted and repeats its piece
        actor = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=-1)(PieceWorker)
        workers = [actor.remote(predictor) for _ in range(max(min(wanted, len(pieces), free_cores()), 1))]
        try:
            yield from ActorPool(workers).map_unordered(lambda worker, piece: worker.answer.remote(piece), pieces)
        except LOST_WORKER as problem:
            raise lost_worker_error(problem) from problem
        finally:
            for worker in workers:
                with suppress(ray.exceptions.RayError):
                    ray.kill(worker)
            if started:
                ray.shutdown()

    return predict_pieces(options, answer_all)


class PieceWorker:
    """Ray actor that answers pieces in its own process."""

    def __init__(self, predictor: PiecePredictor) -> None:
        self.predictor = predictor

    def answer(self, piece: Piece) -> PieceAnswered:
        """Answer a piece."""
        return self.predictor.answer(piece)
