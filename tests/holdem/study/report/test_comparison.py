"""Two solutions side by side, against their own nodes."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import treeplex as tp
from treeplex.errors import SpecError
from treeplex.holdem.study.report.comparison import compare_nodes
from treeplex.holdem.study.report.export import node_report
from treeplex.run.cli.main import app

FIELDS = {"pot": 100, "stack": 150, "bets": "50%", "raises": "a"}
BOARD = "Td 9d 6h Qc 2s"


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pair")
    free = tp.holdem.spot(BOARD, "AA,TT,AdJd,KdQd", "KK,QTs,JTs", **FIELDS)
    locked = tp.holdem.spot(BOARD, "AA,TT,AdJd,7s7c", "KK,QTs,JTs", **FIELDS, locks=["x: x 100%"])
    files = [folder / name for name in ("free.spot", "locked.spot")]
    return [
        tp.solve(spot, iterations=200, threads=1, out=file) for spot, file in zip((free, locked), files, strict=True)
    ], files


def test_nodes_side_by_side(pair):
    found = compare_nodes(*pair[0], "x")
    nodes = [node_report(each, "x").from_the_pot() for each in pair[0]]
    side = found.sides[0]
    assert set(side.names) == set(nodes[0].sides[0].names) & set(nodes[1].sides[0].names)
    for place, node in enumerate(nodes):
        assert side.means[place] == node.sides[0].mean(node.sides[0].ev)
        for column, name in enumerate(side.names):
            assert side.ev[place, column] == node.sides[0].ev[node.sides[0].names.index(name)]
        np.testing.assert_array_equal(found.frequencies[place], node.sides[1].totals)
    assert found.frequencies[1].tolist() == pytest.approx([1, 0])
    assert found.sides[0].share.sum() == pytest.approx(1)


def test_the_same_solution_gains_nothing(pair):
    found = compare_nodes(pair[0][0], pair[0][0])
    for side in found.sides:
        assert side.gain == 0
        assert side.means[0] == side.means[1]


def test_other_lines(pair):
    found = compare_nodes(*pair[0], "", "x,b50%")
    assert (found.nodes[0].line, found.nodes[1].line) == ("", "x,b50")
    assert np.isnan(found.frequencies).any()
    with pytest.raises(SpecError, match="another player acts"):
        compare_nodes(*pair[0], "", "x")


def test_command(pair):
    result = CliRunner().invoke(app, ["compare", *map(str, pair[1]), "--line", "x"])
    assert result.exit_code == 0, result.output
    assert "locked.spot  Td9d6hQc2s, x, pot 100" in result.stdout
    data = json.loads(CliRunner().invoke(app, ["compare", *map(str, pair[1]), "--json"]).stdout)
    found = compare_nodes(*pair[0])
    assert data["oop"]["gain"] == pytest.approx(found.sides[0].gain, abs=1e-4)
    assert set(data["ip"]["hands"]) == set(found.sides[1].names)
