"""An agent for turns of hold'em: what it plays over its draws, the beliefs that go with it, and bets outside its tree."""

from dataclasses import replace

import numpy as np
import pytest

from treeplex.errors import AlgorithmError, GameError
from treeplex.holdem.betting.bet_plan import BetPlan, FixedLimit
from treeplex.holdem.betting.tree import Decision, Fold, Node, Showdown, StreetEnd, betting_tree
from treeplex.holdem.cards.cards import parse_card
from treeplex.holdem.policies.node_values import HoldemValues
from treeplex.holdem.rules.public import holdem_state
from treeplex.holdem.search.agent import agent_game, holdem_agent, start_of
from treeplex.holdem.search.play_distribution import Player
from treeplex.holdem.search.subgames.subgame import HoldemArrays, cut_spot
from treeplex.holdem.spots.known import holdem
from treeplex.holdem.spots.spot import Rake
from treeplex.search import METHODS, ExactLeaf, SubgameSearch
from treeplex.search.agents.searching import SearchAgent
from treeplex.search.methods import average_weights
from treeplex.search.search_trace import steps
from treeplex.search.subgames.subgame import Places, Ranges

SPOT = holdem("3s7hTdKs", "QQ,JTs,AKs", "99,KQs,T9s", pot=20.0, stack=40.0, bets=BetPlan.same("100%", "a"))
T, RIVER, LONG = 5, 6, 500
RIVER_CARD = parse_card("2c")


class FixedDraws(np.random.Generator):
    """A generator whose every number is the same, so that the iteration drawn is known."""

    def __init__(self, number: float) -> None:
        super().__init__(np.random.PCG64(0))
        self.number = number

    def random(self, *_: object, **__: object) -> float:  # type: ignore[override]
        return self.number


def agent(generator: np.random.Generator | None = None, method: str = "lcfr", **settings: int) -> SearchAgent:
    usual = {"iterations": T, "endgame": RIVER} | settings
    own = generator or np.random.default_rng(0)
    return holdem_agent(SPOT, ExactLeaf(iterations=RIVER), own, method=method, **usual)  # type: ignore[arg-type]


def event(found: SearchAgent) -> Node:
    """What happens in the betting where a play stands."""
    return agent_game(found).event(found.state)


def board(found: SearchAgent) -> tuple[int, ...]:
    return holdem_state(found.state).board


def searched(method: str, stop: int) -> SubgameSearch:
    search = SubgameSearch(cut_spot(SPOT), METHODS[method], ExactLeaf(iterations=RIVER), horizon=T)
    search.run(stop)
    return search


def draws(method: str) -> list[tuple[float, float]]:
    """For each iteration a number that draws it, and how likely it is."""
    weights = average_weights(method, T) / average_weights(method, T).sum()
    return list(zip(np.cumsum(weights) - weights / 2, weights, strict=True))


def hands_of(player: int, found: SearchAgent) -> list[int]:
    return [int(hand) for hand in np.flatnonzero(found.game.possible(found.state)[player])]


@pytest.mark.quick_cases("dcfr")
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
        drawn = agent(FixedDraws(number), method)
        for hand in hands:
            found[:, hand] += weight * drawn.policy()[:, hand]
    np.testing.assert_allclose(found[:, hands], expected[:, hands], atol=1e-6)
    assert np.ptp(expected[:, hands], axis=1).max() > 0.05  # hands are played differently


