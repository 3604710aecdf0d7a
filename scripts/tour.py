"""Follow the front page with the Cellyard of this Python: ``python scripts/tour.py``.

Every command in a block of type ``console`` of README.md runs, and prints what the page shows. Then
follow the commands that use the optional packages or the explorer. The one command that takes minutes is shortened.
With ``--digests FILE`` the digests of all example scenarios are written to a file, which is equal on
every system. Only Python's own modules are needed, and nothing is taken from the sources but the
page.
"""

import argparse
import doctest
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

#: Options that shorten commands which begin like this; their output is then not that of the page.
SHORTER = {"cellyard study report": "--table 1 --replications 1"}
#: Commands that use what `pip install '.[all]'` adds, and the explorer, with something that each prints.
OPTIONAL = {
    "cellyard example lossy-link > lossy-link.toml": "",
    "cellyard run lossy-link.toml --set vc.traffic.recovery=reno --plot reno.png": "retransmitted_segments",
    "cellyard run lan-5.toml --grid switch.west.ubr.drop=epd,fba --replications 2 --workers 2 --store runs.sqlite": "medians",
    'cellyard store query runs.sqlite "SELECT count(*) AS made FROM runs"': "made",
    "cellyard store export runs.sqlite --out tables": "",
    "cellyard plot runs.sqlite --x drop --y efficiency --out drop.png": "efficiency",
    "cellyard example --experiments policies > policies.toml": "",
    "cellyard experiment run policies.toml": "comparisons",
    "cellyard experiment report policies.toml --out policies": "",
    "cellyard schema --out schemas": "scenario.schema.json",
    "cellyard explore lan-5.toml --save lan-5.html": "wrote lan-5.html",
}
#: Files that these commands leave.
WRITTEN = ("reno.png", "drop.png", "tables", "policies/index.html", "lan-5.html", "schemas/experiment.schema.json")


def commands(page: str) -> list[tuple[str, str]]:
    """Return the commands in the blocks of type ``console`` of a page, each with the output that is shown."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```", page, re.M | re.S):
        found += re.findall(r"^\$ (cellyard .*)\n((?:(?!\$ ).*\n)*)", block, re.M)
    return found


def prints(shown: str, printed: str) -> bool:
    """Return whether a command prints what is shown, with ``...`` for omissions."""
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    return not shown.strip() or doctest.OutputChecker().check_output(shown, printed, flags)


def run(program: str, command: str, folder: Path) -> str:
    """Run a command without a shell, write its output to the file behind ``>``, and return it with its notes."""
    words = shlex.split(command)
    file = words[words.index(">") + 1] if ">" in words else None
    words = words[1 : words.index(">")] if file else words[1:]
    # As UTF-8 on every system, and without colours.
    environment = {**os.environ, "PYTHONUTF8": "1", "NO_COLOR": "1"}
    done = subprocess.run(
        [program, *words], cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8"
    )
    if done.returncode:
        sys.exit(f"$ {command}\n{done.stdout}{done.stderr}exit status {done.returncode}")
    if file:
        (folder / file).write_text(done.stdout, encoding="utf-8")
    return done.stdout + done.stderr


def follow(program: str, folder: Path) -> None:
    """Run all commands in a folder; exits with a message if one fails or prints something else."""
    for command, shown in commands((ROOT / "README.md").read_text(encoding="utf-8")):
        more = next((options for start, options in SHORTER.items() if command.startswith(start)), "")
        print(f"$ {command} {more}".rstrip(), flush=True)
        printed = run(program, f"{command} {more}", folder)
        if not more and not prints(shown, printed):
            sys.exit(f"the page shows\n{shown}\nand it prints\n{printed}")
    for command, part in OPTIONAL.items():
        print(f"$ {command}", flush=True)
        printed = run(program, command, folder)
        if part not in printed:
            sys.exit(f"it does not print {part}, but\n{printed}")
    for name in WRITTEN:
        if not (folder / name).exists():
            sys.exit(f"{name} is not written")


#: Prints for each example the digest of every cell transmission, and a hash of all numbers of the totals.
DIGESTS = """
import hashlib
from cellyard import examples
for name in examples.names():
    result = examples.scenario(name).run(digest=True)
    print(name, result.digest, hashlib.sha256(repr(result.totals).encode()).hexdigest()[:16])
"""


def main() -> None:
    """Follow the page in a new folder."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--digests", type=Path, metavar="FILE", help="write the digests of all examples to this file")
    asked = options.parse_args()
    program = str(Path(sys.executable).with_name("cellyard.exe" if os.name == "nt" else "cellyard"))
    with tempfile.TemporaryDirectory(prefix="tour-") as new:
        folder = Path(new)
        print(run(program, "cellyard --version", folder).strip())
        follow(program, folder)
        if asked.digests:
            made = subprocess.run(
                [sys.executable, "-c", DIGESTS], cwd=folder, check=True, capture_output=True, text=True
            )
            asked.digests.write_text(made.stdout, encoding="utf-8")
            print(made.stdout, end="")


if __name__ == "__main__":
    main()
