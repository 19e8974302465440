"""Strategies for limit hold'em in buckets at a table with real cards, on the small deck of royal hold'em."""

from typing import Any

import numpy as np
import pytest

from tests.limit_games import royal_buckets
from treeplex.errors import GameError, SpecError
from treeplex.games.base import CHANCE
from treeplex.holdem.buckets.buckets import placed
from treeplex.holdem.buckets.game import BucketGame
from treeplex.holdem.buckets.plan import BLINDS, LIMIT_BETS
from treeplex.holdem.cards.format import royal
from treeplex.holdem.cards.strength import River
from treeplex.holdem.engine.buckets.playouts import draw_action
from treeplex.holdem.limit.agent import LimitAgent, limit_holdem
from treeplex.holdem.limit.policy import LimitStrategy, empty_tables
from treeplex.holdem.spots.known import all_hands, unbound
from treeplex.holdem.spots.spot import Spot
from treeplex.holdem.whole.named import holdem
from treeplex.search.agents.agent import play_game
from treeplex.search.agents.by_rules import RuleAgent

COUNTS = (2, 2, 2, 2)


def strategy(seed: int = 0) -> LimitStrategy:
    """One that plays every infoset in another way, at random."""
    spot = Spot((), 0.0, unbound(LIMIT_BETS), all_hands(royal()), LIMIT_BETS, format=royal(), blinds=BLINDS)
    game = BucketGame(spot, COUNTS, tables=lambda: (_ for _ in ()).throw(AssertionError), buckets=royal_buckets, spec="royal")
    tables, random = empty_tables(game), np.random.default_rng(seed)
    tables.early[:] = random.random(len(tables.early))
    tables.late[:] = random.random(len(tables.late))
    return LimitStrategy("random", game, tables)


def walked(agent: LimitAgent, generator: np.random.Generator) -> list[tuple[Any, list[int], tuple[int, ...]]]:
    """A hand in which actions are drawn uniformly: state, numbers of actions so far, board at every decision."""
    agent.begin()
    found, numbers = [], list[int]()
    while (options := agent.game.options(agent.state)).player >= 0 or options.player == CHANCE:
        number = int(generator.integers(len(options.labels)))
        if options.player >= 0:
            found.append((agent.state, list(numbers), agent.state.board))
            numbers.append(number)
            assert len(agent.policy()) == len(options.labels)
        agent.see(options.labels[number])
    return found


@pytest.mark.slow
def test_it_plays_the_table_of_its_buckets() -> None:
    """As the kernel of matches finds the rows: along the same actions, by the sequence of buckets of the whole board."""
    own = strategy()
    agent = LimitAgent(limit_holdem(own.game).public, own)
    betting, buckets, generator = own.game.betting, own.game.buckets, np.random.default_rng(1)
    river, decisions = River(royal()), 0
    for _ in range(12):
        agent.begin()
        street = node = start = 0
        while (options := agent.game.options(agent.state)).player >= 0 or options.player == CHANCE:
            if options.player == CHANCE:
                agent.see(options.labels[int(generator.integers(len(options.labels)))])
                continue
            board = agent.state.board  # type: ignore[attr-defined]
            left = royal().cards_left(board)
            whole = np.array([*board, *left][:5], np.int64)
            sequences = np.empty(len(royal().hands), np.int32)
            buckets.sequences(placed(buckets.strengths, whole[None]), 0, river(whole), sequences)
            policy = agent.policy()
            hand = int(generator.choice(np.flatnonzero(sequences >= 0)))
            edges = np.cumsum(policy[:, hand])
            for draw in generator.random(8).tolist():
                chosen = draw_action(betting, street, node, start, int(sequences[hand]), own.average, draw)
                assert chosen == min(int((draw >= edges).sum()), len(edges) - 1)
            decisions += 1
            row, number = betting.streets[street, 0] + node, int(generator.integers(len(options.labels)))
            kind, child = betting.kinds[row, number], betting.children[row, number]
            if kind == 0:
                node = int(child)
            elif kind == 2 and street < 3:
                start, street, node = start + int(child) * int(betting.streets[street, 2]), street + 1, 0
            agent.see(options.labels[number])
    assert decisions > 30


def test_the_table_is_that_of_the_buckets() -> None:
    """Everywhere as many actions as the abstract game has, the big blind's option among them, and nobody is ever all-in."""
    own = strategy()
    game = limit_holdem(own.game)
    assert game.spec == "holdem(bets=[2;2;4;4],raises=[3;4;4;4],ranks=5)"
    agent, generator = LimitAgent(game.public, own), np.random.default_rng(0)
    seen = [each for _ in range(40) for each in walked(agent, generator)]
    assert {state.table.street for state, _, _ in seen} == {0, 1, 2, 3}
    assert all(max(state.table.paid) < 200 for state, _, _ in seen)


def test_it_plays_against_others() -> None:
    own = strategy()
    game = limit_holdem(own.game).public
    agents = [LimitAgent(game, own, np.random.default_rng(2)), RuleAgent(game, "caller")]
    results = [play_game(agents, np.random.default_rng(seed)) for seed in range(20)]
    assert all(sum(result) == 0 for result in results)
    assert len({result[0] for result in results}) > 3


@pytest.mark.quick_cases("rules0", "rules1")
@pytest.mark.parametrize(
    "rules",
    [
        {"ranks": 5},
        {"ranks": 5, "bets": [2, 2, 2, 4]},
        {"ranks": 5, "bets": [2, 2, 4, 4], "stack": 40},
        {"ranks": 5, "bets": [2, 2, 4, 4], "dealer": 0},
        {"ranks": 6, "bets": [2, 2, 4, 4]},
    ],
)
def test_other_tables_are_refused(rules: dict[str, Any]) -> None:
    own = strategy()
    with pytest.raises(
        SpecError, match=r"random plays holdem\(bets=\[2;2;4;4\],raises=\[3;4;4;4\],ranks=5\); let it play that"
    ):
        LimitAgent(holdem(**rules).public, own)


def test_it_has_to_see_every_bet() -> None:
    from treeplex.search.subgames.beliefs import Belief

    own = strategy()
    agent = LimitAgent(limit_holdem(own.game).public, own)
    later = agent.game.after(agent.game.first_state(), 1)
    ones = np.ones(len(royal().hands))
    with pytest.raises(GameError, match="has to see every bet"):
        agent.begin(at=Belief(agent.game, later, (ones, ones)))
