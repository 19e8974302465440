"""An agent for turns of hold'em: what it plays over its draws, the beliefs that go with it, and bets outside its tree."""

from dataclasses import replace

import numpy as np
import pytest

from treeplex.errors import AlgorithmError, GameError
from treeplex.forms.holdem.subgame import HoldemSubgame, cut_spot
from treeplex.games.poker.betting.sizes import BetPlan, FixedLimit
from treeplex.games.poker.betting.tree import Decision, Fold, Showdown, StreetEnd, betting_tree
from treeplex.games.poker.cards.cards import parse_card
from treeplex.games.poker.spots.known import holdem
from treeplex.games.poker.spots.spot import Rake
from treeplex.search import METHODS
from treeplex.search.holdem.agent import HoldemAgent
from treeplex.search.holdem.leaf import RiverLeaf
from treeplex.search.holdem.subgame import HoldemSearch
from treeplex.search.play_distribution import average_weights
from treeplex.search.search_trace import steps

SPOT = holdem("3s7hTdKs", "QQ,JTs,AKs", "99,KQs,T9s", pot=20.0, stack=40.0, bets=BetPlan.same("100%", "a"))
T, RIVER = 5, 6
RIVER_CARD = parse_card("2c")


class Drawn(np.random.Generator):
    """A generator whose every number is the same, so that the iteration drawn is known."""

    def __init__(self, number: float) -> None:
        super().__init__(np.random.PCG64(0))
        self.number = number

    def random(self, *_: object, **__: object) -> float:  # type: ignore[override]
        return self.number


def agent(generator: np.random.Generator | None = None, method: str = "lcfr", **settings: int) -> HoldemAgent:
    usual = {"iterations": T, "river": RIVER} | settings
    own = generator or np.random.default_rng(0)
    return HoldemAgent(SPOT, lambda turn: RiverLeaf(turn, iterations=RIVER), own, method=method, **usual)  # type: ignore[arg-type]


def searched(method: str, stop: int) -> HoldemSearch:
    turn = cut_spot(SPOT)
    search = HoldemSearch(turn, METHODS[method], RiverLeaf(turn, iterations=RIVER), SPOT.ranges, horizon=T)
    search.run(stop)
    return search


def draws(method: str) -> list[tuple[float, float]]:
    """For each iteration a number that draws it, and how likely it is."""
    weights = average_weights(method, T) / average_weights(method, T).sum()
    return list(zip(np.cumsum(weights) - weights / 2, weights, strict=True))


def hands_of(player: int, found: HoldemAgent) -> list[int]:
    return [int(hand) for hand in np.flatnonzero(found.belief.rules.possible(found.belief.board)[player])]


@pytest.mark.parametrize("method", ["lcfr", "dcfr", "linear-fp"])
def test_over_its_draws_it_plays_the_average_policy_at_the_root(method: str) -> None:
    search = searched(method, T)
    expected = search.policy_at(0, search.average)
    if method == "linear-fp":  # each draw is the average up to an iteration
        stops = [searched(method, t + 1) for t in range(T)]
        expected = sum(weight * each.policy_at(0, each.average) for (_, weight), each in zip(draws(method), stops, strict=True))
    found = np.zeros_like(expected)
    hands = hands_of(0, agent())
    for number, weight in draws(method):
        drawn = agent(Drawn(number), method)
        for hand in hands:
            found[:, hand] += weight * drawn.probabilities(hand)
    np.testing.assert_allclose(found[:, hands], expected[:, hands], atol=1e-6)
    assert np.ptp(expected[:, hands], axis=1).max() > 0.05  # hands are played differently


