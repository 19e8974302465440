"""Benchmarks: found without being run, their page and their files of lines."""

import argparse
import json

import pytest

from bench.common import benchmark as module
from bench.common import record
from bench.common.benchmark import FUNCTIONS, add_shared_options, benchmarks, results, run
from bench.common.report import END, PAGE, README, START, page, with_short_table
from bench.rivals.tasks import BUILDERS


def test_every_benchmark_on_the_page_has_a_place_of_its_own_a_description_and_a_result():
    shown = [each for each in benchmarks().values() if each.place is not None]
    assert len({each.place for each in shown}) == len(shown) >= 9
    assert all(each.summary and each.title and each.minutes > 0 for each in benchmarks().values())
    assert all(each.about for each in shown)
    assert list(results()) == [each.name for each in shown]
    assert {path.stem for path in record.BENCH.glob("results/*.jsonl")} <= benchmarks().keys()


def test_the_pages_are_those_of_the_stored_results():
    """Needs nothing that is not installed with the library: systems are imported when they are measured."""
    assert PAGE.read_text(encoding="utf-8") == page(results())
    readme = README.read_text(encoding="utf-8")
    assert START in readme
    assert with_short_table(readme, results()) == readme


def test_a_readme_without_markers_stays_as_it_is():
    assert with_short_table("nothing here", results()) == "nothing here"
    assert with_short_table(f"a{START}old{END}b", results()).endswith(f"{END}b")


def test_results_come_back_as_they_were(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "BENCH", tmp_path)
    result = {
        "core": 1,
        "rounds": 2,
        "cases": {"leduc": {"title": "Leduc", "systems": {"ours": {"ms": 1.5}}}},
        "contests": [{"case": "a", "ratios": {}}, {"case": "b", "ratios": {"x": {"all": 2.0}}}],
        "left_out": {},
        "cold_seconds": None,
    }
    path = record.save("some", result, quick=False)
    header, *lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    assert [line["run"] for line in lines][2:5] == [["cases", "leduc"], ["contests", 0], ["contests", 1]]
    assert record.load("some") == header | result
    assert record.load("some", quick=True) is None


@pytest.mark.slow
def test_a_benchmark_runs_and_is_stored(tmp_path, monkeypatch, capsys):
    """With tiny counts, in this process: its tables are printed and its lines can be read again."""
    monkeypatch.setattr(record, "BENCH", tmp_path)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "pin", lambda core: 0)
    roofline = benchmarks()["roofline"].module()
    monkeypatch.setattr(roofline, "QUICK_GAMES", ("Leduc poker",))
    assert not run(benchmarks()["roofline"], ["--quick", "--rounds", "1"])
    assert "| Leduc poker (" in capsys.readouterr().out
    found = record.load("roofline", quick=True)
    assert found is not None
    assert (found["quick"], found["core"], list(found["games"])) == (True, 0, ["Leduc poker"])
    assert roofline.tables(found)


def test_a_task_does_its_work():
    found = BUILDERS["Treeplex exploitability"]("kuhn_poker")(2)
    assert found is not None
    assert 0.0 < found < 0.2
    assert BUILDERS["Treeplex CFR"]("kuhn_poker")(3) is None


def test_options_of_every_benchmark_can_be_asked_for():
    pytest.importorskip("torch")
    for one in benchmarks().values():
        imported = one.module()
        assert imported.__name__ in FUNCTIONS
        parser = argparse.ArgumentParser()
        add_shared_options(parser)
        getattr(imported, "add_options", lambda parser: None)(parser)
        assert parser.parse_args(["--quick"]).quick
