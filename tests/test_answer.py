"""Each sentence of a study's answer follows from its rows.

A sentence is reversed when the rows are, and adds no number.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from cellyard.statistics.ranges import share_inside
from cellyard.study import Row, Rows, load, studies
from cellyard.study.agreement import told_metrics
from cellyard.study.answer import answer, means, untold
from cellyard.system.errors import UsageError

STUDIES = sorted(studies())

#: Metrics that sentences use besides efficiency and fairness.
OTHERS = {
    "goodput": 0.5,
    "mean_queue_cells": 4000.0,
    "vbr_max_queue_cells": 7000,
    "vbr_cell_delay_variation_s": 0.25,
    "throughput_mbps": 20.0,
    "ideal_mbps": 20.0,
    "late_mbps": 20.0,
    "max_queue_cells": 5000,
    "queue_round_trips": 2.0,
    "cell_loss_percent": 1.0,
    "host_queue_cells": 1000.0,
    "delay_ms": 20.0,
    "vbr_delay_variation_ms": 0.5,
}


def sampled(row: Row, values: Mapping[str, float], spread: float = 0.0, runs: int = 20) -> Row:
    """Return the row with ``values`` as means of several runs that differ by ``spread``.

    The runs of each row are in a different order.
    """
    of_row = [spread * (0.5 if random.random() < 0.5 else -0.5) for _ in range(runs)]
    samples = {metric: tuple(value + value * by for by in of_row) for metric, value in values.items()}
    return replace(row, simulated=values, samples=samples, runs=runs)


def made(
    name: str,
    efficiency: Callable[[Row], float],
    fairness: Callable[[Row], float],
    *,
    spread: float = 0.0,
    runs: int = 20,
) -> Rows:
    """Return all rows of a study, simulated by rule, with ranges of 0.05 on either side."""
    random.seed(1)
    found = []
    for table in load(name).tables.values():
        for row in table.rows:
            values = {**OTHERS, "efficiency": efficiency(row), "fairness": fairness(row)}
            ranges = {metric: (value - 0.05, value + 0.05) for metric, value in values.items()}
            found.append(replace(sampled(row, values, spread, runs), ranges=ranges))
    return Rows(found)


def by(**effects: dict[Any, float]) -> Callable[[Row], float]:
    """Return 0.5 plus the effects of a row's parameters."""
    return lambda row: 0.5 + sum(effect.get(row.get(key), 0) for key, effect in effects.items())


EVEN = by()


def sentences(name: str, rows: Rows, replications: int | None = 20) -> list[str]:
    return [one.text for one in answer(load(name), rows, replications)]


def told(
    name: str,
    efficiency: Callable[[Row], float],
    fairness: Callable[[Row], float] = EVEN,
    *,
    spread: float = 0.0,
    runs: int = 20,
) -> list[str]:
    return sentences(name, made(name, efficiency, fairness, spread=spread, runs=runs))


GOOD = by(
    drop_policy={"tail-drop": -0.2, "epd": 0.0, "selective-drop": 0.2, "fba": 0.3}, buffer_cells={3000: 0.1, 36000: 0.1}
)
BAD = by(
    drop_policy={"tail-drop": 0.2, "epd": 0.0, "selective-drop": -0.2, "fba": -0.3},
    buffer_cells={3000: -0.1, 36000: -0.1},
)


def test_the_answer_of_ubr_plus_turns_round_with_its_rows() -> None:
    good, bad, even = told("ubr-plus", GOOD, GOOD), told("ubr-plus", BAD, BAD), told("ubr-plus", by())
    for place, number in (("LAN", 0), ("WAN", 1)):
        assert good[number].startswith(f"On the {place} the drop policy decides the efficiency")
        assert good[number].endswith("FBA (0.83), Selective Drop (0.73), EPD (0.53), UBR (tail drop) (0.33).")
        assert bad[number].endswith("UBR (tail drop) (0.67), EPD (0.47), Selective Drop (0.27), FBA (0.17).")
        assert "hardly matters for" in even[number]
    assert "rises by 0.20 [0.20, 0.20] from UBR to EPD and rises by 0.25 [0.25, 0.25] from there" in good[2]
    assert "falls by 0.20 [0.20, 0.20] from UBR to EPD and falls by 0.25 [0.25, 0.25] from there" in bad[2]
    assert "stays as it is from UBR to EPD and stays as it is from there" in even[2]
    assert "rises by 0.10 [0.10, 0.10] on the LAN" in good[3] and "rises by 0.10 [0.10, 0.10] on the WAN" in good[3]
    assert "falls by 0.10 [0.10, 0.10] on the LAN" in bad[3] and "stays as it is on the WAN" in even[3]


