"""Games of buckets against the rules of the same game, poker with all its cards, and abstractions written out."""

from itertools import permutations

import numpy as np
import pytest

import treeplex as tp
from tests.limit_games import random_game, spot_of
from treeplex.errors import GameError
from treeplex.forms.compile.walk import compile_rules
from treeplex.games.base import Game, State
from treeplex.games.parameters import observer
from treeplex.holdem.betting.bet_plan import BetPlan, FixedLimit
from treeplex.holdem.buckets.compile_buckets import compile_buckets
from treeplex.holdem.buckets.game import BucketGame
from treeplex.holdem.cards.format import small
from treeplex.holdem.rules.rules import PokerGame
from treeplex.holdem.spots.known import all_hands, leduc_holdem
from treeplex.holdem.spots.spot import Spot

DECK = small(ranks=3, suits=2)
NO_LIMIT = Spot((), 2.0, 6.0, all_hands(DECK), BetPlan.same("100%,a", "a", streets=2), format=DECK)


def holes(game: BucketGame) -> BucketGame:
    """The game without some pairs, and without one sequence of each player."""
    pairs, wins = game.pairs.copy(), game.wins.copy()
    generator = np.random.default_rng(0)
    gone = generator.random(pairs.shape) < 0.3
    gone[1] = gone[:, -1] = True
    pairs[gone] = wins[gone] = 0
    total = pairs.sum()
    return BucketGame(game.spot, game.counts, lambda: (pairs / total, wins / total))


GAMES = {
    "limit": random_game((2, 2), most=2),
    "three streets": random_game((2, 1, 2), most=1),
    "holes": holes(random_game((3, 2), most=1)),
    "no limit": BucketGame(NO_LIMIT, (2, 2), lambda: random_game((2, 2)).tables),
}


@pytest.mark.parametrize("name", GAMES)
def test_the_same_as_a_walk_of_the_rules(name: str) -> None:
    game = GAMES[name]
    by_arithmetic, by_rules = compile_buckets(game), compile_rules(game)
    assert by_arithmetic.size == by_rules.size
    assert by_arithmetic.sequences == by_rules.sequences
    assert by_arithmetic.action_names == by_rules.action_names
    assert set(by_arithmetic.lookup) == set(by_rules.lookup)
    for player, infostate in by_rules.lookup:
        mine, theirs = by_arithmetic.lookup[player, infostate], by_rules.lookup[player, infostate]
        assert by_arithmetic.actions_at(mine) == by_rules.actions_at(theirs)
    solution = tp.solve(by_arithmetic, "dcfr", iterations=50)
    judged = tp.judge(by_rules, solution.policy.to_dict())
    assert solution.exploitability == pytest.approx(judged.exploitability, abs=1e-12)
    assert solution.value == pytest.approx(judged.value, abs=1e-12)
    assert tp.solve(by_arithmetic, "lp").value == pytest.approx(tp.solve(by_rules, "lp").value, abs=1e-9)


class ObservedBuckets(Game):
    """Poker with all its cards, in which players see nothing but the buckets of their own hands: an abstraction written out."""

    def __init__(self, spot: Spot) -> None:
        self.poker = PokerGame(spot)

    def new_initial_state(self) -> "ObservedState":
        return ObservedState(self.poker, self.poker.new_initial_state())


class ObservedState(State):
    def __init__(self, poker, state) -> None:
        self.poker, self.state = poker, state

    def current_player(self):
        return self.state.current_player()

    def legal_actions(self, player=None):
        return self.state.legal_actions(player)

    def chance_outcomes(self):
        return self.state.chance_outcomes()

    def child(self, action):
        return ObservedState(self.poker, self.state.child(action))

    def returns(self):
        return self.state.returns()

    def information_state_string(self, player=None):
        player = observer(self, player)
        if player >= len(self.state.hands):
            return f"[Observer: {player}]"
        seen = [before(self.state.hands[player])]
        if self.state.board:
            seen.append(after(self.state.hands[player], DECK.deck.index(self.state.board[0])))
        shown = " ".join(str(bucket + 1) for bucket in seen)
        return f"[Observer: {player}][Buckets: {shown}][Actions: {self.poker.lines[self.state.node]}]"