@pytest.mark.slow_cases("lcfr-0", "lcfr-2", "lcfr-avg-0", "lcfr-avg-2")
@pytest.mark.parametrize("stop", [0, 2, T - 1])
@pytest.mark.parametrize("method", ["lcfr", "lcfr-avg", "linear-fp"])
def test_beliefs_on_the_river_are_those_of_the_iteration_drawn(method: str, stop: int) -> None:
    """Of its policy; in CFR-AVG and fictitious play of the average up to it (section 5.2)."""
    found = agent(FixedDraws(draws(method)[stop][0]), method)
    assert event(found) == betting_tree(SPOT).nodes[0]
    found.see(0)
    found.see(1)  # a bet of the pot
    found.see(1)  # called
    end = event(found)
    assert isinstance(end, StreetEnd)
    search = searched(method, T)  # only a schedule's horizon counts here
    for step in steps(searched(method, 0), T):
        if step.number == stop + 1:
            believed = step.played if method == "lcfr" else step.average
    ended = search.subgame.leaves.states.index(found.state)
    arrived = [own[ended] for own in search.arrays.reach_at_leaves(believed)]
    found.see(RIVER_CARD)
    free = agent_game(found).free([RIVER_CARD])
    for own, reached in zip(found.belief.ranges, arrived, strict=True):
        np.testing.assert_allclose(own, reached * free / (reached * free).sum(), atol=1e-6)
    game = agent_game(found)
    assert (game.pot(found.state), game.stacks(found.state), board(found)) == (60.0, (20.0, 20.0), (*SPOT.board, RIVER_CARD))
    below, tree = event(found), betting_tree(SPOT)
    whole = tree.nodes[end.child]
    assert isinstance(below, Decision)
    assert isinstance(whole, Decision)
    assert (below.actions, below.contributions, below.player) == (whole.actions, whole.contributions, whole.player)


def test_the_river_is_played_by_a_solution_of_it() -> None:
    """Facing all-in, kings with an ace, the best hands there, hardly ever fold; jacks with a ten sometimes do."""
    found = agent(endgame=200)
    for action in (0, 1, 1):
        found.see(action)
    found.see(RIVER_CARD)
    rows = np.stack([found.policy()[:, hand] for hand in hands_of(0, found)])
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, atol=1e-6)
    found.see(0)
    found.see(1)  # all-in, the pot is larger
    assert isinstance(event(found), Decision)
    fold = {tuple(SPOT.format.hands[hand]): found.policy()[:, hand][0] for hand in hands_of(0, found)}
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
        while not isinstance(event(found), Fold | Showdown):
            if isinstance(event(found), StreetEnd):
                used = {*board(found), *(int(card) for hand in hands for card in SPOT.format.hands[hand])}
                found.see(int(generator.choice([card for card in range(52) if card not in used])))
            else:
                assert isinstance(event(found), Decision)
                found.see(found.act(hands[event(found).player]))
        ends.add((type(event(found)), agent_game(found).spot.board != SPOT.board))
    assert found.searches == 1
    assert {on_river for _, on_river in ends} == {True, False}


def test_another_bet_is_added_and_the_round_searched_again() -> None:
    found = agent()
    before = event(found)
    found.see(0)
    assert isinstance(event(found), Decision)
    assert [str(action) for action in event(found).actions] == ["check", "bet 20"]
    assert found.add(20.0) == 1  # is there already
    assert found.searches == 1
    number = found.add(15.0)
    assert found.searches == 2
    assert [str(action) for action in event(found).actions] == ["check", "bet 15", "bet 20"]
    assert number == 1
    found.see(number)
    assert [str(action) for action in event(found).actions] == ["fold", "call", "allin 40"]
    raised = found.add(33.0)
    assert [str(action) for action in event(found).actions] == ["fold", "call", "raise 33", "allin 40"]
    found.see(raised)
    found.see(1)
    found.see(RIVER_CARD)
    assert (agent_game(found).pot(found.state), agent_game(found).stacks(found.state)) == (86.0, (7.0, 7.0))
    assert found.add(4.0) == 1
    found.begin()
    assert event(found) == before
    assert agent_game(found).spot is SPOT
    found.see(0)
    assert len(event(found).actions) == 2
    hand = hands_of(1, found)[0]
    assert found.policy()[:, hand].sum() == pytest.approx(1.0)
    assert found.searches == 3


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        (0.5, "multiples of the chip, 1"),
        (0.0, "at least 1"),
        (-3.0, "at least 1"),
        (41.0, "at most 40, all-in"),
        (1e9, "at most 40"),
    ],
)
def test_bets_that_the_rules_do_not_have_are_refused(amount: float, words: str) -> None:
    found = agent(iterations=1)
    with pytest.raises(GameError, match=words):
        found.add(amount)
    assert event(found) == betting_tree(SPOT).nodes[0]  # nothing changed
    assert found.searches == 0


