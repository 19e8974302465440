"""A learned best response as an agent that sits at a table."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from treeplex.base.settings import setting
from treeplex.errors import GameError, SpecError
from treeplex.forms.policies.sparse import TablePolicy
from treeplex.forms.sources.load import public_tree
from treeplex.games.base import Game
from treeplex.games.public import PublicTree, pair_state
from treeplex.learn.best_response.files import load_response
from treeplex.learn.best_response.network import NetworkPolicy
from treeplex.learn.best_response.positions import decision
from treeplex.search.agents.agent import Agent, Seat
from treeplex.search.named_agents.kind import AgentKind, AgentSettings
from treeplex.search.subgames.beliefs import Belief


@dataclass(frozen=True)
class LearnedResponseSettings(AgentSettings):
    """Which response is played."""

    file: str = setting(help="the folder of a training by best-response")


class LearnedResponse(AgentKind):
    """What ``treeplex train best-response`` has made."""

    name = "best_response"
    text = "plays a best response that was learned against some agent"
    source = "treeplex train best-response"
    plays = "games of two players with a public tree"
    example = "best_response(file=runs/response)"
    settings = LearnedResponseSettings

    def make(self, game: Game, settings: LearnedResponseSettings, generator: np.random.Generator) -> Agent:
        response = load_response(Path(settings.file))
        if response.spec != str(game):
            raise SpecError(f"{settings.file} is a response in {response.spec}, not in {game}; train one for this game")
        return ResponseAgent(public_tree(game.public), response, generator)


class ResponseAgent(Seat):
    """Plays what a policy of infostates says."""

    draws = False

    def __init__(
        self, rules: PublicTree, response: TablePolicy | NetworkPolicy, generator: np.random.Generator | None = None
    ) -> None:
        """Sit down.

        Args:
            rules: the public-tree rules of the response's game.
            response: the policy.
            generator: of draws.
        """
        super().__init__(rules, generator)
        self.rules, self.response = rules, response

    def begin(self, seat: int | None = None, generator: np.random.Generator | None = None, *, at: Belief | None = None) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.begin`."""
        if at is not None and at.game is not self.rules:
            raise GameError("a learned response plays its own game only")
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
        known = [self.rules.infostate(node, player, hand) for hand in hands]
        if isinstance(self.response, NetworkPolicy):
            best = self.response.choose([decision(infostate, labels) for infostate in known], player)
            table[:, hands] = np.arange(len(labels))[:, None] == np.array(best)
            return table
        for hand, infostate in zip(hands, known, strict=True):
            if (player, infostate) in self.response:
                played = self.response[player, infostate]
                table[:, hand] = [played[label] for label in labels]
        return table
