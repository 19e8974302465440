"""One walk of Monte Carlo CFR over Python rules, equivalent to :func:`treeplex.engine.sampling.walks.walk`.

It uses the same random numbers and computes the same sums in the same order as the compiled walk.
"""

from array import array
from math import inf, isfinite
from typing import Protocol, final

from treeplex.engine.sampling.lazy_tables import NO_PARENT, UNKNOWN_PARENT
from treeplex.engine.sampling.schemes import (
    ALL,
    AVERAGE_WEIGHT,
    EACH,
    LAZY,
    LEARNED,
    LOWEST,
    NAIVE,
    NEGATIVE_LOG,
    ONE,
    OPPONENT,
    OPTIMISTIC,
    POSITIVE_LOG,
    REGRET_WEIGHT,
    STOCHASTIC,
    SchemeCodes,
)
from treeplex.engine.sampling.streams import FIRST, GOLDEN, MASK, SECOND, UNIT, Stream
from treeplex.errors import AlgorithmError, GameError, ImperfectRecallError
from treeplex.forms.compile.stepping import outcomes, picked
from treeplex.games.base import CHANCE, SIMULTANEOUS, TERMINAL, State
from treeplex.solvers.sampling.rules_tables import GrowingTables, PlayerTable

MOST_WALKED = 200_000
"""Maximum number of histories of a walk, see :func:`too_long`: about ten seconds on ``oshi_zumo`` in Python, as are the 50
times as many of walks over Numba functions. It is fixed, since solving takes thousands of walks, so a scheme with longer
walks does not suit the game, and the error suggests another one."""
STEP, FIRST_FACTOR, SECOND_FACTOR = int(GOLDEN), int(FIRST), int(SECOND)
LOST = -3
"""Code in place of the previous action's slot if the tables lack room for it."""


def too_long(histories: int) -> AlgorithmError:
    """Return the error for a walk that is too long because it follows all actions of its player."""
    return AlgorithmError(
        f"a single walk has visited {histories:,} histories without ending because it follows all of its player's actions; "
        "sample "
        "one action (os-mccfr), or choose a smaller game, such as one with a shorter horizon or fewer cards"
    )


class Choices(Protocol):
    """Source of a walk's random choices."""

    def pick(self, probabilities: list[float]) -> int:
        """Draw an option."""

    def happens(self, share: float, of: int) -> bool:
        """Draw an event with probability ``share / of``."""


@final
class StreamChoices:
    """The random choices of the compiled walk: each uses one random number."""

    __slots__ = ("state",)

    def __init__(self, seed: int, iteration: int, player: int) -> None:
        self.state = Stream(seed, iteration, player).state

    def draw(self) -> float:
        """Return the next number in [0, 1): an inlined ``engine.sampling.streams.Stream.draw``."""
        self.state = z = (self.state + STEP) & MASK
        z = ((z ^ (z >> 30)) * FIRST_FACTOR) & MASK
        z = ((z ^ (z >> 27)) * SECOND_FACTOR) & MASK
        return ((z ^ (z >> 31)) >> 11) * UNIT

    def pick(self, probabilities: list[float]) -> int:
        """Return the option selected by the next number."""
        return picked(probabilities, self.draw())

    def happens(self, share: float, of: int) -> bool:
        """Return whether the next number times ``of`` is below ``share``."""
        return self.draw() * of < share


@final
class Frame:
    """A history on the path with several followed actions.

    Attributes:
        state, actor, actions, probabilities: the history, its actor, its actions, and the policy or chance probabilities.
        slot: first slot of the infoset; -1 if not in the tables.
        before: slot of the traverser's previous action.
        weight, own_reach, sample_reach: importance weight, the traverser's reach, and the sampling reach.
        chosen: sampling probability of each action; 0 for actions not followed.
        values: initially baselines, then sampled action values.
        baseline, edge: location of the baselines; None without.
        history: number of the first child for baselines per history; -1 without.
        following: index of the next action.
    """

    __slots__ = (
        "actions", "actor", "baseline", "before", "chosen", "edge", "following", "history", "own_reach",
        "probabilities", "sample_reach", "slot", "state", "values", "weight",
    )  # fmt: skip

    state: State
    actor: int
    actions: list[int]
    probabilities: list[float]
    slot: int
    before: int
    weight: float
    own_reach: float
    sample_reach: float
    chosen: list[float]
    values: list[float]
    baseline: "array[float] | None"
    edge: int
    history: int
    following: int


