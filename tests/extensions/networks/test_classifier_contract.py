"""What every classifier must do, whatever it looks at."""

from __future__ import annotations

import atexit
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

import numpy as np
import pytest
from tests.classifiers.planted_tasks import (
    BAD,
    GOOD,
    NAMES,
    OTHERS,
    VERBS,
    SmallTask,
    blob_task,
    random_vectors,
    review_task,
    scaled_blobs,
    shuffled,
    tag_task,
)
from tests.classifiers.tiny_bert import write_tiny_bert

from crowdlogic.classifiers.class_prior import ClassPrior
from crowdlogic.classifiers.crf import CRF
from crowdlogic.classifiers.linear import Linear
from crowdlogic.classifiers.protocol import FIXED, MODEL, PROGRESS, Architecture, Arrays, Classifier
from crowdlogic.classifiers.scikit import Scikit
from crowdlogic.errors import FormatError, OptionError

torch = pytest.importorskip("torch", reason="torch is not installed: pip install crowdlogic[torch]")

from crowdlogic.extensions.networks.bilstm_crf import BiLSTMCRF  # noqa: E402
from crowdlogic.extensions.networks.cnn_gru import CNNGRU  # noqa: E402
from crowdlogic.extensions.networks.kim_cnn import KimCNN  # noqa: E402
from crowdlogic.extensions.networks.mlp import MLP  # noqa: E402
from crowdlogic.extensions.networks.network import Training  # noqa: E402
from crowdlogic.extensions.networks.transformer import Transformer  # noqa: E402


@dataclass(frozen=True)
class Case:
    """A classifier, a task for it, and how many epochs it may take to learn it."""

    name: str
    options: Architecture
    task: Callable[..., SmallTask]
    epochs: int = 10
    neural: bool = True
    bound: bool = True
    """Whether what it knows is bound to the corpus that it was built for."""


