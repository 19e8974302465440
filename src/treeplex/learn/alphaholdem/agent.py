"""AlphaHoldem's network file, and the agent that plays it."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.base.storage.tensors import TensorFile, tensor, write_tensors
from treeplex.errors import FileError, SpecError
from treeplex.games.public import PublicGame, pick
from treeplex.learn.alphaholdem.planes import Offer, PastAction, PlaneCoder
from treeplex.learn.alphaholdem.self_play import PlanePolicy, plane_policy
from treeplex.learn.alphaholdem.settings import AlphaHoldemSettings
from treeplex.learn.alphaholdem.trainer import fresh_net
from treeplex.learn.common.fitting import Arrays
from treeplex.search.agents.agent import BaseAgent
from treeplex.search.subgames.beliefs import Belief

NETWORK = "network.safetensors"
"""Name of the network file in a training folder."""
FORMAT, VERSION = "treeplex alphaholdem network", 1
OF_NETWORK = ("approximator", "sizes", "slots", "channels", "layers", "width")
"""Settings that determine the network's architecture."""


@dataclass(frozen=True, repr=False)
class NetworkFile:
    """Contents of a network file: the game's spec, the architecture settings and the weights."""

    spec: str
    settings: AlphaHoldemSettings
    weights: Arrays

    def __repr__(self) -> str:
        return f"<network for {self.spec}: {sum(array.size for array in self.weights.values()):,} parameters>"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file.

        Raises:
            FileError: the file cannot be written.
        """
        shown = json.dumps({name: value for name, value in self.settings.to_json().items() if name in OF_NETWORK})
        about = {"format": FORMAT, "version": str(VERSION), "game": self.spec, "settings": shown}
        write_tensors(path, about, {name: tensor(np.asarray(array, np.float32)) for name, array in self.weights.items()})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "NetworkFile":
        """Read a file that :meth:`save` wrote, or a folder that contains one. No code is executed.

        Raises:
            FileError: the file is missing, corrupted, or not an AlphaHoldem network.
        """
        path = Path(path)
        with TensorFile(path / NETWORK if path.is_dir() else path, FORMAT, VERSION) as file:
            try:
                settings = AlphaHoldemSettings().changed(json.loads(file.about["settings"]))
                return cls(file.about["game"], settings, {name: np.array(file[name]) for name in file})
            except (KeyError, ValueError, AttributeError, SpecError) as error:
                raise FileError(f"{path}: the network file is incomplete; restore a backup") from error

    def policy_for(self, coder: PlaneCoder) -> PlanePolicy:
        """The network as a policy over planes.

        Raises:
            FileError: the network was trained on another game.
        """
        try:
            return plane_policy(fresh_net(coder, self.settings).with_weights(self.weights))
        except (KeyError, RuntimeError) as error:
            raise FileError(
                f"the network for {self.spec} does not fit a game with another deck or other bets; train one for it"
            ) from error


class AlphaHoldemAgent(BaseAgent):
    """Agent that plays a network's policy; it cannot start in a subgame."""

    draws = False

    def __init__(
        self, game: PublicGame, coder: PlaneCoder, network_policy: PlanePolicy, generator: np.random.Generator | None = None
    ) -> None:
        """Create the agent.

        Args:
            game: the game to play; action labels and hands must match the coder's game.
            coder: encoder of the same game.
            network_policy: the network's policy over planes.
            generator: random number generator for actions.
        """
        super().__init__(game, generator)
        self.coder, self.network_policy = coder, network_policy
        self._begin()

    def _begin(self) -> None:
        self.state, self._own = self.game.first_state(), self.coder.game.first_state()
        self._done: tuple[PastAction, ...] = ()

    def begin(self, seat: int | None = None, generator: np.random.Generator | None = None, *, at: Belief | None = None) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.begin`."""
        self.sit_at_first(seat, generator, at)
        self._begin()

    def see(self, event: int) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.see`."""
        if self.coder.game.options(self._own).player >= 0:
            offer = self.coder.offer(self._own)
            self._done = (*self._done, PastAction(offer.player, offer.street, column_of(offer, event), offer.legal))
        self.state, self._own = self.game.after(self.state, event), self.coder.game.after(self._own, event)

    def policy(self) -> Floats:
        """See :meth:`treeplex.search.agents.agent.Agent.policy`."""
        self.check_acting()
        hands = np.arange(len(self.game.possible(self.state)[self.game.options(self.state).player]))
        return self._policy(hands)

    def act(self, hand: int) -> int:
        """See :meth:`treeplex.search.agents.agent.Agent.act`; evaluates the network for one hand only."""
        self.check_acting()
        labels = self.game.options(self.state).labels
        return labels[pick(self.generator, self._policy(np.array([hand]))[:, 0])]

    def _policy(self, hands: np.ndarray) -> Floats:
        """Policy of the listed hands, float64 [labels, hands]."""
        coder, labels = self.coder, list(self.game.options(self.state).labels)
        offer = coder.offer(self._own)
        actions = np.broadcast_to(coder.actions(self._done, offer), (len(hands), *coder.action_shape)).copy()
        legal = np.broadcast_to(offer.legal, (len(hands), coder.columns)).copy()
        logs, _ = self.network_policy(coder.cards(self._own, hands.tolist()), actions, legal)
        policy = np.zeros((len(labels), len(hands)))
        for column in np.flatnonzero(offer.legal).tolist():
            policy[labels.index(offer.labels[int(offer.played[column])])] = np.exp(logs[:, column])
        return np.asarray(policy / policy.sum(axis=0))


def column_of(offer: Offer, label: int) -> int:
    """The column of an action; a bet outside the abstraction maps to the column of the nearest available bet."""
    labels = np.array(offer.labels)
    return int(offer.column[np.abs(labels - label).argmin()])
