"""Whole hold'em by preflop charts, and by a guide where they end."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from treeplex.errors import SpecError
from treeplex.forms.sources.load import load
from treeplex.holdem.agents import endgames
from treeplex.holdem.blueprint.agent import HoldemBlueprintAgent
from treeplex.holdem.blueprint.preflop import ChartBook
from treeplex.holdem.search.charted import OFF, ChartedAgent
from treeplex.holdem.search.whole import WholeHoldemAgent
from treeplex.holdem.solve.solution import HoldemSolution
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.spots.files import read_spot_file
from treeplex.holdem.study.preflop_charts import chart_book
from treeplex.search.agents.agent import play_game
from treeplex.search.named_agents.registry import agent

pytestmark = pytest.mark.slow  # its solution from the first card takes half a minute
TABLE = "holdem(stack=40)"
"""20 big blinds of two chips, any raise."""


@pytest.fixture(scope="module")
def solution() -> HoldemSolution:
    spot = read_spot_file("examples/spots/preflop.yaml").spot()
    return solve_spot(replace(spot, runouts=(0, 2, 1, 1)), iterations=3, target=0.0, threads=1, every=3)


@pytest.fixture(scope="module")
def file(solution: HoldemSolution, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return solution.save(Path(tmp_path_factory.mktemp("chart")) / "some.spot", resumable=False, streets=1)


@pytest.fixture(scope="module")
def book(file: Path) -> ChartBook:
    return chart_book(str(file))


def seated(book: ChartBook, table: str = TABLE) -> ChartedAgent:
    game = load(table)
    found = ChartedAgent(game.public, agent("uniform", game), book)
    found.begin(None)
    return found


def test_a_book_has_every_decision_before_the_flop(book: ChartBook, solution: HoldemSolution) -> None:
    assert (book.stack, book.big_blind) == (20, 1)
    after_raise = book.decisions[book.decisions[0].following[2]]
    np.testing.assert_allclose(after_raise.policy, solution.at("r2").strategy, atol=1e-4)
    assert after_raise.player == 0
    assert all(np.allclose(each.policy.sum(axis=0), 1) for each in book.decisions)


def test_actions_are_those_of_the_charts_in_chips_of_the_table(book: ChartBook) -> None:
    player = seated(book)
    labels, table = list(player.game.options(player.state).labels), player.policy()
    assert np.allclose(table[[labels.index(label) for label in (0, 1, 4, 40)]], book.decisions[0].policy)
    assert table.sum() == pytest.approx(1326)
    player.see(4)
    assert player.at == book.decisions[0].following[2]
    other = seated(book)
    other.see(5)  # two and a half big blinds are heard as two
    assert other.at == player.at


def test_what_is_not_in_the_charts_is_left_to_the_guide(book: ChartBook) -> None:
    far = seated(book)
    far.see(12)
    assert far.at == OFF
    assert np.allclose(far.policy(), far.guide.policy())
    limped = seated(book)
    limped.see(1)
    limped.see(1)
    assert limped.at == OFF
    going = far.fork()
    going.see(1)
    assert far.state != going.state


def test_hands_that_the_charts_lack_are_left_to_the_guide(book: ChartBook) -> None:
    policy = book.decisions[0].policy.copy()
    policy[:, :50] = 0.0
    player = seated(book._replace(decisions=(book.decisions[0]._replace(policy=policy), *book.decisions[1:])))
    table = player.policy()
    assert np.allclose(table.sum(axis=0), 1)
    assert np.allclose(table[:, :50], player.guide.policy()[:, :50])
    assert np.allclose(table[:, 50:], seated(book).policy()[:, 50:])


def test_hands_are_played_to_their_end(book: ChartBook) -> None:
    game = load(TABLE)
    player, other = ChartedAgent(game.public, agent("uniform", game), book), agent("uniform", game, seed=2)
    results = [play_game([player, other], np.random.default_rng(seed)) for seed in range(8)]
    assert all(abs(sum(each)) < 1e-9 for each in results)


def test_endgames_take_a_chart(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game = load(TABLE)
    monkeypatch.setattr(endgames, "blueprint_agent", lambda played, *_: agent("uniform", played))
    player = agent(f"endgames(blueprint=none,chart={file},iterations=2)", game)
    player.begin(0)
    assert isinstance(player, WholeHoldemAgent)
    assert isinstance(player.guide, ChartedAgent)
    opened = player.policy()
    assert np.allclose(opened, seated(player.guide.book).policy())
    player.see(4)
    np.testing.assert_allclose(player.ranges[1], player.guide.book.decisions[0].policy[2])  # the raise of the small blind


def test_what_the_blueprint_promises_is_known_behind_a_chart(book: ChartBook) -> None:
    """Flops are solved with what the blueprint plays there, whoever played before."""
    blueprint = object.__new__(HoldemBlueprintAgent)
    charted = seated(book)
    player = WholeHoldemAgent(charted.game, charted)
    assert player.follows is None
    charted.guide = blueprint
    assert player.follows is blueprint


def test_tables_of_other_stacks_are_refused(book: ChartBook) -> None:
    with pytest.raises(SpecError, match="a chart for 20 big blinds, but the table has 100"):
        seated(book, "holdem(stack=200)")
    with pytest.raises(SpecError, match="preflop charts need two players, 52 cards"):
        seated(book, "holdem(ranks=5,suits=2,stack=40)")
    with pytest.raises(SpecError, match="'deep' is not a preflop chart; give 10bb"):
        chart_book("deep")