def before(card: int) -> int:
    """The bucket of a card of Leduc poker's deck: a king or not."""
    return int(card >= 4)


def after(card: int, public: int) -> int:
    """Its bucket after the flop: a pair, a higher card than the public one, or a lower one."""
    return 2 if card // 2 == public // 2 else int(card > public)


def counted(first, second, sizes):
    """Joint tables over all deals of Leduc poker's deck; a sequence is the number of (first(card), second(card, public))."""
    pairs = np.zeros((sizes[0] * sizes[1],) * 2, np.float32)
    wins = np.zeros_like(pairs)
    for one, two, public in permutations(range(6), 3):
        rows = [first(card) * sizes[1] + second(card, public) for card in (one, two)]
        strength = [10 * (card // 2 == public // 2) + card // 2 for card in (one, two)]
        pairs[tuple(rows)] += 1 / 120
        wins[tuple(rows)] += np.sign(strength[0] - strength[1]) / 120
    return pairs, wins


@pytest.mark.parametrize("spot", [leduc_holdem(), NO_LIMIT], ids=["limit", "no limit"])
def test_buckets_that_lose_nothing_are_poker_itself(spot: Spot) -> None:
    tables = counted(lambda card: card, lambda card, public: public, (6, 6))
    buckets, poker = compile_buckets(BucketGame(spot, (6, 6), lambda: tables)), tp.solve(PokerGame(spot), "lp")
    assert buckets.infosets == poker.game.infosets
    assert tp.solve(buckets, "lp").value == pytest.approx(poker.value, abs=1e-9)
    for algorithm in ("cfr+", "dcfr"):
        found = [tp.solve(game, algorithm, iterations=40).exploitability for game in (buckets, poker.game)]
        assert found[0] == pytest.approx(found[1], abs=1e-9)


@pytest.mark.parametrize("spot", [leduc_holdem(), NO_LIMIT], ids=["limit", "no limit"])
def test_buckets_that_lose_something_are_the_abstraction_written_out(spot: Spot) -> None:
    tables = counted(before, after, (2, 3))
    buckets, written = compile_buckets(BucketGame(spot, (2, 3), lambda: tables)), compile_rules(ObservedBuckets(spot))
    assert set(buckets.lookup) == set(written.lookup)
    assert tp.solve(buckets, "lp").value == pytest.approx(tp.solve(written, "lp").value, abs=1e-6)
    policy = tp.solve(buckets, "dcfr", iterations=40).policy
    mine, theirs = tp.judge(buckets, policy), tp.judge(written, policy.to_dict())
    assert mine.gains == pytest.approx(theirs.gains, abs=1e-6)
    assert mine.value == pytest.approx(theirs.value, abs=1e-6)
    whole = tp.solve(PokerGame(spot), "lp").value[0]
    assert abs(tp.solve(buckets, "lp").value[0] - whole) > 1e-4  # the abstraction is another game than poker


@pytest.mark.parametrize("algorithm", ["cfr", "pcfr+", "vt-cfr+", "ddcfr", "fp", "greedy"])
def test_every_kind_of_rule_solves_a_game_of_buckets(algorithm: str) -> None:
    game = GAMES["no limit"]
    first, last = (tp.solve(game, algorithm, iterations=count).exploitability for count in (1, 200))
    assert last < 0.2 * first


def test_a_game_that_is_too_large_is_refused_before_its_tables_are_counted() -> None:
    game = BucketGame(spot_of(FixedLimit((2.0, 4.0), (4, 4))), (100, 100), lambda: pytest.fail("counted"))
    with pytest.raises(GameError, match="more than 1,000; use fewer buckets"):
        compile_buckets(game, limit=1000)


def test_infostates_are_written_when_asked_for() -> None:
    game = compile_buckets(GAMES["limit"])
    assert list(game.infostates[:3]) == [game.infostates[number] for number in range(3)]
    assert len(set(zip(map(game.player_of, range(len(game.infostates))), game.infostates, strict=True))) == sum(game.infosets)
