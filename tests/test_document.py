"""Documents that are decoded on demand, and their first line alone."""

import json
import pickle
import zlib

import cellyard as cy
import pytest
from cellyard.results import document
from cellyard.results.document import Document, queueing_ports
from cellyard.runs.batch import Job, run_jobs

TEXTS = ("{}", '{"a": 1}', '{"a":1,\n"b":[{"c":"}\\n{"}]}', '{"é\\u00e9":-1.5e-3,"t":{"x":null},\n"vcs":[]}')


@pytest.mark.parametrize("text", TEXTS)
def test_a_document_equals_its_parsed_json(text: str) -> None:
    expected = json.loads(text)
    for given in (text, zlib.compress(text.encode())):
        found = Document(given)
        assert dict(found) == expected and list(found) == list(expected) and len(Document(given)) == len(expected)
        assert [Document(given)[name] for name in expected] == list(expected.values())
        assert found == expected and "more" not in found and found.text == text
        assert pickle.loads(pickle.dumps(found)) == expected


@pytest.mark.parametrize("text", ["", "[]", "7", "{", '{"a":1,\n"b"}', '{"a"\n}', '{"a":1,\n"b":2}}'])
def test_a_text_without_an_object_is_an_error_on_full_access(text: str) -> None:
    with pytest.raises(ValueError):
        dict(Document(text))


def test_compressed_bytes_that_are_damaged_are_an_error() -> None:
    whole = zlib.compress(json.dumps({"a": 1, "b": list(range(9999))}).encode())
    with pytest.raises(ValueError):
        dict(Document(whole[:-20] + bytes(20)))


def test_the_first_line_of_compressed_bytes_is_read_without_the_rest() -> None:
    text = '{"a":1,\n"b":[' + ",".join(map(str, range(99999))) + "]}"
    found = Document(zlib.compress(text.encode())[:-99])
    assert found["a"] == 1 and isinstance(found._text, bytes)
    with pytest.raises(ValueError):
        found["b"]


def test_totals_of_a_run_are_there_before_its_vcs_are_decoded() -> None:
    scenario = cy.examples.scenario("lan-5", overrides={"duration": "10 ms", "name": '"trap",\\"vcs\\":['})
    (run,) = run_jobs([Job(scenario.canonical)])
    assert isinstance(run.result, Document)
    first = json.loads(run.result.text.partition("\n")[0].rstrip(",") + "}")
    assert list(first) == ["name", "seed", "replication", "duration_s", "measured_s", "digest", "totals"]
    assert run.result._known is None and run.result["totals"] == first["totals"]
    assert run.result._known == first and run.result.text[run.result._start :].startswith('"vcs":[')
    assert len(run.result["vcs"]) == 5 and run.result._start is None


def test_ports_of_a_long_document_are_decoded_when_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = cy.examples.scenario("program-epd", overrides={"duration": "10 ms"})
    (finished,) = run_jobs([Job(scenario.canonical)])
    text = finished.result.text  # type: ignore[attr-defined]
    whole = json.loads(text)
    may_queue = [port for port in whole["ports"] if port["can_queue"] or port["classes"][0]["program_asked"]]
    assert 0 < len(may_queue) < len(whole["ports"])
    assert queueing_ports(whole) == queueing_ports(Document(text)) == may_queue
    monkeypatch.setattr(document, "LONG_TEXT", 0)
    found = Document(text)
    assert found["vcs"] == whole["vcs"] and queueing_ports(found) == may_queue
    assert found._known is not None and found._known["ports"] is None
    assert dict(found) == whole and list(found) == list(whole)
    assert queueing_ports(found) == may_queue
