"""The JSON Schema of experiments: the types, bounds and meanings of what the reader declares.

The reader's lists of fields decide which fields there are, and a field without a schema here is an
error. The schema knows each field alone. The reader also knows the scenario, so it knows whether
paths, values and names exist.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from cellyard.experiment import reading
from cellyard.experiment.description.axes import SCALES
from cellyard.experiment.description.design import DESIGNS
from cellyard.experiment.description.expression import LONGEST
from cellyard.results import Totals
from cellyard.scenario import examples
from cellyard.study import studies
from cellyard.system.limits import MOST_REPLICATIONS, MOST_SEED

Schema = dict[str, Any]

#: A number with or without a unit, as text.
QUANTITY = r"^\s*[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?\s*[A-Za-z/\u00b5\u03bc]*\s*$"
#: Largest seed of numpy's generators.
LARGEST_DRAWN_SEED = 2**32 - 1

TEXT: Schema = {"type": "string", "minLength": 1}
CONFIDENCE: Schema = {"type": "number", "exclusiveMinimum": 0.5, "exclusiveMaximum": 1, "default": 0.95}


def whole(least: int, most: int, default: int | None = None) -> Schema:
    """Return the schema of a whole number."""
    bounds = {"type": "integer", "minimum": least, "maximum": most}
    return bounds if default is None else {**bounds, "default": default}


def choice(names: Iterable[str], default: str | None = None) -> Schema:
    """Return the schema of one of several words."""
    return {"enum": list(names)} if default is None else {"enum": list(names), "default": default}


def suggested(names: Iterable[str], of: Schema) -> Schema:
    """Return the schema ``of`` with words that editors offer, and that are not the only ones."""
    return {**of, "anyOf": [{}, {"enum": list(names)}]}


def texts(of: Schema, *, single: bool = True) -> Schema:
    """Return the schema of a list of texts, which may be one text alone."""
    listed = {"items": of, "minItems": 1}
    if not single:
        return {"type": "array", **listed}
    return {"type": ["string", "array"], **listed, "if": {"type": "string"}, "then": of}


def by_metric(of: Schema) -> Schema:
    """Return the schema of a table whose keys are metrics."""
    return {"type": "object", "minProperties": 1, "additionalProperties": of}


def table(
    known: Iterable[str], of: Mapping[str, tuple[Schema, str]], required: Iterable[str] = (), **more: Any
) -> Schema:
    """Return the schema of a table with the fields ``known``, each described in ``of``."""
    properties = {name: {**of[name][0], "description": of[name][1]} for name in known}
    found = {"type": "object", "properties": properties, "additionalProperties": False, **more}
    return {**found, "required": list(required)} if required else found


def only(*names: str, needs: str) -> Schema:
    """Return a schema that allows these fields alone, and demands one of them."""
    return {"required": [needs], "properties": {name: {} for name in names}, "additionalProperties": False}


def base() -> Schema:
    """Return the schema of the base scenario: a file, an example, or a row of a study."""
    fields = {
        "file": (TEXT, "A scenario file, relative to this file."),
        "example": (choice(examples.names()), "A ready scenario."),
        "study": (suggested(sorted(studies()), TEXT), "A study, or the folder of your study."),
        "table": (TEXT, "A table of the study."),
        "row": ({"type": "object"}, "Parameters of the row with their values, enough to select one row."),
    }
    row = only("study", "table", "row", needs="study")
    file, example = only("file", needs="file"), only("example", needs="example")
    choose: Schema = {
        "if": {"required": ["file"]},
        "then": file,
        "else": {"if": {"required": ["example"]}, "then": example, "else": row},
    }
    return table(fields, fields, **choose)


def axis() -> Schema:
    """Return the schema of an axis."""
    word: Schema = {"type": "string", "pattern": f"^{reading.AXIS_NAME}$"}
    fields = {
        "path": (texts(TEXT), "A path of the scenario, or a list of paths that get the same value."),
        "values": (
            {"type": "array", "minItems": 1, "items": {"type": ["string", "number", "boolean", "object", "array"]}},
            "The values: texts, numbers, truth values, whole components or lists.",
        ),
        "range": (value_range(), "Values from one end to the other."),
        "name": (word, "Name in tables and conditions; default: the last word of the path."),
        "together": (TEXT, "Axes with the same word vary side by side."),
        "labels": (texts(TEXT, single=False), "Names of the values in tables and figures, one for each value."),
    }
    with_range = only(*(name for name in fields if name not in ("values", "labels")), needs="range")
    return table(
        reading.AXIS_FIELDS,
        fields,
        ["path"],
        **{"if": {"required": ["range"]}, "then": with_range, "else": {"required": ["values"]}},
    )


def value_range() -> Schema:
    """Return the schema of a range of values."""
    end: Schema = {"type": ["number", "string"], "pattern": QUANTITY}
    fields = {
        "from": (end, "The smallest value, a number or a text with a unit."),
        "to": (end, "The largest value, in the same unit."),
        "steps": (whole(1, reading.MOST_POINTS), "How many values; may be omitted if the question chooses them."),
        "scale": (choice(SCALES, "linear"), "How the values are spaced: evenly, or by ratio."),
        "whole": ({"type": "boolean"}, "Whether the values are whole numbers; default: if both ends are counts."),
    }
    return table(reading.RANGE_FIELDS, fields, ["from", "to"])


def design() -> Schema:
    """Return the schema of a design: a word for the grid, or a table."""
    fields = {
        "kind": (choice(DESIGNS, "grid"), "How the points are chosen."),
        "points": (whole(1, reading.MOST_POINTS), "How many points; for sobol a power of 2."),
        "seed": (whole(0, LARGEST_DRAWN_SEED, 1), "Seed of the points."),
    }
    filling: Schema = {
        "required": ["kind"],
        "properties": {"kind": {"enum": [kind for kind in DESIGNS if kind != "grid"]}},
    }
    tables = table(
        reading.DESIGN_FIELDS,
        fields,
        **{
            "if": filling,
            "then": {"required": ["points"]},
            "else": {**only("kind", "seed", needs="kind"), "required": []},
        },
    )
    return either(["grid"], tables)


def either(words: Iterable[str], tables: Schema) -> Schema:
    """Return the schema of a word or a table. Editors complete from the alternatives of ``anyOf``."""
    word = choice(words)
    return {"anyOf": [{}, word, tables], "if": {"type": "object"}, "then": tables, "else": word}


def metrics() -> Schema:
    """Return the schema of the metrics: a list of totals and paths, or a table of names."""
    # Text without a dot, bracket or blank is the name of a total.
    total: Schema = {"if": {"pattern": r"^[^.(\s]*$"}, "then": {"enum": list(Totals.numbers())}}
    listed: Schema = {"minItems": 1, "items": {**suggested(Totals.numbers(), TEXT), **total}}
    named: Schema = {"minProperties": 1, "additionalProperties": TEXT}
    return {"type": ["array", "object"], **listed, **named}


CONDITIONS: Schema = texts({**TEXT, "maxLength": LONGEST})
#: Schema and meaning of the fields of all questions.
QUESTION_FIELDS: Mapping[str, tuple[Schema, str]] = {
    "axis": (TEXT, "Name of the axis."),
    "metrics": (texts(TEXT), "Metrics of the experiment; default: all."),
    "against": (TEXT, "Compare all others with this value; default: all pairs."),
    "better": (
        by_metric(choice(["higher", "lower"])),
        "Which direction of a metric is better, if that is not known.",
    ),
    "confidence": (CONFIDENCE, "Confidence of the intervals."),
    "require": (CONDITIONS, "Conditions on metrics, such as `cell_loss_ratio < 0.001`."),
    "share": (
        {"type": "number", "exclusiveMinimum": 0, "maximum": 1, "default": 0.95},
        "Share of the replications that must meet all conditions.",
    ),
    "want": (choice(["smallest", "largest"], "smallest"), "Which of the values that meet the conditions."),
    "monotone": (
        {"type": "boolean", "default": True},
        "Whether to assume that all values beyond the one found meet the conditions; otherwise all values are tried.",
    ),
    "checks": (whole(0, 100, 3), "Values tried on each side of the one found."),
    "seed": (whole(0, LARGEST_DRAWN_SEED, 1), "Seed of the samples."),
    "within": (
        by_metric({"type": ["number", "string"], "exclusiveMinimum": 0}),
        'Half the width of the interval of each metric: a number, or "5 %" of the mean.',
    ),
    "most": (whole(2, MOST_REPLICATIONS, 1000), "Limit on the replications of a point."),
    "samples": (whole(2, 2**20, 256), "Size of the sample, a power of 2."),
}
#: Fields that a question cannot do without.
NEEDED: Mapping[str, list[str]] = {
    "precision": ["within"],
    "compare": ["axis"],
    "find": ["axis", "require"],
}


def questions() -> dict[str, Schema]:
    """Return the schemas of each kind of question by the names of their definitions."""
    found = {}
    for kind, module in reading.QUESTIONS.items():
        fields: dict[str, tuple[Schema, str]] = {"kind": ({"const": kind}, "The kind of the question.")}
        fields |= {name: QUESTION_FIELDS[name] for name in module.FIELDS}
        found[f"question.{kind}"] = table(fields, fields, ["kind", *NEEDED.get(kind, [])])
    return found


def question() -> Schema:
    """Return the schema of the question, which is checked against the fields of its kind alone."""
    forms: list[tuple[str, Schema]] = [(kind, {"$ref": f"#/$defs/question.{kind}"}) for kind in reading.QUESTIONS]
    by_kind = [
        {"if": {"required": ["kind"], "properties": {"kind": {"const": kind}}}, "then": form} for kind, form in forms
    ]
    tables: Schema = {"required": ["kind"], "properties": {"kind": choice(reading.QUESTIONS)}, "allOf": by_kind}
    alone = choice(kind for kind in reading.QUESTIONS if kind not in NEEDED)
    return {"anyOf": [{}, alone, *(form for _, form in forms)], "if": {"type": "object"}, "then": tables, "else": alone}


def schema() -> Schema:
    """Return the whole schema."""
    fields: dict[str, tuple[Schema, str]] = {
        "name": ({"type": "string", "pattern": f"^{reading.NAME}$"}, "The name, which also names files."),
        "title": (TEXT, "The question in words."),
        "base": ({"$ref": "#/$defs/base"}, "The scenario that the experiment varies."),
        "set": ({"type": "object"}, "Paths of the scenario with their values; a path with dots is in quotes."),
        "axis": (
            {"type": "array", "items": {"$ref": "#/$defs/axis"}},
            "What varies; without an axis, the base alone is run.",
        ),
        "constraints": (
            CONDITIONS,
            "Conditions on axes, such as `threshold <= 0.9 * buffer`; other points are omitted.",
        ),
        "design": ({"$ref": "#/$defs/design"}, "Which points are run."),
        "replications": (whole(1, MOST_REPLICATIONS, 20), "Runs of each point."),
        "seed": (whole(0, MOST_SEED), "Seed of all runs; default: that of the base."),
        "metrics": ({"$ref": "#/$defs/metrics"}, "What is measured: totals, paths, or a table of names."),
        "question": ({"$ref": "#/$defs/question"}, "What is asked."),
    }
    parts = {"base": base(), "axis": axis(), "design": design(), "metrics": metrics(), "question": question()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Cellyard experiment",
        **table(reading.FIELDS, fields, ["name", "base", "metrics", "question"]),
        "$defs": parts | questions(),
    }
