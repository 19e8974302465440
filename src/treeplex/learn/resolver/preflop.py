"""Preflop play from charts, at any stack depth and raise size.

Stacks between two charts mix them, each with the share that the logarithm of the stack gives. A raise of another size than the
chart's is translated to the chart's raise, and the hands that continue become fewer or more by the pot odds. An all-in that a
chart does not offer is answered by an equilibrium of the all-in alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.errors import GameError, SpecError
from treeplex.games.base import CHANCE
from treeplex.games.public import Bets
from treeplex.holdem.blueprint.preflop import ChartBook
from treeplex.holdem.cards.cards import CLASSES, HAND_CLASSES
from treeplex.holdem.cards.class_equities import class_equities
from treeplex.holdem.cards.format import HOLDEM
from treeplex.holdem.search.charted import check_blinds
from treeplex.holdem.study.preflop_charts import chart_book, shipped_charts
from treeplex.holdem.whole.public import PublicHoldem, hand_of
from treeplex.search.agents.agent import BaseAgent, fork
from treeplex.search.subgames.beliefs import Belief
from treeplex.search.translation.mapping import bets_at, real_actions, translation_shares

OFF = -1
ALL_IN_ITERATIONS = 400
"""Iterations of the equilibrium of an all-in."""


def nearest_charts(game: PublicHoldem) -> dict[str, float]:
    """The shipped charts with the nearest stacks below and above the table's, and their weights, which sum to 1."""
    depth = float(np.log(min(game.rules.stacks) / game.rules.betting.big_blind))
    names = sorted(shipped_charts(), key=lambda name: float(name.removesuffix("bb")))
    depths = np.log([float(name.removesuffix("bb")) for name in names])
    position = float(np.interp(depth, depths, np.arange(len(names))))
    low, share = int(position), position % 1.0
    return {name: weight for name, weight in zip(names[low : low + 2], (1.0 - share, share), strict=False) if weight > 0}


def nearest_books(game: PublicHoldem) -> list[tuple[ChartBook, float]]:
    """The charts of :func:`nearest_charts`, with their weights."""
    return [(chart_book(name), weight) for name, weight in nearest_charts(game).items()]


@dataclass(frozen=True, eq=False)
class ChartLine:
    """A position in a chart.

    Attributes:
        book: the chart.
        reach: float64 [2, H], both players' reach in the chart, times the chart's weight.
        at: index of the decision; :data:`OFF` once the hand has left the chart.
        odds: ratio of the pot odds of the last raise to those of the chart's raise; above 1, more hands continue.
        unknown: whether the last raise was an all-in where the chart has a smaller raise.
    """

    book: ChartBook
    reach: Floats
    at: int = 0
    odds: float = 1.0
    unknown: bool = False


