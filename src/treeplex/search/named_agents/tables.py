"""Agents that do not search: a policy table, a solved spot, and all actions alike."""

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.base.settings import setting
from treeplex.errors import GameError, SpecError
from treeplex.forms.policies.tabular import Policy
from treeplex.holdem.agents.blueprint_file import blueprint_policy
from treeplex.holdem.agents.endgames import blueprint_agent
from treeplex.holdem.betting.tree import Decision
from treeplex.holdem.blueprint.policy import is_holdem_blueprint
from treeplex.holdem.cards.cards import cards_to_string
from treeplex.holdem.policies.line import action_text
from treeplex.holdem.policies.spot_policy import HoldemPolicy
from treeplex.holdem.rules.public import HoldemGame, holdem_state
from treeplex.holdem.whole.public import PublicHoldem
from treeplex.run.judge import as_policy
from treeplex.search.agents.agent import Agent, Seat, TableAgent, UniformAgent
from treeplex.search.named_agents.kind import AgentKind, AgentSettings
from treeplex.search.named_agents.played_game import PlayedGame
from treeplex.search.subgames.beliefs import Belief


@dataclass(frozen=True)
class BlueprintSettings(AgentSettings):
    """Which policy is played."""

    file: str = setting(help="a run folder or policy file, also of poker with fewer bets; of a hold'em spot its solution")


class Blueprint(AgentKind):
    """A policy as it is."""

    name = "blueprint"
    text = "plays a policy as it is"
    source = "any solver"
    plays = "games with public states, and hold'em spots"
    example = "blueprint(file=runs/leduc)"
    settings = BlueprintSettings

    def make(self, game: PlayedGame, settings: BlueprintSettings, generator: np.random.Generator) -> Agent:
        if isinstance(game.public, HoldemGame):
            return SpotAgent(game.public, as_policy(game.public.spot, settings.file), generator)
        if is_holdem_blueprint(settings.file):
            return blueprint_agent(game, settings.file, generator)
        return TableAgent(game.public, blueprint_policy(game, settings.file), generator)


class Uniform(AgentKind):
    """All actions alike."""

    name = "uniform"
    text = "plays all actions alike"
    source = ""
    plays = "any game with public states"
    example = "uniform"

    def make(self, game: PlayedGame, settings: AgentSettings, generator: np.random.Generator) -> Agent:
        if not isinstance(game.public, PublicHoldem):  # of which small decks compile, but slowly
            with suppress(GameError, SpecError):  # too large for a table
                return TableAgent(game.public, Policy.uniform(game.compiled), generator)
        return UniformAgent(game.public, generator)


class SpotAgent(Seat):
    """Plays the solution of a hold'em spot, from where the spot begins."""

    draws = False

    def __init__(self, game: HoldemGame, policy: HoldemPolicy, generator: np.random.Generator | None = None) -> None:
        """Sit down.

        Args:
            game: the spot as a public game.
            policy: of the same spot, all streets of it.
            generator: of its draws.
        """
        super().__init__(game, generator)
        self.holdem, self.solution = game, policy
        self._line: tuple[str, ...] = ()

    def begin(self, seat: int | None = None, generator: np.random.Generator | None = None, *, at: Belief | None = None) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.begin`."""
        if at is not None and at.state != self.holdem.first_state():
            raise GameError("the solution of a spot plays from where the spot begins")
        self.sit(seat, generator)
        self.state, self._line = self.holdem.first_state(), ()

    def see(self, event: int) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.see`."""
        state, here = holdem_state(self.state), self.holdem.event(self.state)
        after = self.holdem.after(self.state, event)
        came = after.board[len(state.board) :]
        step = action_text(here.actions[event]) if isinstance(here, Decision) else cards_to_string(came)
        self.state, self._line = after, (*self._line, step)

    def policy(self) -> Floats:
        """See :meth:`treeplex.search.agents.agent.Agent.policy`."""
        self.check_acting()
        view, options = self.solution.at(",".join(self._line)), self.holdem.options(self.state)
        table = np.full((len(options.labels), len(self.holdem.spot.format.hands)), 1.0 / len(options.labels))
        table[:, view.hands] = view.strategy
        return table

    def action_values(self, hand: int) -> Floats:
        """What each action is worth to a hand of the player to act if all follow the solution afterwards, float64 [A].

        In chips against half of the starting pot; NaN for a hand that the range lacks or that meets nobody.
        """
        self.check_acting()
        view = self.solution.at(",".join(self._line))
        found = np.flatnonzero(view.hands == hand)
        return view.action_ev[:, found[0]] if len(found) else np.full(len(view.actions), np.nan)
