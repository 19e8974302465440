"""Games with a mediator, slowly: rules in which chance draws a joint plan that one player may leave, and all deviations.

Nothing here shares code with the library but the rules' :class:`State`; a device is read through its plans by name.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from tests import oracle
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.correlation.device import Device
from treeplex.games.base import CHANCE, TERMINAL, Game, State

FOLLOW, LEAVE = 0, 1
Plan = Mapping[str, int]
Key = oracle.Key


@dataclass(frozen=True)
class Mediator:
    """What a device says, by name: joint plans ``{infostate: action id}`` a player, their weights, and what each player does on
    average wherever a plan of theirs says nothing."""

    game: Game
    plans: tuple[tuple[Plan, ...], ...]
    weights: tuple[float, ...]

    @cached_property
    def average(self) -> dict[Key, dict[int, float]]:
        """The probability with which each action is recommended where a recommendation is made; uniform where none is."""
        found = {}
        for key, actions in oracle.action_sets(oracle.grow(self.game)).items():
            player, infostate = key
            told = [(joint[player].get(infostate), weight) for joint, weight in zip(self.plans, self.weights, strict=True)]
            shares = np.array([sum(weight for action, weight in told if action == each) for each in actions])
            total = shares.sum()
            found[key] = dict(zip(actions, shares / total if total > 0 else [1 / len(actions)] * len(actions), strict=True))
        return found

    def expected(self) -> np.ndarray:
        """What every player gets when all follow."""
        root = oracle.grow(self.game)
        return sum(
            weight * played(root, lambda key, joint=joint: joint[key[0]][key[1]])
            for joint, weight in zip(self.plans, self.weights, strict=True)
        )


def mediator_of(game: Game, device: Device) -> Mediator:
    """A device by name."""
    joint = [tuple(device.actions(player, int(plan)) for player, plan in enumerate(row)) for row in device.support]
    return Mediator(game, tuple(joint), tuple(device.weights.tolist()))


def played(node: oracle.Node, choice: Callable[[Key], int]) -> np.ndarray:
    """Expected payoffs where every player's action is given."""
    if node.player == TERMINAL:
        return node.returns
    if node.key is not None:
        return played(node.children[node.actions.index(choice(node.key))], choice)
    return sum(chance * played(child, choice) for chance, child in zip(node.chances, node.children, strict=True))


class MediatedGame(Game):
    """The game of one player against a mediator whom all others obey; ``concept`` says how the player may leave."""

    num_players = 1

    def __init__(self, mediator: Mediator, player: int, concept: str) -> None:
        self.mediator, self.player, self.concept = mediator, player, concept
        self.spec = f"mediated({concept})"

    def new_initial_state(self) -> "MediatedState":
        return MediatedState(self, None, None, (), False)


class MediatedState(State):
    """A state of the rules, with the joint plan drawn and what the player has been told.

    ``left``: False, True, or ``"choosing"`` right after leaving without having seen the recommendation.
    """

    def __init__(self, game: MediatedGame, row: int | None, state: State | None, told: tuple, left: object) -> None:
        self.game, self.row, self.told, self.left = game, row, told, left
        self.state = None if state is None else self.obeyed(state)

    @property
    def joint(self) -> Sequence[Plan]:
        return self.game.mediator.plans[self.row]

    def obeyed(self, state: State) -> State:
        """The state after all moves of the others who come next."""
        while state.current_player() >= 0 and state.current_player() != self.game.player:
            mover = state.current_player()
            state = state.child(self.joint[mover][state.information_state_string(mover)])
        return state

    def infostate(self) -> str:
        return self.state.information_state_string(self.game.player)

    @property
    def obeying(self) -> bool:
        """Whether the player follows from here on with no choice: has left in agent form."""
        return self.left is True and self.game.concept in ("AFCE", "AFCCE")

    @property
    def instruction(self) -> int | None:
        return self.joint[self.game.player].get(self.infostate())

    def current_player(self) -> int:
        if self.row is None or self.state.current_player() == CHANCE or (self.state.current_player() >= 0 and self.obeying):
            return CHANCE
        return TERMINAL if self.state.current_player() == TERMINAL else 0

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        if self.row is None:
            return list(enumerate(self.game.mediator.weights))
        if self.state.current_player() == CHANCE:
            return self.state.chance_outcomes()
        if self.instruction is not None:
            return [(self.instruction, 1.0)]
        return list(self.game.mediator.average[self.game.player, self.infostate()].items())

    @property
    def blind(self) -> bool:
        """Whether the choice is between following and leaving."""
        return self.left is False and self.game.concept in ("EFCCE", "AFCCE")

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        return [FOLLOW, LEAVE] if self.blind else list(self.state.legal_actions())

    def information_state_string(self, player: int | None = None) -> str:
        concept = self.game.concept
        told: tuple = self.told
        if concept == "CCE":
            told = ()
        elif concept == "CE":
            told = tuple(sorted(self.joint[self.game.player].items()))
        elif self.left is False and concept in ("EFCE", "AFCE"):
            told = (*told, self.instruction)
        return f"{self.infostate()} told {told} left {self.left}"

    def child(self, action: int) -> "MediatedState":
        game, concept = self.game, self.game.concept
        if self.row is None:
            return MediatedState(game, action, game.mediator.game.new_initial_state(), (), concept in ("CCE", "CE"))
        if self.state.current_player() == CHANCE or self.left is True:
            return MediatedState(game, self.row, self.state.child(action), self.told, self.left)
        if self.blind and action == LEAVE:
            return MediatedState(game, self.row, self.state, self.told, "choosing" if concept == "AFCCE" else True)
        taken = self.instruction if self.blind else action
        told = (*self.told, "hidden" if self.left == "choosing" else self.instruction)
        left = self.left == "choosing" or taken != self.instruction
        return MediatedState(game, self.row, self.state.child(taken), told, left)

    def returns(self) -> Sequence[float]:
        return [self.state.returns()[self.game.player]]