def test_candidates_that_the_replications_do_not_separate_are_not_ranked() -> None:
    near = by(drop_policy={"tail-drop": -0.3, "epd": -0.1, "selective-drop": 0.001, "fba": 0.0})
    noisy = told("ubr-plus", near, near, spread=0.2)
    assert noisy[0].endswith(
        "decides the efficiency, on average over buffers and numbers of sources: Selective Drop (0.50) or FBA (0.50) (not separated), "
        "EPD (0.40), UBR (tail drop) (0.20)."
    )
    verdicts = {
        one.what: one.value.verdict
        for one in answer(load("ubr-plus"), made("ubr-plus", near, near, spread=0.2), 20)[0].evidence
    }
    assert verdicts["efficiency, LAN: Selective Drop - FBA"] == "not separated"
    assert verdicts["efficiency, LAN: FBA - EPD"] == "separated" and len(verdicts) == 6
    # Without noise, differences of this size are separated.
    assert "Selective Drop (0.50), FBA (0.50), EPD (0.40)" in told("ubr-plus", near, near)[0]


@pytest.mark.parametrize("runs", [1, 3, 5])
@pytest.mark.parametrize("name", STUDIES)
def test_few_replications_rank_nothing(name: str, runs: int) -> None:
    few = answer(load(name), made(name, GOOD, GOOD, runs=runs), runs)
    assert not {one.value.verdict for sentence in few[:-1] for one in sentence.evidence} & {"separated"}
    assert any("not known" in one.text or "no known effect" in one.text for one in few)
    if name == "ubr-plus":
        assert few[0].text.startswith("On the LAN the drop policy has no known effect on the efficiency")
        assert few[0].text.endswith(
            "UBR (tail drop) (0.33), EPD (0.53), Selective Drop (0.73), FBA (0.83) (order not known)."
        )
        assert "changes by +0.20 (not known) from UBR to EPD" in few[2].text


@pytest.mark.parametrize("name", STUDIES)
def test_differences_behind_an_answer_have_intervals_with_their_verdicts(name: str) -> None:
    for one in answer(load(name), made(name, GOOD, GOOD, spread=0.1), 20):
        for evidence in one.evidence:
            record = evidence.to_dict()
            assert record["low"] <= record["value"] <= record["high"]
            assert record["verdict"] == ("not separated" if record["low"] <= 0 <= record["high"] else "separated")


@pytest.mark.parametrize(
    ("factor", "values", "texts"),
    [
        ("drop_policy", {"epd": 0.1, "selective-drop": 0.3}, ("as the text says", "names the guaranteed rate", "names the TCP")),
        ("gr", {0.1: 0.1, 0.5: 0.3}, ("names the drop policy", "as the text says", "names the TCP")),
        ("tcp", {"reno": 0.3, "sack": 0.1}, ("names the drop policy", "names the guaranteed rate", "as the text says")),
    ],
)  # fmt: skip
def test_the_answer_of_guaranteed_rate_names_the_factor_whose_means_lie_farthest_apart(
    factor: str, values: dict[Any, float], texts: tuple[str, ...]
) -> None:
    name = {"tcp": "TCP", "gr": "guaranteed rate", "drop_policy": "drop policy"}[factor]
    found = told("guaranteed-rate", by(**{factor: values}))
    for sentence, text in zip(found, texts, strict=False):
        assert f"the {name} matters most" in sentence and text in sentence and "0.30 apart" in sentence
    more = {"gr": "rises by 0.30 [0.30, 0.30]"}.get(factor, "stays as it is")
    assert f"{more} on the LAN, {more} on the WAN and {more} on the satellite path" in found[3]
    assert "7000 cells" in found[3] and "250 ms" in found[3]
    assert "falls by 0.30 [0.30, 0.30] on the LAN" in told("guaranteed-rate", by(gr={0.0: 0.3, 0.1: 0.2}))[3]


