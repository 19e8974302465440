"""A player of neural fictitious self-play by the rules: Q-learning and imitation from rows that describe infosets."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.histories.episodes import Episodes
from treeplex.engine.histories.transitions import next_own
from treeplex.engine.tree.form import Floats, Ints
from treeplex.forms.policies.heads import best_rows, uniform_rows
from treeplex.forms.policies.views import View
from treeplex.learn.common.replay import Replay
from treeplex.learn.neural.fitting.approximator import POLICY
from treeplex.learn.neural.fitting.buffers import Reservoir, Rows
from treeplex.learn.neural.fitting.row_network import RowNetwork
from treeplex.learn.neural.responses.q_learning import episode_of
from treeplex.learn.neural.walks.rules_walks import Met

Singles = NDArray[np.float32]
PARTS = ("places", "actions", "following", "rewards")


class RowPlayer:
    """What one player learns: a response by Q-learning with target network, and an average that imitates it.

    Attributes:
        response, target: values of actions.
        average: the average policy.
        transitions: the newest, float32 [n, W] where, int32 [n] which column was played, float32 [n, W] the next own infoset or
            zeros, float32 [n] the payoff.
        chosen: a sample of all infosets at which the response was followed, and its greedy action as a distribution.
    """

    def __init__(self, player: int, view: View, settings: Any, generator: np.random.Generator) -> None:
        self.player, self.settings, self.generator = player, settings, generator
        self.response = RowNetwork.of_infosets(view, settings, generator)
        self.target = RowNetwork.of_infosets(view, settings, generator)
        self.average = RowNetwork.of_infosets(view, settings, generator, POLICY)
        width, columns = len(view.scale) + len(view.actions), len(view.actions)
        nowhere = np.empty((0, width), np.float32)
        self.transitions = Replay(nowhere, np.empty(0, np.int32), nowhere, np.empty(0, np.float32), room=settings.memory)
        self.chosen = Reservoir(settings.reservoir, columns, width)
        self.refresh()

    def see(self, episodes: Episodes, met: Met, follows: Ints) -> None:
        """Keep transitions, and what the response does where it was followed.

        Args:
            episodes: of everybody.
            met: their infosets.
            follows: int64 [B], 0 where this player followed its response.
        """
        own, described = np.flatnonzero(episodes.player == self.player), met.described()
        here = episodes.infoset[own]
        following = next_own(episodes.first, episodes.player, episodes.infoset, episodes.payoffs.shape[1])[own]
        ends, episode = following < 0, episode_of(episodes)[own]
        after = np.where(ends[:, None], np.float32(0.0), described[np.maximum(following, 0)])
        rewards = np.where(ends, episodes.payoffs[episode, self.player], 0.0).astype(np.float32)
        self.transitions.add((described[here], episodes.action[own], after, rewards), self.settings.memory)
        places = described[here[follows[episode] == 0]]
        if len(places):
            rows = Rows(places, self.greedy(places).astype(np.float32), np.ones(len(places), np.float32))
            self.chosen.add(rows, self.generator)

    def learn(self, steps: int) -> float:
        """Steps of Q-learning on transitions drawn at random; the loss."""
        places, actions, following, rewards = self.transitions.ordered()
        drawn = self.generator.integers(0, len(rewards), steps * self.settings.batch)
        after = following[drawn]
        legal = self.target.legal(after)
        best = np.where(legal, self.target.values(after), -np.inf).max(axis=1)
        values = np.full((len(drawn), legal.shape[1]), np.nan, np.float32)
        values[np.arange(len(drawn)), actions[drawn]] = rewards[drawn] + np.where(legal.any(axis=1), best, 0.0)
        return self.response.fit(Rows(places[drawn], values, np.ones(len(drawn), np.float32)), steps, self.generator)

    def refresh(self) -> None:
        """Targets are now those of the values as they stand."""
        self.target.inner.module.load_state_dict(self.response.inner.module.state_dict())

    def imitate(self, steps: int) -> None:
        """Fit the average to what was chosen."""
        self.average.fit(self.chosen.rows, steps, self.generator)

    def greedy(self, places: Singles) -> Floats:
        """The response: the action of the greatest value has probability 1; float64 [n, columns]."""
        return best_rows(self.response.values(places), self.response.legal(places))

    def exploring(self, places: Singles, exploration: float) -> Floats:
        """The response with this share of all actions alike, float64 [n, columns]."""
        return exploration * uniform_rows(self.response.legal(places)) + (1.0 - exploration) * self.greedy(places)

    def averaged(self, places: Singles) -> Floats:
        """The average policy, float64 [n, columns]; uniform before there is one."""
        return self.average.values(places) if len(self.chosen) else uniform_rows(self.average.legal(places))

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that :meth:`restore` needs."""
        parts = {"response": self.response.state(), "target": self.target.state(), "average": self.average.state()}
        parts |= {"chosen": self.chosen.state(), "rows": dict(zip(PARTS, self.transitions.ordered(), strict=True))}
        return {f"{part}.{name}": array for part, arrays in parts.items() for name, array in arrays.items()}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what :meth:`state` returned.

        Raises:
            KeyError, ValueError, RuntimeError: the arrays do not fit.
        """

        def under(part: str) -> dict[str, NDArray[Any]]:
            return {name.removeprefix(f"{part}."): array for name, array in arrays.items() if name.startswith(f"{part}.")}

        for part in ("response", "target", "average", "chosen"):
            getattr(self, part).restore(under(part))
        self.transitions.restore(*(under("rows")[name] for name in PARTS))
