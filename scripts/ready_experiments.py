"""The page of the documentation that shows every example experiment with its answer; scripts/generate.py writes it."""

import textwrap
from pathlib import Path

import tour
from cellyard.experiment import examples

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/ready-experiments.md"

HEAD = """# Ready experiments

`cellyard example --experiments NAME` prints one of these [experiments](experiments.md). Notes and
tables below the answers are left out.
"""


def pages() -> dict[Path, str]:
    """Return the page, with the file and the answer of each experiment.

    Answers that the page has stay, and tests/test_docs_commands.py runs them. To make one anew, delete it there.
    """
    answers = dict(tour.commands(PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""))
    parts = [HEAD]
    for name in examples.names():
        path = (examples.FOLDER / f"{name}.toml").relative_to(ROOT)
        command = f"cellyard experiment run {name}.toml"
        if command not in answers:
            experiment = examples.experiment(name)
            answer = textwrap.fill(experiment.run().text, 90, break_long_words=False, break_on_hyphens=False)
            answers[command] = f"{experiment.plan.title}\n\n{answer}\n...\n"
        parts += [
            f"## {name}\n\n[The file](../{path}):\n",
            f"```{{literalinclude}} ../{path}\n:language: toml\n```\n",
            f"```console\n$ {command}\n{answers[command]}```\n",
        ]
    return {PAGE: "\n".join(parts)}
