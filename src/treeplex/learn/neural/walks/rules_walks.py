"""Walks by the rules, for games too large to compile: many go side by side, and a network is asked for all at once.

A walk is a generator. It stops where it needs a policy and goes on with the answer; those that wait are answered together. What
infosets look like is noted once in a batch of walks, and so is the policy there. Each walk draws from its own stream, in the
order of the compiled walks (``engine.histories.episodes``, ``engine.histories.recording``): by one policy both are the same.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Bools, Floats, Ints, Singles, SmallInts
from treeplex.engine.histories.episodes import LANE, Episodes
from treeplex.engine.sampling.streams import Stream
from treeplex.errors import TreeplexError
from treeplex.forms.compile.rule_errors import failed_rules
from treeplex.forms.compile.stepping import outcomes, picked
from treeplex.forms.policies.views import View
from treeplex.games.base import CHANCE, TERMINAL, Game, State

T = TypeVar("T")
Walk = Generator[tuple[int, int], list[float], T]
"""Asks for (policy, infoset) by number and is sent the probabilities of the infoset's actions in order."""
TOGETHER = 1024
"""Walks that go side by side."""


class Met(NamedTuple):
    """P infosets that walks came to, in the order in which they were met.

    Attributes:
        player: int32 [P], who acts.
        features: float32 [P, F], what networks see.
        legal: bool [P, columns], which actions there are.
    """

    player: SmallInts
    features: Singles
    legal: Bools

    def at(self, infosets: NDArray[np.integer]) -> "Met":
        """Some of them."""
        return Met(self.player[infosets], self.features[infosets], self.legal[infosets])

    def described(self) -> Singles:
        """Each as a row of features and of its actions side by side, float32 [P, F + columns]."""
        return np.concatenate([self.features, self.legal.astype(np.float32)], axis=1)


Asked = Callable[[Met], Floats]
"""A policy: from infosets to probabilities float64 [P, columns], zero where an action is not there."""


class External(NamedTuple):
    """What walks by external sampling found.

    Attributes:
        met: the infosets.
        places: int32 [R], those of the traverser, one for each time it acted.
        values: float32 [R, columns], the sampled regrets of its actions; NaN where an action is not there.
        others: int32 [R'], those of the other players that were met.
        probabilities: float64 [P, columns], the policy.
        walks, nodes: how many there were, and the histories that they visited.
    """

    met: Met
    places: SmallInts
    values: Singles
    others: SmallInts
    probabilities: Floats
    walks: int
    nodes: int


class Playing(NamedTuple):
    """How episodes are played besides by policies.

    Attributes:
        seed: of all; an episode has a stream of its own, from the seed, its number and the lane.
        lane: of the streams.
        explorer: a player who now and then chooses uniformly; -1 for none.
        exploration: with which probability it does.
        histories: whether to note what all players know.
    """

    seed: int
    lane: int = LANE
    explorer: int = -1
    exploration: float = 0.0
    histories: bool = False


class MetEpisodes(NamedTuple):
    """Episodes, and what they met; of a compiled game, whose infosets are numbered, the episodes alone.

    Attributes:
        episodes: whose infosets are numbers of ``met``, actions columns, and histories -1.
        met: the infosets.
        policy: float64 [P, columns], the first policy as far as it was asked for; zeros elsewhere.
        histories: float32 [D, N F + columns], what all players know at each decision, and which actions there are; none
            where that is not asked for.
    """

    episodes: Episodes
    met: Any
    policy: Any
    histories: Any


class Decided(NamedTuple):
    """One episode: (player, infoset, column, probability) of each decision, what all know there, payoffs, histories visited."""

    decisions: list[tuple[float, ...]]
    known: list[Singles]
    payoffs: Sequence[float]
    nodes: int


class Others(NamedTuple):
    """Infosets of others than the traverser, and what they play there, float64 [n, columns]."""

    met: Met
    shares: Floats

    @classmethod
    def of(cls, met: Met, infosets: SmallInts, policy: Floats) -> "Others | tuple[()]":
        """Some of those met, int32 [n]; nothing if there are none."""
        return cls(met.at(infosets), policy[infosets]) if len(infosets) else ()