def test_factors_whose_spreads_are_not_separated_share_the_first_place() -> None:
    both = by(tcp={"reno": 0.2}, drop_policy={"epd": 0.195}, gr={0.1: 0.02})
    found = told("guaranteed-rate", both, spread=0.4)
    assert found[0].startswith(
        "On the LAN the TCP or the drop policy matters most for the efficiency (not separated), where the text"
    )


@pytest.mark.parametrize("name", STUDIES)
def test_the_last_sentence_counts_published_values_inside_their_range(name: str) -> None:
    rows = made(name, by(), by())
    beside = [key for key, table in load(name).tables.items() if table.beside]
    judged = [row for row in rows if row.table not in beside]

    def sentence(shift: float, replications: int | None = 20) -> str:
        values = [
            replace(
                row,
                simulated={**row.simulated, **{m: v + shift for m, v in row.published.items() if v is not None}},
                ranges={m: (v + shift - 0.01, v + shift + 0.01) for m, v in row.published.items() if v is not None},
                samples={},
            )
            for row in judged
        ]
        return sentences(name, Rows(values), replications)[-1]

    metrics = told_metrics(load(name))
    names = {"throughput_mbps": "throughput, Mb/s"}
    number = sum(v is not None and m in metrics and m not in row.doubtful
                 for row in judged for m, v in row.published.items())  # fmt: skip
    expected = round(number * share_inside(20))
    assert f"{number} of {number} published values lie inside" in sentence(0) and "), more than the" in sentence(0)
    assert sentence(0).startswith("Simulated values are " + " and ".join(f"0.000 ({names.get(m, m)})" for m in metrics))
    assert f"0 of {number} published values" in sentence(
        0.2
    ) and f"range (5 to 95 %), fewer than the {expected} " in sentence(0.2)
    assert " and ".join(f"0.200 ({names.get(m, m)})" for m in metrics) in sentence(0.2)
    assert "inside" not in sentence(0.2, None)


@pytest.mark.parametrize("name", STUDIES)
def test_sentences_whose_tables_were_not_run_whole_are_not_told(name: str) -> None:
    rows = made(name, by(), by())
    assert len(answer(load(name), rows, 20)) == 5
    (part, *_) = (row for row in rows if row.published.get(told_metrics(load(name))[-1]) is not None)
    assert len(answer(load(name), Rows([part]), 20)) == 1


def test_the_service_is_told_of_the_networks_whose_rows_were_run_and_how_much_is_not_told() -> None:
    rows, study = made("abr-or-ubr", by(service={"abr": 0.2}), EVEN), load("abr-or-ubr")
    assert untold(study, rows) == "" and len(answer(study, rows, 20)) == 5
    here = rows.where(table="services", configuration="lan", vbr="yes")
    assert sentences(study.name, here)[0].startswith("Most efficient is ABR on the LAN beside VBR (+0.20) (in brackets")
    size = len(study.tables["services"].rows)
    of = f"claims, on services ({len(here)} of {size} rows)."
    assert untold(study, here).startswith("Not told, as only a part") and untold(study, here).endswith(of)
    assert "2 sentences of the answer" in untold(study, here)
    # A subset of these has no best.
    assert answer(study, here.where(service=("abr", "ubr")), 3) == []
    assert "3 sentences of the answer" in untold(study, here.where(service="abr"))


def of_schemes(extra: Callable[[Row], float], late: Callable[[Row], float] = lambda row: 0) -> list[str]:
    """Return the answer of the third study with throughputs so far above the ideal, in all and late."""
    found = []
    for table in load("gfr-leaky-bucket").tables.values():
        for row in table.rows:
            ideal = row["mcr_mbps"] + (5 if row["network"] == "chain" else 6)
            told = {"throughput_mbps": ideal + extra(row), "late_mbps": ideal + late(row), "ideal_mbps": ideal}
            found.append(sampled(row, told))
    return sentences("gfr-leaky-bucket", Rows(found))


