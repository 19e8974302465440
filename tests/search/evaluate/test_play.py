"""One hand at a table: repeated from its numbers, with the cards of its deal, and not lost when an agent fails."""

from typing import Any

import numpy as np
import pytest

from treeplex.errors import GameError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.sources.load import public_tree
from treeplex.games.public import PublicTree
from treeplex.search.agents.agent import TableAgent
from treeplex.search.evaluate import play
from treeplex.search.evaluate.play import MatchTable, PlayedHand, check_games, streams_of

RULES = public_tree("leduc_poker")


def uniform(rules: PublicTree = RULES) -> TableAgent:
    return TableAgent(rules, Policy.uniform(compile_game("leduc_poker")))


class Faulty(TableAgent):
    """Fails in some way at its second decision."""

    def __init__(self, way: str) -> None:
        super().__init__(RULES, uniform().table)
        self.way, self.decisions = way, 0

    def begin(self, *arguments: Any, **more: Any) -> None:
        self.decisions = 0
        super().begin(*arguments, **more)

    def act(self, hand: int) -> int:
        self.decisions += 1
        if self.decisions == 2:
            if self.way == "raises":
                raise RuntimeError("no idea")
            if self.way == "plays anything":
                return 99
            if self.way == "says what it does not play":
                return int(self.game.options(self.state).labels[-1])
        return super().act(hand)

    def policy(self) -> play.Floats:
        found = super().policy()
        return found if self.way != "says what it does not play" else np.eye(len(found))[[0] * found.shape[1]].T


def facts(hand: PlayedHand) -> tuple[Any, ...]:
    return hand.dealt, [step.number for step in hand.steps], hand.payoffs, hand.failure


def test_hands_are_repeated_from_their_numbers() -> None:
    table = MatchTable(RULES, [uniform(), uniform()])
    first = [facts(table.play(*streams_of(7, number, number, 2))) for number in range(30)]
    assert [facts(table.play(*streams_of(7, number, number, 2))) for number in reversed(range(30))] == first[::-1]
    assert [facts(table.play(*streams_of(8, number, number, 2))) for number in range(30)] != first
    asked = MatchTable(RULES, [uniform(), uniform()], asked=True)
    assert [facts(asked.play(*streams_of(7, number, number, 2))) for number in range(30)] == first
    assert all(step.policy is None for step in table.play(*streams_of(7, 0, 0, 2)).steps)


def test_hands_of_one_deal_have_the_same_cards() -> None:
    table, boards = MatchTable(RULES, [uniform(), uniform()]), 0
    for deal in range(60):
        one, other = (table.play(*streams_of(0, deal, 2 * deal + order, 2)) for order in range(2))
        assert one.dealt == other.dealt
        shown = [happened(one)[1], happened(other)[1]]
        if all(shown):
            boards += 1
            assert shown[0] == shown[1]
    assert boards > 10


def happened(hand: PlayedHand) -> tuple[list[int], list[int]]:
    """Who acted, one after the other, and what chance showed."""
    state, movers, shown = RULES.first_state(), list[int](), list[int]()
    for step in hand.steps:
        options = RULES.options(state)
        if options.player < 0:
            shown.append(step.number)
        else:
            movers.append(options.player)
        state = RULES.after(state, options.labels[step.number])
    return movers, shown


@pytest.mark.parametrize(
    ("way", "text"),
    [
        ("raises", "RuntimeError: no idea"),
        ("plays anything", "its action 99"),
        ("says what it does not play", "its own policy"),
    ],
)
def test_an_agent_that_fails_ends_the_hand_and_nothing_else(way: str, text: str) -> None:
    table = MatchTable(RULES, [uniform(), Faulty(way)], asked=True)
    hands = [table.play(*streams_of(0, number, number, 2)) for number in range(40)]
    failed = [hand for hand in hands if hand.failure is not None]
    assert 0 < len(failed) < 40
    assert all(hand.payoffs is None and hand.failure[0] == 1 and text in hand.failure[1] for hand in failed if hand.failure)
    assert all(hand.payoffs is not None for hand in hands if hand.failure is None)


def test_decisions_that_take_too_long_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(play, "GRACE_SECONDS", -1.0)
    hand = MatchTable(RULES, [uniform(), uniform()], think=1e-9).play(*streams_of(0, 0, 0, 2))
    assert [seat for seat, _ in hand.slow] == happened(hand)[0]
    assert hand.payoffs is not None
    assert not MatchTable(RULES, [uniform(), uniform()], think=3600.0).play(*streams_of(0, 0, 0, 2)).slow


def test_one_agent_in_both_seats() -> None:
    agent = uniform()
    hand = MatchTable(RULES, [agent, agent]).play(*streams_of(0, 0, 0, 2))
    assert hand.payoffs is not None
    assert sum(hand.payoffs) == 0


def test_agents_of_other_games() -> None:
    check_games(RULES, [uniform(), uniform()])
    with pytest.raises(GameError, match="the agents play different games"):
        check_games(RULES, [uniform(), uniform(public_tree("leduc_poker(ranks=4)"))])
