"""Write the page of a study from its report: the answer, the claims, mismatches, and one figure.

Usage: study_readme.py REPORT, the folder that `cellyard study report` wrote. The figure goes to
docs/figures.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

from cellyard.study import load

ROOT = Path(__file__).resolve().parent.parent
FIGURES = ROOT / "docs/figures"

#: Sections of the summary that are kept, in this order.
KEPT = ("Answer", "Measures", "Claims", "Not matched", "Behind the answer")


def readme(name: str, summary: str) -> tuple[str, str]:
    """Return the page of a study, made from the summary of its report, and the file of its figure."""
    head, *sections = re.split(r"^## ", summary, flags=re.MULTILINE)
    by_title = {title: body for title, _, body in (section.partition("\n") for section in sections)}
    parts = {title: f"## {title}\n{by_title[title]}" for title in KEPT if title in by_title}
    if "Not matched" in parts:  # without the list of all values
        parts["Not matched"] = re.sub(r"^(\|.*|Listed: .*\n)\n", "", parts["Not matched"], flags=re.MULTILINE)
    if "Behind the answer" in parts:  # without the differences
        parts["Behind the answer"] = parts["Behind the answer"].partition("Replications with one number")[0]
    figure = re.search(r"^(?P<begin>!\[.*\]\()(?P<file>.*)\)$", parts["Answer"], re.MULTILINE)
    if not figure:
        raise SystemExit(f"{name}: the report has no figure")
    shown = f"{figure['begin']}../../../../docs/figures/study-{name}.png)"
    parts["Answer"] = parts["Answer"].replace(figure[0], shown)
    rest = (
        f"The report of `cellyard study report {name}` has all tables and figures, the agreement by table and group, "
        "the differences behind the answer, and what was assumed.\n"
    )
    return head + "".join(parts.values()) + rest, figure["file"]


def main() -> int:
    """Write the page and its figure; return the exit status."""
    report = Path(sys.argv[1])
    name = json.loads((report / "provenance.json").read_text(encoding="utf-8"))["content"].removeprefix("the study ")
    page, figure = readme(name, (report / "README.md").read_text(encoding="utf-8"))
    (load(name).folder / "README.md").write_text(page, encoding="utf-8")
    shutil.copyfile(report / figure, FIGURES / f"study-{name}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
