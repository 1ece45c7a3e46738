"""docs/how-to/custom-models.md: every example has at most five lines, and its run is saved, loaded, used and explained."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import crowdlogic
from crowdlogic.data.simulate import simulate_sentiment
from crowdlogic.errors import CorpusError, OptionError

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "custom-models.md").read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r"## A (?:torch )?([\w-]+)[^\n]*\n\n```python\n(.*?)```", PAGE, flags=re.DOTALL))
MADE = simulate_sentiment(0, items=120, annotators=8, labels_per_item=4)
ITEMS = pl.DataFrame({"item": MADE.corpus.items, "text": MADE.corpus.texts})


def test_every_kind_of_model_has_an_example() -> None:
    assert sorted(EXAMPLES) == ["function", "module", "scikit-learn"]


@pytest.mark.filterwarnings("ignore:.*is not saved with the run")
@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_an_example_is_short_and_its_run_can_be_used(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "module":
        pytest.importorskip("torch", reason="torch is not installed: pip install crowdlogic[torch]")
    monkeypatch.chdir(tmp_path)
    known = {"crowdlogic": crowdlogic, "labels": MADE.labels, "items": ITEMS}

    exec(compile(EXAMPLES[name], name, "exec"), known)  # noqa: S102 (our own page)

    lines = [line for line in EXAMPLES[name].splitlines() if line and not line.startswith(("from", "import"))]
    learned, run = known["learned"], known["run"]
    texts = ["a good book", "a bad film"]
    assert len(lines) <= 5
    np.testing.assert_allclose(run.predict(texts), learned.predict(texts), atol=1e-9)
    np.testing.assert_allclose(run.predict(texts).sum(axis=1), 1.0)
    assert "classifier" in str(run.explain(MADE.corpus.items[0]))
    (folder,) = tmp_path.iterdir()
    assert len(crowdlogic.load_run(folder).to_frame()) == 120  # answers do not need the model


def test_a_module_learns_and_is_not_changed() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install crowdlogic[torch]")
    from crowdlogic.extensions.networks import Module, Training

    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    features = rng.normal(size=(300, 4))
    corpus = crowdlogic.Corpus(pl.Series(range(300)), features=features)
    truth = (features[:, 0] > 0).astype(int)
    votes = np.where(rng.random((300, 3)) < 0.7, truth[:, None], 1 - truth[:, None])
    labels = crowdlogic.from_frame(
        pl.DataFrame(
            {"item": np.repeat(np.arange(300), 3), "annotator": np.tile(["a", "b", "c"], 300), "label": votes.ravel()}
        )
    )
    network = torch.nn.Sequential(torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 2))
    before = {name: one.clone() for name, one in network.state_dict().items()}

    learned = crowdlogic.train(labels, corpus, model=Module(network, training=Training(learning_rate=0.05)), epochs=20)

    right = (np.asarray(learned.estimate.answer) == truth).mean()
    assert right > (votes.sum(axis=1) >= 2).astype(int).__eq__(truth).mean() + 0.05
    assert all(torch.equal(one, before[name]) for name, one in network.state_dict().items())


def wrong_shape(texts):  # type: ignore[no-untyped-def]
    return [[0.2, 0.3, 0.5]] * len(texts)


def not_finite(texts):  # type: ignore[no-untyped-def]
    return [[float("nan"), 0.5]] * len(texts)


def not_probabilities(texts):  # type: ignore[no-untyped-def]
    return [[2.0, 3.0]] * len(texts)


def broken(texts):  # type: ignore[no-untyped-def]
    return texts["x"]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (wrong_shape, r"The function wrong_shape returned an array of shape \(\d+, 3\) for \d+ units and 2 classes\."),
        (not_finite, r"The function not_finite returned numbers that are not finite in row 0\."),
        (
            not_probabilities,
            r"The function not_probabilities returned probabilities that sum to 5 in row 0, not to 1\. Divide each row by its sum",
        ),
        (broken, r"the function broken failed on \d+ items: TypeError: .* It must accept a list of items"),
        (17, r"a int is not a classifier\. Pass a name"),
        ("no-such-folder", r"No classifier is called 'no-such-folder'\."),
    ],
)
def test_a_bad_function_is_one_line(model: object, message: str) -> None:
    with pytest.raises(OptionError, match=message) as caught:
        crowdlogic.train(MADE.labels, ITEMS, model=model, epochs=1)

    assert "\n" not in str(caught.value)


def test_a_bad_module_is_one_line() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install crowdlogic[torch]")
    from torch import nn

    from crowdlogic.extensions.networks import Module

    def encode(texts):  # type: ignore[no-untyped-def]
        return torch.ones(len(texts), 4)

    for model, problem, message in (
        (Module(nn.Linear(4, 3), encode), OptionError, r"the Linear returned \(2, 3\) for 2 documents and 2 classes"),
        (Module(nn.Linear(5, 2), encode), OptionError, r"the Linear failed on the first items: .* Check `encode`"),
        (Module(nn.ReLU(), encode), OptionError, r"the ReLU has no parameters that can be trained"),
        (Module(nn.Linear(4, 2), lambda texts: torch.ones(1, 4)), OptionError, r"encode returned \(1, 4\) of float32"),
        (
            Module(nn.Linear(4, 2), lambda texts: torch.full((len(texts), 4), float("nan"))),
            OptionError,
            "NaN or infinite",
        ),
        (nn.Linear(4, 2), CorpusError, r"has no `encode`, and the items have no features"),
    ):
        with pytest.raises(problem, match=message):
            crowdlogic.train(MADE.labels, ITEMS, model=model, epochs=1)


def test_a_hugging_face_folder_is_a_transformer(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed: pip install crowdlogic[torch]")
    from crowdlogic.extensions.networks import Transformer
    from crowdlogic.learning.method import as_architecture

    (tmp_path / "config.json").write_text("{}")

    assert as_architecture(str(tmp_path)) == Transformer(folder=tmp_path)
