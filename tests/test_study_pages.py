"""The page of a study is short and follows its report and its files: scripts/pages.py makes it."""

import re

import pages
import pytest
from cellyard.study import load, studies
from cellyard.study.verdicts import CONTRADICTED, HOLDS, NOT_DECIDED

SUMMARY = """# epd: a title

Written by `cellyard study report NAME` with 30 replications (simulated values are means), seed 1.

## Answer

1. EPD helps.

![Figure 5: efficiency by policy (table 1)](key.png)

*Figure 5: efficiency by policy (table 1).*

Note: a note.

## Claims

- **holds**: EPD helps.
  higher in 6 of 6 rows. Each gain: +0.1.

- **not decided**: FBA is best.
  FBA leads in 4 of 6 rows. Of 6 conditions (5 needed), 3 are shown to hold and 1 to be violated.

## Not matched

At least half of the error comes from 2 rows.

Table 1: published 0.8, simulated 0.5. What was tried changes nothing.
"""


def test_a_page_has_the_first_sentence_of_each_piece_of_evidence_and_of_each_miss() -> None:
    study = load("ubr-plus")
    page, figure = pages.study_page(study, SUMMARY)
    assert figure == "key.png" and "![efficiency by policy](../../../../docs/figures/study-ubr-plus.png)" in page
    assert "| **holds** | EPD helps | Higher in 6 of 6 rows |\n" in page
    assert "| **not decided** | FBA is best | FBA leads in 4 of 6 rows; 5 of 6 must be significant, 3 are |\n" in page
    assert "## What does not match\n\n* Table 1: published 0.8, simulated 0.5.\n\n" in page
    assert "a note" not in page and "At least half" not in page
    assert page.startswith(f"# {study.question} (ubr-plus, 1996)\n") and study.info["setting"] in page
    assert page.endswith("`cellyard study report NAME` with 30 replications (means), seed 1.\n")


@pytest.mark.parametrize("name", studies())
def test_a_stored_page_is_short_and_has_every_claim_and_one_figure(name: str) -> None:
    study = load(name)
    page = (study.folder / "README.md").read_text(encoding="utf-8")
    assert len(page.split()) <= 1000
    assert page.startswith(f"# {study.question} ({name}, {study.info['citation']['year']})\n")
    titles = ["Answer", "Claims", "What does not match", "Assumed where the paper is silent"]
    assert re.findall(r"^## (.*)$", page, re.M) == titles
    assert re.findall(r"^!\[.+\]\((.*)\)$", page, re.M) == [f"../../../../docs/figures/study-{name}.png"]
    claims = re.findall(r"^\| \*\*(.*)\*\* \| (.*) \| (.*) \|$", page, re.M)
    assert [text for _, text, _ in claims] == [claim.text.removesuffix(".") for claim in study.claims]
    assert {verdict for verdict, *_ in claims} <= {HOLDS, CONTRADICTED, NOT_DECIDED}
    assert all(len(evidence.split()) <= 35 for *_, evidence in claims)
    assert pages.assumptions(study) in page
