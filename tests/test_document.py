"""Documents that are decoded as far as they are looked at."""

from __future__ import annotations

import json
import pickle
import zlib
from typing import Any

import pytest
from cellyard.results import document
from cellyard.results.document import Document

TEXTS = (
    "{}",
    " { } \n",
    '{"a": 1}',
    '{"a":[{"b":null}],"c":{"d":"}{\\","},"é\\u00e9":-1.5e-3}',
    '\n{ "a" : 1 ,\t"b" : [ ] }\r\n',
)
WRONG = (
    "",
    "[]",
    "{",
    '{"a"}',
    '{"a":}',
    '{"a":1',
    '{"a":1,}',
    '{"a":1 "b":2}',
    "{1:2}",
    '{"a":1}}',
    '{"a":1} x',
    "{,}",
)


@pytest.mark.parametrize("text", TEXTS)
def test_a_document_is_what_json_says(text: str) -> None:
    expected: dict[str, Any] = json.loads(text)
    found = Document(text)
    assert dict(found) == expected and list(found) == list(expected) and len(Document(text)) == len(expected)
    assert found == expected and found != {**expected, "more": 1} and "more" not in Document(text)
    assert [Document(text)[name] for name in expected] == list(expected.values())
    assert pickle.loads(pickle.dumps(found)) == expected


@pytest.mark.parametrize("text", WRONG)
def test_what_is_no_object_is_an_error_when_it_is_looked_at_whole(text: str) -> None:
    with pytest.raises(ValueError):
        dict(Document(text))


def test_what_stands_after_what_is_asked_for_is_not_decoded() -> None:
    found = Document('{"a": 1, "b": 2, "c": no JSON}')
    assert (found["b"], found["a"]) == (2, 1)
    with pytest.raises(ValueError):
        found["c"]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("first", range(1, 40))
def test_a_compressed_document_is_the_same_wherever_its_first_part_ends(
    text: str, first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document, "FIRST_CHARACTERS", first)
    expected, compressed = json.loads(text), zlib.compress(text.encode())
    for name, value in expected.items():
        assert Document(compressed)[name] == value
    assert dict(Document(compressed)) == expected and Document(compressed).text == text
    whole = Document(compressed)
    with pytest.raises(KeyError):
        whole["none"]


def test_compressed_bytes_that_are_damaged_are_an_error_and_no_other_document() -> None:
    whole = zlib.compress(json.dumps({"a": 1, "b": list(range(9999))}).encode())
    damaged = Document(whole[:-20] + bytes(20))
    assert damaged["a"] == 1
    with pytest.raises(ValueError):
        damaged["b"]