def test_the_answer_of_gfr_leaky_bucket_turns_round_with_its_rows() -> None:
    greedy = {"tcp": -5.9, "udp": 5.9}

    def published(row: Row) -> float:
        return greedy[row["kind"]] if row["scheme"] == 1 and row["network"] == "tcp-udp" else 0.1 * (row["scheme"] != 2)

    usual = of_schemes(published)
    assert "40 of 40 VCs with scheme one and 40 of 40 VCs with scheme two get their minimum rate, within 2%" in usual[0]
    assert usual[0].endswith("without the burst at the start 40 and 40.")
    assert "take 99% [99, 99] with scheme one and 50% [50, 50] with scheme two" in usual[1]
    assert "among TCPs scheme two (0.00 Mb/s off; scheme two 0.00)" in usual[2]
    assert usual[3].endswith(
        "scheme two (0.00), scheme of chapter 8 (0.10) or DFBA (0.10) or per-VC scheduling (0.10) (not separated), scheme one (1.55)."
    )
    other = of_schemes(
        lambda row: {1: 0.0, 2: -7.0}.get(row["scheme"], 0.5),
        lambda row: -9.0 * (row["vc"] == "A1" and row["scheme"] == 1),
    )
    assert other[0].endswith("without the burst at the start 39 and 40.")
    assert "and 0 of 40 VCs with scheme two get" in other[0]
    assert "beside UDP scheme one (0.00 Mb/s off; scheme two 7.00)" in other[2]
    assert "scheme one (0.00), " in other[3] and other[3].endswith("; scheme two do not.")


def of_services(sign: int, spread: float = 0.0, vbr: int = 1) -> list[str]:
    """Return the answer of the fourth study, with ABR better or worse than UBR and EPD in between.

    ``spread`` is that of the ABR runs. ``vbr`` = -1 reverses the order on the LAN with VBR.
    """
    found = []
    for table in load("abr-or-ubr").tables.values():
        for row in table.rows:
            service = row.get("service")
            turned = vbr if row.get("configuration") == "lan" and row.get("vbr") == "yes" else 1
            better = turned * sign * {"abr": 0.2, "epd": 0.1, "guaranteed-rate": 0.05, "ubr": 0.0}.get(service, 0.01)
            values: dict[str, Any] = {**OTHERS, "efficiency": 0.5 + better, "fairness": 0.6 + better}
            values["max_queue_cells"] = (
                1000 * row.get("sources", 1) if service is None else 700 + sign * (service == "abr")
            )
            values["queue_round_trips"] = row.get("sources", 1) / 10 + sign * 0.1 * (row.get("tbe_cells") == 128)
            values["cell_loss_percent"] = 1.5 if service == "ubr" else 0.5 * (1 - sign)
            values["vbr_delay_variation_ms"] = 60.0 + sign if service == "guaranteed-rate" else 0.003
            drawn = tuple(values["efficiency"] + spread * k * (service == "abr") for k in (-1, 0, 1) * 7)
            made_row = sampled(row, values, runs=len(drawn))
            found.append(replace(made_row, samples={**made_row.samples, "efficiency": drawn}))
    return sentences("abr-or-ubr", Rows(found))


