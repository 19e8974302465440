"""Plots and comparisons."""

import csv
import io
import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import treeplex
import treeplex as tp
from treeplex.errors import FileError, SpecError
from treeplex.run.compare import slug
from treeplex.run.job.record import Record
from treeplex.run.plots import ROUNDING, Curve, Panel, convergence_figure, curves_figure, keep_apart, title_lines
from treeplex.run.sample.job import progress_figure
from treeplex.solvers import Variant, Weights

PNG = b"\x89PNG\r\n\x1a\n"


def record(done, seconds, exploitability, **numbers):
    return Record(done, seconds, seconds, {"exploitability": exploitability, "nash_conv": 2 * exploitability, **numbers})


def records(*exploitabilities):
    return [record(2**k, 0.1, value) for k, value in enumerate(exploitabilities)]


def test_labels_of_panels_break_lines():
    sources = {path.name: path.read_text() for path in (Path(treeplex.__file__).parent / "learn").rglob("*.py")}
    drawing = [name for name, text in sources.items() if "Panel(" in text]
    assert len(drawing) > 3
    assert not [name for name in drawing if "\\\\n" in sources[name]]


@pytest.mark.slow
def test_plot_is_written(tmp_path):
    solution = tp.solve("kuhn_poker", iterations=50)
    for name, head in (("a.png", PNG), ("a.pdf", b"%PDF"), ("a.svg", b"<?xml")):
        solution.plot(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(head)
    with pytest.raises(FileError, match="unsupported image type"):
        solution.plot(tmp_path / "a.xyz")
    with pytest.raises(FileError):
        solution.plot(tmp_path / "missing" / "a.png")


def test_axes_are_logarithmic_and_labelled():
    figure = convergence_figure("leduc_poker", {"cfr": records(1.0, 0.1), "dcfr": records(1.0, 0.01)}, target=0.05)
    (axes,) = figure.axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert "game units" in axes.get_ylabel()
    assert "Iterations" in axes.get_xlabel()
    texts = {text.get_text() for text in axes.texts}
    assert {"cfr", "dcfr", "target 0.05"} <= texts
    assert axes.get_title(loc="left") == "leduc_poker"


@pytest.mark.quick_cases("values0")
@pytest.mark.parametrize("values", [(0.0,), (1.0, 0.0), (1e-17, -1e-18), (0.5, 1e-3, 1e-17)])
def test_zero_and_rounding_stay_on_the_axes(values, tmp_path):
    figure = convergence_figure("game", {"lp": records(*values)})
    (axes,) = figure.axes
    low, high = axes.get_ylim()
    heights = np.asarray(axes.lines[0].get_ydata())
    assert heights.min() == ROUNDING
    assert low < heights.min() <= heights.max() < high
    assert any("drawn there" in text.get_text() for text in axes.texts)
    figure.savefig(tmp_path / "a.png")


def test_titles_with_dollars_and_underscores_are_drawn(tmp_path):
    convergence_figure("my$game_$(x={2})" * 10, {"a$_b$": records(1.0, 0.5), "c": records(1, 0.2)}).savefig(tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_an_exact_solver_among_others_is_a_note():
    figure = convergence_figure("game", {"cfr": records(1.0, 0.1), "lp": records(0.0)}, exact=["lp"])
    (axes,) = figure.axes
    assert [line.get_label() for line in axes.lines if not line.get_label().startswith("_")] == ["cfr"]
    assert any("lp: exact" in text.get_text() for text in axes.texts)


def counted(*pairs):
    """Records with (nodes, measure) of something aimed at."""
    return [record(k + 1, 0.5 * (k + 1), 1.0, nodes=nodes, measures={"cce_gap": gap}) for k, (nodes, gap) in enumerate(pairs)]


@pytest.mark.parametrize(
    ("x", "label", "wanted"),
    [("nodes", "Nodes", [100, 5000]), ("seconds", "Seconds", [0.5, 1.0]), ("iterations", "Iter", [1, 2])],
)
def test_what_progress_is_drawn_against(x, label, wanted):
    figure = convergence_figure("game", {"a": counted((100, 1), (5000, 0.5)), "b": counted((200, 1), (5000, 0.1))}, x=x)
    (axes,) = figure.axes
    assert axes.get_xlabel().startswith(label)
    assert list(axes.lines[0].get_xdata()) == wanted
    low, high = axes.get_xlim()
    assert low < wanted[0] < wanted[1] < high
    with pytest.raises(SpecError, match="iterations, nodes or seconds, not 'time'"):
        convergence_figure("game", {"a": counted((100, 1))}, x="time")


def test_the_flat_start_of_a_long_axis_is_cut_off():
    (axes,) = convergence_figure("game", {"a": counted((10, 1), (10**9, 0.5))}, x="nodes").axes
    assert axes.get_xlim()[0] == pytest.approx(0.9e5)
    (axes,) = convergence_figure("game", {"a": [record(10**k, 1.0, 1.0) for k in range(9)]}).axes
    assert axes.get_xlim()[0] < 1


def test_another_measure():
    curves = {"a": counted((10, 1.0), (100, 0.02)), "b": counted((10, 0.5), (100, -0.25))}
    (axes,) = convergence_figure("game", curves, y="cce_gap").axes
    assert axes.get_ylabel() == "CCE gap\n(game units)"
    assert list(axes.lines[0].get_ydata()) == [1.0, 0.02]
    assert list(axes.lines[1].get_ydata()) == [0.5, 0.01]  # half the least positive one, since -0.25 has no logarithm
    assert any("values below 1.0e-02" in text.get_text() for text in axes.texts)
    (axes,) = convergence_figure("game", {"a": counted((10, 1.0))}, y="nash_conv").axes
    assert axes.get_ylabel().startswith("NashConv\n(sum of")


def test_axes_that_records_do_not_have():
    spot = {"a": records(1.0, 0.1)}
    with pytest.raises(SpecError, match="the x axis must be iterations or seconds, not 'nodes'"):
        convergence_figure("spot", spot, x="nodes")
    with pytest.raises(SpecError, match=r"no measure 'gap'; choose exploitability, nash_conv$"):
        convergence_figure("spot", spot, y="gap")


def test_a_curve_that_ends_early_has_a_dot_there():
    (axes,) = convergence_figure("game", {"a": counted((1, 1), (10, 0.5)), "b": counted((1, 1), (10**4, 0.1))}, x="nodes").axes
    assert [tuple(line.get_data()) for line in axes.lines if line.get_marker() == "o" and len(line.get_xdata()) == 1] == [
        ([10], [1.0])
    ]


def test_labels_do_not_touch():
    wanted = [0.5, 0.5, 0.51, 0.9, 0.0, 0.01, 1.0, 0.99]
    places = keep_apart(wanted, 0.05)
    inside = sorted(places)
    assert all(b - a >= 0.05 - 1e-12 for a, b in pairwise(inside))
    assert inside[0] >= 0
    assert inside[-1] <= 1 + 1e-12
    assert keep_apart([0.2, 0.8], 0.05) == [0.2, 0.8]


@pytest.mark.parametrize(
    ("first", "last"), [(10, 12), (100, 180), (110, 440), (20_000, 95_000), (300, 20_000), (30, 2e6), (5e5, 9e5), (5e5, 3e7)]
)
def test_ticks_of_a_logarithmic_axis_have_space_and_texts_of_their_own(first, last):
    curve = Curve([first, (first * last) ** 0.5, last], [1.0, 2.0, 3.0])
    figure = curves_figure("a game", "Nodes", [Panel("Payoff", [curve], logarithmic=False)], logarithmic=True, height=3)
    axes = figure.axes[0]
    boxes = []
    for tick in [*axes.get_xticklabels(), *axes.get_xticklabels(minor=True)]:
        box = tick.get_window_extent()
        if tick.get_text() and axes.bbox.x0 - 1 <= (box.x0 + box.x1) / 2 <= axes.bbox.x1 + 1:
            boxes.append((box.x0, box.x1, tick.get_text()))
    boxes.sort()
    assert len(boxes) > 1
    assert all(left[1] < right[0] for left, right in pairwise(boxes))
    assert len({text for _, _, text in boxes}) == len(boxes)


def test_the_curves_of_a_sampled_run_have_different_colours():
    numbers = {"value": (0.1, -0.1), "error": (0.1, 0.1), "match": 0.2, "match_error": 0.1, "infosets": 10, "unstored": 0}
    runs = [Record(n, 0.1, 0.1, {**numbers, "nodes": n, "exploitability": None}) for n in (100, 200)]
    figure = progress_figure("a game", "uniform", runs)
    colours = [line.get_color() for axes in figure.axes for line in axes.get_lines()]
    assert len(set(colours)) == len(colours) == 4


@pytest.mark.slow
def test_compare(tmp_path):
    comparison = tp.compare("kuhn_poker", ["cfr", "dcfr", "lp"], iterations=40, out=tmp_path / "out")
    out = tmp_path / "out"
    assert (out / "convergence.png").read_bytes().startswith(PNG)
    rows = json.loads((out / "comparison.json").read_text())["rows"]
    assert [row["algorithm"] for row in rows] == ["cfr", "dcfr", "lp"]
    assert len(rows[0]["value"]) == 2
    table = list(csv.DictReader(io.StringIO((out / "comparison.csv").read_text())))
    assert float(table[1]["exploitability"]) == comparison.solutions[1].exploitability
    lines = (out / "comparison.md").read_text().splitlines()
    assert lines[2].startswith("| lp |")
    assert (out / "dcfr" / "policy.safetensors").exists()
    assert tp.exploitability("kuhn_poker", out / "cfr") == comparison.solutions[0].exploitability
    assert "best lp" in repr(comparison)
    assert "<table>" in comparison._repr_html_()
    with pytest.raises(FileError, match="not empty"):
        tp.compare("kuhn_poker", ["cfr"], iterations=4, out=out)


def test_a_comparison_is_saved_into_a_new_folder(tmp_path):
    comparison = tp.compare("kuhn_poker", ["cfr"], iterations=4)
    assert (comparison.save(tmp_path / "new" / "folder") / "comparison.csv").exists()
    with pytest.raises(FileError, match="cannot write the folder"):
        comparison.save(tmp_path / "new" / "folder" / "comparison.csv" / "below")


def test_compare_checks_all_before_it_runs(tmp_path):
    with pytest.raises(SpecError, match="dcfr"):
        tp.compare("kuhn_poker", ["cfr", "dcrf"], out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with pytest.raises(SpecError, match="no algorithm"):
        tp.compare("kuhn_poker", [])


def test_same_algorithm_twice_is_one_row():
    assert len(tp.compare("kuhn_poker", ["cfr", "cfr"], iterations=4).solutions) == 1


def test_two_algorithms_of_one_name_are_refused():
    mine = Variant("mine", "", "", lambda t, horizon: Weights())
    other = Variant("mine", "", "", lambda t, horizon: Weights(floor=1.0))
    assert len(tp.compare("kuhn_poker", [mine, mine], iterations=4).solutions) == 1
    with pytest.raises(SpecError, match="two different algorithms are called"):
        tp.compare("kuhn_poker", [mine, other], iterations=4)


def test_an_algorithm_named_like_one_of_the_library_has_a_name_of_its_own():
    own = Variant("cfr", "", "", lambda t, horizon: Weights(floor=1.0))
    assert [each.algorithm for each in tp.compare("kuhn_poker", ["cfr", own], iterations=4).solutions] == ["cfr", "own-cfr"]


def test_file_names():
    assert slug("dcfr(alpha=2.0)") == "dcfr-alpha=2.0"
    assert slug("../x/y") == "x-y"


@pytest.mark.parametrize(
    ("title", "lines"),
    [
        ("leduc_poker", "leduc_poker"),
        (
            "ReBeL on holdem(stack=100,sizes=[75%;a],preflop=[2.5bb;3x;a],raises=[4;3;3;3])",
            "ReBeL on holdem(stack=100,sizes=[75%;a],\npreflop=[2.5bb;3x;a],raises=[4;3;3;3])",
        ),
        ("x" * 60, "x" * 60),
        ("x" * 70, "x" * 59 + "\n" + "x" * 11),
        ("a, " * 60, "\n".join([", ".join("a" * 20) + ","] * 2) + "..."),
    ],
)
def test_titles_break_at_spaces_and_commas(title, lines):
    assert title_lines(title) == lines
