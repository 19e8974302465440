"""Preflop charts of a blueprint, read off probabilities that the test has chosen."""

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import treeplex as tp
from treeplex.errors import SpecError
from treeplex.holdem.blueprint import policy as holdem_blueprint
from treeplex.holdem.blueprint.policy import HoldemBlueprint, shares_of
from treeplex.holdem.blueprint.preflop import preflop_chart
from treeplex.holdem.cards.cards import CLASSES, HAND_CLASSES
from treeplex.holdem.whole.nodes import betting_nodes, slots_of, table_size
from treeplex.run.cli.main import app

COUNTS = (169, 1, 1, 1)


class Classes:
    """Buckets of which each holds one class."""

    counts = COUNTS

    def at(self, board):
        return HAND_CLASSES.astype(np.int64)


@pytest.fixture(scope="module")
def blueprint():
    """Opens with a raise for pairs, a limp in suited hands, a fold else; answers at random."""
    game = tp.load("holdem(stack=20,preflop=[2.5bb;a],sizes=[a],raises=[2;1;1;1])")
    nodes = betting_nodes(game.rules, COUNTS)
    average = np.random.default_rng(0).random(table_size(nodes, COUNTS)).astype(np.float32)
    first = np.zeros((169, nodes.actions[0]), np.float32)
    labels = nodes.labels[slots_of(nodes, 0)].tolist()
    for number, name in enumerate(CLASSES):
        first[number, labels.index(5 if len(name) == 2 else 1 if name.endswith("s") else 0)] = 3.0
    average[: first.size] = first.ravel()
    return HoldemBlueprint(game, Classes(), nodes, shares_of(average, nodes, COUNTS))


def test_classes_do_what_the_policy_says(blueprint):
    chart = preflop_chart(blueprint)
    assert (chart.player, chart.actions, chart.kinds[0]) == (1, ("fold", "call", "raise 5", "allin 20"), "fold")
    assert chart.shares[:, CLASSES.index("AA")].tolist() == [0, 0, 1, 0]
    assert chart.shares[:, CLASSES.index("72s")].tolist() == [0, 1, 0, 0]
    assert chart.often == pytest.approx({"fold": 936 / 1326, "call": 312 / 1326, "raise 5": 78 / 1326, "allin 20": 0})


def test_lines_lead_to_answers_and_others_are_refused(blueprint):
    answer = preflop_chart(blueprint, "r5")
    assert answer.player == 0
    assert answer.title == "big blind, 10 bb, after r5"
    assert answer.actions == ("fold", "call", "allin 20")
    assert np.allclose(answer.shares.sum(axis=0), 1.0)
    node = blueprint.after(0, 2)
    assert blueprint.nodes.player[node] == 0
    assert np.allclose(answer.shares[0][HAND_CLASSES], blueprint.policy_at(node, ())[0])
    for line in ("r7", "cc", "f", "x", "r"):
        with pytest.raises(SpecError, match=f"line '{line}'(:| cannot be read)"):
            preflop_chart(blueprint, line)


def test_seats_of_more_players_have_names_of_positions():
    game = tp.load("holdem(players=3,stack=20,preflop=[2.5bb;a],sizes=[a],raises=[2;1;1;1])")
    nodes = betting_nodes(game.rules, COUNTS)
    shares = shares_of(np.ones(table_size(nodes, COUNTS), np.float32), nodes, COUNTS)
    blueprint = HoldemBlueprint(game, Classes(), nodes, shares)
    titles = [preflop_chart(blueprint, line).title for line in ("", "f", "fc")]
    assert titles == ["BTN, 10 bb", "SB, 10 bb, after f", "BB, 10 bb, after fc"]


def test_the_command_writes_tables_and_pages(blueprint, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(holdem_blueprint.HoldemBlueprint, "load", classmethod(lambda cls, path: blueprint))
    table, page = tmp_path / "chart.csv", tmp_path / "chart.html"
    found = CliRunner().invoke(app, ["holdem", "preflop", str(tmp_path), "--csv", str(table), "--html", str(page)])
    assert found.exit_code == 0, found.output
    lines = table.read_text().splitlines()
    assert lines[0] == "hand,fold,call,raise 5,allin 20"
    assert lines[1] == "AA,0.0000,0.0000,1.0000,0.0000"
    assert len(lines) == 170
    assert "raise 5" in page.read_text()
