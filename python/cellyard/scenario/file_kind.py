"""Recognises files of the wrong kind, so that one message replaces an error for each field."""

#: Fields that only one kind of file has, and the commands for it.
_KINDS = {
    "scenario": (frozenset({"host", "link", "vc", "duration"}), "`cellyard run` or `cellyard check`"),
    "experiment": (
        frozenset({"base", "axis", "question", "metrics"}),
        "`cellyard experiment check`, `run` or `report`",
    ),
}


def other_kind(text: str, wanted: str) -> str:
    """Message for a TOML text that is clearly not of the kind ``wanted``; empty for any other text.

    >>> other_kind('host = []', "experiment")
    'is a scenario, not an experiment; use `cellyard run` or `cellyard check`'
    >>> other_kind('host = []', "scenario"), other_kind('[question', "scenario")
    ('', '')
    """
    from cellyard import _engine

    try:
        fields = _engine.read_tree(text, "")[0].keys()
    except ValueError:
        return ""
    other = next(kind for kind in _KINDS if kind != wanted)
    other_fields, commands = _KINDS[other]
    if not other_fields & fields or _KINDS[wanted][0] & fields:
        return ""
    return f"is {_ARTICLES[other]} {other}, not {_ARTICLES[wanted]} {wanted}; use {commands}"


_ARTICLES = {"scenario": "a", "experiment": "an"}
