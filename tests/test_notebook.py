"""What a notebook shows: tables of results, the pictures, and every cell of the example notebook."""

import json
from pathlib import Path
from typing import Any

import pytest

import treeplex as tp
from treeplex.base import notebook

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "notebook.ipynb"
RESULTS = {
    "game": lambda: tp.compile("kuhn_poker"),
    "solution": lambda: tp.solve("kuhn_poker", iterations=5),
    "policy": lambda: tp.Policy.uniform(tp.compile("kuhn_poker")),
    "comparison": lambda: tp.compare("kuhn_poker", ["cfr", "cfr+"], iterations=5),
    "judgement": lambda: tp.judge("kuhn_poker", "uniform"),
    "structure": lambda: tp.structure("kuhn_poker"),
    "device": lambda: tp.correlation.from_policy(tp.Policy.uniform(tp.compile("kuhn_poker"))),
    "judgement of a device": lambda: tp.correlation.judge(
        tp.correlation.from_policy(tp.Policy.uniform(tp.compile("kuhn_poker")))
    ),
}
PICTURES = {
    "solution": lambda: tp.solve("kuhn_poker", iterations=5).plot(),
    "comparison": lambda: tp.compare("kuhn_poker", ["cfr", "cfr+"], iterations=5).plot(),
    "tree": lambda: tp.draw("rock_paper_scissors"),
}
SAID = {
    "game": "<th style='text-align:left'>infosets</th><td style='text-align:left'>6 / 6</td>",
    "judgement": "<caption>exploitability 0.4583, NashConv 0.9167</caption>",
    "structure": "perfect recall",
    "device": "1p: Bet; 1b: Bet",
    "judgement of a device": "EFCCE",
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_tables(name: str) -> None:
    shown = RESULTS[name]()._repr_html_()
    assert shown.startswith("<table>")
    assert SAID.get(name, "") in shown


@pytest.mark.quick_cases("tree")
@pytest.mark.parametrize("name", PICTURES)
def test_plots_are_pictures(name: str) -> None:
    figure: Any = PICTURES[name]()
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_a_training_shows_its_numbers_and_its_curve(tmp_path: Path) -> None:
    settings = {"epochs": 1, "population": 2, "horizon": 20}
    training = tp.train(["kuhn_poker"], "ddcfr", settings=settings, out=tmp_path / "run", workers=1)
    shown = training._repr_html_()
    assert shown.startswith("<table><caption>ddcfr")
    assert "fitness" in shown
    assert "<img src='data:image/png;base64,iVBOR" in shown
    assert notebook.picture(tmp_path / "none.png") == ""


def test_tables_say_what_they_were_given() -> None:
    assert notebook.facts({"a<b": "x & y"}).count("&") == 2
    shown = notebook.table(("one", "two"), [("1", "<2>")], caption="c", note="n")
    assert shown.startswith("<table><caption>c</caption><tr><th>one</th><th>two</th></tr><tr>")
    assert "&lt;2&gt;" in shown
    assert shown.endswith("</table><p>n</p>")


def test_the_example_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {}
    cells = json.loads(EXAMPLE.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(code) >= 8
    for number, cell in enumerate(code):
        assert cell["outputs"] == []
        exec(compile("".join(cell["source"]), f"cell {number}", "exec"), namespace)
