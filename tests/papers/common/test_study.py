"""Studies: found without being run, complete, and known by what they say of themselves."""

import importlib.util
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from papers.common import study as module
from papers.common.lines import read_lines
from papers.common.pages import GROUPS, cell, pages
from papers.common.report import FOLDER, all_pages
from papers.common.results import PAPERS, ROOT, published, results_file
from papers.common.study import chosen, declared, page_sections, run, studies

MODULE_NAME = re.compile(r'"(treeplex(?:\.[a-z]\w*)+|papers(?:\.[a-z]\w*){2})"')
DECLARATION = '"""A figure."""\n\n\n@study(title="A figure", place={place}, minutes=1)\ndef reproduce(): ...\n'


def test_every_study_has_a_place_of_its_own_and_those_on_the_page_a_result():
    places = [(each.paper, each.place) for each in studies().values() if each.place is not None]
    assert len(places) == len(set(places)) >= 25
    assert all(each.summary and each.title and each.minutes > 0 for each in studies().values())
    assert [name for name in page_sections() if not read_lines(results_file(name))] == []


def test_no_result_is_without_its_study():
    kept = {f"{path.parents[1].name}/{path.stem}" for path in PAPERS.glob("*/results/*.jsonl")}
    assert kept <= studies().keys()


def test_pages_are_current():
    stored = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    assert stored == all_pages(page_sections())


def test_every_study_with_a_place_is_on_one_page():
    shown = [name for page in pages().values() for name in page.studies]
    assert sorted(shown) == sorted(page_sections())


def test_pages_are_grouped_and_their_pictures_exist():
    assert {page.group for page in pages().values()} == {*GROUPS}
    figures = [page.picture.file for page in pages().values() if page.picture]
    assert [file for file in figures if not (ROOT / "docs" / "images" / file).is_file()] == []


def test_a_cell_that_is_not_stored():
    assert cell("rebel/table2", 0, "published: ReBeL FP", "1x4f") == "0.041"
    with pytest.raises(KeyError, match="has no row 'published: DeepStack'"):
        cell("rebel/table2", 0, "published: DeepStack", "1x4f")
    with pytest.raises(KeyError, match="has no column '1x9f'"):
        cell("rebel/table2", 0, "published: ReBeL FP", "1x9f")


def test_a_cell_under_the_second_of_two_equal_headings():
    first, second = (cell("holdem/own_blueprint", 0, "turns and rivers", f"95% interval{which}") for which in ("", "#2"))
    assert first != second
    with pytest.raises(KeyError, match="has no column '95% interval#3'"):
        cell("holdem/own_blueprint", 0, "turns and rivers", "95% interval#3")


def test_the_list_of_studies_is_current():
    assert f"{module.BEGIN}\n{module.listing()}\n{module.END}" in (PAPERS / "README.md").read_text(encoding="utf-8")


def test_the_overview_names_every_folder():
    named = re.findall(r"^\| `(\w+)` \|", (PAPERS / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(named) == sorted({each.paper for each in studies().values()})


def test_published_numbers_have_their_source():
    for path in PAPERS.glob("*/published.json"):
        numbers = published(path.parent.name)
        assert "source" in numbers or all("source" in part for part in numbers.values())


def test_a_new_file_is_a_new_study(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PAPERS", tmp_path)
    (tmp_path / "paper").mkdir()
    for name, place in (("second", 2), ("aside", None), ("first", 1)):
        (tmp_path / "paper" / f"{name}.py").write_text(DECLARATION.format(place=place))
    (tmp_path / "paper" / "shared.py").write_text("import what_is_not_there\n")
    assert list(studies.__wrapped__()) == ["paper/first", "paper/second", "paper/aside"]
    assert studies.__wrapped__()["paper/first"].summary == "A figure."


def test_a_declaration_that_cannot_be_read_is_refused(tmp_path):
    for text in (DECLARATION.format(place="some_number"), DECLARATION.format(place=1).replace("minutes", "hours")):
        (tmp_path / "figure.py").write_text(text)
        with pytest.raises(SystemExit, match=r"figure\.py: .*@study\(\.\.\.\)"):
            declared(tmp_path / "figure.py")


def test_names_and_papers_choose_studies():
    assert [each.name for each in chosen("ddcfr/table4")] == ["ddcfr/table4"]
    assert {each.paper for each in chosen("mccfr")} == {"mccfr"}
    with pytest.raises(SystemExit, match="no study or paper called ddcfr/table5"):
        chosen("ddcfr/table5")


def test_what_a_study_lacks_is_said(monkeypatch):
    known = studies()["ddcfr/holdem"]
    monkeypatch.delenv("TREEPLEX_ENDGAMES", raising=False)
    assert known.lacks() == ["TREEPLEX_ENDGAMES"]
    monkeypatch.setenv("TREEPLEX_ENDGAMES", "somewhere")
    assert known.lacks() == []


def test_the_command_lists_and_refuses():
    def say(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, PAPERS / "run.py", *arguments], cwd="/", capture_output=True, text=True, check=False
        )

    listed = say("--list")
    assert (listed.returncode, len(listed.stdout.splitlines())) == (0, len(studies()))
    unknown = say("rebel/table9")
    assert unknown.returncode == 1
    assert unknown.stderr.startswith("no study or paper called rebel/table9")


def test_every_study_and_command_can_be_imported():
    """Studies are run rarely; this notices what has moved in the library."""
    pytest.importorskip("torch")
    names = [f"papers.{path.parent.name}.{path.stem}" for path in sorted(PAPERS.glob("*/*.py"))]
    assert all(import_module(name) for name in names)
    assert {f"papers.{name.replace('/', '.')}" for name in studies()} == set(module.FUNCTIONS)


def test_options_are_read_by_the_signature_of_the_study(monkeypatch):
    given = []

    def reproduce(*games: str, minutes: float = 1.5, folder: Path | None = None, quick: bool = False) -> None:
        given.append((games, minutes, folder, quick))

    import_module("papers.cfr2007.tables")
    monkeypatch.setitem(module.FUNCTIONS, "papers.cfr2007.tables", reproduce)
    run(studies()["cfr2007/tables"], [])
    run(studies()["cfr2007/tables"], ["kuhn", "leduc", "--minutes", "2", "--folder", "here", "--quick"])
    assert given == [((), 1.5, None, False), (("kuhn", "leduc"), 2.0, Path("here"), True)]

    def scaled(times: float = 1.0) -> None:
        given.append(times)

    monkeypatch.setitem(module.FUNCTIONS, "papers.cfr2007.tables", scaled)
    run(studies()["cfr2007/tables"], ["0.25"])
    assert given[-1] == 0.25
    with pytest.raises(SystemExit):
        run(studies()["cfr2007/tables"], ["--fast"])
    with pytest.raises(SystemExit, match="ddcfr/table4 takes no options, but here is --fast"):
        run(studies()["ddcfr/table4"], ["--fast"])


@pytest.mark.parametrize("path", sorted(PAPERS.rglob("*.py")), ids=lambda path: str(path.relative_to(PAPERS)))
def test_modules_that_decide_kept_runs_exist(path: Path):
    """Names in lists of code go stale when modules move; a study would notice only when it is run."""
    named = MODULE_NAME.findall(path.read_text(encoding="utf-8"))
    assert [name for name in named if importlib.util.find_spec(name) is None] == []
