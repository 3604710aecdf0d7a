"""Lines of code as scripts/lines.py counts them."""

from lines import code_lines


def test_blanks_comments_and_docstrings_are_no_lines_of_code() -> None:
    """Three lines of Python, and two of Rust, remain of these."""
    python = (
        '"""What it is."""\n\n# Why.\ndef f() -> str:\n    """Say it."""\n    return """\ntwo lines"""  # no more\n'
    )
    rust = "//! What it is.\n\n/* Why. */\nfn f() {\n    // Nothing.\n    /// A field.\n}\n"
    assert code_lines(python, "python") == 3
    assert code_lines(rust, "rust") == 2
