"""Everything can be read in both colour schemes (WCAG 2)."""

from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.reporting import charts as rows
from crowdlogic.reporting.charts import DARK, LIGHT


def luminance(colour: np.ndarray) -> float:
    parts = colour / 255
    linear = np.where(parts <= 0.03928, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ np.array([0.2126, 0.7152, 0.0722]))


def rgb(colour: str) -> np.ndarray:
    return np.array([int(colour[n : n + 2], 16) for n in (1, 3, 5)], dtype=float)


def contrast(one: np.ndarray, other: np.ndarray) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_figures_in_a_heat_map_can_be_read_at_every_shade(scheme: dict[str, str]) -> None:
    for shade in np.linspace(0, 1, 101):
        cell = (1 - shade) * rgb(scheme["card"]) + shade * rgb(scheme["heat"])
        ink = rgb(scheme["on-strong" if shade >= rows.STRONG else "on-pale"])

        assert contrast(cell, ink) >= 4.45


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_words_stand_out_from_every_paper(scheme: dict[str, str]) -> None:
    for paper in ("paper", "card", "sunk"):
        for ink in ("ink", "muted", "link"):
            assert contrast(rgb(scheme[paper]), rgb(scheme[ink])) >= 4.5
        for mark in ("c1", "c3", "c4", "c6", "c7", "c8"):
            assert contrast(rgb(scheme[paper]), rgb(scheme[mark])) >= 2.9


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_figures_in_bars_can_be_read(scheme: dict[str, str]) -> None:
    assert contrast(rgb(scheme["c1"]), rgb(scheme["in-c1"])) >= 4.5
    for colour in ("c2", "c3", "c4"):
        assert contrast(rgb(scheme[colour]), rgb(scheme["in-c2"])) >= 4.5