class PreflopCharts(BaseAgent):
    """Plays heads-up no-limit hold'em in either seat with preflop charts; from the flop on, it checks or folds.

    Every raise is translated to a raise in a chart: the pseudo-harmonically likelier size, or the smallest if that is a call.
    Where no chart has a decision, and with hands outside the charts' ranges, the agent checks or folds.

    Attributes:
        lines: the position in each chart.
    """

    draws = False

    def __init__(
        self,
        game: PublicHoldem,
        books: ChartBook | Sequence[tuple[ChartBook, float]],
        generator: np.random.Generator | None = None,
    ) -> None:
        """Create the agent.

        Args:
            game: the table.
            books: a chart, or charts with their weights.
            generator: random generator for its draws.

        Raises:
            SpecError: the table has another deck, other blinds or another number of players, or the button at player 0.
        """
        super().__init__(game, generator)
        rules = game.rules
        if game.players != 2 or rules.format != HOLDEM or rules.betting.dealer != 1 or rules.betting.limits:
            raise SpecError("preflop charts need two players, no limit, 52 cards and player 1 on the button")
        check_blinds(game)
        self.holdem, self.books = game, [(books, 1.0)] if isinstance(books, ChartBook) else list(books)
        self.lines: tuple[ChartLine, ...] = ()
        self.begin()

    def begin(self, seat: int | None = None, generator: np.random.Generator | None = None, *, at: Belief | None = None) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.begin`.

        Raises:
            GameError: ``at`` lies within a hand.
        """
        if at is not None and at.state != self.game.first_state():
            raise GameError("a preflop chart must follow the hand from its start; leave out 'at'")
        self.sit(seat, generator)
        self.state, hands = self.game.first_state(), len(self.holdem.hands)
        self.lines = tuple(ChartLine(book, np.full((2, hands), weight)) for book, weight in self.books)

    def see(self, event: int) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.see`."""
        options = self.game.options(self.state)
        if options.player == CHANCE:
            self.lines = tuple(replace(line, at=OFF) for line in self.lines)
        else:
            action = list(options.labels).index(event)
            self.lines = tuple(self._after(line, action) for line in self.lines)
        self.state = self.game.after(self.state, event)

    def chart_policy(self) -> Floats:
        """See :class:`treeplex.holdem.search.charted.PlaysCharts`."""
        return fork(self).policy()

    def policy(self) -> Floats:
        """See :meth:`treeplex.search.agents.agent.Agent.policy`."""
        self.check_acting()
        real, player = bets_at(self.game, self.state), self.game.options(self.state).player
        policy, mass = np.zeros((len(real.kinds), len(self.holdem.hands))), np.zeros(len(self.holdem.hands))
        for line in self.lines:
            if line.at != OFF:
                decision, reach = line.book.decisions[line.at], line.reach[player]
                np.add.at(policy, real_actions(decision.bets, real), reach * self._adjusted(line, real))
                mass += reach * decision.policy.any(axis=0)
        policy = np.divide(policy, mass, out=np.zeros_like(policy), where=mass > 0)
        passive = real.kinds.index("fold" if "fold" in real.kinds else "pass")
        policy[passive, ~policy.any(axis=0)] = 1.0
        return policy

    def _adjusted(self, line: ChartLine, real: Bets) -> Floats:
        """The chart's policy at a decision, adjusted to the raise that the player faces, float64 [chart's actions, H]."""
        decision, player = line.book.decisions[line.at], self.game.options(self.state).player
        if "fold" not in decision.bets.kinds or "fold" not in real.kinds:
            return decision.policy
        fold, call = decision.bets.kinds.index("fold"), decision.bets.kinds.index("pass")
        other = by_class(line.reach[1 - player])
        if line.unknown:
            table, stack = hand_of(self.state).table, float(min(self.holdem.rules.stacks))
            paid = float(min(table.paid))
            share = all_in_calls(other, by_class(line.reach[player]), paid / stack)[HAND_CLASSES]
            policy = np.zeros_like(decision.policy)
            policy[call], policy[fold] = share, 1.0 - share
            return policy * decision.policy.any(axis=0)
        if line.odds == 1.0:
            return decision.policy
        strength = against(other)[HAND_CLASSES]
        return with_odds(decision.policy, fold, call, line.reach[player], strength, line.odds)

    def _after(self, line: ChartLine, action: int) -> ChartLine:
        """The position in a chart after an action at the table."""
        if line.at == OFF:
            return line
        decision, real = line.book.decisions[line.at], bets_at(self.game, self.state)
        player = self.game.options(self.state).player
        meant = int(translation_shares(real, action, decision.bets, "likelier").argmax())
        if real.kinds[action] == "bet" and decision.bets.kinds[meant] != "bet":
            bets = [number for number, kind in enumerate(decision.bets.kinds) if kind == "bet"]
            if not bets:
                return replace(line, at=OFF)
            meant = bets[0]
        reach = line.reach.copy()
        reach[player] *= self._adjusted(line, real)[meant]
        raised = real.kinds[action] == "bet"
        odds = (1.0 + float(decision.bets.sizes[meant])) / (1.0 + float(real.sizes[action])) if raised else 1.0
        smaller = float(decision.bets.chips[meant]) < line.book.stack * line.book.big_blind
        unknown = raised and smaller and float(real.chips[action]) >= min(self.holdem.rules.stacks)
        return ChartLine(line.book, reach, decision.following[meant], odds if abs(odds - 1.0) > 1e-9 else 1.0, unknown)


def by_class(reach: Floats) -> Floats:
    """Mean reach of the hands of each class, float64 [169]."""
    return np.bincount(HAND_CLASSES, reach, len(CLASSES)) / np.bincount(HAND_CLASSES, minlength=len(CLASSES))


def against(reach: Floats) -> Floats:
    """All-in equity of each class against a range of classes, both float64 [169]."""
    known = class_equities()
    weights = known.pairs * reach
    return np.asarray((known.equity * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1e-300))


def with_odds(policy: Floats, fold: int, call: int, reach: Floats, strength: Floats, odds: float) -> Floats:
    """Scale how often a range continues by ``odds``, the strongest hands first; added hands call.

    A bet of x pots must be continued with 1 / (1 + x) of a range, so that bluffs do not profit. ``odds`` is the ratio of this
    minimum defence frequency to that of the bet for which the policy was made. Below 1 it applies to raises too.

    Args:
        policy: float64 [A, H]; hands outside the range have no action.
        fold, call: indices of the actions.
        reach: float64 [H], the player's reach.
        strength: float64 [H], equity against the opponent's range.
        odds: factor on the share of the range that continues, which is at most 1.
    """
    within: Floats = np.asarray(policy.any(axis=0), np.float64)
    continues = np.asarray(np.maximum(within - policy[fold], 0.0))
    raises = np.asarray(np.maximum(continues - policy[call], 0.0))
    after = scaled(continues, within, reach, strength, odds)
    raised = np.minimum(scaled(raises, within, reach, strength, min(odds, 1.0)), after)
    adjusted = policy * np.divide(raised, raises, out=np.zeros_like(raises), where=raises > 0)
    adjusted[call], adjusted[fold] = after - raised, np.maximum(within - after, 0.0)
    return np.asarray(adjusted)


def scaled(share: Floats, within: Floats, reach: Floats, strength: Floats, factor: float) -> Floats:
    """Multiply the reach of an action by a factor: classes with the largest share and strength first.

    Args:
        share: float64 [H], probability of the action.
        within: float64 [H], 1 for hands in the range.
        reach, strength: float64 [H].
        factor: above 1, hands take the action more often, at most always; below 1, less often.
    """
    low, high = (share, within) if factor > 1.0 else (np.zeros_like(share), share)
    order = np.argsort(-by_class(share + strength), kind="stable")
    room = np.bincount(HAND_CLASSES, reach * (high - low), len(CLASSES))[order]
    used = np.clip(factor * float(reach @ share) - float(reach @ low) - (np.cumsum(room) - room), 0.0, room)
    parts = np.zeros(len(CLASSES))
    parts[order] = np.divide(used, room, out=np.zeros_like(room), where=room > 0)
    return np.asarray(low + parts[HAND_CLASSES] * (high - low))


def all_in_calls(raiser: Floats, caller: Floats, paid: float) -> Floats:
    """How often each class calls an all-in, in an equilibrium of the all-in alone, float64 [169].

    The raiser goes all-in, or both check down for what the caller has paid. Solved by CFR+ with exact all-in equities.

    Args:
        raiser, caller: float64 [169], reach of each class.
        paid: what the caller has paid, as a fraction of the stack.
    """
    known = class_equities()
    edges = known.pairs * (2.0 * known.equity - 1.0)
    waits = paid * (edges @ caller)
    regrets, total = np.zeros((2, 2, len(caller))), np.zeros(len(caller))
    for iteration in range(1, ALL_IN_ITERATIONS + 1):
        calls = matched(regrets[1])
        won = edges @ (caller * calls) + paid * (known.pairs @ (caller * (1.0 - calls)))
        update(regrets[0], won - waits)
        pushed = raiser * matched(regrets[0])
        update(regrets[1], edges @ pushed + paid * (known.pairs @ pushed))
        total += iteration * calls
    return np.asarray(total / (ALL_IN_ITERATIONS * (ALL_IN_ITERATIONS + 1) / 2))


def matched(regrets: Floats) -> Floats:
    """Probability of the first of two actions by regret matching, float64 [169], from their regrets, float64 [2, 169]."""
    total = regrets.sum(axis=0)
    return np.asarray(np.divide(regrets[0], total, out=np.full(len(total), 0.5), where=total > 0))


def update(regrets: Floats, gain: Floats) -> None:
    """Add regrets of two actions, the first of which is better by ``gain``, and floor them at zero (CFR+)."""
    first = matched(regrets)
    regrets[:] = np.maximum(regrets + np.stack([(1.0 - first) * gain, -first * gain]), 0.0)
