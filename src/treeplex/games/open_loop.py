"""Open-loop games as static games, in which each player chooses all actions in advance.

In an open-loop game players observe nothing, not even their own moves: all histories with the same number of moves are in one
infoset (Basar and Olsder 1999, sections 2.5 and 3.5). Players lack perfect recall, and behaviour policies are weaker than mixed
strategies. Therefore a move of the static game is a plan, one action for each of the player's infosets. It has the same
equilibria in mixed strategies.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from treeplex.base.spec import shown
from treeplex.errors import GameError
from treeplex.games.base import CHANCE, SIMULTANEOUS, TERMINAL, CheckedState, Game, State
from treeplex.games.turn_based import TurnBased

MOST_PLANS = 100_000
"""Largest number of plans per player."""
MOST_HISTORIES = 5_000_000
"""Largest number of histories of the wrapped game."""


@dataclass(frozen=True)
class Stage:
    """One move of an open-loop game: player, infostate and actions."""

    player: int
    infostate: str
    actions: tuple[int, ...]
    names: tuple[str, ...]


class OpenLoopState(CheckedState):
    """The plans chosen so far; after the last plan, the wrapped state (a chance node or terminal)."""

    __slots__ = ("game", "plans", "state")

    def __init__(self, game: "OpenLoop", plans: tuple[int, ...] = (), state: State | None = None) -> None:
        self.game, self.plans = game, plans
        while len(self.plans) < game.num_players and not game.own[len(self.plans)]:
            self.plans += (0,)
        if len(self.plans) == game.num_players:
            state = played(game, self.plans, game.game.new_initial_state() if state is None else state)
        self.state = state

    def current_player(self) -> int:
        return len(self.plans) if self.state is None else self.state.current_player()

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        return range(self.game.counts[len(self.plans)]) if self.state is None else self.state.legal_actions()

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        return super().chance_outcomes() if self.state is None else self.state.chance_outcomes()

    def after(self, action: int) -> "OpenLoopState":
        if self.state is None:
            return OpenLoopState(self.game, (*self.plans, action))
        return OpenLoopState(self.game, self.plans, self.state.child(action))

    def returns(self) -> Sequence[float]:
        assert self.state is not None, "returns() before the end"
        return self.state.returns()

    def information_state_string(self, player: int | None = None) -> str:
        return f"player {len(self.plans) if player is None else player} plans"

    def action_to_string(self, action: int) -> str:
        if self.state is not None:
            return self.state.action_to_string(action)
        player = len(self.plans)
        return ", ".join(self.game.stages[number].names[at] for number, at in self.game.plan(player, action).items())


def played(game: "OpenLoop", plans: tuple[int, ...], state: State) -> State:
    """Play the plans in the wrapped game up to the next chance node or the end."""
    chosen = {number: at for player in range(game.num_players) for number, at in game.plan(player, plans[player]).items()}
    while state.current_player() not in (CHANCE, TERMINAL):
        stage = game.numbers[state.current_player(), state.information_state_string()]
        state = state.child(game.stages[stage].actions[chosen[stage]])
    return state


class OpenLoop(Game):
    """The static game of an open-loop game; :func:`treeplex.load` reads it from ``open_loop(game=...)``.

    Attributes:
        game: the wrapped game, with simultaneous moves made sequential.
        stages: its moves in order.
        own: the stage numbers of each player.
        counts: the number of plans of each player.
    """

    def __init__(self, game: Game) -> None:
        """Walk the game and wrap it.

        Raises:
            GameError: the game is not open-loop (the message names the history), or is too large.
        """
        self.game, self.stages = stages_of(game)
        self.num_players = game.num_players
        self.spec = f"open_loop(game={game.spec})" if game.spec else ""
        self.numbers: Mapping[tuple[int, str], int] = {
            (stage.player, stage.infostate): number for number, stage in enumerate(self.stages)
        }
        players = range(self.num_players)
        self.own = [[n for n, stage in enumerate(self.stages) if stage.player == player] for player in players]
        self.counts = [prod(len(self.stages[n].actions) for n in numbers) for numbers in self.own]

    def new_initial_state(self) -> OpenLoopState:
        return OpenLoopState(self)

    def parameters(self) -> Mapping[str, object]:
        return self.game.parameters()

    def plan(self, player: int, number: int) -> dict[int, int]:
        """Return the action index at each of the player's stages under plan ``number``; the last stage varies fastest."""
        chosen: dict[int, int] = {}
        for stage in reversed(self.own[player]):
            number, chosen[stage] = divmod(number, len(self.stages[stage].actions))
        return dict(sorted(chosen.items()))


def stages_of(game: Game) -> tuple[Game, list[Stage]]:
    """Return the game with sequential moves, and its stages in order.

    Raises:
        GameError: histories at one depth are in different infosets, or one infoset occurs at two depths.
    """
    stages: list[Stage] = []
    plans = [1] * game.num_players
    frontier, seen = [game.new_initial_state()], 0
    while frontier:
        moving: list[State] = []
        while frontier:  # skip chance, which no player observes; otherwise the next infostates would differ
            state = frontier.pop()
            seen += 1
            player = state.current_player()
            if player == SIMULTANEOUS:
                return stages_of(TurnBased(game, game.spec))
            if player == CHANCE:
                frontier.extend(state.child(action) for action, chance in reversed(state.chance_outcomes()) if chance > 0.0)
            elif player != TERMINAL:
                moving.append(state)
        if seen > MOST_HISTORIES:
            raise GameError(f"{game} has more than {MOST_HISTORIES:,} histories; choose smaller parameters")
        if not moving:
            break
        stages.append(stage_of(game, moving, len(stages)))
        if any((stage.player, stage.infostate) == (stages[-1].player, stages[-1].infostate) for stage in stages[:-1]):
            raise GameError(f"{game} is not an open-loop game: infostate {shown(stages[-1].infostate)} occurs at two depths")
        plans[stages[-1].player] *= len(stages[-1].actions)
        if max(plans) > MOST_PLANS:
            raise GameError(f"{game} has more than {MOST_PLANS:,} plans for a player; choose smaller parameters")
        frontier = [state.child(action) for state in reversed(moving) for action in reversed(stages[-1].actions)]
    return game, stages


def stage_of(game: Game, moving: list[State], depth: int) -> Stage:
    """Return the stage at one depth, where all histories must be in a single infoset."""
    first = moving[0]
    player, infostate, actions = first.current_player(), first.information_state_string(), tuple(first.legal_actions())
    for state in moving:
        turn = state.current_player(), state.information_state_string()
        if turn != (player, infostate):
            raise GameError(
                f"{game} is not an open-loop game: after {depth} moves, infostates {shown(infostate)} of player {player} "
                f"and {shown(turn[1])} of player {turn[0]} both occur; no player may observe anything "
                "(treeplex info --structure shows the classes)"
            )
        if tuple(state.legal_actions()) != actions:
            raise GameError(
                f"infostate {shown(infostate)} has actions {list(actions)} in one history and {list(state.legal_actions())} in "
                "another; histories that a player cannot tell apart must offer the same actions in the same order"
            )
    return Stage(player, infostate, actions, tuple(first.action_to_string(action) for action in actions))
