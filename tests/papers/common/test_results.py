"""Results as lines: nothing is lost, what comes out again keeps its provenance, and single runs can be added."""

import json

import pytest

from papers.common import results
from papers.common.lines import read_lines, runs_of
from papers.common.results import Result, Table, results_file, store, store_run, stored

NUMBERS = {
    "iterations": (1, 10),
    "runs": {"kuhn": {"cfr": {"curve": [0.5, 0.1]}, "cfr+": {"curve": [0.5, 0.01]}}},
    "seeds": {"cfr": [[1.0], [2.0]], "cfr+": [[3.0]]},
    "records": {"5": [{"at": 1}, {"at": 2}], "6": [{"at": 1}]},
    "flat": {"a": 1, "b": [1.0]},
    "mixed": {"policy": "abc", "found": {"kuhn": [1.0]}},
    "by_number": {4: {"value": 1.0}},
    "empty": {},
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "PAPERS", tmp_path)
    return tmp_path


def made(numbers) -> Result:
    return Result("a source", ["found"], [Table("caption", ["a", "b"], [["x", "1"]])], notes=["note"], numbers=numbers)


def test_a_line_for_each_run_and_nothing_lost():
    store("paper/figure", made(NUMBERS))
    header, *lines = read_lines(results_file("paper/figure"))
    assert (header["study"], header["findings"], header["tables"][0]["rows"]) == ("paper/figure", ["found"], [["x", "1"]])
    assert [line["run"] for line in lines][:5] == [
        ["iterations"],
        ["runs", "kuhn", "cfr"],
        ["runs", "kuhn", "cfr+"],
        ["seeds", "cfr"],
        ["seeds", "cfr+"],
    ]
    assert stored("paper/figure") == json.loads(json.dumps(NUMBERS))
    assert all(line["made"].keys() == {"commit", "machine", "date"} for line in lines)


def test_what_has_not_changed_keeps_its_provenance(monkeypatch):
    store("paper/figure", made({"runs": {"a": {"x": 1.0}, "b": {"x": float("nan")}, "c": {"x": 3.0}}}))
    monkeypatch.setattr(results, "COMMIT", "later")
    store("paper/figure", made({"runs": {"a": {"x": 1.5}, "b": {"x": float("nan")}, "d": {"x": 3.0}}}))
    header, *lines = read_lines(results_file("paper/figure"))
    assert header["made"]["commit"] == "later"
    assert {line["run"][1]: line["made"]["commit"] == "later" for line in lines} == {"a": True, "b": False, "d": True}


def test_runs_are_added_and_replaced_one_by_one():
    for name, value in (("b", 1), ("a", 2), ("b", 3)):
        store_run("paper/long", [name], {"value": value}, {"commit": "c"})
    assert stored("paper/long") == {"a": {"value": 2}, "b": {"value": 3}}
    assert read_lines(results_file("paper/long"))[0] == {"study": "paper/long"}


def test_nothing_stored_is_empty():
    assert stored("paper/never") == {}


def test_levels_are_of_mappings_or_of_lists_of_runs():
    assert list(runs_of({})) == []
    assert list(runs_of({"a": {"b": {"c": {}}, "d": {}}})) == [(("a", "b", "c"), {}), (("a", "d"), {})]
    assert [keys for keys, _ in runs_of({"cases": [{"x": 1}, {"y": {"z": 2}}]})] == [("cases", 0), ("cases", 1)]


def test_runs_from_a_modified_tree_are_marked():
    store_run("paper/figure", ["runs", "a"], {"x": 1.0}, {"commit": f"abc {results.LOCAL}"})
    store_run("paper/figure", ["runs", "b"], {"x": 2.0}, {"commit": "abc"})
    assert results.modified("paper/figure") == [("runs", "a")]
    assert results.modified_note("paper/figure").startswith("† 1 of 2 measured runs come from a working tree with uncommitted")
    store_run("paper/figure", ["runs", "a"], {"x": 1.0}, {"commit": "def"})
    assert results.modified_note("paper/figure") == ""


@pytest.mark.parametrize(
    ("file", "marked"),
    [("src/a.py", True), ("papers/p/study.py", True), ("papers/p/results/study.jsonl", False), ("docs/a.md", False)],
)
def test_a_modified_tree_is_noticed(tmp_path, monkeypatch, file, marked):
    monkeypatch.setattr(results, "ROOT", tmp_path)
    for each in ("src/a.py", "papers/p/study.py", "papers/p/results/study.jsonl", "docs/a.md"):
        (tmp_path / each).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / each).write_text("1")
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    for words in (("init", "-q"), ("add", "."), (*identity, "commit", "-qm", "first")):
        results.git(*words)
    assert len(results.commit()) == 12
    (tmp_path / file).write_text("2")
    assert (results.LOCAL in results.commit()) == marked
