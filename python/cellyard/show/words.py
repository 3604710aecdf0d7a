"""Formats numbers as words for answers."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cellyard.statistics.inference import Estimate


def number(value: float | int | None) -> str:
    """A number for a sentence.

    >>> number(0.70512), number(7591), number(1.0), number(None), number(0.000123456), number(58123.7)
    ('0.7051', '7591', '1', 'undefined', '0.0001235', '58124')
    """
    if value is None:
        return "undefined"
    if isinstance(value, int) or abs(value) >= 10_000:
        return f"{value:.0f}"
    return f"{value:.4g}"


def spread(value: Estimate, unit: str = "") -> str:
    """A mean with a blank and its ``unit``, and its interval."""
    ends = f" [{number(value.low)}, {number(value.high)}]" if value.low is not None else ""
    return f"{number(value.mean)}{unit}{ends}"


def plus_minus(value: Estimate, unit: str = "") -> str:
    """A mean with a blank and its ``unit``, and half its interval, rounded up to two digits; its ends if they are unequally far.

    >>> from cellyard.statistics.inference import Estimate
    >>> plus_minus(Estimate(0.64123, 0.62, 0.66246)), plus_minus(Estimate(2080.3, 1950.3, 2210.3), " cells")
    ('0.641 ± 0.022', '2080 ± 130 cells')
    >>> plus_minus(Estimate(0.0, 0.0, 0.1684)), plus_minus(Estimate(7.0, 7.0, 7.0), " s"), plus_minus(Estimate(7.0, None, None))
    ('0 [0, 0.1684]', '7 ± 0 s', '7')
    """
    if value.low is None or value.high is None:
        return spread(value, unit)
    below, above = value.mean - value.low, value.high - value.mean
    half = max(below, above)
    if not half or abs(below - above) > 0.01 * half:
        return spread(value, unit) if half else f"{number(value.mean)} ± 0{unit}"
    digits = max(0, 1 - math.floor(math.log10(half)))
    step = 10 ** (1 - math.floor(math.log10(half)))
    rounded = math.ceil(round(half * step, 6)) / step
    return f"{value.mean:.{digits}f} ± {rounded:.{digits}f}{unit}"


def percent(share: float) -> str:
    """A fraction as percent.

    >>> percent(0.95), percent(0.9983), percent(1.0)
    ('95 %', '99.8 %', '100 %')
    """
    text = f"{100 * share:.1f}" if abs(share) < 0.9995 or share >= 1 else "99.9"
    return f"{text.removesuffix('.0')} %"


def listed(words: Sequence[str], *, most: int = 8) -> str:
    """Words joined to a list.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"]), listed(["a", "b", "c"], most=2)
    ('a', 'a and b', 'a, b and c', 'a, b and 1 more')
    """
    shown = list(words[:most])
    if len(words) > most:
        shown.append(f"{len(words) - most} more")
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)


def counted(count: int, noun: str) -> str:
    """A count with its noun.

    >>> counted(1, "point"), counted(3, "run")
    ('1 point', '3 runs')
    """
    return f"{count} {noun}{'' if count == 1 else 's'}"


def to_be(metric: str) -> str:
    """A metric with its verb. Counts of things are plural: their last word is, and it is no unit.

    >>> to_be("timeouts"), to_be("fast_retransmits"), to_be("p99_transfer_s"), to_be("max_queue_cells")
    ('timeouts are', 'fast_retransmits are', 'p99_transfer_s is', 'max_queue_cells is')
    >>> to_be("goodput_mbps"), to_be("fairness"), to_be("frame_loss"), to_be("bottleneck_cells")
    ('goodput_mbps is', 'fairness is', 'frame_loss is', 'bottleneck_cells are')
    """
    first, last = metric.partition("_")[0], metric.rpartition("_")[2]
    is_count = last.endswith("s") and not last.endswith(("ss", "is", "us")) and last not in ("s", "mbps", "bps")
    is_one = first in ("max", "min", "mean", "sum") or re.match(r"p\d+$", first)
    return f"{metric} {'are' if is_count and not is_one else 'is'}"


def probability(value: float) -> str:
    """An error probability.

    >>> probability(0.00001), probability(0.0321)
    ('p < 0.001', 'p = 0.032')
    """
    return "p < 0.001" if value < 0.001 else f"p = {value:.2g}"
