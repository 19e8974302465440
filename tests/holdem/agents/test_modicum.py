"""Modicum at hold'em: spots, judged exactly, and a flop of 52 cards."""

from pathlib import Path

import numpy as np
import pytest

import treeplex as tp
from papers.resolving.spot_policy import policy_on_spot
from tests.spot_agents import small_spot
from treeplex.errors import PolicyError, SpecError
from treeplex.forms.sources.load import load
from treeplex.holdem.blueprint.policy import HoldemBlueprint, bucket_rows_of
from treeplex.holdem.search.whole import WholeHoldemAgent
from treeplex.holdem.whole.game import Holdem
from treeplex.holdem.whole.nodes import betting_nodes, table_size
from treeplex.search.named_agents.registry import agent

WHOLE = "holdem(stack=40,preflop=[2.5bb;a],sizes=[100%;a],raises=[2;2;2;2])"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A nearly exact solution of a turn."""
    solution = tp.solve(small_spot("a"), "dcfr", iterations=300, threads=1)
    return Path(solution.save(tmp_path_factory.mktemp("modicum") / "turn.spot"))


@pytest.mark.slow
def test_four_continuations_play_a_turn_well(file: Path) -> None:
    made = agent(f"modicum(blueprint={file},iterations=100)", small_spot("a"))
    assert policy_on_spot(made, small_spot("a")).judge().exploitability < 0.005  # chips of a pot of 2


def test_what_is_refused(file: Path) -> None:
    for text, spot, error, message in (
        ("modicum(blueprint={})", small_spot("a", "TcJdQcKc"), PolicyError, "a solution of another spot: its board differs"),
        (
            "modicum(blueprint={},approach=self-generative)",
            small_spot("a"),
            SpecError,
            "a spot supports biased continuations only",
        ),
    ):
        with pytest.raises(error, match=message):
            agent(text.format(file), spot)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "promises"),
    [
        ("modicum(blueprint={},iterations=5,boards=8)", False),
        ("endgames(blueprint={},iterations=5,promises=blueprint,think=none)", True),
    ],
)
def test_streets_of_52_cards(text: str, promises: bool, tmp_path: Path) -> None:
    """A random blueprint in buckets; the flop and the turn from ranges, or the turn with what the blueprint promises.

    Without a time to think, for what is solved must not depend on how busy the machine is.
    """
    game = load(WHOLE)
    assert isinstance(game, Holdem)
    rows = bucket_rows_of(game, (169, 8, 8, 8), "percentile", recall=False)
    nodes = betting_nodes(game.rules, rows.counts)
    shares = np.random.default_rng(0).integers(1, 255, table_size(nodes, rows.counts), dtype=np.uint8)
    HoldemBlueprint(game, rows, nodes, shares).save(tmp_path / "blueprint.safetensors")
    made = agent(text.format(tmp_path), WHOLE, seed=1)
    assert isinstance(made, WholeHoldemAgent)
    made.begin(1)
    for label in (1, 1, 0, 5, 10):
        made.see(label)
    for label in (1, 1, 20, 1):
        if made.game.options(made.state).player == 1:
            table = made.policy()
            assert table.sum(axis=0)[made.holdem.free(made.state) > 0] == pytest.approx(1.0)
        made.see(label)
    assert made.solver is not None
    assert (made.solver._stand(1).carried.promised is not None) == promises
    assert made.policy().shape[1] == 1326