@final
class HistoryWalk:
    """One walk for one traverser; tables change during the walk, policies after it.

    Attributes:
        touched: the traverser's visited infosets.
        nodes: number of visited histories.
        unstored: visits to infosets not stored for lack of memory.
        at: the current history.
    """

    def __init__(
        self,
        tables: GrowingTables,
        rules: SchemeCodes,
        player: int,
        choices: Choices,
        weights: list[float],
        *,
        prunes: bool = False,
    ) -> None:
        """Prepare the walk.

        Args:
            tables: updated in place.
            rules: the scheme.
            player: the traverser.
            choices: source of random choices.
            weights: a row of :meth:`treeplex.solvers.sampling.schedule.SampledSchedule.chunks`.
            prunes: whether actions with very negative regrets are skipped.
        """
        self.tables, self.rules, self.player, self.choices, self.weights = tables, rules, player, choices, weights
        self.touched: set[int] = set()
        self.nodes = self.unstored = 0
        self.at: State | None = None
        self.learns = rules.baseline == LEARNED
        below = rules.prune_below * weights[REGRET_WEIGHT]
        self.skipped = -below if prunes else -inf
        self.lowest = -LOWEST * below if rules.prune > 0.0 else -inf

    def run(self, root: State) -> float:
        """Walk from a state; return its sampled value."""
        frames: list[Frame] = []
        value = self.enter(frames, root, NO_PARENT, 1.0, 1.0, 1.0, 0)
        while frames:
            frame = frames[-1]
            if value is not None:
                self.accept(frame, value)
            a, chosen = frame.following, frame.chosen
            while a < len(chosen) and chosen[a] == 0.0:
                a += 1
            if a < len(chosen):
                frame.following = a + 1
                value = self.follow(frames, frame, a)
            else:
                value = self.leave(frame)
                frames.pop()
        assert value is not None
        return value

    def enter(
        self,
        frames: list[Frame],
        state: State,
        before: int,
        weight: float,
        own_reach: float,
        sample_reach: float,
        history: int,
    ) -> float | None:
        """Continue while a single action is followed; return the terminal payoff, or None after pushing a frame."""
        player, rules = self.player, self.rules
        while True:
            self.nodes += 1
            if self.nodes > MOST_WALKED:
                raise too_long(MOST_WALKED)
            self.at = state
            actor = state.current_player()
            if actor == TERMINAL:
                return self.payoff(state)
            table, number, slot = self.tables.players[player], -1, -1
            if actor == CHANCE:
                actions, probabilities = outcomes(state)
            else:
                actions = list(state.legal_actions())
                table = self.table_of(actor)
                number = self.number(table, actor, state, actions)
                if number >= 0:
                    slot = table.infosets.first[number]
                    probabilities = table.policy[slot : slot + len(actions)].tolist()
                    if actor == player:
                        self.touched.add(number)
                        self.catch_up(table, number, slot, probabilities, before, own_reach, sample_reach)
                    elif rules.averaging == OPPONENT:
                        for a, probability in enumerate(probabilities):
                            table.average[slot + a] += self.weights[AVERAGE_WEIGHT] * probability
                else:
                    probabilities = [1.0 / len(actions)] * len(actions)
            if not self.learns and actor != player and (actor == CHANCE or rules.others == ONE):
                a = self.choices.pick(probabilities)
                sample_reach *= probabilities[a]
                state = state.child(actions[a])
                continue
            frame = Frame()
            frame.state, frame.actor, frame.actions, frame.probabilities = state, actor, actions, probabilities
            frame.slot, frame.before, frame.following = slot, before, 0
            frame.weight, frame.own_reach, frame.sample_reach = weight, own_reach, sample_reach
            frame.chosen = self.chosen(actor, probabilities, table, slot)
            if actor == player and slot >= 0 and self.skipped > -inf:
                self.skip(frame, table)
            self.find_baseline(frame, table, history)
            frames.append(frame)
            return None

    def table_of(self, actor: int) -> PlayerTable:
        """Return the table of the player to act."""
        if 0 <= actor < len(self.tables.players):
            return self.tables.players[actor]
        if actor == SIMULTANEOUS:
            raise GameError(f"simultaneous moves at {self.at!r}; load the game as turn_based(game=...)")
        raise GameError(f"current_player() is {actor}; return 0 to {len(self.tables.players) - 1}, CHANCE or TERMINAL")

    def number(self, table: PlayerTable, actor: int, state: State, actions: list[int]) -> int:
        """Return the number of an infoset, adding it if needed; -1 if it is not in the table."""
        infosets, infostate = table.infosets, state.information_state_string(actor)
        number = infosets.lookup.get(infostate, -1)
        if number < 0:
            if not actions:
                raise GameError(f"no legal action at infostate {infostate!r}; a node without actions must be terminal")
            if len(set(actions)) < len(actions) or min(actions) < 0:
                raise GameError(f"legal_actions() is {actions} at infostate {infostate!r}; return different integers from 0")
            if actor == self.player or table.stores_others:
                number = table.add(infostate, actions)
                self.unstored += number < 0
        elif infosets.actions[infosets.first[number] : infosets.first[number + 1]].tolist() != actions:
            raise GameError(
                f"infostate {infostate!r} has actions {infosets.actions_at(number)} in one history and {actions} in another; "
                "histories that a player cannot tell apart must offer the same actions in the same order"
            )
        return number

    def payoff(self, state: State) -> float:
        """Return the traverser's payoff at a terminal state."""
        returns = state.returns()
        value = float(returns[self.player])
        if not isfinite(value) or len(returns) != len(self.tables.players):
            raise GameError(
                f"returns() is {list(returns)} at a terminal history; return {len(self.tables.players)} finite payoffs"
            )
        return value

    def find_baseline(self, frame: Frame, table: PlayerTable, history: int) -> None:
        """Set the baselines of a frame's actions, and record where they are learned."""
        count = len(frame.actions)
        frame.baseline, frame.edge, frame.history = None, -1, -1
        if self.learns:
            if self.tables.histories is not None:
                frame.edge = frame.history = self.tables.histories.below(history, count)
                frame.baseline = self.tables.histories.values[self.player]
            elif frame.slot >= 0:
                frame.edge, frame.baseline = frame.slot, table.baselines[self.player]
        if frame.baseline is None or frame.edge < 0:
            frame.baseline, frame.values = None, [0.0] * count
        else:
            frame.values = frame.baseline[frame.edge : frame.edge + count].tolist()

    def chosen(self, actor: int, probabilities: list[float], table: PlayerTable, slot: int) -> list[float]:
        """Return the sampling probability of each action; 0 for actions not followed."""
        acts, rules, choices = actor == self.player, self.rules, self.choices
        rule = ONE if actor == CHANCE else rules.own if acts else rules.others
        count = len(probabilities)
        if rule == ALL:
            return [1.0] * count if acts else [1.0 if probability > 0.0 else 0.0 for probability in probabilities]
        if rule == ONE:
            if acts:
                uniform, share = rules.exploration / count, 1.0 - rules.exploration
                probabilities = [uniform + share * probability for probability in probabilities]
            taken = choices.pick(probabilities)
            return [probabilities[taken] if a == taken else 0.0 for a in range(count)]
        if rule == EACH:
            return [share if choices.happens(share, 1) else 0.0 for share in self.shares(table, slot, count)]
        wanted = min(rules.size, count)
        probability = wanted / count
        chosen = [0.0] * count
        for a in range(count):
            if choices.happens(wanted, count - a):
                chosen[a] = probability
                wanted -= 1
        return chosen

    def skip(self, frame: Frame, table: PlayerTable) -> None:
        """Skip the player's actions with zero probability and very negative regrets that do not end the game."""
        for a, probability in enumerate(frame.probabilities):
            seldom = table.regrets[frame.slot + a] < self.skipped and probability == 0.0
            if seldom and frame.state.child(frame.actions[a]).current_player() != TERMINAL:
                frame.chosen[a] = 0.0

    def shares(self, table: PlayerTable, slot: int, count: int) -> list[float]:
        """Return the probabilities of average strategy sampling (Gibson et al. 2012, equation 4)."""
        rules, total = self.rules, 0.0
        row = table.average[slot : slot + count].tolist() if slot >= 0 else [0.0] * count
        for weight in row:
            total += weight
        if rules.bonus + total <= 0.0:
            return [1.0] * count
        return [min(1.0, max(rules.least, (rules.bonus + rules.scale * weight) / (rules.bonus + total))) for weight in row]

    def follow(self, frames: list[Frame], frame: Frame, a: int) -> float | None:
        """Follow one action of a frame."""
        probability, rho, state = frame.probabilities[a], frame.chosen[a], frame.state.child(frame.actions[a])
        history = frame.history + a if frame.history >= 0 else -1
        if frame.actor == self.player:
            before = frame.slot + a if frame.slot >= 0 else LOST
            weight, own_reach = frame.weight / rho, frame.own_reach * probability
        else:
            before, weight, own_reach = frame.before, frame.weight * (probability / rho), frame.own_reach
        return self.enter(frames, state, before, weight, own_reach, frame.sample_reach * rho, history)

    def accept(self, frame: Frame, value: float) -> None:
        """Record the sampled value of the last followed action."""
        a = frame.following - 1
        baseline = frame.values[a]
        frame.values[a] = baseline + (value - baseline) / frame.chosen[a]
        if frame.baseline is not None:
            known = frame.baseline[frame.edge + a]
            frame.baseline[frame.edge + a] = known + self.rules.rate * (value - known)

    def leave(self, frame: Frame) -> float:
        """Return the sampled value of a frame; add regrets if the traverser acts."""
        value = 0.0
        for probability, action_value in zip(frame.probabilities, frame.values, strict=True):
            value += probability * action_value
        if frame.actor == self.player and frame.slot >= 0:
            regrets, scale = self.tables.players[self.player].regrets, self.weights[REGRET_WEIGHT] * frame.weight
            for a, action_value in enumerate(frame.values):
                if self.skipped == -inf or frame.chosen[a] > 0.0:
                    regrets[frame.slot + a] = max(regrets[frame.slot + a] + scale * (action_value - value), self.lowest)
        return value

    def catch_up(
        self,
        table: PlayerTable,
        number: int,
        slot: int,
        probabilities: list[float],
        before: int,
        own_reach: float,
        sample_reach: float,
    ) -> None:
        """Apply pending averaging and discounts at a visited infoset of the traverser."""
        averaging, average, share = self.rules.averaging, table.average, 0.0
        if table.parents[number] != before:
            self.meet_parent(table, number, before)
        if averaging == LAZY:
            parent = average[before] if before >= 0 else table.total
            share = parent - table.marks[number]
            table.marks[number] = parent
        elif averaging == OPTIMISTIC:
            share = (table.total - table.marks[number]) * own_reach
            table.marks[number] = table.total
        elif averaging == STOCHASTIC:
            share = self.weights[AVERAGE_WEIGHT] * own_reach / sample_reach
        elif averaging == NAIVE:
            share = self.weights[AVERAGE_WEIGHT] * own_reach
        if share > 0.0:
            for a, probability in enumerate(probabilities, slot):
                average[a] += share * probability
        if table.discounts:
            table.discount(number, self.weights[POSITIVE_LOG], self.weights[NEGATIVE_LOG])

    def meet_parent(self, table: PlayerTable, number: int, before: int) -> None:
        """Record the player's previous action at the first visit of an infoset; later visits check it.

        Raises:
            ImperfectRecallError: the action differs.
        """
        if table.parents[number] == UNKNOWN_PARENT:
            table.parents[number] = before
            return
        infostate = next(text for text, index in table.infosets.lookup.items() if index == number)
        raise ImperfectRecallError(
            f"player {self.player} forgets one of their actions at infostate {infostate!r}; include the player's past "
            "actions in "
            "information_state_string()"
        )
