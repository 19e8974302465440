"""Games in a fixed order of play, from what each player sees of the moves so far: extensive forms, fixed or random."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

from treeplex.games.base import TERMINAL, Game, State

Moves = tuple[int, ...]
Sight = Callable[[Moves], object]
"""What a player sees; equal sights at one depth are one infoset."""


@dataclass(frozen=True)
class TreeForm(Game):
    """Players move in a fixed order; the infoset is the depth and what is seen.

    Attributes:
        order: who moves at each depth.
        sights: what the mover at each depth sees.
        actions: how many actions there are at each depth.
        players: N.
        payoffs: what all players get after all moves; None for nothing, where only the form matters.
        name: stands for the spec.
    """

    order: Sequence[int]
    sights: Sequence[Sight]
    actions: Sequence[int]
    players: int = 2
    payoffs: Callable[[Moves], Sequence[float]] | None = None
    name: str = "tree_form"

    @property
    def num_players(self) -> int:  # type: ignore[override]
        return self.players

    @property
    def spec(self) -> str:  # type: ignore[override]
        return self.name

    def new_initial_state(self) -> "FormState":
        return FormState(self, ())


class FormState(State):
    def __init__(self, form: TreeForm, moves: Moves) -> None:
        self.form, self.moves = form, moves

    def current_player(self) -> int:
        return self.form.order[len(self.moves)] if len(self.moves) < len(self.form.order) else TERMINAL

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        return range(self.form.actions[len(self.moves)])

    def child(self, action: int) -> "FormState":
        return FormState(self.form, (*self.moves, action))

    def returns(self) -> Sequence[float]:
        return [0.0] * self.form.players if self.form.payoffs is None else list(self.form.payoffs(self.moves))

    def information_state_string(self, player: int | None = None) -> str:
        return f"{len(self.moves)}:{self.form.sights[len(self.moves)](self.moves)}"

    def action_to_string(self, action: int) -> str:
        return chr(ord("a") + action)


class After(Game):
    """A game that starts at a state of another, infostates as there."""

    def __init__(self, game: Game, state: State) -> None:
        self.state, self.num_players, self.spec = state, game.num_players, f"{game.spec}, later"

    def new_initial_state(self) -> State:
        return self.state


def nothing(moves: Moves) -> object:
    return ""


def everything(moves: Moves) -> object:
    return moves


def drawn_payoffs(seed: int, players: int, *, zero_sum: bool, whole: bool = False) -> Callable[[Moves], list[float]]:
    """Payoffs that belong to the moves."""

    def payoffs(moves: Moves) -> list[float]:
        generator = random.Random(repr((seed, moves)))
        drawn = [float(generator.randint(-2, 2)) if whole else generator.uniform(-3.0, 3.0) for _ in range(players)]
        if zero_sum:
            drawn[-1] = -sum(drawn[:-1])
        return drawn

    return payoffs


def ladder_sights(seed: int, counts: Sequence[int]) -> list[Sight]:
    """Sights of a ladder-nested single-act form with so many actions at each depth.

    Each player sees what the one before saw, and a part of that one's move where that one stood at a single history.
    """
    seen: dict[Moves, object] = {(): ()}
    tables = [seen]
    for depth in range(1, len(counts)):
        sizes: dict[object, int] = {}
        for sight in seen.values():
            sizes[sight] = sizes.get(sight, 0) + 1
        following: dict[Moves, object] = {}
        for moves in product(*(range(count) for count in counts[:depth])):
            before = seen[moves[:-1]]
            part = random.Random(repr((seed, depth, before, moves[-1]))).randrange(counts[depth - 1])
            following[moves] = (before, part if sizes[before] == 1 else None)
        seen = following
        tables.append(seen)
    return [table.__getitem__ for table in tables]


def feedback_form(
    seed: int, levels: Sequence[Sequence[int]], counts: Sequence[int], players: int, *, zero_sum: bool, name: str = "feedback"
) -> TreeForm:
    """A random feedback game: the first player of each level sees everything, the others all before it and a ladder's sight.

    Args:
        seed: of sights and payoffs.
        levels: who moves in each level, in order.
        counts: actions of each player.
        players: N.
        zero_sum: whether payoffs sum to zero.
        name: stands for the spec.
    """
    order = [player for level in levels for player in level]
    sights: list[Sight] = []
    for number, level in enumerate(levels):
        start = len(sights)
        own = [counts[player] for player in level]
        sights.extend([level_sight((seed, number), start, place, own) for place in range(len(level))])
    return TreeForm(
        order, sights, [counts[p] for p in order], players, drawn_payoffs(seed, players, zero_sum=zero_sum), f"{name}({seed})"
    )


def level_sight(seed: object, start: int, place: int, counts: Sequence[int]) -> Sight:
    """What is seen at a place of a level that starts after so many moves."""

    def sight(moves: Moves) -> object:
        own = random.Random(repr((seed, moves[:start]))).randrange(10**9)
        return moves[:start], ladder_sights(own, counts)[place](moves[start:])

    return sight