def test_a_size_that_takes_away_what_was_played_is_refused() -> None:
    """It would be offered to the player's earlier raise as well, and merge away the one that was made."""
    spot = replace(SPOT, stack=400.0, bets=BetPlan.same("25%", "50%", merge=0.5))
    found = holdem_agent(spot, ExactLeaf(iterations=1), np.random.default_rng(0), iterations=1)
    for action in (0, 1, 2, 2):
        found.see(action)
    before = event(found)
    with pytest.raises(GameError, match="'merge' drops raise 20, which was played; give another size"):
        found.add(66.0)
    assert event(found) == before


def test_a_game_stands_as_it_stood_when_a_search_fails() -> None:
    found = agent()
    found.see(0)
    before, hand = event(found), hands_of(1, found)[0]
    row = found.policy()[:, hand]

    def fails(places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        raise MemoryError

    found.leaf = fails
    with pytest.raises(MemoryError):
        found.add(15.0)
    assert event(found) == before
    np.testing.assert_array_equal(found.policy()[:, hand], row)
    found.see(1)


def test_fractions_of_chips() -> None:
    """Sums of tenths are not exact; nobody is left with a trace of a chip."""
    bets = BetPlan.same("50%,a", "a", min_bet=0.1)
    spot = replace(SPOT, pot=0.2, stack=1.1, chip=0.1, bets=bets)
    found = holdem_agent(spot, ExactLeaf(iterations=2), np.random.default_rng(0), iterations=2, endgame=2)
    for action in (0, 1, 1):
        found.see(action)
    found.see(RIVER_CARD)
    assert isinstance(event(found), Decision)
    found.see(len(event(found).actions) - 1)
    with pytest.raises(GameError, match="a player is all-in"):
        found.add(3.0)


def test_what_cannot_be_is_refused() -> None:
    found = agent(iterations=1)
    with pytest.raises(GameError, match="no action number 2"):
        found.see(2)
    with pytest.raises(GameError, match="no action number"):
        found.see(51)
    with pytest.raises(GameError, match="hand 0 is impossible at node 0"):
        found.act(0)
    found.see(1)
    found.see(2)  # all-in
    with pytest.raises(GameError, match="a player is all-in"):
        found.add(39.0)
    found.see(1)
    assert isinstance(event(found), Showdown)
    for call in (lambda: found.policy(), lambda: found.add(3.0)):
        with pytest.raises(GameError, match="no player acts"):
            call()
    with pytest.raises(GameError, match="give the board of an earlier street"):
        start_of(replace(SPOT, board=(*SPOT.board, RIVER_CARD)))
    with pytest.raises(AlgorithmError, match="does not support rake; leave the rake out"):
        start_of(replace(SPOT, rake=Rake(0.05, 3.0)))
    with pytest.raises(AlgorithmError, match="donk"):
        start_of(replace(SPOT, bets=BetPlan.same("100%", "a", river_donk="50%")))
    found.begin(at=start_of(replace(SPOT, bets=FixedLimit((5.0, 5.0, 10.0, 10.0), (2, 2, 2, 2)))))
    with pytest.raises(GameError, match="fixed-limit betting"):
        found.add(7.0)


def test_a_line_that_nobody_plays_still_has_beliefs() -> None:
    """Ranges of one hand each, whose policies are certain: beliefs stay those hands, and every action has an answer."""
    spot = holdem("3s7hTdKs", "KdKh", "2c2d", pot=20.0, stack=40.0, bets=BetPlan.same("100%", "a"))
    found = holdem_agent(spot, ExactLeaf(iterations=8), np.random.default_rng(0), iterations=20, endgame=20)
    hands = [int(np.argmax(own)) for own in spot.ranges]
    found.see(1)
    found.see(1)  # which deuces never do
    for own, hand in zip(found.belief.ranges, hands, strict=True):
        assert own[hand] == pytest.approx(1.0, abs=1e-6)
    found.see(parse_card("Jc"))
    assert found.policy()[:, hands[0]].sum() == pytest.approx(1.0)


@pytest.mark.parametrize("method", ["lcfr", "lcfr-avg-modified", "flop"])
def test_without_a_draw_the_average_policy_is_played(method: str) -> None:
    """Whatever the generator; and beliefs move by it."""
    found, average = agent(FixedDraws(0.0), method, drawn=False), searched(method, T)
    rows = average.policy_at(0, average.average)
    hands = hands_of(0, found)
    np.testing.assert_allclose(found.policy()[:, hands], rows[:, hands], atol=1e-6)
    found.see(0)
    found.see(1)  # a bet of the pot
    found.see(1)  # called
    ended = average.subgame.leaves.states.index(found.state)
    arrays = average.arrays
    assert isinstance(arrays, HoldemArrays)
    reached = arrays.reach_at_leaves(arrays.sequence_form(average.average_policy()))
    for own, rows in zip(found.belief.ranges, (each[ended] for each in reached), strict=True):
        np.testing.assert_allclose(own / own.sum(), rows / rows.sum(), atol=1e-6)
    turn = cut_spot(SPOT)
    assert found.memory_for(turn) == 4 * turn.top.stored


@pytest.mark.slow
@pytest.mark.parametrize("path", [(), pytest.param((1,), marks=pytest.mark.slow), pytest.param((1, 2), marks=pytest.mark.slow)])
def test_values_of_actions_on_the_turn_are_those_of_the_whole_game(path: tuple[int, ...]) -> None:
    """Rivers solved for the average policy's beliefs, every one of them dealt; long, for rounding decides first iterations."""
    turn, generator = cut_spot(SPOT), np.random.default_rng(0)
    found = holdem_agent(SPOT, ExactLeaf(iterations=LONG), generator, iterations=2, drawn=False)
    search = SubgameSearch(turn, METHODS["lcfr"], ExactLeaf(iterations=LONG), horizon=2)
    search.run(2)
    player = Player(turn, LONG, storage="float64")
    values = HoldemValues(turn.whole, player.average(search))
    tree = values.tree(0, 0, 0, values.root_reach())
    for action in path:
        found.see(action)
    node = event(found)
    assert isinstance(node, Decision)
    met = values.compatible(0, node.player, tree.reach[holdem_state(found.state).node][1 - node.player])
    for place, hand in enumerate(turn.held(node.player)):
        expected = [tree.values[child][node.player][place] / met[place] for child in node.children]
        np.testing.assert_allclose(found.action_values(int(hand)), expected, atol=0.005)


@pytest.mark.slow
def test_values_of_actions_on_the_river() -> None:
    """A call at the end wins or loses what lies there: half of the river's pot, and the bet."""
    found = agent(drawn=False)
    for action in (0, 1, 1):
        found.see(action)
    found.see(RIVER_CARD)
    found.see(found.add(20.0))
    node = event(found)
    assert isinstance(node, Decision)
    assert [str(action) for action in node.actions][:2] == ["fold", "call"]
    for hand in hands_of(node.player, found):
        fold, call = found.action_values(hand)[:2]
        assert fold == pytest.approx(-30.0)
        assert -50.0 - 1e-9 <= call <= 50.0 + 1e-9
    with pytest.raises(GameError, match="is impossible"):
        found.action_values(0)
