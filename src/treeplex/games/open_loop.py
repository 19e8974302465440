"""Open-loop games as static games, in which each player picks all actions at once.

In an open-loop game players never observe anything, their own moves included: after the same number of moves all
histories lie in one infoset (Basar and Olsder 1999, sections 2.5 and 3.5). Such players lack perfect recall, and behaviour
policies fall short of mixtures over whole sequences of actions. So here a player's move is a whole sequence, one action for
each of their infosets; the static game has the same equilibria in mixed strategies.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from treeplex.base.spec import shown
from treeplex.errors import GameError
from treeplex.games.base import CHANCE, SIMULTANEOUS, TERMINAL, CheckedState, Game, State
from treeplex.games.turn_based import TurnBased

MOST_PLANS = 100_000
"""Sequences of actions a player may have."""
MOST_HISTORIES = 5_000_000
"""Histories of the wrapped game that are looked at."""


@dataclass(frozen=True)
class Stage:
    """One move of an open-loop game: who makes it, at which infostate, and the actions there."""

    player: int
    infostate: str
    actions: tuple[int, ...]
    names: tuple[str, ...]


class OpenLoopState(CheckedState):
    """The plans chosen so far; after the last, the wrapped game as it goes on from there (a chance node or an end)."""

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
    """The wrapped game once all have chosen: played on to the next chance node or the end."""
    chosen = {number: at for player in range(game.num_players) for number, at in game.plan(player, plans[player]).items()}
    while state.current_player() not in (CHANCE, TERMINAL):
        stage = game.numbers[state.current_player(), state.information_state_string()]
        state = state.child(game.stages[stage].actions[chosen[stage]])
    return state


class OpenLoop(Game):
    """The static game of an open-loop game; :func:`treeplex.load` reads it from ``open_loop(game=...)``.

    Attributes:
        game: the wrapped game, simultaneous moves one at a time.
        stages: its moves, in order.
        own: for each player the numbers of their stages.
        counts: for each player the number of their sequences of actions.
    """

    def __init__(self, game: Game) -> None:
        """Walk the wrapped game and wrap it.

        Raises:
            GameError: it is not an open-loop game (the message says where), or too large.
        """
        self.game, self.stages = stages_of(game)
        self.num_players = game.num_players
        self.spec = f"open_loop(game={game.spec})" if game.spec else ""
        self.numbers: Mapping[tuple[int, str], int] = {
            (stage.player, stage.infostate): number for number, stage in enumerate(self.stages)
        }
        players = range(self.num_players)
        self.own = [[n for n, stage in enumerate(self.stages) if stage.player == player] for player in players]
        self.counts = [prod(len(self.stages[n].actions) for n in own) for own in self.own]

    def new_initial_state(self) -> OpenLoopState:
        return OpenLoopState(self)

    def parameters(self) -> Mapping[str, object]:
        return self.game.parameters()

    def plan(self, player: int, number: int) -> dict[int, int]:
        """The action (its place) that a player's sequence ``number`` has at each of their stages; the last changes fastest."""
        chosen: dict[int, int] = {}
        for stage in reversed(self.own[player]):
            number, chosen[stage] = divmod(number, len(self.stages[stage].actions))
        return dict(sorted(chosen.items()))


def stages_of(game: Game) -> tuple[Game, list[Stage]]:
    """The game with simultaneous moves one at a time, and its moves in order.

    Raises:
        GameError: two histories after the same number of moves lie in different infosets, or one infoset at two depths.
    """
    stages: list[Stage] = []
    plans = [1] * game.num_players
    frontier, seen = [game.new_initial_state()], 0
    while frontier:
        moving: list[State] = []
        while frontier:  # past chance, which no player observes, or the next infostates would differ
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
            raise GameError(f"{game} has more than {MOST_HISTORIES:,} histories; make it smaller")
        if not moving:
            break
        stages.append(stage_of(game, moving, len(stages)))
        if any((stage.player, stage.infostate) == (stages[-1].player, stages[-1].infostate) for stage in stages[:-1]):
            raise GameError(f"{game} is no open-loop game: infostate {shown(stages[-1].infostate)} comes at two depths")
        plans[stages[-1].player] *= len(stages[-1].actions)
        if max(plans) > MOST_PLANS:
            raise GameError(f"{game} has more than {MOST_PLANS:,} sequences of actions for a player; make it smaller")
        frontier = [state.child(action) for state in reversed(moving) for action in reversed(stages[-1].actions)]
    return game, stages


def stage_of(game: Game, moving: list[State], depth: int) -> Stage:
    """The one infoset of all histories after the same number of moves."""
    first = moving[0]
    player, infostate, actions = first.current_player(), first.information_state_string(), tuple(first.legal_actions())
    for state in moving:
        found = state.current_player(), state.information_state_string()
        if found != (player, infostate):
            raise GameError(
                f"{game} is no open-loop game: after {depth} moves there is infostate {shown(infostate)} of player "
                f"{player} and infostate {shown(found[1])} of player {found[0]}; nobody may ever learn anything "
                "(treeplex info --structure shows the classes)"
            )
        if tuple(state.legal_actions()) != actions:
            raise GameError(
                f"infostate {shown(infostate)} has actions {list(actions)} in one history and {list(state.legal_actions())} in "
                "another; histories that a player cannot tell apart must offer the same actions in the same order"
            )
    return Stage(player, infostate, actions, tuple(first.action_to_string(action) for action in actions))