def lopsided_task(seed: int = 0, count: int = 60) -> SmallTask:
    """Nearly all is of one class: even one that does not look learns it."""
    task = review_task(seed, count)
    return replace(task, truth=np.arange(count) % 20 // 19)


WORDS, NAMED = random_vectors((*OTHERS, *GOOD, *BAD), 10), random_vectors((*OTHERS, *NAMES), 10)
QUICK = Training(learning_rate=1e-2, batch_size=16)
SMALL = Training(optimiser="adadelta", learning_rate=1.0, batch_size=10, clip_norm=3.0)
CASES = [
    Case("prior", ClassPrior(), lopsided_task, neural=False),
    Case("linear-texts", Linear(steps=5), review_task, neural=False),
    Case("linear-tokens", Linear(steps=5), tag_task, neural=False),
    Case("linear-features", Linear(steps=20), blob_task, neural=False),
    Case("crf-texts", CRF(steps=5), review_task, neural=False),
    Case("crf-tokens", CRF(steps=5), tag_task, neural=False),
    Case("crf-features", CRF(steps=20), blob_task, neural=False),
    Case("scikit-texts", Scikit("LogisticRegression", {"C": 100.0}), review_task, epochs=1, neural=False),
    Case("scikit-tokens", Scikit("RandomForestClassifier", {"n_estimators": 15}), tag_task, epochs=1, neural=False),
    Case("scikit-features", Scikit("SGDClassifier", {"loss": "log_loss"}), scaled_blobs, epochs=3, neural=False),
    Case("mlp", MLP(hidden_size=16, training=QUICK), blob_task),
    Case("kim-cnn", KimCNN(vectors=WORDS, filters=8, training=SMALL), review_task, epochs=18),
    Case(
        "kim-cnn-tuned",
        KimCNN(filters=8, vector_size=12, max_norm=3.0, tokenizer="plain", dropout=0.2, training=SMALL),
        review_task,
        epochs=6,
    ),
    Case("cnn-gru", CNNGRU(vectors=NAMED, filters=24, hidden_size=12, training=QUICK), tag_task),
    Case(
        "cnn-gru-both-ways",
        CNNGRU(
            vector_size=10,
            filters=16,
            hidden_size=8,
            bidirectional=True,
            shape_size=3,
            training=replace(QUICK, optimiser="adamw"),
        ),
        tag_task,
    ),
    Case("bilstm-crf", BiLSTMCRF(vectors=NAMED, hidden_size=10, word_dropout=0.0, training=QUICK), tag_task),
    Case(
        "bilstm-crf-plain",
        BiLSTMCRF(
            vector_size=10,
            hidden_size=10,
            shape_size=0,
            character_filters=0,
            training=replace(QUICK, optimiser="adamw"),
        ),
        tag_task,
    ),
]
if find_spec("transformers"):
    FOLDER = write_tiny_bert(Path(mkdtemp()), (*OTHERS, *GOOD, *BAD, *VERBS, *(name.lower() for name in NAMES)))
    atexit.register(rmtree, FOLDER)
    keen = replace(QUICK, learning_rate=3e-3)
    CASES += [
        Case("transformer-texts", Transformer(FOLDER, training=keen), review_task, epochs=8, bound=False),
        Case("transformer-tokens", Transformer(FOLDER, max_length=9, training=keen), tag_task, epochs=5, bound=False),
        Case(
            "transformer-mean", Transformer(FOLDER, pooling="mean", training=keen), review_task, epochs=8, bound=False
        ),
        Case(
            "transformer-frozen",
            Transformer(FOLDER, frozen_layers=1, training=keen),
            review_task,
            epochs=8,
            bound=False,
        ),
    ]
NEURAL = [case for case in CASES if case.neural]
each = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
each_neural = pytest.mark.parametrize("case", NEURAL, ids=lambda case: case.name)


def built(case: Case, task: SmallTask, seed: int = 0) -> Classifier:
    return case.options.build(task.corpus, task.classes, seed=seed)


def same(one: Arrays, other: Arrays) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


@each
def test_a_planted_task_is_learnt(case: Case) -> None:
    task, fresh = case.task(count=150), case.task(seed=9)
    made = built(case, task)

    losses = [made.fit_epoch(task.corpus, task.targets) for _ in range(case.epochs)]

    right = made.predict_proba(fresh.corpus).argmax(axis=1) == fresh.truth
    assert losses[-1] < losses[0] or case.name.startswith(("prior", "scikit"))  # done in one epoch
    assert right.mean() > 0.93


@each
def test_predictions_are_beliefs(case: Case) -> None:
    task = case.task()
    made = built(case, task)
    made.fit_epoch(task.corpus, task.soft_targets())

    p = made.predict_proba(task.corpus)

    assert p.shape == (task.corpus.n_units, len(task.classes))
    assert p.dtype == np.float64
    assert (p >= 0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)


@each
def test_it_goes_on_bit_for_bit_from_its_arrays(case: Case) -> None:
    task = case.task()
    soft, weights = task.soft_targets(), np.random.default_rng(1).random(len(task.truth))
    first = built(case, task, seed=5)
    for _ in range(2):
        first.fit_epoch(task.corpus, soft, weights)
    kept = {name: array.copy() for name, array in first.arrays().items()}

    another = built(case, task, seed=6)
    another.fit_epoch(task.corpus, soft)
    another.restore(kept)
    loaded = case.options.load(kept, task.classes)

    for again in (another, loaded):
        assert same(again.arrays(), kept)
        np.testing.assert_array_equal(again.predict_proba(task.corpus), first.predict_proba(task.corpus))
    losses = [made.fit_epoch(task.corpus, soft, weights) for made in (first, another, loaded)]
    assert len(set(losses)) == 1
    assert same(first.arrays(), another.arrays())
    assert same(first.arrays(), loaded.arrays())


@each
def test_arrays_are_not_moved_by_further_learning(case: Case) -> None:
    task = case.task()
    made = built(case, task)
    made.fit_epoch(task.corpus, task.targets)
    kept = made.arrays()
    before = {name: array.copy() for name, array in kept.items()}
    p = made.predict_proba(task.corpus)

    made.fit_epoch(task.corpus, task.targets[::-1])
    assert same(kept, before)
    made.restore(kept)
    made.fit_epoch(task.corpus, task.targets[::-1])
    assert same(kept, before)
    made.restore(kept)

    np.testing.assert_array_equal(made.predict_proba(task.corpus), p)


@each
def test_arrays_to_predict_with_are_the_model_and_what_is_fixed(case: Case) -> None:
    task = case.task()
    made = built(case, task)
    before = made.arrays()
    made.fit_epoch(task.corpus, task.targets)
    kept = made.arrays()

    to_predict = {name: array for name, array in kept.items() if not name.startswith(PROGRESS)}
    loaded = case.options.load(to_predict, task.classes)

    assert all(name.startswith((MODEL, FIXED)) for name in to_predict)
    assert all(array.dtype.kind in "biuf" for array in kept.values())  # nothing that would need a pickle
    assert same(*({n: a for n, a in some.items() if n.startswith(FIXED)} for some in (before, kept)))
    np.testing.assert_array_equal(loaded.predict_proba(task.corpus), made.predict_proba(task.corpus))


@each
def test_predictions_do_not_depend_on_what_else_is_there_nor_on_the_order(case: Case) -> None:
    task = case.task()
    made = built(case, task)
    made.fit_epoch(task.corpus, task.targets)
    p = made.predict_proba(task.corpus)
    order = np.random.default_rng(0).permutation(len(task.corpus.items))

    mixed, units = shuffled(task.corpus, order)
    few, few_units = shuffled(task.corpus, order[:3])

    np.testing.assert_allclose(made.predict_proba(mixed), p[units], rtol=0, atol=1e-6)
    np.testing.assert_allclose(made.predict_proba(few), p[few_units], rtol=0, atol=1e-6)


@each
def test_targets_of_weight_zero_have_no_influence(case: Case) -> None:
    task = case.task()
    weights = (np.random.default_rng(0).random(len(task.truth)) < 0.5).astype(float)
    other = np.where(weights[:, None] > 0, task.targets, 1.0 - task.targets)

    one, two = built(case, task), built(case, task)
    losses = [made.fit_epoch(task.corpus, goal, weights) for made, goal in ((one, task.targets), (two, other))]

    assert losses[0] == losses[1]
    assert same(one.arrays(), two.arrays())


@each
def test_items_of_weight_zero_are_as_good_as_absent(case: Case) -> None:
    """Learning from half of the items with the others there is learning from a corpus of that half."""
    task = case.task()
    half = np.sort(np.random.default_rng(0).permutation(len(task.corpus.items))[::2])
    less, units = shuffled(task.corpus, half)
    weights = np.zeros(len(task.truth))
    weights[units] = 2.0

    whole, part = built(case, task), built(case, task)
    loss = whole.fit_epoch(task.corpus, task.targets, weights)
    loss_of_part = part.fit_epoch(less, task.targets[units], weights[units])

    np.testing.assert_allclose(loss_of_part, loss, rtol=1e-4)
    np.testing.assert_allclose(
        part.predict_proba(task.corpus), whole.predict_proba(task.corpus), rtol=0, atol=case_tolerance(case)
    )


def case_tolerance(case: Case) -> float:
    return 1e-5 if case.neural else 1e-9


@each
def test_one_seed_gives_one_classifier(case: Case) -> None:
    task = case.task()
    one, two = built(case, task, seed=3), built(case, task, seed=3)
    torch.rand(7)  # what others draw has no part in it

    losses = []
    for made in (one, two):
        losses.append([made.fit_epoch(task.corpus, task.targets) for _ in range(2)])
        torch.rand(3)

    assert losses[0] == losses[1]
    assert same(one.arrays(), two.arrays())


@each_neural
def test_another_seed_gives_another_classifier(case: Case) -> None:
    task = case.task()

    one, two = (built(case, task, seed=seed).predict_proba(task.corpus) for seed in (0, 1))

    assert np.abs(one - two).max() > 1e-3


@each_neural
def test_torch_s_own_chance_is_left_alone(case: Case) -> None:
    task = case.task()
    torch.manual_seed(1)
    expected = torch.rand(5)

    torch.manual_seed(1)
    made = built(case, task)
    made.fit_epoch(task.corpus, task.targets)
    made.predict_proba(task.corpus)

    assert torch.equal(torch.rand(5), expected)


@each_neural
def test_an_epoch_goes_down_the_weighted_mean_loss(case: Case) -> None:
    """The loss of an epoch with a rate of next to nothing is the loss before it."""
    task = case.task()
    soft, weights = task.soft_targets(), np.random.default_rng(1).random(len(task.truth))
    options = replace(case.options, dropout=0.0, training=replace(case.options.training, learning_rate=1e-30))
    made = options.build(task.corpus, task.classes, seed=0)
    p = made.predict_proba(task.corpus)

    loss = made.fit_epoch(task.corpus, soft, weights)

    each_unit = -(soft * np.log(p)).sum(axis=1)
    np.testing.assert_allclose(loss, (weights * each_unit).mean(), rtol=1e-5)


@each
def test_nothing_to_predict_is_no_failure(case: Case) -> None:
    task = case.task()
    made = built(case, task)

    p = made.predict_proba(task.corpus.take_items(np.zeros(0, dtype=np.int64)))

    assert p.shape == (0, len(task.classes))


@each
def test_nothing_is_learnt_when_nothing_counts(case: Case) -> None:
    task = case.task()
    made = built(case, task)
    p = made.predict_proba(task.corpus)

    loss = made.fit_epoch(task.corpus, task.targets, np.zeros(len(task.truth)))

    assert loss == 0.0
    np.testing.assert_array_equal(made.predict_proba(task.corpus), p)


@each
def test_targets_that_do_not_fit_are_refused(case: Case) -> None:
    task = case.task()

    with pytest.raises(OptionError, match=r"^targets have shape \(\d+, \d+\) where \(\d+, \d+\) is expected\.$"):
        built(case, task).fit_epoch(task.corpus, task.targets[:-1])


@each
def test_arrays_of_other_classes_are_refused(case: Case) -> None:
    task = case.task()
    made = built(case, task)
    made.fit_epoch(task.corpus, task.targets)

    with pytest.raises(FormatError):
        case.options.load(made.arrays(), (*task.classes, "one more"))


@pytest.mark.parametrize("case", [case for case in NEURAL if case.bound], ids=lambda case: case.name)
def test_arrays_of_another_corpus_are_refused(case: Case) -> None:
    task, other = case.task(), case.task(seed=4, count=7)

    with pytest.raises(FormatError, match="built for another corpus"):
        built(case, task).restore(built(case, other).arrays())


@each_neural
def test_the_rate_is_that_of_the_epoch_after_going_on(case: Case) -> None:
    """Halving counts the epochs of the whole fit, not those since it was taken up again."""
    task = case.task()
    options = replace(case.options, training=replace(case.options.training, halve_every=2))
    made = options.build(task.corpus, task.classes, seed=0)
    for _ in range(3):
        made.fit_epoch(task.corpus, task.targets)

    again = options.load(made.arrays(), task.classes)
    again.fit_epoch(task.corpus, task.targets)
    again.fit_epoch(task.corpus, task.targets)

    assert again.optimiser.param_groups[0]["lr"] == options.training.learning_rate / 4


@pytest.mark.parametrize("name", ["gpu7", "cuda:99"])
def test_a_device_that_is_not_there_is_refused(name: str) -> None:
    task = review_task()

    with pytest.raises(OptionError) as caught:
        KimCNN(training=Training(device=name)).build(task.corpus, task.classes, seed=0)

    assert str(caught.value) == f"device: {name!r} is not available in torch. Use auto, cpu or cuda."
