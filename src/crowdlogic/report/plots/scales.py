"""Scales of plots: from figures to positions, round ticks, and figures as the axes show them."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass

WIDTH, HEIGHT = 460, 280
"""Wide enough for half a desktop page, and still readable when a phone shrinks it."""


def nice_ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers between low and high, about `count` of them: steps of 1, 2 or 5 times a power of ten."""
    if not high > low:
        return [low]
    rough = (high - low) / max(count, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next((m * power for m in (1, 2, 5, 10) if m * power >= rough * (1 - 1e-9)), 10 * power)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(n * step, 12) for n in range(first, last + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten between low and high; with 2 and 5 times them when there are few."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    tens = [10.0**p for p in powers if low <= 10.0**p <= high]
    if len(tens) >= 3:
        return tens
    return [m * 10.0**p for p in powers for m in (1, 2, 5) if low <= m * 10.0**p <= high]


def format_number(number: float) -> str:
    """A number for an axis: 0.25, 1,000, 25k, 3M."""
    size = abs(number)
    for unit, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if size >= unit:
            return f"{number / (1e3 if letter == 'k' else unit):g}{letter}"
    return f"{number:,.0f}" if size >= 1000 else f"{number:g}"


def format_percent(share: float) -> str:
    """A share as a whole number of percent, or with a decimal where it is not whole."""
    return f"{100 * share:.0f}%" if abs(100 * share - round(100 * share)) < 0.05 else f"{100 * share:.1f}%"


@dataclass(frozen=True)
class Scale:
    """From figures to positions along an axis.

    Attributes:
        low: The least figure.
        high: The largest figure.
        start: Position of the least figure.
        end: Position of the largest figure.
        logarithmic: Whether equal ratios are equal distances.
    """

    low: float
    high: float
    _: KW_ONLY
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, figure: float) -> float:
        """The position of a figure."""
        low, high, x = (
            (math.log10(max(v, 1e-300)) for v in (self.low, self.high, figure))
            if self.logarithmic
            else (self.low, self.high, figure)
        )
        share = 0.5 if high == low else (x - low) / (high - low)
        return self.start + share * (self.end - self.start)

    def ticks(self, count: int = 5) -> list[float]:
        """Round figures on the scale."""
        return log_ticks(self.low, self.high) if self.logarithmic else nice_ticks(self.low, self.high, count)


@dataclass(frozen=True, kw_only=True)
class Frame:
    """The size of a picture and the margins around its marks."""

    width: float = WIDTH
    height: float = HEIGHT
    left: float = 56
    right: float = 22
    top: float = 12
    bottom: float = 42

    def across(self, low: float, high: float, *, logarithmic: bool = False) -> Scale:
        """A scale from left to right."""
        return Scale(low, high, start=self.left, end=self.width - self.right, logarithmic=logarithmic)

    def up(self, low: float, high: float) -> Scale:
        """A scale from the bottom to the top."""
        return Scale(low, high, start=self.height - self.bottom, end=self.top)
