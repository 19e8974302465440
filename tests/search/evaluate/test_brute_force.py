"""Payoffs, winnings, AIVAT, local best response and verdicts on decisions against brute force, in games drawn at random."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import treeplex.search.evaluate.winnings as winnings
from tests.search.evaluate.small_games import CALL, FOLD, Plays, Rules, Table, Visit, drawn_rules, public_of, visits
from treeplex.base.arrays import Floats
from treeplex.errors import SpecError
from treeplex.games.base import TERMINAL
from treeplex.games.public import PublicGame, State
from treeplex.search.evaluate.aivat import Aivat
from treeplex.search.evaluate.checked_down import CheckedDownAivat
from treeplex.search.evaluate.lbr import LocalBestResponse, Moves
from treeplex.search.evaluate.play import HandEvent, PlayedHand
from treeplex.search.evaluate.winnings import CheckedDown, estimated, exact_winnings, few_states, played_out
from treeplex.search.tables.judging import estimate

SAME = 1e-9
MOST_STATES, MOST_ENDS = 60, 15
"""Games with more public states are drawn again; of those with more ends not all is checked that takes a while."""


class EveryDraw:
    """Stands in for :func:`treeplex.search.evaluate.winnings.drawn`: play after play, it draws all that may happen.

    Attributes:
        chance: how likely the present play is, so far.
    """

    def __init__(self) -> None:
        self.waiting, self.chance = [list[int]()], 1.0

    def begin(self) -> bool:
        """Begin another play, if there is one."""
        if not self.waiting:
            return False
        self.forced, self.taken, self.chance = self.waiting.pop(), list[int](), 1.0
        return True

    def __call__(
        self, game: PublicGame, state: State, reached: Sequence[Floats], table: Floats | None, generator: object
    ) -> tuple[int, list[list[Floats]]]:
        options = game.options(state)
        outcomes, masses = [list(reached) for _ in options.labels], np.zeros(len(options.labels))
        for number, (label, ranges) in enumerate(zip(options.labels, outcomes, strict=True)):
            if table is not None:
                ranges[options.player] = ranges[options.player] * table[number]
            after = game.after(state, label)
            masses[number] = winnings.met(game, after, winnings.possible_of(game, after, ranges))
        return self.pick(generator, masses), outcomes

    def pick(self, generator: object, weights: Floats) -> int:
        """The next index; stands in for :func:`treeplex.games.public.pick`."""
        if len(self.taken) == len(self.forced):
            first, *others = np.flatnonzero(weights > 0).tolist()
            self.waiting += [[*self.taken, number] for number in others]
            self.forced.append(first)
        chosen = self.forced[len(self.taken)]
        self.taken.append(chosen)
        self.chance *= float(weights[chosen] / weights.sum())
        return chosen


class BruteForceCheck:
    """A game, checked against brute force; the largest difference is noted.

    Attributes:
        difference: the largest so far.
    """

    def __init__(self, rules: Rules, seed: int) -> None:
        self.rules, self.game, self.table = rules, public_of(rules), Table(rules)
        self.generator = np.random.default_rng((seed, 1))
        self.difference = 0.0
        assert [tuple(hand) for hand in self.game.hands.tolist()] == self.table.hands

    def same(self, found: Any, expected: Any, what: str) -> None:
        """Assert that numbers are equal."""
        found, expected = np.asarray(found, np.float64), np.asarray(expected, np.float64)
        apart = float(np.abs(found - expected).max(initial=0.0))
        assert apart < SAME, f"{what} of {self.rules.spec}: {found} for {expected}"
        self.difference = max(self.difference, apart)

    def agents(self) -> list[Plays]:
        """An agent for each seat."""
        kinds = self.generator.choice(["random", "random", "random", "shover", "caller", "folder"], self.game.players)
        return [Plays(self.game, kind, int(self.generator.integers(1000))) for kind in kinds.tolist()]

    def all(self) -> None:
        """Check everything that is written for so many players."""
        agents = self.agents()
        ends = self.check_ends(list(visits(self.table, self.game, agents)))
        few = len(ends) <= MOST_ENDS
        silent = int(self.generator.integers(self.game.players)) if few and self.generator.random() < 0.5 else None
        known = [seat for seat in range(self.game.players) if seat != silent]
        paid = self.mean(ends, split=False)
        self.same(self.judged(ends, Aivat(self.game, known=known), known), paid, "AIVAT without values")
        if self.game.players > 2:
            return
        first, second = agents
        self.same(self.judged(ends, CheckedDownAivat(self.game, known=known), known), paid, "AIVAT")
        split = self.mean(ends, split=True)
        self.same(exact_winnings(first, second).values[0], split[0], "winnings")
        if few and self.generator.random() < 0.25:
            self.same(self.sampled([first, second], CheckedDown()), split[0], "sampled winnings")
            self.same(self.sampled([first, second], CheckedDown(), by_pot=True), split[0], "winnings by pots")
        seat = int(self.generator.integers(2))
        self.check_response(seat, agents[1 - seat])

    def check_ends(self, seen: Sequence[Visit]) -> list[Visit]:
        """Check payoffs, and that chips nobody can match are not at stake; where hands end."""
        ends = [visit for visit in seen if self.game.options(visit.state).player == TERMINAL]
        self.same(sum(visit.weights.sum() for visit in ends), 1.0, "probability")
        for visit in ends:
            paid = self.table.settled(visit.hand, split=False)
            can = visit.weights > 0
            self.same(self.game.payoffs_of(visit.state, self.table.deals[can]), paid[can], "payoffs")
            self.same(paid.sum(axis=1), -self.table.rake(visit.hand), "payoffs in all")
        for visit in seen:
            for player, paid in enumerate(self.game.stakes_at(visit.state).paid):  # type: ignore[union-attr]
                own = visit.hand.put[player] + self.table.live[player]
                dead = self.table.antes[player] - self.table.live[player]
                self.same(paid, min(own, self.table.most(visit.hand, player)) + dead, "chips at stake")
        return ends

    def mean(self, ends: Sequence[Visit], *, split: bool) -> Floats:
        """What each player wins on average."""
        won = [visit.weights @ self.table.settled(visit.hand, split=split) for visit in ends]
        return np.asarray(np.sum(won, axis=0))

    def judged(self, ends: Sequence[Visit], judge: Any, known: Sequence[int]) -> Floats:
        """The mean of AIVAT over all hands; those that differ in known hands and by no odd chip are judged once."""
        total = np.zeros(self.game.players)
        silent = [seat for seat in range(self.game.players) if seat not in known]
        for visit in ends:
            steps = tuple(HandEvent(number, policy if player in known else None) for player, number, policy in visit.steps)
            paid, split = (self.table.settled(visit.hand, split=split) for split in (False, True))
            told = np.concatenate((self.table.deals[:, silent], paid - split), axis=1)
            for group in np.unique(told[visit.weights > 0], axis=0):
                alike = np.flatnonzero((told == group).all(axis=1) & (visit.weights > 0))
                dealt = tuple(self.table.deals[alike[0]].tolist())
                hand = PlayedHand(dealt, steps, tuple(paid[alike[0]].tolist()))
                total += visit.weights[alike].sum() * judge(hand)
        return total

    def sampled(self, players: list[Plays], values: CheckedDown, *, by_pot: bool = False) -> float:
        """The mean of what :func:`played_out`, or with ``by_pot`` :func:`estimated`, gives over all that it may draw."""
        draws, mean = EveryDraw(), 0.0
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(winnings, "drawn", draws)
            patch.setattr(winnings, "pick", draws.pick)
            while draws.begin():
                for seat, player in enumerate(players):
                    player.begin(seat)
                state, ranges, luck = self.game.first_state(), self.game.first_ranges(), 0.0
                if by_pot:
                    payoff = estimated(players, 0, np.random.default_rng(0), values, (), self.game)
                else:
                    payoff, luck = played_out(players, state, ranges, 0, np.random.default_rng(0), values)
                mean += draws.chance * (payoff - luck)
        return mean

    def check_response(self, seat: int, opponent: Plays) -> None:
        """What a local best response wins, and by what it chooses."""
        moves = [Moves(), Moves("fc"), Moves("fcpa")][int(self.generator.integers(3))]
        response = LocalBestResponse(opponent, moves=moves)
        found = exact_winnings(response, opponent).values[seat]
        agents: list[Any] = [opponent, opponent]
        agents[seat] = response
        for number, agent in enumerate(agents):
            agent.begin(number)
        seen = list(visits(self.table, self.game, agents))
        ends = [visit for visit in seen if self.game.options(visit.state).player == TERMINAL]
        self.same(found, self.mean(ends, split=True)[seat], "what a local best response wins")
        for visit in seen:
            options = self.game.options(visit.state)
            if options.player != seat or not visit.reached[1 - seat].any():
                continue
            worth, met = self.worth(visit, seat, opponent)
            utilities = visit.agents[seat].utilities()
            considered = np.isfinite(utilities[:, met][:, 0]) if met.any() else np.zeros(len(utilities), bool)
            self.same(utilities[considered][:, met], worth[considered][:, met], "utilities")
            if not met.any() or self.generator.random() < 0.5:
                continue
            hand = int(self.generator.choice(np.flatnonzero(met)))
            ranges = [visit.reached[0], visit.reached[1]]
            ranges[seat] = np.ones(len(met))
            answers = visit.agents[seat].models[0]
            names = {int(label): str(label) for label in options.labels}
            verdict = estimate(answers, visit.state, ranges, hand, "", names, next(iter(names)))
            assert verdict is not None
            self.same(verdict.values, worth[:, hand], "the verdict")

    def worth(self, visit: Visit, seat: int, opponent: Plays) -> tuple[Floats, np.ndarray[Any, Any]]:
        """What actions are worth to each hand if all check and call from then on, folding 0; and which hands meet any."""
        table, other, free = self.table, 1 - seat, self.table.without(visit.hand.board)
        own, against = table.deals[:, seat], table.deals[:, other]
        weights = free * visit.reached[other][against]

        def by_hand(values: Floats) -> Floats:
            return np.bincount(own, weights * values, len(table.hands))

        met = by_hand(np.ones(len(own)))
        folded = table.settled(table.after(visit.hand, seat, FOLD), split=True)[:, seat]
        found = []
        for label in self.game.options(visit.state).labels:
            hand = table.after(visit.hand, seat, label)
            worth = folded if label == FOLD else table.checked_down(hand, seat)
            ahead = self.game.after(visit.state, label)
            options = self.game.options(ahead)
            if label > CALL and options.player == other and FOLD in options.labels:
                opponent.state = ahead
                folds = opponent.policy()[list(options.labels).index(FOLD)][against]
                won = table.settled(table.after(hand, other, FOLD), split=True)[:, seat]
                worth = folds * won + (1.0 - folds) * worth
            found.append(by_hand(worth - folded) / np.where(met > 0, met, 1.0))
        return np.array(found), met > 0


def check_game(seed: int) -> float:
    """Draw a game, check it, and return the largest difference."""
    generator = np.random.default_rng(seed)
    while True:
        rules = drawn_rules(generator)
        try:
            game = public_of(rules)
        except SpecError:  # sizes that cannot be bet with such stacks
            continue
        if few_states(game, MOST_STATES):
            break
    checked = BruteForceCheck(rules, seed)
    checked.all()
    return checked.difference


@pytest.mark.slow
@pytest.mark.parametrize("part", range(3))
def test_games_drawn_at_random(part: int) -> None:
    assert max(check_game(seed) for seed in range(20 * part, 20 * part + 20)) < SAME


@pytest.mark.slow
def test_two_thousand_games() -> None:
    assert max(check_game(seed) for seed in range(1000, 3000)) < SAME


def test_values_that_are_known_on_some_streets_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """An action between two streets with values must not be taken for the luck of the cards."""
    rules = Rules((4, 4), (1, 2), 0, 1, 4, 1, 1, (0, 1, 1), ("a",), 0.1, 0.0, False, "tda")
    checked = BruteForceCheck(rules, 0)
    players = [Plays(checked.game, "random", seed) for seed in (1, 2)]
    ends = checked.check_ends(list(visits(checked.table, checked.game, players)))
    some = CheckedDown(lambda state, reached: len(state.board) != 1)  # type: ignore[attr-defined]
    checked.same(checked.sampled(players, some), checked.mean(ends, split=True)[0], "sampled winnings")
    checked.same(checked.sampled(players, some, by_pot=True), checked.mean(ends, split=True)[0], "by pots")
    monkeypatch.setattr(winnings, "MOST_DECISIONS", 1)
    checked.same(
        checked.sampled(players, CheckedDown(), by_pot=True), checked.mean(ends, split=True)[0], "a decision at a time"
    )


@pytest.mark.slow_cases("0-known2")
@pytest.mark.parametrize("known", [(0, 1), (0,), (1,), ()])
@pytest.mark.parametrize("ante", [0, (1, 0)])
def test_any_seats_may_say_their_policies(known: tuple[int, ...], ante: int | tuple[int, ...]) -> None:
    """Player 0 acts in some hands only; with an odd pot a tie leaves one chip."""
    checked = BruteForceCheck(Rules((5, 4), (1, 2), ante, 1, 2, 2, 1, (0, 1), ("a",), 0.1, 0.0, False, "tda"), 0)
    players = [Plays(checked.game, "random", seed) for seed in (1, 2)]
    ends = checked.check_ends(list(visits(checked.table, checked.game, players)))
    judged = checked.judged(ends, CheckedDownAivat(checked.game, known=known), known)
    checked.same(judged, checked.mean(ends, split=False), "AIVAT")
