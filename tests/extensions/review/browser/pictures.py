"""Pictures of the running application for docs/how-to/review.md: `python -m tests.extensions.review.browser.pictures docs/images`."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import polars as pl
from tests.extensions.review.browser.driving import NAME, click, fill, press, wait_for
from tests.extensions.review.served import Served, serving
from tests.report.browser.chrome import Chrome, chrome

from crowdlogic.data.simulate import simulate_ner, simulate_sentiment
from crowdlogic.workflows.simulate import write_simulation
from crowdlogic.workflows.train import TrainOptions, prepare_training

BUT = "1.0: Label(S, C) & After(S, 'but', B) -> Predicted(B, C)\n"


def make_run(folder: Path) -> dict[str, str]:
    """A run on simulated reviews with a rule; the gold by item."""
    write_simulation(simulate_sentiment(2, items=400, test_items=40, annotators=14, labels_per_item=2), folder)
    gold = pl.read_csv(folder / "gold.csv")
    gold.drop("label").write_csv(folder / "items.csv")
    (folder / "but.rules").write_text(BUT)
    names = {"labels": "labels.csv", "items": "items.csv", "rules": "but.rules"}
    prepare_training(
        TrainOptions(**{option: str(folder / name) for option, name in names.items()}, epochs=5), folder / "reviews"
    ).train()
    return dict(zip(gold["item"].cast(pl.String), gold["label"], strict=True))


def decide(served: Served, reviewer: str, count: int, gold: dict[str, str]) -> None:
    """Decide so many items with the truth, as a script does."""
    for n in range(count):
        (item,) = served.ask(f"queue?reviewer={reviewer}&most=1")["items"]
        body = {"request": f"{reviewer}{n}", "item": item["item"], "reviewer": reviewer, "chosen": item["chosen"]}
        served.ask("decisions", {**body, "answer": gold[item["name"]], "seconds": 3.0})
    while served.ask("progress")["is_fitting"]:
        time.sleep(0.1)


def take(browser: Chrome, path: Path) -> None:
    """Write what is seen, once it stands still."""
    wait_for(browser, "document.getElementById('evidence').children.length > 1")
    time.sleep(0.4)
    path.write_bytes(browser.picture(whole=False))


def picture_reviews(browser: Chrome, home: Path, out: Path) -> None:
    """Reviews: the item with its evidence; a conflict; a phone."""
    gold = make_run(home)
    with serving(home / "reviews", "-o", home / "one") as served:
        decide(served, "ann", 50, gold)
        browser.visit(served.url("ann"), width=1120, height=640)
        fill(browser, "filter-rule", "0")
        wait_for(browser, "document.querySelector('.text').textContent", lambda text: "but" in text)
        browser.evaluate("document.getElementById('finding').open = false")
        take(browser, out / "review.png")
        name: Any = browser.evaluate(NAME)
        item = served.ask(f"find?name={name}")["item"]
        for reviewer, answer in (("ann", "positive"), ("bob", "negative")):
            served.ask("decisions", {"request": f"{reviewer}!", "item": item, "reviewer": reviewer, "answer": answer})
        browser.visit(served.url("cat"), width=1120, height=520)
        fill(browser, "filter-state", "conflict")
        wait_for(browser, "document.querySelector('.conflict-box') !== null")
        take(browser, out / "review-conflict.png")
        browser.visit(served.url("ann"), width=390, height=760, dark=True)
        take(browser, out / "review-phone.png")


def picture_sentences(browser: Chrome, home: Path, out: Path) -> None:
    """Tagged sentences: everybody's spans, and one that is being changed."""
    write_simulation(simulate_ner(2, items=80, test_items=10, annotators=8, labels_per_item=3), home / "tagged")
    with serving(home / "tagged" / "labels.conll", "-o", home / "two") as served:
        browser.visit(served.url("ann"), width=1120, height=640)
        press(browser, "ArrowLeft")
        press(browser, "ArrowRight", 8)
        take(browser, out / "review-spans.png")
        click(browser, "#skip")


def main() -> None:
    """Take all pictures."""
    out = Path(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="crowdlogic-pictures-") as home, chrome() as browser:
        picture_reviews(browser, Path(home), out)
        picture_sentences(browser, Path(home), out)


if __name__ == "__main__":
    main()
