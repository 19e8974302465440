"""Traversals of games too large to compile: many run concurrently and share batched network queries.

A traversal is a generator. It yields a query where it needs a policy, and resumes with the probabilities. Queries of all
waiting traversals are answered in one batch. Features and policy of an infoset are computed once per batch of traversals. Each
traversal uses its own random stream, in the same order as compiled traversals (``engine.histories.episodes``,
``engine.histories.recording``), so that both give the same samples under the same policy.
"""

from collections.abc import Generator, Iterable, Sequence
from itertools import chain
from typing import NamedTuple, TypeVar

import numpy as np

from treeplex.base.arrays import Floats, Ints, Singles
from treeplex.engine.histories.episodes import Episodes
from treeplex.engine.sampling.streams import Stream
from treeplex.errors import TreeplexError
from treeplex.forms.compile.rule_errors import failed_rules
from treeplex.forms.compile.stepping import outcomes, picked
from treeplex.forms.policies.views import View
from treeplex.games.base import CHANCE, TERMINAL, Game, State
from treeplex.learn.neural.fitting.infosets import Infosets
from treeplex.learn.neural.fitting.policies import AnyProfile
from treeplex.learn.neural.walks.sampler import EpisodeBatch, EpisodeOptions, Walks

T = TypeVar("T")
Walk = Generator[tuple[int, int], list[float], T]
"""Generator type of traversals: yields a (policy, infoset) pair, and receives the probabilities of the infoset's actions in
order."""
TOGETHER = 1024
"""Maximum number of concurrent traversals."""


class EpisodeRecord(NamedTuple):
    """One episode: (player, infoset, column, probability) and all players' features at each decision, payoffs, and number of
    histories visited."""

    decisions: list[tuple[float, ...]]
    known: list[Singles]
    payoffs: Sequence[float]
    nodes: int


class InfosetTable:
    """Infosets seen in a batch of traversals, and the policies queried there.

    Attributes:
        ahead: (policy, infoset) pairs that traversals will need later, which are queried in the same batch as current queries.
    """

    def __init__(self, view: View, policies: Sequence[AnyProfile]) -> None:
        self.ahead: list[tuple[int, int]] = []
        self.view, self.policies = view, policies
        self.numbers: dict[tuple[int, bytes, tuple[int, ...]], int] = {}
        self.players: list[int] = []
        self.rows: list[Singles] = []
        self.columns: list[list[int]] = []
        self.known: list[dict[int, list[float]]] = [{} for _ in policies]

    def number(self, state: State, player: int, actions: Sequence[int]) -> int:
        """Number of the acting player's infoset; new infosets get the next number."""
        row = self.view.row(state, player)
        key = player, row.tobytes(), tuple(actions)
        index = self.numbers.setdefault(key, len(self.players))
        if index == len(self.players):
            self.players.append(player)
            self.rows.append(row)
            self.columns.append(self.view.columns(actions))
        return index

    def infosets(self, infosets: Sequence[int] | None = None) -> Infosets:
        """The listed infosets, by default all."""
        chosen = range(len(self.players)) if infosets is None else infosets
        legal = np.zeros((len(chosen), len(self.view.actions)), np.bool_)
        for row, infoset in enumerate(chosen):
            legal[row, self.columns[infoset]] = True
        rows = np.array([self.rows[infoset] for infoset in chosen], np.float32).reshape(len(chosen), len(self.view.scale))
        return Infosets(np.array([self.players[infoset] for infoset in chosen], np.int32), rows, legal)

    def answer(self, asks: Iterable[tuple[int, int]]) -> None:
        """Query policies at infosets, including those in ``ahead``, and store the probabilities."""
        wanted: dict[int, list[int]] = {}
        for policy, infoset in dict.fromkeys(chain(asks, self.ahead)):
            wanted.setdefault(policy, []).append(infoset)
        self.ahead.clear()
        for policy, infosets in wanted.items():
            policies, known = self.policies[policy](self.infosets(infosets)).tolist(), self.known[policy]
            for infoset, row in zip(infosets, policies, strict=True):
                known[infoset] = [row[column] for column in self.columns[infoset]]

    def probabilities(self, policy: int) -> Floats:
        """A policy's queried probabilities, float64 [P, columns]; zeros at infosets that were not queried."""
        policies = np.zeros((len(self.players), len(self.view.actions)))
        for infoset, row in self.known[policy].items():
            policies[infoset, self.columns[infoset]] = row
        return policies