def test_the_answer_of_abr_or_ubr_turns_round_with_its_rows() -> None:
    good, bad = of_services(1), of_services(-1)
    assert good[0] == (
        "Most efficient is ABR on the LAN (+0.10, +0.10); ABR on the WAN (+0.10, +0.10); ABR on the satellite path (+0.10, +0.10) "
        "(in brackets: ABR's efficiency minus that of the best alternative)."
    )
    assert bad[0].startswith("Most efficient is UBR on the LAN (-0.20, -0.20); UBR on the WAN (-0.20, -0.20); UBR on")
    assert "2: 0.2, 5: 0.5, 15: 1.5, 50: 5.0, 100: 10.0, 200: 20.0 without VBR (TBE 16777215)" in good[1]
    assert "2: 0.1, 5: 0.4, 15: 1.4, 50: 4.9, 100: 9.9, 200: 19.9 beside VBR (TBE 128)" in bad[1]
    assert "in cells, 2: 2000, 5: 5000, 10: 10000, 15: 15000." in good[1]
    assert (
        "ABR (ERICA) has a fairness of 0.80, loses 0.0 % of its cells and queues up to 701 cells in a switch and 1000 in"
        in good[2]
    )
    assert "ABR (ERICA) has a fairness of 0.40, loses 1.0 % of its cells and queues up to 699 cells" in bad[2]
    assert "UBR has a fairness of 0.60, loses 1.5 %" in good[2]
    assert "beside VBR rises by 0.05 [0.05, 0.05] and VBR's delay varies by 61.0 ms (beside ABR: 0.003 ms)" in good[3]
    assert "beside VBR falls by 0.05 [0.05, 0.05] and VBR's delay varies by 59.0 ms" in bad[3]


def test_a_difference_that_runs_do_not_show_is_left_open() -> None:
    assert "is ABR on the LAN (+0.10, +0.10);" in of_services(1, 0.01)[0]
    assert "is ABR or EPD (not separated) on the LAN (+0.10, +0.10);" in of_services(1, 0.18)[0]


def test_a_network_is_told_twice_where_vbr_changes_the_answer() -> None:
    assert (
        "is ABR on the LAN without VBR (+0.10); UBR on the LAN beside VBR (-0.20); ABR on" in of_services(1, vbr=-1)[0]
    )


def of_discard(sign: int) -> list[str]:
    """Return the answer of the fifth study.

    Either policies matter on the access network and FBA is fair, or the other way round.
    """
    found = []
    for table in load("cell-discard").tables.values():
        for row in table.rows:
            access, policy = row["environment"] == "access", row["drop_policy"]
            better = sign * {"epd": 0.1, "fba": 0.1, "red": 0.2}.get(policy, 0.0)
            values = {
                "goodput": 0.7 + better * access - 0.1 * sign * (access and row["mss_bytes"] == 9140),
                "fairness": 0.7 + sign * {"fba": 0.2}.get(policy, 0.0),
                "mean_queue_cells": 5000 - sign * 2000 * (policy == "red"),
            }
            found.append(sampled(row, values))
    return sentences("cell-discard", Rows(found))


def test_the_answer_of_cell_discard_turns_round_with_its_rows() -> None:
    good, bad = of_discard(1), of_discard(-1)
    assert "a LAN the discard policy hardly matters for the goodput" in good[0]
    assert "access network the discard policy decides the goodput" in good[1]
    assert good[1].endswith(
        "segment sizes: RED (0.85), EPD (0.75) or FBA (0.75) (not separated), UBR (tail drop) (0.65)."
    )
    assert bad[1].endswith(
        "segment sizes: UBR (tail drop) (0.75), EPD (0.65) or FBA (0.65) (not separated), RED (0.55)."
    )
    assert "FBA on the LAN (0.90; tail drop 0.70) and FBA on the access network (0.90; tail drop 0.70)" in good[2]
    assert "FBA" not in bad[2]
    assert (
        "access network falls by 0.10 [0.10, 0.10]; the queue is shortest with RED (3000 cells on average, with tail drop 5000)"
        in good[3]
    )
    assert (
        "access network rises by 0.10 [0.10, 0.10]; the queue is shortest with UBR (tail drop) or EPD or FBA (not separated) (5000"
        in bad[3]
    )


def test_a_mean_is_of_the_rows_where_the_metric_is_defined_and_of_none_that_is_told() -> None:
    def row(policy: str, fairness: float | None) -> Row:
        return Row("1", {"drop_policy": policy}, {}, simulated={"fairness": fairness})

    rows = Rows([row("epd", 0.5), row("epd", None), row("fba", 0.75)])
    assert means(rows, "drop_policy", "fairness") == {"epd": 0.5, "fba": 0.75}
    with pytest.raises(UsageError, match="fairness is defined in no row with drop_policy = tail-drop"):
        means(Rows([*rows, row("tail-drop", None)]), "drop_policy", "fairness")
