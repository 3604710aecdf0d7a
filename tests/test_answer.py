"""Each sentence of a study's answer follows from its rows.

A sentence is reversed when the rows are, and adds no number.
"""

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from cellyard.statistics.difference import FEWEST
from cellyard.study import Row, Rows, load, studies
from cellyard.study.agreement import told_metrics
from cellyard.study.answer import answer, means, undecided, untold
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


Rule = Callable[[Row], float]


def made(name: str, efficiency: Rule, fairness: Rule, *, spread: float = 0.0, runs: int = 20) -> Rows:
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


def told(name: str, efficiency: Rule, fairness: Rule = EVEN, **more: Any) -> list[str]:
    return sentences(name, made(name, efficiency, fairness, **more))


def policies(sign: int) -> Rule:
    gains = {"tail-drop": -0.2, "selective-drop": 0.2, "fba": 0.3}
    return by(
        drop_policy={policy: sign * gain for policy, gain in gains.items()},
        buffer_cells=dict.fromkeys((3000, 36000), sign * 0.1),
    )


GOOD, BAD = policies(1), policies(-1)


#: A number in a sentence, and a word.
NUMBER, WORD = re.compile(r"\d[\d.]*"), re.compile(r"[\w.%+-]*\w[\w.%+-]*")

#: What shows how sure a sentence is: an interval, or that there is none, or the verdict on its candidates.
UNCERTAINTY = ("±", "(no interval)", "significant)", "difference)", "significantly", "decided)")

SPREADS = [(0.0, 20), (0.1, 20), (0.4, 20), (0.4, 3), (0.0, 1)]


@pytest.mark.parametrize("effect", ["good", "bad", "even"])
@pytest.mark.parametrize(("spread", "runs"), SPREADS)
@pytest.mark.parametrize("name", STUDIES)
def test_an_answer_is_at_most_five_short_sentences_each_with_its_uncertainty(
    name: str, spread: float, runs: int, effect: str
) -> None:
    rule = {"good": GOOD, "bad": BAD, "even": EVEN}[effect]
    found = told(name, rule, rule, spread=spread, runs=runs)
    assert 1 < len(found) <= 5
    for one in found:
        assert one.endswith(".") and one[0].isupper()
        assert len(WORD.findall(one)) <= 35, one
        assert len(NUMBER.findall(one)) <= 4, one
        assert any(mark in one for mark in UNCERTAINTY) or "random draws would." in one, one


@pytest.mark.parametrize("name", STUDIES)
def test_numbers_and_differences_behind_an_answer_have_names_intervals_and_verdicts(name: str) -> None:
    told = answer(load(name), made(name, GOOD, GOOD, spread=0.1), 20)
    found = [one.to_dict() for sentence in told for one in sentence.numbers]
    assert len(found) > 10 and len({one["what"] for one in found}) > 10
    for record in found:
        assert record["what"] and (record["low"] is None or record["low"] <= record["value"] <= record["high"])
    for record in (one.to_dict() for sentence in told for one in sentence.evidence):
        assert record["low"] <= record["value"] <= record["high"]
        assert record["verdict"] == ("not significant" if record["low"] <= 0 <= record["high"] else "significant")


def numbers(name: str, rows: Rows, sentence: int) -> dict[str, float]:
    """Return the numbers behind a sentence, by name."""
    return {one.what: round(one.value.mean, 3) for one in answer(load(name), rows, 20)[sentence].numbers}


def test_the_answer_of_ubr_plus_turns_round_with_its_rows() -> None:
    good, bad, even = told("ubr-plus", GOOD, GOOD), told("ubr-plus", BAD, BAD), told("ubr-plus", by())
    for place, number in (("LAN", 0), ("WAN", 1)):
        assert good[number] == (
            f"On the {place} the drop policy decides the efficiency: 0.83 with FBA, 0.50 ± 0.00 more than with UBR (tail drop)."
        )
        assert bad[number].endswith("the efficiency: 0.67 with UBR (tail drop), 0.50 ± 0.00 more than with FBA.")
        assert "barely affects" in even[number] and even[number].endswith("0.50 to 0.50 (no significant difference).")
    assert numbers("ubr-plus", made("ubr-plus", GOOD, GOOD), 0) == {
        "efficiency, LAN: FBA": 0.833,
        "efficiency, LAN: Selective Drop": 0.733,
        "efficiency, LAN: EPD": 0.533,
        "efficiency, LAN: UBR (tail drop)": 0.333,
    }
    assert "rises by 0.20 ± 0.00 from tail drop to EPD and rises by 0.25 ± 0.00 from EPD" in good[2]
    assert "falls by 0.20 ± 0.00 from tail drop to EPD and falls by 0.25 ± 0.00 from EPD" in bad[2]
    assert "stays the same (± 0.01) from tail drop to EPD and stays the same (± 0.01) from EPD" in even[2]
    assert "rises by 0.10 ± 0.00 on the LAN" in good[3] and "rises by 0.10 ± 0.00 on the WAN" in good[3]
    assert "falls by 0.10 ± 0.00 on the LAN" in bad[3] and "stays the same (± 0.01) on the WAN" in even[3]