def side_by_side(walks: Iterable[Walk[T]], notes: InfosetTable, together: int = TOGETHER) -> list[T]:
    """Run traversals, at most ``together`` concurrently; returns their results in order.

    Raises:
        GameError: the rules raised an exception.
    """
    results: dict[int, T] = {}
    waiting: list[tuple[int, Walk[T], tuple[int, int]]] = []

    def proceed(number: int, walk: Walk[T], answer: list[float] | None) -> None:
        try:
            waiting.append((number, walk, next(walk) if answer is None else walk.send(answer)))
        except StopIteration as stop:
            results[number] = stop.value

    fresh = enumerate(walks)
    try:
        while True:
            while len(waiting) < together and (begun := next(fresh, None)) is not None:
                proceed(*begun, None)
            if not waiting:
                return [results[number] for number in range(len(results))]
            notes.answer(ask for *_, ask in waiting)
            answered, waiting = waiting, []
            for number, walk, (policy, infoset) in answered:
                proceed(number, walk, notes.known[policy][infoset])
    except (TreeplexError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        raise failed_rules(error, "in a walk") from error


class RulesWalks:
    """Traversals and episodes on a game's rules.

    Attributes:
        rules: the game, turn by turn.
        view: function that computes a state's network features.
    """

    def __init__(self, rules: Game, view: View) -> None:
        self.rules, self.view = rules, view

    def no_infosets(self) -> Infosets:
        """An empty list of infosets."""
        return InfosetTable(self.view, []).infosets()

    def episodes(self, policies: Sequence[AnyProfile], seats: Ints, playing: EpisodeOptions, number: int) -> EpisodeBatch:
        """Play episodes; each depends only on the seed and its number, not on the batches.

        Args:
            policies: the policies to play.
            seats: int64 [B, N], index of the policy that each player follows in each episode.
            playing: seed, exploration and recording options.
            number: number of the first episode.
        """
        notes, seed, lane = InfosetTable(self.view, policies), playing.seed, playing.lane
        walks = (
            self.episode(notes, seating, Stream(seed, number + index, lane), playing)
            for index, seating in enumerate(seats.tolist())
        )
        records = side_by_side(walks, notes)
        decisions = np.array([row for record in records for row in record.decisions]).reshape(-1, 4)
        player, infoset, action = (decisions[:, column].astype(np.int32) for column in range(3))
        infosets = notes.infosets()
        width = len(seats[0]) * len(self.view.scale) if playing.histories else 0
        known = np.array([row for record in records for row in record.known], np.float32).reshape(-1 if width else 0, width)
        episodes = Episodes(
            np.concatenate([[0], np.cumsum([len(record.decisions) for record in records])]).astype(np.int64),
            np.full(len(decisions), -1, np.int32),
            player,
            infoset,
            action,
            decisions[:, 3].copy(),
            np.array([record.payoffs for record in records], np.float64).reshape(len(seats), -1),
            np.full(len(seats), -1, np.int32),
            sum(record.nodes for record in records),
        )
        legal = infosets.legal[infoset[: len(known)]].astype(np.float32)
        return EpisodeBatch(episodes, infosets, notes.probabilities(0), np.concatenate([known, legal], axis=1))

    def episode(
        self, notes: InfosetTable, seats: Sequence[int], stream: Stream, playing: EpisodeOptions
    ) -> Walk[EpisodeRecord]:
        """Play one episode."""
        state, nodes, players = self.rules.new_initial_state(), 1, range(len(seats))
        decisions, known = list[tuple[float, ...]](), list[Singles]()
        while (actor := state.current_player()) != TERMINAL:
            if actor == CHANCE:
                actions, probabilities = outcomes(state)
                taken = picked(probabilities, stream.draw())
            else:
                actions, policy = list(state.legal_actions()), seats[actor]
                infoset = notes.number(state, actor, actions)
                known_policy = notes.known[policy].get(infoset)
                probabilities = (yield policy, infoset) if known_policy is None else known_policy
                share, count = playing.exploration if actor == playing.explorer else 0.0, len(actions)
                if (drawn := stream.draw()) < share:
                    taken = min(int(drawn / share * count), count - 1)
                else:
                    taken = picked(probabilities, (drawn - share) / (1.0 - share))
                    while probabilities[taken] == 0.0 and taken > 0:  # rounding: probabilities may sum to slightly less than 1
                        taken -= 1
                chance = share / count + (1.0 - share) * probabilities[taken]
                decisions.append((actor, infoset, notes.columns[infoset][taken], chance))
                if playing.histories:
                    rows = [notes.rows[infoset] if viewer == actor else self.view.row(state, viewer) for viewer in players]
                    known.append(np.concatenate(rows))
            state = state.child(actions[taken])
            nodes += 1
        return EpisodeRecord(decisions, known, state.returns(), nodes)

    def external(self, policy: AnyProfile, player: int, walks: range, seed: int) -> Walks:
        """External sampling: explores all actions of the traverser, and samples one action of every other player (Lanctot et
        al. 2009, section 3.3).

        Args:
            policy: policy of all players.
            player: the traverser.
            walks: the traversals' numbers.
            seed: the training seed; each traversal's random stream is derived from it, the traversal's number and the
                traverser.
        """
        notes = InfosetTable(self.view, [policy])
        trails = side_by_side((self.external_walk(notes, player, Stream(seed, walk, player)) for walk in walks), notes)
        regrets = [row for trail in trails for row in trail.regrets]
        values = np.full((len(regrets), len(self.view.actions)), np.nan, np.float32)
        for index, (infoset, row) in enumerate(regrets):
            values[index, notes.columns[infoset]] = row
        return Walks(
            notes.infosets(),
            notes.probabilities(0),
            np.array([infoset for infoset, _ in regrets], np.int32),
            values,
            np.ones(len(values), np.float32),
            np.array([infoset for trail in trails for infoset in trail.others], np.int32),
            None,
            len(walks),
            sum(trail.nodes for trail in trails),
        )

    def external_walk(self, notes: InfosetTable, player: int, stream: Stream) -> Walk["Trail"]:
        """Run one traversal."""
        trail = Trail(notes, player, stream)
        root = self.rules.new_initial_state()
        yield from trail.value(root, trail.look(root))
        return trail


class Trail:
    """State and records of one external-sampling traversal.

    Attributes:
        regrets: the traverser's infosets and the sampled regrets of their actions.
        others: infosets of the other players.
        nodes: number of histories visited.
    """

    __slots__ = ("nodes", "notes", "others", "player", "regrets", "stream")

    def __init__(self, notes: InfosetTable, player: int, stream: Stream) -> None:
        self.notes, self.player, self.stream = notes, player, stream
        self.regrets: list[tuple[int, list[float]]] = []
        self.others: list[int] = []
        self.nodes = 0

    def look(self, state: State) -> "Look":
        """The acting player, its legal actions and its infoset at a state."""
        actor = state.current_player()
        if actor in (TERMINAL, CHANCE):
            return actor, [], -1
        actions = list(state.legal_actions())
        return actor, actions, self.notes.number(state, actor, actions)

    def value(self, state: State, look: "Look") -> Walk[float]:
        """Sample the traverser's value of a state."""
        notes, known = self.notes, self.notes.known[0]
        while True:
            self.nodes += 1
            actor, actions, infoset = look
            if actor == TERMINAL:
                return float(state.returns()[self.player])
            if actor == CHANCE:
                actions, probabilities = outcomes(state)
            else:
                known_policy = known.get(infoset)
                probabilities = (yield 0, infoset) if known_policy is None else known_policy
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
"""The acting player, the legal actions and the infoset number; at chance and terminal nodes, no actions and -1."""