@pytest.mark.parametrize("stop", [0, 2, T - 1])
@pytest.mark.parametrize("method", ["lcfr", "lcfr-avg", "linear-fp"])
def test_beliefs_on_the_river_are_those_of_the_iteration_drawn(method: str, stop: int) -> None:
    """Of its policy; in CFR-AVG and fictitious play of the average up to it (section 5.2)."""
    found = agent(Drawn(draws(method)[stop][0]), method)
    assert found.event == betting_tree(SPOT).nodes[0]
    found.observe(0)
    found.observe(1)  # a bet of the pot
    found.observe(1)  # called
    end = found.event
    assert isinstance(end, StreetEnd)
    search = searched(method, T)  # only a schedule's horizon counts here
    for step in steps(searched(method, 0), T):
        if step.number == stop + 1:
            believed = step.played if method == "lcfr" else step.average
    arrived = [own[search.places.nodes.index(found.belief.node)] for own in search.reach_at_ends(believed)]
    found.deal(RIVER_CARD)
    free = found.belief.rules.free([RIVER_CARD])
    for own, reached in zip(found.belief.ranges, arrived, strict=True):
        np.testing.assert_allclose(own, reached * free / (reached * free).sum(), atol=1e-6)
    assert found.on_river
    assert (found.belief.pot, found.belief.stacks, found.belief.board) == (60.0, (20.0, 20.0), (*SPOT.board, RIVER_CARD))
    below, tree = found.event, betting_tree(SPOT)
    whole = tree.nodes[end.child]
    assert isinstance(below, Decision)
    assert isinstance(whole, Decision)
    assert (below.actions, below.contributions, below.player) == (whole.actions, whole.contributions, whole.player)


def test_the_river_is_played_by_a_solution_of_it() -> None:
    """Facing all-in, kings with an ace, the best hands there, hardly ever fold; jacks with a ten sometimes do."""
    found = agent(river=200)
    for action in (0, 1, 1):
        found.observe(action)
    found.deal(RIVER_CARD)
    rows = np.stack([found.probabilities(hand) for hand in hands_of(0, found)])
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, atol=1e-6)
    found.observe(0)
    found.observe(1)  # all-in, the pot is larger
    assert isinstance(found.event, Decision)
    fold = {tuple(found.spot.format.hands[hand]): found.probabilities(hand)[0] for hand in hands_of(0, found)}
    kings = [often for hand, often in fold.items() if parse_card("Kd") in hand or parse_card("Kh") in hand]
    jacks = [often for hand, often in fold.items() if parse_card("Js") in hand or parse_card("Jh") in hand]
    assert kings
    assert max(kings) < 0.05
    assert min(jacks) > 0.05


def test_games_are_remembered_and_played_to_the_end() -> None:
    found, generator = agent(), np.random.default_rng(4)
    ends = set()
    for _ in range(30):
        found.begin()
        hands = found.belief.draw(generator)
        while not isinstance(found.event, Fold | Showdown):
            if isinstance(found.event, StreetEnd):
                used = {*found.belief.board, *(int(card) for hand in hands for card in SPOT.format.hands[hand])}
                found.deal(int(generator.choice([card for card in range(52) if card not in used])))
            else:
                assert isinstance(found.event, Decision)
                found.observe(found.act(hands[found.event.player]))
        ends.add((type(found.event), found.on_river))
    assert found.searches == 1
    assert {on_river for _, on_river in ends} == {True, False}


def test_another_bet_is_added_and_the_round_searched_again() -> None:
    found = agent()
    before = found.event
    found.observe(0)
    assert isinstance(found.event, Decision)
    assert [str(action) for action in found.event.actions] == ["check", "bet 20"]
    assert found.add(20.0) == 1  # is there already
    assert found.searches == 1
    number = found.add(15.0)
    assert found.searches == 2
    assert [str(action) for action in found.event.actions] == ["check", "bet 15", "bet 20"]
    assert number == 1
    found.observe(number)
    assert [str(action) for action in found.event.actions] == ["fold", "call", "allin 40"]
    raised = found.add(33.0)
    assert [str(action) for action in found.event.actions] == ["fold", "call", "raise 33", "allin 40"]
    found.observe(raised)
    found.observe(1)
    found.deal(RIVER_CARD)
    assert (found.belief.pot, found.belief.stacks) == (86.0, (7.0, 7.0))
    assert found.add(4.0) == 1
    found.begin()
    assert found.event == before
    assert found.spot is SPOT
    found.observe(0)
    assert len(found.event.actions) == 2
    hand = hands_of(1, found)[0]
    assert found.probabilities(hand).sum() == pytest.approx(1.0)
    assert found.searches == 3


@pytest.mark.parametrize(
    ("amount", "words"),
    [(0.5, "whole chips of 1"), (0.0, "at least 1"), (-3.0, "at least 1"), (41.0, "at most 40, all-in"), (1e9, "at most 40")],
)
def test_bets_that_the_rules_do_not_have_are_refused(amount: float, words: str) -> None:
    found = agent(iterations=1)
    with pytest.raises(GameError, match=words):
        found.add(amount)
    assert found.event == betting_tree(SPOT).nodes[0]  # nothing changed
    assert found.searches == 0