def test_candidates_that_the_replications_do_not_separate_are_not_ranked() -> None:
    near = by(drop_policy={"tail-drop": -0.3, "epd": -0.1, "selective-drop": 0.001, "fba": 0.0})
    noisy = told("ubr-plus", near, near, spread=0.2)
    assert re.search(
        r"with (Selective Drop or FBA|FBA or Selective Drop) \(no significant difference\), 0\.3", noisy[0]
    )
    verdicts = {
        one.what.replace("FBA - Selective Drop", "Selective Drop - FBA"): one.value.verdict
        for one in answer(load("ubr-plus"), made("ubr-plus", near, near, spread=0.2), 20)[0].evidence
    }
    assert verdicts["efficiency, LAN: Selective Drop - FBA"] == "not significant"
    assert verdicts["efficiency, LAN: FBA - EPD"] == "significant" and len(verdicts) == 6
    # Without noise, differences of this size are separated.
    assert "0.50 with Selective Drop, 0.30 ± 0.00 more" in told("ubr-plus", near, near)[0]


@pytest.mark.parametrize("runs", [1, 3, 5])
@pytest.mark.parametrize("name", STUDIES)
def test_few_replications_rank_nothing(name: str, runs: int) -> None:
    few = answer(load(name), made(name, GOOD, GOOD, runs=runs), runs)
    assert not {one.value.verdict for sentence in few[:-1] for one in sentence.evidence} & {"significant"}
    assert few[0].text == undecided(runs) and f"{FEWEST}" in few[0].text
    assert any("(not decided)" in one.text for one in few) and "unknown" not in " ".join(one.text for one in few)
    if name == "ubr-plus":
        assert few[1].text.startswith("On the LAN the drop policy may matter for the efficiency")
        assert few[1].text.endswith("0.83 with FBA and 0.33 with UBR (tail drop) (not decided).")
        assert "changes by +0.20 (not decided) from tail drop to EPD" in few[3].text


@pytest.mark.parametrize(
    ("factor", "values", "texts"),
    [
        ("drop_policy", {"epd": 0.1, "selective-drop": 0.3}, ("the paper agrees", "names the guaranteed rate", "names the TCP variant")),
        ("gr", {0.1: 0.1, 0.5: 0.3}, ("names the drop policy", "the paper agrees", "names the TCP variant")),
        ("tcp", {"reno": 0.3, "sack": 0.1}, ("names the drop policy", "names the guaranteed rate", "the paper agrees")),
    ],
)  # fmt: skip
def test_the_answer_of_guaranteed_rate_names_the_factor_whose_means_lie_farthest_apart(
    factor: str, values: dict[Any, float], texts: tuple[str, ...]
) -> None:
    name = {"tcp": "TCP variant", "gr": "guaranteed rate", "drop_policy": "drop policy"}[factor]
    rows = made("guaranteed-rate", by(**{factor: values}), EVEN)
    found = sentences("guaranteed-rate", rows)
    for sentence, text in zip(found[1:4], texts, strict=True):
        assert f", efficiency depends most on the {name}: with " in sentence
        assert text in sentence and "it is 0.30 ± 0.00 higher than with" in sentence
    more = {"gr": "rises by 0.30 ± 0.00"}.get(factor, "stays the same (± 0.01)")
    third = {"gr": "rises significantly"}.get(factor, "changes (not significant)")
    assert found[0] == (
        f"With half of the link guaranteed the efficiency {more} on the LAN, {more} on the WAN and {third} on the satellite path."
    )
    assert numbers("guaranteed-rate", rows, 0) == {
        "longest VBR queue in cells, GR = 0.5": 7000.0,
        "VBR delay variation in ms, GR = 0.5": 250.0,
    }
    assert "falls by 0.30 ± 0.00 on the LAN" in told("guaranteed-rate", by(gr={0.0: 0.3, 0.1: 0.2}))[0]


