"""The accuracy page: its tables are complete and as simulated, and the page on trust quotes them."""

import re

import accuracy
import cellyard as cy
import pytest
from cellyard.study import studies
from cellyard.study.agreement import told_metrics
from conftest import ROOT

TRUST = (ROOT / "docs/trust.md").read_text(encoding="utf-8")
ACCURACY = (ROOT / "docs/accuracy.md").read_text(encoding="utf-8")


def columns(block: str) -> list[str]:
    """Return the names of the columns of a table."""
    (head,) = re.findall(r"^\| (table: group .*) \|$", block, re.M)
    return str(head).split(" | ")


def test_the_accuracy_page_has_every_group_with_published_values() -> None:
    for name, study in studies().items():
        (block,) = re.findall(rf"<!-- {name}, by scripts/accuracy.py -->(.*?)<!-- end -->", ACCURACY, re.S)
        for table in study.tables:
            metrics = [
                metric
                for metric in told_metrics(study)
                if any(row.published.get(metric) is not None for row in study.tables[table].rows)
            ]
            for metric in metrics:
                place = columns(block).index(f"{metric}: error")
                lines = re.findall(rf"^\| ({table}\b.*) \|$", block, re.M)
                assert any(line.split(" | ")[place].strip(" |") for line in lines), (name, table, metric)


def test_a_group_of_the_accuracy_page_is_as_simulated() -> None:
    study = studies()["cell-discard"]
    rows = cy.study.Rows(row for row in accuracy.published(study) if row.parameters["environment"] == "lan")
    found = accuracy.groups(study, rows, accuracy.REPLICATIONS.get(study.name, 10))
    *_, line = accuracy.table(found)
    assert len(found) == 2 and line in ACCURACY


@pytest.mark.slow
@pytest.mark.parametrize("name", studies())
def test_the_accuracy_page_is_as_simulated(name: str) -> None:
    assert accuracy.block(studies()[name]) in ACCURACY


def test_numbers_of_the_page_on_trust_are_those_of_the_other_pages() -> None:
    (row,) = re.findall(r"^\| published numbers \| (.*) \|$", TRUST, re.M)
    (error,) = re.findall(r"Tables 2-3 differ by (\S+) in efficiency on average", row)
    rows = [
        (count, error) for error, count in re.findall(r"^\| 2-3: \w+ \| (\S+) \| \S+ \| \d+ of (\d+) ", ACCURACY, re.M)
    ]
    total = sum(int(count) for count, _ in rows)
    assert total == 48 and float(error) == pytest.approx(sum(int(n) * float(e) for n, e in rows) / total, abs=0.0006)
    # Table 1: the longest queues, and how far they are from the published ones.
    differences = re.search(r"published: (\d+) and (\d+) cells\. On the WAN they differ by (\d+) and (\d+) cells", row)
    table = re.findall(r"^(?:lan|wan) .* (\d+) +(\d+)\*? +([+-]\d+)$", TRUST, re.M)
    assert differences and [one for one, _, _ in table[:2]] == list(differences.groups()[:2])
    assert [difference.lstrip("+") for _, _, difference in table] == ["0", "0", *differences.groups()[2:]]


def test_the_worst_rank_correlations_are_those_that_the_page_names() -> None:
    (block,) = re.findall(r"<!-- guaranteed-rate, by scripts/accuracy.py -->(.*?)<!-- end -->", ACCURACY, re.S)
    ranks = re.findall(r"^\| ([^|:]+: [^|]+) \|.* \| (\S+) \| [^|]+ \|$", block, re.M)
    assert columns(block)[-3:] == ["fairness: error", "rank", "inside"]
    near_0 = {name for name, rank in ranks if name != "table: group" and abs(float(rank)) < 0.1}
    assert near_0 == {"1-2: wan", "4-6: wan, vanilla"}


def test_the_starved_sources_of_the_page_are_those_of_the_study() -> None:
    (told,) = re.findall(r"(\d+) of 50 sources finish no file; the paper reports (\d+)\.", " ".join(ACCURACY.split()))
    study = " ".join((studies()["cell-discard"].folder / "README.md").read_text(encoding="utf-8").split())
    assert re.findall(r"(\d+) of 50 sources finish no file \(text: (\d+)\)", study) == [told]
