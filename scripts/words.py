"""Check the English of the project by the rules in `scripts/words.toml`; part of `make lint`.

Three rules: no expression of the list, no comment or docstring whose first words refer to the line
above it, no sentence in README, CONTRIBUTING and docs that is too long.
"""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
RULES = tomllib.loads((ROOT / "scripts/words.toml").read_text(encoding="utf-8"))
PHRASES = {re.compile(rf"\b(?:{pattern})\b"): write for pattern, write in RULES["phrases"].items()}
OPENING = re.compile(RULES["openings"])

#: Files that people read, apart from licences and from answers of studies that take long to generate.
READ = (".rs", ".py", ".pyi", ".md", ".toml", ".js", ".html")
EXEMPT = (
    "scripts/words.",
    "fuzz/",
)

COMMENT = {
    ".rs": re.compile(r"(?:^[ \t]*//[/!]? ?.*\n)+", re.M),
    ".py": re.compile(r"(?:^[ \t]*#:? .*\n)+", re.M),
}
MARK = re.compile(r"^[ \t]*(?://[/!]?|#:?) ?", re.M)
FENCED = re.compile(r"^```.*?^```", re.S | re.M)
#: Paragraphs, items of lists and rows of tables.
BLOCKS = re.compile(r"\n\s*\n|\n(?=\s*[-*|#]|\s*\d+\.)")
WORD = re.compile(r"[\w`][\w`'./-]*")


def problems(name: str, text: str) -> Iterator[tuple[int, str]]:
    """Line and sentence of each rule that the file ``name`` breaks."""
    for number, line in enumerate(text.splitlines(), 1):
        for phrase, write in PHRASES.items():
            if found := phrase.search(line):
                yield number, f"`{found[0]}`: write {write}"
    for number, comment in comments(name, text):
        if OPENING.match(comment):
            yield number, f"`{comment[:40]}`: a comment starts with what it is about"
    if name.endswith(".md") and (name.startswith("docs/") or "/" not in name):
        for number, sentence in long_sentences(text):
            yield number, f"`{sentence[:60]}...` has more than {RULES['most_words']} words"


def comments(name: str, text: str) -> Iterator[tuple[int, str]]:
    """Line and text of each comment and docstring."""
    suffix = Path(name).suffix
    if suffix in COMMENT:
        for found in COMMENT[suffix].finditer(text):
            yield text.count("\n", 0, found.start()) + 1, MARK.sub("", found[0]).strip()
    if suffix == ".py":
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                yield getattr(node, "lineno", 1), ast.get_docstring(node) or ""


def long_sentences(text: str) -> Iterator[tuple[int, str]]:
    """Line and text of each sentence with too many words; a cell of a table is a text of its own.

    >>> list(long_sentences("One. " + "word " * 36))[0][1][:9]
    'word word'
    >>> list(long_sentences("word " * 20 + ": " + "word " * 20))
    []
    """
    prose = FENCED.sub(lambda block: "\n" * block[0].count("\n"), text)
    start = 0
    for block in BLOCKS.split(prose):
        start = prose.index(block, start)
        for cell in " ".join(block.split()).split(" | "):
            for sentence in re.split(r"(?<=[.!?:;])\s+", cell):
                if len(WORD.findall(sentence)) > RULES["most_words"]:
                    yield prose.count("\n", 0, start) + 1, sentence


def main() -> int:
    """Print each rule that is broken; 1 if there is any beyond the exceptions."""
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\n")
    allowed = {exception["file"]: exception["count"] for exception in RULES.get("exception", ())}
    wrong = 0
    for name in names:
        if not name.endswith(READ) or name.startswith(EXEMPT):
            continue
        found = list(problems(name, (ROOT / name).read_text(encoding="utf-8")))
        if len(found) != allowed.get(name, 0):
            wrong += 1
            print(*(f"{name}:{line}: {problem}" for line, problem in found), sep="\n")
            if name in allowed:
                print(f"{name}: {len(found)} found, {allowed[name]} allowed by scripts/words.toml")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
