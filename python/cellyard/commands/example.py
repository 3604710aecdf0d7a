"""The command ``cellyard example``: prints example scenarios and experiments."""

from cellyard.experiment import examples as ready_experiments
from cellyard.scenario import examples
from cellyard.show.table import Table
from cellyard.system import schemas


def command(name: str | None, experiments: bool) -> None:
    """Print an example, below a line that names its schema to editors, or the list of all."""
    if name:
        print(schemas.directive("experiment" if experiments else "scenario") + text(name, experiments), end="")
    else:
        print(overview(experiments))


def text(name: str, experiments: bool = False) -> str:
    """The file of an example scenario or experiment."""
    return ready_experiments.text(name) if experiments else examples.text(name)


def overview(experiments: bool = False) -> str:
    """All examples of a kind with their first lines, which say what they show."""
    kind = ready_experiments if experiments else examples
    rows = [[name, kind.text(name).splitlines()[0].lstrip("# ")] for name in kind.names()]
    if experiments:
        return (
            str(Table.from_rows(["experiment", "question"], rows))
            + "\n\ncellyard example --experiments NAME > NAME.toml writes one to a file."
        )
    return (
        str(Table.from_rows(["example", "what it shows"], rows))
        + "\n\ncellyard example NAME > NAME.toml writes one to a file."
    )