def test_a_size_that_takes_away_what_was_played_is_refused() -> None:
    """It would be offered to the player's earlier raise as well, and merge away the one that was made."""
    spot = replace(SPOT, stack=400.0, bets=BetPlan.same("25%", "50%", merge=0.5))
    found = HoldemAgent(spot, lambda turn: RiverLeaf(turn, iterations=1), np.random.default_rng(0), iterations=1)
    for action in (0, 1, 2, 2):
        found.observe(action)
    before = found.event
    with pytest.raises(GameError, match="merge leaves raise 20 out"):
        found.add(66.0)
    assert found.event == before


def test_a_game_stands_as_it_stood_when_a_search_fails() -> None:
    found = agent()
    found.observe(0)
    before, hand = found.event, hands_of(1, found)[0]
    row = found.probabilities(hand)

    def fails(turn: HoldemSubgame) -> RiverLeaf:
        raise MemoryError

    found.leaf = fails
    with pytest.raises(MemoryError):
        found.add(15.0)
    assert found.event == before
    np.testing.assert_array_equal(found.probabilities(hand), row)
    found.observe(1)


def test_fractions_of_chips() -> None:
    """Sums of tenths are not exact; nobody is left with a trace of a chip."""
    bets = BetPlan.same("50%,a", "a", min_bet=0.1)
    spot = replace(SPOT, pot=0.2, stack=1.1, chip=0.1, bets=bets)
    found = HoldemAgent(spot, lambda turn: RiverLeaf(turn, iterations=2), np.random.default_rng(0), iterations=2, river=2)
    for action in (0, 1, 1):
        found.observe(action)
    found.deal(RIVER_CARD)
    assert isinstance(found.event, Decision)
    found.observe(len(found.event.actions) - 1)
    with pytest.raises(GameError, match="somebody is all-in"):
        found.add(3.0)


def test_what_cannot_be_is_refused() -> None:
    found = agent(iterations=1)
    with pytest.raises(GameError, match="no action number 2"):
        found.observe(2)
    with pytest.raises(GameError, match="no card is due"):
        found.deal(RIVER_CARD)
    with pytest.raises(GameError, match="cannot be held"):
        found.probabilities(0)
    found.observe(1)
    found.observe(2)  # all-in
    with pytest.raises(GameError, match="somebody is all-in"):
        found.add(39.0)
    found.observe(1)
    assert isinstance(found.event, Showdown)
    for call in (lambda: found.probabilities(5), lambda: found.add(3.0)):
        with pytest.raises(GameError, match="nobody is to act"):
            call()
    with pytest.raises(GameError, match="not 2: give the board of the turn"):
        found.begin(replace(SPOT, board=(*SPOT.board, RIVER_CARD)))
    with pytest.raises(AlgorithmError, match="no rake"):
        found.begin(replace(SPOT, rake=Rake(0.05, 3.0)))
    with pytest.raises(AlgorithmError, match="donk"):
        found.begin(replace(SPOT, bets=BetPlan.same("100%", "a", river_donk="50%")))
    found.begin(replace(SPOT, bets=FixedLimit((5.0, 5.0, 10.0, 10.0), (2, 2, 2, 2))))
    with pytest.raises(GameError, match="fixed-limit betting"):
        found.add(7.0)


def test_a_line_that_nobody_plays_still_has_beliefs() -> None:
    """Ranges of one hand each, whose policies are certain: beliefs stay those hands, and every action has an answer."""
    spot = holdem("3s7hTdKs", "KdKh", "2c2d", pot=20.0, stack=40.0, bets=BetPlan.same("100%", "a"))
    found = HoldemAgent(spot, lambda turn: RiverLeaf(turn, iterations=8), np.random.default_rng(0), iterations=20, river=20)
    hands = [int(np.argmax(own)) for own in spot.ranges]
    found.observe(1)
    found.observe(1)  # which deuces never do
    for own, hand in zip(found.belief.ranges, hands, strict=True):
        assert own[hand] == pytest.approx(1.0, abs=1e-6)
    found.deal(parse_card("Jc"))
    assert found.probabilities(hands[0]).sum() == pytest.approx(1.0)
