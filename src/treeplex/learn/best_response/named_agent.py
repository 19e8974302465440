"""A learned best response as a named agent."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from treeplex.base.settings import setting
from treeplex.errors import FileError, GameError, SpecError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.policies.files import load_policy
from treeplex.forms.policies.neural import NeuralPolicy, is_neural_policy
from treeplex.forms.sources.load import public_tree
from treeplex.games.base import Game
from treeplex.games.public import PublicTree, pair_state
from treeplex.learn.best_response.learner import most_probable
from treeplex.learn.best_response.positions import Position, over
from treeplex.learn.train.learner_job import POLICY
from treeplex.search.agents.agent import Agent, BaseAgent, TableAgent
from treeplex.search.named_agents.kind import AgentKind, AgentSettings
from treeplex.search.subgames.beliefs import Belief


@dataclass(frozen=True)
class LearnedResponseSettings(AgentSettings):
    """Settings of the agent."""

    file: str = setting(help="folder of a best-response training run")


class LearnedResponse(AgentKind):
    """The agent type that plays a response from ``treeplex train best-response``."""

    name = "best_response"
    text = "plays a best response learned against a fixed agent"
    source = "treeplex train best-response"
    plays = "two-player games with a public tree"
    example = "best_response(file=runs/response)"
    settings = LearnedResponseSettings

    def make(self, game: Game, settings: LearnedResponseSettings, generator: np.random.Generator) -> Agent:
        file = Path(settings.file) / POLICY
        if not file.is_file():
            raise FileError(f"{settings.file} contains no learned response; train one: treeplex train best-response GAME")
        if is_neural_policy(file):
            response = NeuralPolicy.load(file)
            if response.spec == str(game):
                return ResponseAgent(public_tree(game.public), response, generator)
        else:
            policy = load_policy(file)
            if policy.game.identity == compile_game(game).identity:
                return TableAgent(game.public, policy, generator)
        raise SpecError(f"{settings.file} is a best response in another game, not in {game}; train one for this game")


class ResponseAgent(BaseAgent):
    """Agent that plays a network whose inputs are infostate strings."""

    draws = False

    def __init__(self, rules: PublicTree, response: NeuralPolicy, generator: np.random.Generator | None = None) -> None:
        """Create the agent.

        Args:
            rules: the public-tree rules of the response's game.
            response: the policy.
            generator: random number generator for actions.
        """
        super().__init__(rules, generator)
        self.rules, self.response = rules, response

    def begin(self, seat: int | None = None, generator: np.random.Generator | None = None, *, at: Belief | None = None) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.begin`."""
        if at is not None and at.game is not self.rules:
            raise GameError("a learned response plays only the full game; it cannot start at a given belief")
        self.sit(seat, generator)
        self.state = self.rules.first_state() if at is None else pair_state(at.state)

    def see(self, event: int) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.see`."""
        self.state = self.rules.after(self.state, event)

    def policy(self) -> NDArray[np.float64]:
        """See :meth:`treeplex.search.agents.agent.Agent.policy`."""
        self.check_acting()
        options, possible = self.rules.options(self.state), self.rules.possible(self.state)
        player, labels, node = options.player, list(options.labels), pair_state(self.state).node
        table = np.full((len(labels), len(possible[player])), 1.0 / len(labels))
        hands = np.flatnonzero(possible[player]).tolist()
        known = [Position(self.rules.infostate(node, player, hand), labels, (), over) for hand in hands]
        table[:, hands] = np.arange(len(labels))[:, None] == np.array(most_probable(self.response, known, player))
        return table