class Notes:
    """The infosets met in a batch of walks, and the policies there as far as they were asked for.

    Attributes:
        ahead: (policy, infoset) by number that a walk will come to later, to be asked for with what is needed now.
    """

    def __init__(self, view: View, policies: Sequence[Asked]) -> None:
        self.ahead: list[tuple[int, int]] = []
        self.view, self.policies = view, policies
        self.numbers: dict[tuple[int, bytes, tuple[int, ...]], int] = {}
        self.players: list[int] = []
        self.rows: list[Singles] = []
        self.columns: list[list[int]] = []
        self.known: list[dict[int, list[float]]] = [{} for _ in policies]

    def number(self, state: State, player: int, actions: Sequence[int]) -> int:
        """The number of the infoset of the player to act."""
        row = self.view.row(state, player)
        key = player, row.tobytes(), tuple(actions)
        found = self.numbers.setdefault(key, len(self.players))
        if found == len(self.players):
            self.players.append(player)
            self.rows.append(row)
            self.columns.append(self.view.columns(actions))
        return found

    def met(self, infosets: Sequence[int] | None = None) -> Met:
        """Some infosets, or all."""
        chosen = range(len(self.players)) if infosets is None else infosets
        legal = np.zeros((len(chosen), len(self.view.actions)), np.bool_)
        for row, infoset in enumerate(chosen):
            legal[row, self.columns[infoset]] = True
        rows = np.array([self.rows[infoset] for infoset in chosen], np.float32).reshape(len(chosen), len(self.view.scale))
        return Met(np.array([self.players[infoset] for infoset in chosen], np.int32), rows, legal)

    def answer(self, asks: Iterable[tuple[int, int]]) -> None:
        """Find out what policies do at infosets."""
        wanted: dict[int, list[int]] = {}
        for policy, infoset in dict.fromkeys(chain(asks, self.ahead)):
            wanted.setdefault(policy, []).append(infoset)
        self.ahead.clear()
        for policy, infosets in wanted.items():
            found, known = self.policies[policy](self.met(infosets)).tolist(), self.known[policy]
            for infoset, row in zip(infosets, found, strict=True):
                known[infoset] = [row[column] for column in self.columns[infoset]]

    def probabilities(self, policy: int) -> Floats:
        """A policy as far as it was asked for, float64 [P, columns]; zeros elsewhere."""
        found = np.zeros((len(self.players), len(self.view.actions)))
        for infoset, row in self.known[policy].items():
            found[infoset, self.columns[infoset]] = row
        return found


