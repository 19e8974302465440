"""The tutorials: every cell of every notebook runs, results show themselves, and the text's numbers hold."""

import ast
import json
import runpy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treeplex as tp

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "docs" / "tutorials").glob("*.ipynb"))
NEEDS_TORCH = {"deep-cfr", "rebel"}
MOST_BYTES = 20_000


def check_own_game(found: dict[str, Any]) -> None:
    assert abs(found["exact"].value[0] - 0.1) < 1e-9
    assert np.allclose(found["bets"], [0.5, 0, 0, 0, 1], atol=1e-9)
    assert found["stakes"][np.argmax(found["values"])] == 2
    assert np.allclose(np.array(found["values"])[found["stakes"] >= 6], 0, atol=1e-9)


def check_variant(found: dict[str, Any]) -> None:
    assert max(solution.exploitability for solution in found["comparison"]) < 5e-3


def check_deep_cfr(found: dict[str, Any]) -> None:
    assert abs(tp.exploitability(found["game"], "uniform") - 0.458) < 1e-3
    assert tp.exploitability(found["game"], found["training"].load()) < 0.2
    assert len(found["mean"]) > 2


def check_rebel(found: dict[str, Any]) -> None:
    assert abs(found["searched_value"](found["net"].leaf(), 1024) - 1 / 16) < 0.01
    assert abs(found["trained"].judgement.exploitability) < 0.01
    assert found["found"][-1] < found["found"][0]


def check_holdem(found: dict[str, Any]) -> None:
    oop, adjusted, priced = (found[name].value[0] + 100 for name in ("solution", "station", "priced"))
    assert abs(oop - 91.1) < 1
    assert priced < oop < adjusted
    assert found["figures"].defended < found["figures"].mdf


def check_match(found: dict[str, Any]) -> None:
    assert abs(found["result"].matrix[0][1] + 0.0775) < 1e-3
    assert found["lucky"].interval[0][1] > 0 > found["played"].interval[0][1]
    assert tp.exploitability(found["game"], found["searching"]) < tp.exploitability(found["game"], found["rough"])


CHECKS: Mapping[str, Callable[[dict[str, Any]], None]] = {
    "solve-your-game": check_own_game,
    "cfr-variant": check_variant,
    "deep-cfr": check_deep_cfr,
    "rebel": check_rebel,
    "holdem-study": check_holdem,
    "match": check_match,
}
"""What the text of each tutorial says of its results."""


def cells(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return found


def run(source: str, namespace: dict[str, Any]) -> None:
    """Execute a cell as a notebook does: the value of a last expression is shown."""
    *statements, last = ast.parse(source).body
    shown = isinstance(last, ast.Expr) and not isinstance(last.value, ast.Constant)
    exec(compile(ast.Module(statements if shown else [*statements, last], []), "cell", "exec"), namespace)
    if shown:
        assert isinstance(last, ast.Expr)
        show(eval(compile(ast.Expression(last.value), "cell", "eval"), namespace))


def show(value: Any) -> None:
    pictures = [getattr(value, name)() for name in ("_repr_html_", "_repr_png_", "_repr_svg_") if hasattr(value, name)]
    if value is not None and not any(pictures):
        assert repr(value)


@pytest.mark.slow_cases("deep-cfr", "rebel")
@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in NOTEBOOKS])
def test_tutorials_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if path.stem in NEEDS_TORCH:
        pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {}
    for cell in cells(path):
        if cell["cell_type"] == "code":
            run("".join(cell["source"]), namespace)
    CHECKS[path.stem](namespace)


def test_notebooks_are_stored_without_outputs() -> None:
    assert len(NOTEBOOKS) == 6
    for path in NOTEBOOKS:
        assert path.stat().st_size < MOST_BYTES, path.name
        assert cells(path)[0]["source"][0].startswith("# "), path.name
        code = [cell for cell in cells(path) if cell["cell_type"] == "code"]
        assert [cell for cell in code if cell["outputs"] or cell["execution_count"] is not None] == [], path.name


def test_every_tutorial_has_a_page() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    index = (ROOT / "docs" / "tutorials" / "index.md").read_text(encoding="utf-8")
    for path in NOTEBOOKS:
        assert f": tutorials/{path.stem}.md" in navigation
        assert f"]({path.stem}.md)" in index


def test_a_notebook_becomes_a_page() -> None:
    pytest.importorskip("mkdocs")
    hook = runpy.run_path(str(ROOT / "docs" / "notebook_pages.py"))
    page = hook["as_markdown"](
        [
            {"cell_type": "markdown", "source": ["# Title\n", "\n", "Words."]},
            {"cell_type": "code", "source": ["one = 1\n", "one"]},
        ],
        "some.ipynb",
    )
    assert page == "# Title\n\nWords.\n\n[Download the notebook](some.ipynb){ download }\n\n```python\none = 1\none\n```\n"
