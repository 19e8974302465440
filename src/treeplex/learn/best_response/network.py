"""A best response as a network, for games of too many infosets for a table: the worth of actions from words of infostates.

Plays go side by side, with an action at random now and then. The targets of a play come from its end: an action is worth the
payoff, or, if a later own action was not the one that looked best, what the best looked worth there (Watkins 1989). The network
is fitted to the newest of them (Mnih et al. 2015, DQN; without its second network, since targets come mostly from payoffs).

Infostates are read as words: a number, a name or a sign, and its place. Each is one row of a table, found by a hash, so any
rules will do (Weinberger et al. 2009, feature hashing); so is each action. Payoffs are divided by the largest one seen so far.
"""

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from treeplex.base.storage.tensors import TensorFile, tensor, write_tensors
from treeplex.engine.sampling.streams import Stream
from treeplex.errors import FileError
from treeplex.forms.compile.views.infostate_tensors import WORD
from treeplex.forms.policies.tabular import AnyState
from treeplex.learn.best_response.held_out import TOGETHER
from treeplex.learn.best_response.positions import Position, World, decision
from treeplex.learn.common.device import torch_module
from treeplex.learn.common.fitting import Fitting
from treeplex.learn.common.random_state import random_state, set_random_state
from treeplex.learn.common.replay import Replay

Words = NDArray[np.int32]
FORMAT, VERSION = "treeplex best response network", 1
ROWS = 1 << 14
"""Rows of the table of words; 0 stands for none."""
WORDS = 96
"""Words of an infostate that are read at most, the last ones and the action included."""
KEPT = 100_000
"""Targets that the network is fitted to."""
BATCH, CLIP = 256, 1.0
"""Targets in a step of the fit, and the norm at which its gradient is cut."""
STEPS_PER_TARGET = 1 / 32
"""Steps of the fit for each new target: each is used about eight times."""


def words_of(infostate: str, action: int, seat: int) -> Words:
    """An action at an infostate as rows of the table of words, int32 [WORDS], 0 where there are no more."""
    texts = [f"{place}:{word}" for place, word in enumerate(re.findall(WORD, infostate))][-(WORDS - 1) :]
    found = np.zeros(WORDS, np.int32)
    codes = [1 + crc32(text.encode()) % (ROWS - 1) for text in (*texts, f"{seat} does {action}")]
    found[: len(codes)] = codes
    return found


def squared(net: Any, words: Any, targets: Any) -> Any:
    """Mean squared error."""
    return ((net(words).squeeze(1) - targets) ** 2).mean()