def side_by_side(walks: Iterable[Walk[T]], notes: Notes, together: int = TOGETHER) -> list[T]:
    """Run walks, so many at a time; what each returns, in their order.

    Raises:
        GameError: an exception in the rules.
    """
    found: dict[int, T] = {}
    waiting: list[tuple[int, Walk[T], tuple[int, int]]] = []

    def proceed(number: int, walk: Walk[T], answer: list[float] | None) -> None:
        try:
            waiting.append((number, walk, next(walk) if answer is None else walk.send(answer)))
        except StopIteration as stop:
            found[number] = stop.value

    fresh = enumerate(walks)
    try:
        while True:
            while len(waiting) < together and (begun := next(fresh, None)) is not None:
                proceed(*begun, None)
            if not waiting:
                return [found[number] for number in range(len(found))]
            notes.answer(ask for *_, ask in waiting)
            answered, waiting = waiting, []
            for number, walk, (policy, infoset) in answered:
                proceed(number, walk, notes.known[policy][infoset])
    except (TreeplexError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        raise failed_rules(error, "in a walk") from error


class RulesWalks:
    """Walks on rules.

    Attributes:
        rules: turn by turn.
        view: what networks see.
    """

    def __init__(self, rules: Game, view: View) -> None:
        self.rules, self.view = rules, view

    def nothing(self) -> Met:
        """No infosets."""
        return Notes(self.view, []).met()

    def episodes(self, policies: Sequence[Asked], seats: Ints, playing: Playing, number: int) -> MetEpisodes:
        """Play episodes; each is a function of the seed and its number, however they are batched.

        Args:
            policies: to be asked.
            seats: int64 [B, N], the policy that each player follows in each episode.
            playing: how else.
            number: of the first episode.
        """
        notes, seed, lane = Notes(self.view, policies), playing.seed, playing.lane
        walks = (
            self.episode(notes, each, Stream(seed, number + place, lane), playing) for place, each in enumerate(seats.tolist())
        )
        found = side_by_side(walks, notes)
        decisions = np.array([row for each in found for row in each.decisions]).reshape(-1, 4)
        player, infoset, action = (decisions[:, column].astype(np.int32) for column in range(3))
        met = notes.met()
        width = len(seats[0]) * len(self.view.scale) if playing.histories else 0
        known = np.array([row for each in found for row in each.known], np.float32).reshape(-1 if width else 0, width)
        episodes = Episodes(
            np.concatenate([[0], np.cumsum([len(each.decisions) for each in found])]).astype(np.int64),
            np.full(len(decisions), -1, np.int32),
            player,
            infoset,
            action,
            decisions[:, 3].copy(),
            np.array([each.payoffs for each in found], np.float64).reshape(len(seats), -1),
            np.full(len(seats), -1, np.int32),
            sum(each.nodes for each in found),
        )
        legal = met.legal[infoset[: len(known)]].astype(np.float32)
        return MetEpisodes(episodes, met, notes.probabilities(0), np.concatenate([known, legal], axis=1))

    def episode(self, notes: Notes, seats: Sequence[int], stream: Stream, playing: Playing) -> Walk[Decided]:
        """One episode."""
        state, nodes, players = self.rules.new_initial_state(), 1, range(len(seats))
        decisions, known = list[tuple[float, ...]](), list[Singles]()
        while (actor := state.current_player()) != TERMINAL:
            if actor == CHANCE:
                actions, probabilities = outcomes(state)
                taken = picked(probabilities, stream.draw())
            else:
                actions, policy = list(state.legal_actions()), seats[actor]
                infoset = notes.number(state, actor, actions)
                found = notes.known[policy].get(infoset)
                probabilities = (yield policy, infoset) if found is None else found
                share, count = playing.exploration if actor == playing.explorer else 0.0, len(actions)
                if (drawn := stream.draw()) < share:
                    taken = min(int(drawn / share * count), count - 1)
                else:
                    taken = picked(probabilities, (drawn - share) / (1.0 - share))
                    while probabilities[taken] == 0.0 and taken > 0:  # probabilities that sum to a little less than 1
                        taken -= 1
                chance = share / count + (1.0 - share) * probabilities[taken]
                decisions.append((actor, infoset, notes.columns[infoset][taken], chance))
                if playing.histories:
                    rows = [notes.rows[infoset] if each == actor else self.view.row(state, each) for each in players]
                    known.append(np.concatenate(rows))
            state = state.child(actions[taken])
            nodes += 1
        return Decided(decisions, known, state.returns(), nodes)

    def external(self, policy: Asked, player: int, walks: range, seed: int) -> External:
        """External sampling: all actions of the traverser, one of everybody else (Lanctot et al. 2009, section 3.3).

        Args:
            policy: of all players.
            player: the traverser.
            walks: their numbers.
            seed: of the training; a walk has a stream of its own, from the seed, its number and the traverser.
        """
        notes = Notes(self.view, [policy])
        found = side_by_side((self.external_walk(notes, player, Stream(seed, walk, player)) for walk in walks), notes)
        regrets = [row for trail in found for row in trail.regrets]
        values = np.full((len(regrets), len(self.view.actions)), np.nan, np.float32)
        for place, (infoset, row) in enumerate(regrets):
            values[place, notes.columns[infoset]] = row
        return External(
            notes.met(),
            np.array([infoset for infoset, _ in regrets], np.int32),
            values,
            np.array([infoset for trail in found for infoset in trail.others], np.int32),
            notes.probabilities(0),
            len(walks),
            sum(trail.nodes for trail in found),
        )

    def external_walk(self, notes: Notes, player: int, stream: Stream) -> Walk["Trail"]:
        """One walk."""
        trail = Trail(notes, player, stream)
        root = self.rules.new_initial_state()
        yield from trail.value(root, trail.look(root))
        return trail


class Trail:
    """What one walk by external sampling leaves behind.

    Attributes:
        regrets: infosets of the traverser and the sampled regrets of their actions.
        others: infosets of the others.
        nodes: histories visited.
    """

    __slots__ = ("nodes", "notes", "others", "player", "regrets", "stream")

    def __init__(self, notes: Notes, player: int, stream: Stream) -> None:
        self.notes, self.player, self.stream = notes, player, stream
        self.regrets: list[tuple[int, list[float]]] = []
        self.others: list[int] = []
        self.nodes = 0

    def look(self, state: State) -> "Look":
        """Who acts at a state, which actions there are, and the infoset of a player."""
        actor = state.current_player()
        if actor in (TERMINAL, CHANCE):
            return actor, [], -1
        actions = list(state.legal_actions())
        return actor, actions, self.notes.number(state, actor, actions)

    def value(self, state: State, look: "Look") -> Walk[float]:
        """The sampled value of a state to the traverser."""
        notes, known = self.notes, self.notes.known[0]
        while True:
            self.nodes += 1
            actor, actions, infoset = look
            if actor == TERMINAL:
                return float(state.returns()[self.player])
            if actor == CHANCE:
                actions, probabilities = outcomes(state)
            else:
                found = known.get(infoset)
                probabilities = (yield 0, infoset) if found is None else found
                if actor == self.player:
                    break
                self.others.append(infoset)
            state = state.child(actions[picked(probabilities, self.stream.draw())])
            look = self.look(state)
        children = [state.child(action) for action in actions]
        looks = [self.look(child) for child in children]
        notes.ahead.extend((0, there) for _, _, there in looks if there >= 0 and there not in known)
        values = []
        for child, look in zip(children, looks, strict=True):
            values.append((yield from self.value(child, look)))
        mean = 0.0
        for probability, value in zip(probabilities, values, strict=True):
            mean += probability * value
        self.regrets.append((infoset, [value - mean for value in values]))
        return mean


Look = tuple[int, list[int], int]
"""Who acts, the actions, and the infoset by number; chance and the end have none (-1)."""
