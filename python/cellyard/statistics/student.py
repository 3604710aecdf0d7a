"""Student's law and the incomplete beta function, in closed form."""

import math
from functools import cache

#: Default confidence of an interval.
CONFIDENCE = 0.95


@cache
def student_quantile(p: float, freedom: int) -> float:
    """Quantile ``p`` >= 0.5 of Student's law with ``freedom`` degrees of freedom.

    Computed from the closed form of the law (Abramowitz and Stegun, 26.7.3 and 4).

    >>> [round(student_quantile(0.975, freedom), 3) for freedom in (1, 2, 9, 19, 100)]
    [12.706, 4.303, 2.262, 2.093, 1.984]
    """
    low, high = 0.0, 1.0
    while probability_inside(high, freedom) < 2 * p - 1:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if probability_inside(middle, freedom) < 2 * p - 1 else (low, middle)
    return (low + high) / 2


def probability_inside(t: float, freedom: int) -> float:
    """Probability that Student's variable with ``freedom`` degrees of freedom lies between -t and t."""
    angle = math.atan2(t, math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    term = total = cosine if freedom % 2 else 1.0
    for k in range(3 if freedom % 2 else 2, freedom, 2):
        term *= cosine**2 * (k - 1) / k
        total += term
    if freedom % 2:
        return 2 / math.pi * (angle + (sine * total if freedom > 1 else 0.0))
    return sine * total


def log_probability_outside(t: float, freedom: int) -> float:
    """Natural logarithm of the probability that Student's variable lies outside -t to t, t >= 0.

    Precise even if 1 - `probability_inside` would round to 0.

    The probability is the incomplete beta function I_x(f / 2, 1 / 2) at x = f / (f + t^2)
    (Abramowitz and Stegun, 26.7.1 with 26.5.2).

    >>> round(math.exp(log_probability_outside(12.706205, 1)), 6), round(log_probability_outside(1e9, 100))
    (0.05, -1845)
    """
    if math.isinf(t):
        return -math.inf
    ratio = min(t, 1e150) ** 2 / freedom
    return log_beta(1 / (1 + ratio), ratio / (1 + ratio), freedom / 2, 0.5)


def log_beta(x: float, rest: float, a: float, b: float) -> float:
    """Natural logarithm of the incomplete beta function I_x(a, b). ``rest`` is 1 - x, passed separately to keep precision.

    >>> round(math.exp(log_beta(0.25, 0.75, 2, 3)), 6)  # 1 - 0.75^4 - 4 * 0.25 * 0.75^3
    0.261719
    """
    if not x or not rest:
        return 0.0 if x else -math.inf
    front = a * math.log(x) + b * math.log(rest) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    if x < (a + 1) / (a + b + 2):
        return front + math.log(_fraction(x, a, b) / a)
    return math.log1p(-math.exp(front) * _fraction(rest, b, a) / b)


def _fraction(x: float, a: float, b: float) -> float:
    """Continued fraction of the incomplete beta function (Abramowitz and Stegun, 26.5.8). Fast for x < (a + 1) / (a + b + 2).

    Evaluated forwards by Lentz's method, until a step changes nothing.
    """
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 10_000):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = 1 / (1 + step * d), 1 + step / c
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value