class NetworkPolicy:
    """A policy on rules that plays what looks best to a network.

    Attributes:
        spec: the text that names the game.
        players: how many.
        net: from words, int32 [N, WORDS], to what actions look worth, float32 [N, 1], in parts of some scale.
    """

    def __init__(self, spec: str, players: int, width: int, seed: int = 0) -> None:
        """A random network whose table and hidden layers have so many units.

        Raises:
            SpecError: PyTorch is not installed.
        """
        torch = torch_module()
        self.spec, self.players, self.width = spec, players, width
        with torch.random.fork_rng(devices=()):
            torch.manual_seed(seed)
            self.net = torch.nn.Sequential(
                torch.nn.EmbeddingBag(ROWS, width, mode="sum", padding_idx=0),
                torch.nn.ReLU(),
                torch.nn.Linear(width, width),
                torch.nn.ReLU(),
                torch.nn.Linear(width, 1),
            )
            torch.nn.init.normal_(self.net[0].weight, std=0.1)

    def valued(self, positions: Sequence[Position], seat: int) -> tuple[list[Words], list[NDArray[np.float32]]]:
        """For each position its actions as words, and what they look worth."""
        torch = torch_module()
        words = [np.array([words_of(each.infostate, action, seat) for action in each.actions]) for each in positions]
        with torch.no_grad():
            values = self.net(torch.from_numpy(np.concatenate(words))).squeeze(1).numpy()
        return words, np.split(values, np.cumsum([len(each) for each in words])[:-1])

    def choose(self, positions: Sequence[Position], seat: int) -> list[int]:
        """The number of the action that looks best at each position."""
        found = []
        for start in range(0, len(positions), TOGETHER):
            found += [int(values.argmax()) for values in self.valued(positions[start : start + TOGETHER], seat)[1]]
        return found

    def action_probabilities(self, state: AnyState, player_id: int | None = None) -> dict[int, float]:
        """``{action id: probability}`` at a state, one of them 1. Name and meaning are OpenSpiel's."""
        player = state.current_player() if player_id is None else player_id
        legal: list[int] = list(state.legal_actions())  # type: ignore[attr-defined]
        best = self.choose([decision(state.information_state_string(player), legal)], player)[0]
        return {action: float(number == best) for number, action in enumerate(legal)}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the network.

        Raises:
            FileError: it cannot be written.
        """
        about = {"format": FORMAT, "version": str(VERSION), "game": self.spec, "players": str(self.players)}
        weights = {name: tensor(weight.numpy()) for name, weight in self.net.state_dict().items()}
        write_tensors(path, {**about, "width": str(self.width)}, weights)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "NetworkPolicy":
        """Read what :meth:`save` wrote. Nothing is executed.

        Raises:
            FileError: missing, changed, or no such network.
            SpecError: PyTorch is not installed.
        """
        torch = torch_module()
        with TensorFile(path, FORMAT, VERSION) as file:
            try:
                found = cls(file.about.get("game", ""), int(file.about["players"]), int(file.about["width"]))
                weights = {name: torch.from_numpy(file.read(name, "F32").copy()) for name in found.net.state_dict()}
                shaped = {name: weights[name].reshape(own.shape) for name, own in found.net.state_dict().items()}
            except (KeyError, ValueError, RuntimeError) as error:
                raise FileError(f"{path}: the network is not whole; put back a copy") from error
        found.net.load_state_dict(shaped)
        return found


class NetworkResponse:
    """Learns what actions are worth by a network.

    Attributes:
        world: the game and the fixed agent.
        policy: plays what looks best to the network.
        fitting: the network, its optimizer and targets.
        scale: the largest payoff seen so far, by amount.
    """

    def __init__(self, world: World, seed: int, *, width: int, learning_rate: float) -> None:
        """Begin with a random network.

        Args:
            world: the game and the fixed agent.
            seed: of the network and of all plays.
            width: units of the word table and of the hidden layers.
            learning_rate: Adam's step.

        Raises:
            SpecError: PyTorch is not installed.
        """
        self.world, self.seed, self.learning_rate = world, seed, learning_rate
        self.policy = NetworkPolicy(world.spec, world.players, width, seed)
        rows = Replay(np.zeros((0, WORDS), np.int32), np.zeros(0, np.float32), room=KEPT)
        self.fitting = Fitting(self.policy.net, rows, ("words", "targets"), squared)
        self.generator, self.scale, self._owed = np.random.default_rng(seed), 1.0, 0.0

    def learn(self, episode: int, exploration: float, count: int) -> float | None:
        """Play so many plays in each seat and fit the network; the loss, None where no step was due.

        Args:
            episode: the number of the first.
            exploration: the share of actions that are drawn at random.
            count: of plays.
        """
        words, targets = [], []
        for seat in range(self.world.players):
            streams = [Stream(self.seed, episode + number, seat) for number in range(count)]
            for chosen, worth in self._played(seat, streams, exploration):
                words.append(chosen)
                targets.append(worth)
        if not words:
            return None
        self.fitting.rows.add((np.array(words), np.array(targets, np.float32) / self.scale), KEPT)
        self._owed += len(words) * STEPS_PER_TARGET
        losses = []
        while self._owed >= 1:
            self._owed -= 1
            losses.append(self.fitting.step(self.generator, batch=BATCH, rate=self.learning_rate, clip=CLIP))
        return float(np.mean(losses)) if losses else None

    def _played(self, seat: int, streams: Sequence[Stream], exploration: float) -> list[tuple[Words, float]]:
        """Actions taken, as words, and what came of them."""
        positions = [self.world.begin(seat, stream) for stream in streams]
        steps: list[list[tuple[Words, bool, float]]] = [[] for _ in positions]
        while going := [number for number, position in enumerate(positions) if position.actions]:
            for number, words, values in zip(
                going, *self.policy.valued([positions[each] for each in going], seat), strict=True
            ):
                best = int(values.argmax())
                random = self.generator.random() < exploration
                action = int(self.generator.integers(len(values))) if random else best
                steps[number].append((words[action], action == best, float(values[best]) * self.scale))
                positions[number] = positions[number].after(action)
        self.scale = max([self.scale, *(abs(payoff) for position in positions for payoff in position.payoffs)])
        found = []
        for position, taken in zip(positions, steps, strict=True):
            worth = float(position.payoffs[seat])
            for words, was_best, best_value in reversed(taken):
                found.append((words, worth))
                worth = worth if was_best else best_value
        return found

    def choose(self, positions: Sequence[Position], seat: int) -> list[int]:
        """The number of the action that looks best at each position."""
        return self.policy.choose(positions, seat)

    def state(self) -> dict[str, NDArray[Any]]:
        """Network, optimizer, targets and random numbers, as arrays."""
        counts = np.array([self.scale, self._owed])
        return {**self.fitting.state(), "random": random_state(self.generator), "counts": counts}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what :meth:`state` returned.

        Raises:
            KeyError, ValueError, RuntimeError: the arrays do not fit.
        """
        self.fitting.restore(arrays)
        set_random_state(self.generator, arrays["random"])
        self.scale, self._owed = map(float, arrays["counts"])
