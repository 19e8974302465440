"""Where progress is shown, and what it says."""

import subprocess
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import treeplex as tp
from treeplex.base import notices
from treeplex.base.notices import tell
from treeplex.run.job import progress_line
from treeplex.run.job.progress_line import KERNELS, ProgressLine


class Notes(ProgressLine):
    """A line that is never shown and keeps what it is told."""

    def __init__(self) -> None:
        super().__init__(False)
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)

    def watch(self, progress: Any) -> None:
        self.said.append(progress_line.line_of(progress))

    def walked(self, histories: int) -> None:
        self.said.append(f"{histories} histories")


def test_true_shows_a_line_and_false_none(capsys: pytest.CaptureFixture[str]) -> None:
    solution = tp.solve("kuhn_poker", iterations=20, progress=True)
    assert solution.iterations == 20
    shown = capsys.readouterr()
    assert "dcfr" in shown.err
    assert shown.out == ""
    tp.compare("kuhn_poker", ["cfr"], iterations=20, progress=True)
    assert "cfr" in capsys.readouterr().err
    tp.solve("kuhn_poker", iterations=20, progress=False)
    tp.solve("kuhn_poker", iterations=20)  # nobody looks: stderr is no terminal here
    assert capsys.readouterr() == ("", "")


def test_the_line_tells_of_compiling_then_of_kernels_then_of_iterations() -> None:
    notes = Notes()
    tp.solve("goofspiel(num_cards=3,imp_info=true)", "cfr+", iterations=10, progress=notes)
    first = [
        next(place for place, text in enumerate(notes.said) if part in text) for part in ("compiling", "histories", KERNELS)
    ]
    assert first == sorted(first)
    assert f"starting cfr+ ({KERNELS})" in notes.said
    assert "iteration 10/10" in notes.said[-1]


def test_a_function_is_called_instead(capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[int] = []
    tp.solve("kuhn_poker", iterations=20, progress=lambda state: seen.append(state.done))
    assert seen[-1] == 20
    assert capsys.readouterr().err == ""


def test_a_notebook_has_one_output_that_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    class Handle:
        def update(self, data: dict[str, str], raw: bool) -> None:
            shown.append(data["text/plain"])

    def display(data: dict[str, str], raw: bool, display_id: bool) -> Handle:
        shown.append(data["text/plain"])
        return Handle()

    class ZMQInteractiveShell:
        pass

    ipython = ModuleType("IPython")
    ipython.get_ipython = ZMQInteractiveShell  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    monkeypatch.setattr(notices, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(notices.NotebookOutput, "seconds", 0.0)
    tp.solve("leduc_poker", iterations=300)
    assert any("dcfr  iteration" in text or KERNELS in text or "compiling" in text for text in shown)
    assert shown[-1] == ""


def test_a_line_shows_what_a_preparation_tells() -> None:
    tell("nobody hears this")
    with Notes() as notes:
        tell("counting")
    assert notes.said == ["counting"]


def test_a_plot_shows_itself_in_a_notebook() -> None:
    picture = tp.solve("kuhn_poker", iterations=5).plot()._repr_png_()  # type: ignore[attr-defined]
    assert picture.startswith(b"\x89PNG")
    assert tp.compare("kuhn_poker", ["cfr", "cfr+"], iterations=5).plot()._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]


def test_the_command_line_starts_without_solvers() -> None:
    code = "import sys, treeplex.run.cli.main; print('numba' in sys.modules, 'treeplex.run.solve.solve' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.split() == ["False", "False"]


def test_within_work_that_has_a_line_a_solve_uses_that() -> None:
    with Notes() as notes:
        tp.solve("kuhn_poker", iterations=10)
    assert "iteration 10/10" in notes.said[-1]
    with Notes() as notes:
        tp.solve("kuhn_poker", iterations=10, progress=False)
    assert notes.said == []