def test_factors_whose_spreads_are_not_separated_share_the_first_place() -> None:
    both = by(tcp={"reno": 0.2}, drop_policy={"epd": 0.195}, gr={0.1: 0.02})
    found = told("guaranteed-rate", both, spread=0.4)
    assert re.match(
        r"On the LAN, efficiency depends most on the (TCP variant or drop policy|drop policy or TCP variant) "
        r"\(no significant difference\): with",
        found[1],
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
    number = sum(v is not None and m in metrics and m not in row.doubtful
                 for row in judged for m, v in row.published.items())  # fmt: skip
    first = {"throughput_mbps": "throughput in Mb/s"}.get(metrics[0], metrics[0])
    assert sentence(0) == (
        f"The mean error of {first} is 0.000 (no interval); {number} of {number} published values lie within the range of the "
        "replications, more than random draws would."
    )
    assert f"0.200 (no interval); 0 of {number} published" in sentence(0.2) and "fewer than random" in sentence(0.2)
    assert sentence(0.2, None) == f"The mean error of {first} is 0.200 (no interval)."


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
    assert sentences(study.name, here)[:2] == [
        "ABR is the most efficient service in 1 of 1 networks (significant).",
        "Compared with the best alternative, ABR's efficiency is 0.20 ± 0.00 higher on the LAN with VBR.",
    ]
    size = len(study.tables["services"].rows)
    of = f"claims, on services ({len(here)} of {size} rows)."
    assert untold(study, here).startswith("Not shown, as only a part") and untold(study, here).endswith(of)
    assert "1 sentence of the answer" in untold(study, here)
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
    assert usual[0] == (
        "Of the rate beyond the guarantees, five UDPs next to five TCPs take 99.2 ± 0.0 % with scheme one and "
        "50.0 ± 0.0 % with scheme two; "
        "half would be fair."
    )
    assert usual[1] == (
        "Once the initial burst is over, 40 of 40 VCs get 98 % of their minimum rate with scheme one, 40 with scheme two (significant)."
    )
    assert "minimum rates: scheme two among TCPs and with UDP and in the chain (significant)." in usual[2]
    assert usual[3].endswith("equal shares is 0.00 Mb/s with scheme two, 1.55 ± 0.00 less than with scheme one.")
    other = of_schemes(
        lambda row: {1: 0.0, 2: -7.0}.get(row["scheme"], 0.5),
        lambda row: -9.0 * (row["vc"] == "A1" and row["scheme"] == 1),
    )
    assert "39 of 40 VCs get 98 % of their minimum rate with scheme one, 40 with scheme two" in other[1]
    assert "scheme one among TCPs and with UDP" in other[2]
    assert "is 0.00 Mb/s with scheme one, 0.50 ± 0.00 less than with" in other[3]


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
    networks = "networks (significant); networks: LAN, WAN and satellite path, with and without VBR."
    assert good[0] == f"ABR is the most efficient service in 6 of 6 {networks}"
    assert bad[0] == f"ABR is the most efficient service in 0 of 6 {networks}"
    assert "ABR's efficiency is 0.10 ± 0.00 higher on the LAN without VBR and 0.10 ± 0.00 higher on" in good[1]
    assert "ABR's efficiency is 0.20 ± 0.00 lower on the LAN without VBR and 0.20 ± 0.00 lower on" in bad[1]
    assert good[2].startswith("For no loss over ABR, 200 sources need a buffer of 20.0 ± 0.0 round trips; over UBR")
    assert "15 sources need significantly less" in good[2] and "of 19.9 ± 0.0 round trips" in bad[2]
    more = "fairness rises by 0.20 ± 0.00 and the share of lost cells falls by 1.5 ± 0.0 percentage points."
    assert good[3].endswith(more)
    assert "fairness falls by 0.20 ± 0.00 and the share of lost cells falls by 0.5 ± 0.0" in bad[3]


def test_a_difference_that_runs_do_not_show_is_left_open() -> None:
    assert (
        "in 6 of 6 networks (significant); networks: LAN, WAN and satellite path, with and without VBR."
        in of_services(1, 0.01)[0]
    )
    shared = "in 0 of 6 networks, and shares the first place in 6 more (no significant difference); networks: "
    assert shared in of_services(1, 0.18)[0]


def test_networks_where_vbr_changes_the_answer_are_counted_apart() -> None:
    found = of_services(1, vbr=-1)
    assert "in 5 of 6 networks" in found[0]
    assert found[1].endswith("0.20 ± 0.00 lower on the LAN with VBR.")


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
    assert (
        "a LAN the drop policy barely affects the relative goodput: 0.70 to 0.70 (no significant difference)."
        in good[1]
    )
    assert "access network the drop policy decides the relative goodput" in good[0]
    assert good[0].endswith("0.85 with RED, 0.20 ± 0.00 more than with UBR (tail drop).")
    assert bad[0].endswith("0.75 with UBR (tail drop), 0.20 ± 0.00 more than with RED.")
    assert good[2].startswith("Fairest on the LAN: FBA, 0.20 ± 0.00 above") and "access network: FBA, 0.20" in good[2]
    assert "0.20 ± 0.00 above FBA" in bad[2]
    assert "the relative goodput falls by 0.10 ± 0.00 from 1460-byte" in good[3]
    assert good[3].endswith("the mean queue over both networks is shortest with RED (significant).")
    assert "the relative goodput rises by 0.10 ± 0.00 from" in bad[3]
    assert bad[3].endswith("shortest with UBR (tail drop), EPD or FBA (no significant difference).")


def test_a_mean_is_of_the_rows_where_the_metric_is_defined_and_of_none_that_is_told() -> None:
    def row(policy: str, fairness: float | None) -> Row:
        return Row("1", {"drop_policy": policy}, {}, simulated={"fairness": fairness})

    rows = Rows([row("epd", 0.5), row("epd", None), row("fba", 0.75)])
    assert means(rows, "drop_policy", "fairness") == {"epd": 0.5, "fba": 0.75}
    with pytest.raises(UsageError, match="fairness is defined in no row with drop_policy = tail-drop"):
        means(Rows([*rows, row("tail-drop", None)]), "drop_policy", "fairness")
