"""Count lines of code, tests and generated files included: `python scripts/lines.py [COMMIT ...]`.

A line counts if it holds more than blanks, comments and docstrings. Format first (`make fmt`).
Without a commit the files as they are on disk count; with several, each gets a column.
"""

import subprocess
import sys
from collections import Counter
from pathlib import Path

from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, String, Whitespace

ROOT = Path(__file__).resolve().parent.parent
LANGUAGES = {".py": "python", ".pyi": "python", ".rs": "rust", ".js": "javascript", ".css": "css", ".html": "html"}


def code_lines(text: str, language: str) -> int:
    """Lines of `text` that hold code."""
    lines: set[int] = set()
    line = 0
    for kind, value in get_lexer_by_name(language, stripnl=False).get_tokens(text):
        parts = value.split("\n")
        if kind not in Comment and kind not in String.Doc and kind not in Whitespace:
            lines.update(line + i for i, part in enumerate(parts) if part.strip())
        line += len(parts) - 1
    return len(lines)


def part_of(path: Path) -> str:
    """The part of the project that a file counts for."""
    if path.suffix == ".rs":
        test = "tests" in path.parts or path.stem in ("tests", "testing")
        return "Rust, whole files of tests" if test else "Rust, unit tests included"
    if path.parts[0] == "tests":
        return "Python tests"
    if path.suffix in (".py", ".pyi"):
        return "Python" if path.parts[0] == "python" else "scripts, benches"
    return "explorer and site"


def count(commit: str | None) -> Counter[str]:
    """Code lines per part, at a commit or on disk."""
    names = (
        _git("ls-tree", "-r", "--name-only", commit)
        if commit
        else _git("ls-files", "--cached", "--others", "--exclude-standard")
    )
    counts: Counter[str] = Counter()
    for path in map(Path, names.splitlines()):
        if path.suffix in LANGUAGES and (commit or (ROOT / path).is_file()):
            text = _git("show", f"{commit}:{path}") if commit else (ROOT / path).read_text("utf-8")
            counts[part_of(path)] += code_lines(text, LANGUAGES[path.suffix])
    return counts


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def main() -> None:
    """Print the counts, one row per part and the sum."""
    columns = [count(commit) for commit in sys.argv[1:]] or [count(None)]
    for part in sorted(set().union(*columns)):
        print(f"{part:28}", *(f"{column[part]:8}" for column in columns))
    print(f"{'all':28}", *(f"{column.total():8}" for column in columns))


if __name__ == "__main__":
    main()