def best_gain(mediator: Mediator, player: int, concept: str) -> float:
    """What the best response of a player gains in the game with the mediator."""
    best, _ = oracle.best_response(oracle.grow(MediatedGame(mediator, player, concept)), {}, 0)
    return best - float(mediator.expected()[player])


def plans_of_player(root: oracle.Node, player: int) -> Iterator[dict[Key, int]]:
    """All pure strategies of a player, unreduced."""
    actions = {key: ids for key, ids in oracle.action_sets(root).items() if key[0] == player}
    for choice in product(*actions.values()):
        yield dict(zip(actions, choice, strict=True))


def best_trigger(mediator: Mediator, player: int, concept: str) -> float:
    """The most that leaving once gains: every trigger with every way to go on, played through the game tree."""
    root = oracle.grow(mediator.game)
    expected = float(mediator.expected()[player])
    strategies = list(plans_of_player(root, player))
    best = -np.inf
    for met in triggers(mediator, player, concept):
        for strategy in strategies:
            total = sum(
                weight * deviating(root, mediator, joint, player, concept, met, strategy, False)
                for joint, weight in zip(mediator.plans, mediator.weights, strict=True)
            )
            best = max(best, total - expected)
    return best if best > -np.inf else 0.0


def triggers(mediator: Mediator, player: int, concept: str) -> list[object]:
    """What can make a player leave: a plan told, an infostate reached, or a recommendation at one."""
    own = [joint[player] for joint, weight in zip(mediator.plans, mediator.weights, strict=True) if weight > 0]
    if concept == "CCE":
        return [None]
    if concept == "CE":
        return [tuple(sorted(plan.items())) for plan in own]
    if concept in ("EFCCE", "AFCCE"):
        return sorted({infostate for plan in own for infostate in plan})
    return sorted({pair for plan in own for pair in plan.items()})


def deviating(
    node: oracle.Node,
    mediator: Mediator,
    joint: Sequence[Plan],
    player: int,
    concept: str,
    met: object,
    strategy: Mapping[Key, int],
    left: bool,
) -> float:
    """The player's payoff under one joint plan, leaving at ``met`` for ``strategy``."""

    def below(child: oracle.Node, gone: bool) -> float:
        return deviating(child, mediator, joint, player, concept, met, strategy, gone)

    if node.player == TERMINAL:
        return float(node.returns[player])
    if node.key is None:
        return sum(chance * below(child, left) for chance, child in zip(node.chances, node.children, strict=True))
    if node.player != player:
        return below(node.children[node.actions.index(joint[node.player][node.key[1]])], left)
    told = joint[player].get(node.key[1])
    agent = concept in ("AFCE", "AFCCE")
    if left and agent:
        shares = {told: 1.0} if told is not None else mediator.average[node.key]
        return sum(share * below(node.children[node.actions.index(action)], True) for action, share in shares.items())
    here = {
        "CCE": True,
        "CE": met == tuple(sorted(joint[player].items())),
        "EFCCE": met == node.key[1],
        "AFCCE": met == node.key[1],
        "EFCE": met == (node.key[1], told),
        "AFCE": met == (node.key[1], told),
    }[concept]
    leaves = left or here
    return below(node.children[node.actions.index(strategy[node.key] if leaves else told)], leaves)


def random_device(game: CompiledGame, generator: np.random.Generator, size: int) -> Device:
    """A device of so many random joint plans, some of them of probability 0 or repeated."""
    tables = []
    for player in range(game.players):
        first = int(game.tree.infoset_offsets[player])
        plans = np.full((max(1, size - 1), game.infosets[player]), -1, np.int32)
        for plan in plans:
            reached = {int(game.tree.sequence_offsets[player])}
            for local in range(game.infosets[player]):
                if int(game.tree.infoset_parent[first + local]) in reached:
                    sequences = game.sequences_at(first + local)
                    plan[local] = generator.integers(len(sequences))
                    reached.add(int(sequences[plan[local]]))
        tables.append(plans)
    support = np.stack([generator.integers(len(table), size=size) for table in tables], axis=1)
    weights = np.where(generator.random(size) < 0.15, 0.0, generator.random(size))
    weights[0] += 0.1
    return Device(game, tuple(tables), support, weights / weights.sum())
