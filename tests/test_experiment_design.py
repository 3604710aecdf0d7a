"""Points of an experiment: axes, ranges, constraints and designs that fill space."""

import math
from typing import Any

import pytest
from cellyard import experiment as ex
from known_answers import BASE, BUFFER, asked, made


def test_ends_of_a_range_are_exact() -> None:
    ends = ex.Range("0.123456789", "1.123456789")
    assert [ends.at(share).label for share in (0, 1)] == ["0.123456789", "1.123456789"]


@pytest.mark.parametrize("unit", ["cells", "packets", "bytes"])
def test_counts_between_whole_ends_are_whole(unit: str) -> None:
    between = ex.Range(f"200 {unit}", f"400 {unit}", scale="log")
    assert between.at(0.5).label == f"283 {unit}"  # 200 times the root of 2 is 282.8


@pytest.mark.parametrize("kind", ["latin-hypercube", "sobol"])
def test_designs_fill_each_axis_evenly(kind: Any) -> None:
    experiment = made(
        ex.Axis("switch.west.ubr.drop.r", ex.Range(0.0, 0.8)),
        ex.Axis(BUFFER, ex.Range("100 cells", "10000 cells", scale="log")),
        base=BASE.with_values({"switch.west.ubr.drop": "fba"}),
        design=ex.Design(kind, points=32, seed=3),
        replications=1,
    )
    points = experiment.plan.points()
    assert len(points) == 32
    for share in (lambda p: p.values["r"] / 0.8, lambda p: math.log10(p.values["buffer"] / 100) / 2):
        bins = sorted(min(int(share(point) * 32 + 1e-4), 31) for point in points)
        assert len(set(bins)) >= 30  # the buffer is rounded to whole cells
    assert points == experiment.plan.points()


def test_axes_that_vary_together_and_constraints_choose_the_points() -> None:
    experiment = made(
        ex.Axis(["host.source.count", "host.sink.count"], [2, 5], name="sources"),
        ex.Axis(BUFFER, ["500 cells", "1000 cells"], together="size"),
        ex.Axis("switch.east.ubr.buffer", ["600 cells", "1200 cells"], name="east", together="size"),
        constraints=["buffer >= 150 * sources"],
        replications=1,
    )
    found = [tuple(point.values[name] for name in ("sources", "buffer", "east")) for point in experiment.plan.points()]
    assert found == [(2, 500, 600), (2, 1000, 1200), (5, 1000, 1200)]
    assert experiment.scenario(experiment.plan.points()[0]).to_dict()["vcs"].__len__() == 2


def test_joint_lists_keep_repeated_values() -> None:
    axes = [
        ex.Axis(BUFFER, ["500 cells", "500 cells", "1000 cells"], together="a"),
        ex.Axis("switch.west.ubr.drop", ["tail-drop", "epd", "epd"], together="a"),
        ex.Axis("switch.east.ubr.buffer", ex.Range("7 cells", "8 cells", steps=3), name="east", together="b"),
        ex.Axis("measure.max_goodput", ex.Range("1 Mbps", "3 Mbps", steps=3), name="goodput", together="b"),
    ]
    outcome = asked(lambda at, _: {"efficiency": 1.0}, *axes, replications=1)
    found = [
        tuple(point[name] for name in ("buffer_cells", "drop", "east_cells", "goodput_mbps"))
        for point in outcome.points()
    ]
    pairs = [(500, "tail-drop"), (500, "epd"), (1000, "epd")]
    assert found == [(*pair, *other) for pair in pairs for other in ((7, 1), (8, 2), (8, 3))]
