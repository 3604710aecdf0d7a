"""Recognises files of the wrong kind, so that one message replaces an error for each field."""

from __future__ import annotations

#: Fields that only one kind of file has, and the command that reads it.
_ONLY = {
    "scenario": (frozenset({"host", "link", "vc", "duration"}), "`cellyard run` and `cellyard check` read it"),
    "experiment": (
        frozenset({"base", "axis", "question", "metrics"}),
        "`cellyard experiment check`, `run` and `report` read it",
    ),
}


def is_other(text: str, wanted: str) -> str:
    """Message for a TOML text that is clearly not of the kind ``wanted``; empty for any other text.

    >>> is_other('host = []', "experiment")
    'is a scenario, no experiment: `cellyard run` and `cellyard check` read it'
    >>> is_other('host = []', "scenario"), is_other('[question', "scenario")
    ('', '')
    """
    from cellyard import _engine

    try:
        fields = _engine.read_tree(text, "")[0].keys()
    except ValueError:
        return ""
    ((other, (own, reads)),) = ((kind, told) for kind, told in _ONLY.items() if kind != wanted)
    if not own & fields or _ONLY[wanted][0] & fields:
        return ""
    return f"is {'an' if other[0] == 'e' else 'a'} {other}, no {wanted}: {reads}"
