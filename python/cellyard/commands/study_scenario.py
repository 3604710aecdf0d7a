"""The command ``cellyard study scenario``: prints a row of a study as a scenario file."""

from collections.abc import Sequence

from cellyard.commands.study_run import print_code_files
from cellyard.study import load, select
from cellyard.study.study import only_row


def command(name: str, *, tables: Sequence[str], where: Sequence[tuple[str, str]]) -> int:
    """Print the scenario of the only row that matches."""
    study = load(name)
    row = only_row(select(study, tables, where), table="--table", parameter="--where {}=..")
    print_code_files(study)
    print(study.scenario(row).to_toml(), end="")
    return 0
