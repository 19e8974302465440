"""A policy on a hold'em spot: the strategy of each hand on every line, with views and evaluation."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import PolicyError, SpecError
from treeplex.evaluate import Judgement
from treeplex.holdem.cards.cards import parse_cards
from treeplex.holdem.engine.form import COUNT, HANDS, Store
from treeplex.holdem.engine.passes import BEST, REPLY, BoardPool
from treeplex.holdem.forms.compile_spot import CompiledSpot
from treeplex.holdem.forms.layout import own_parts
from treeplex.holdem.forms.spot_form import FixedStrategy, store_of_policy
from treeplex.holdem.policies.judge import judge_spot, judging_crew, root_values
from treeplex.holdem.policies.line import action_text
from treeplex.holdem.policies.locks import with_locks
from treeplex.holdem.policies.mapping import HoldemMapping
from treeplex.holdem.policies.node_values import HoldemValues
from treeplex.holdem.policies.view import Browser, NodeView
from treeplex.holdem.spots.spot import Spot


@dataclass(frozen=True, eq=False)
class HoldemPolicy(HoldemMapping):
    """A policy of both players on a compiled spot: ``policy.at("x,b50%")``, ``policy["x,b50%", "AsKs"]``.

    Attributes:
        game: the compiled spot.
        average: [Q], the unnormalised policy (uniform where it is zero), as in :class:`treeplex.holdem.engine.form.Store`, for
            the first ``streets`` streets.
        scales: float32, for 16-bit numbers; else empty.
        locks: locked strategies, which best responses respect.
        streets: number of streets that ``average`` covers.
        ends: values at the ends of streets if ``average`` does not cover all; see :class:`HoldemValues`.
        threads: threads for evaluation.
    """

    game: CompiledSpot
    average: NDArray[Any] = field(repr=False)
    scales: NDArray[Any] = field(repr=False)
    locks: tuple[FixedStrategy, ...] = ()
    streets: int = 0
    ends: NDArray[np.float64] | None = field(repr=False, default=None)
    threads: int = 1

    @classmethod
    def uniform(cls, game: CompiledSpot, *, locks: Sequence[FixedStrategy] = (), threads: int = 1) -> "HoldemPolicy":
        """The uniform policy."""
        none = np.zeros(0, np.float32)
        return cls(game, np.zeros(game.stored, np.float32), none, tuple(locks), len(game.boards), threads=threads)

    @property
    def spot(self) -> Spot:
        """The spot."""
        return self.game.spot

    @property
    def whole(self) -> bool:
        """Whether the policy covers all streets."""
        return self.streets == len(self.game.boards)

    @cached_property
    def hand_values(self) -> HoldemValues:
        """Values at all nodes under this policy."""
        average = with_locks(self.game, self.average, self.locks) if self.whole else self.average
        return HoldemValues(self.game, average, self.scales, threads=self.threads, ends=self.ends)

    @cached_property
    def _browser(self) -> Browser:
        return Browser(self.hand_values, streets=self.streets)

    def at(self, line: str = "") -> NodeView:
        """The node at the end of a line such as ``x, b50%, c, 7s``; see :mod:`treeplex.holdem.policies.line`.

        Raises:
            SpecError: the line does not exist in the spot; the message lists the possible steps.
        """
        return self._browser.view(line)

    def locked(self, line: str = "") -> NDArray[np.bool_]:
        """Whether each hand of ``at(line).hands`` is locked at the end of a line, bool [n]."""
        return self._browser.locked(line, self.locks)

    def __getitem__(self, key: tuple[str, str]) -> dict[str, float]:
        """``{action: probability}`` of a hand (``"AsKs"``) at the end of a line (``"x,b50%"``), with actions as in lines.

        Raises:
            SpecError: the line does not exist in the spot, or does not end at a decision.
            KeyError: the player cannot hold the hand there.
        """
        line, hand = key
        view, cards = self.at(line), sorted(parse_cards(hand))
        if view.player is None:
            raise SpecError(f"no player acts at {line!r}; name a line that ends at a decision")
        for column, row in enumerate(view.hands):
            if sorted(map(int, self.game.spot.format.hands[row])) == cards:
                return {action_text(action): float(view.strategy[a, column]) for a, action in enumerate(view.actions)}
        raise KeyError(key)

    def judge(self) -> Judgement:
        """Exploitability, NashConv and values, in chips relative to half of the starting pot.

        Raises:
            PolicyError: the policy was saved without its last streets.
        """
        self.check_whole()
        average = with_locks(self.game, self.average, self.locks)
        store = store_of_policy(self.game, average, self.scales, self.locks)
        return judge_spot(self.game, average, store, judging_crew(self.game, self.threads))

    def best_response(self, player: int) -> "tuple[float, HoldemPolicy]":
        """The value of ``player``'s best response, in chips, and the policy with that player's strategy replaced by it.

        Raises:
            PolicyError: there is no such player, numbers have 16 bits, or the last streets are missing.
        """
        value, store, crew = self._reply(player)
        crew.descend(player, store.regrets, self.scales, store, keep=0.0, add=1.0, streets=len(self.game.boards))
        none = self.scales[:0]
        return value, HoldemPolicy(self.game, store.average, none, self.locks, self.streets, threads=self.threads)

    def response_values(self, player: int) -> HoldemValues:
        """Values at all nodes if ``player`` plays its best response, including nodes that it does not reach.

        Raises:
            PolicyError: as in :meth:`best_response`.
        """
        _, store, _ = self._reply(player)
        for part in own_parts(self.game, player, len(self.game.boards)):
            store.average[part] = store.regrets[part]
        return HoldemValues(self.game, store.average, threads=self.threads)

    def _reply(self, player: int) -> tuple[float, Store, BoardPool]:
        """A player's best-response value, and a store whose regrets hold the response and whose average is this policy."""
        self.check_whole()
        if player not in (0, 1):
            raise PolicyError(f"a spot has players 0 and 1, not {player}")
        if self.scales.size:
            raise PolicyError("best responses do not support 16-bit policies; solve with storage float32")
        game, crew = self.game, judging_crew(self.game, self.threads)
        average = with_locks(game, self.average, self.locks)
        store = store_of_policy(game, average, self.scales, self.locks)
        first, count = game.form.boards[0, HANDS + player], game.form.boards[0, COUNT + player]
        weights = game.form.weights[first : first + count]
        value = float(weights @ root_values(crew, player, BEST, average, store)) / game.compatible
        store = store._replace(regrets=np.zeros_like(average), average=average.copy())
        store.regrets[store.lock_places] = store.lock_values
        crew.answer(player, REPLY, average, self.scales, store)
        store.regrets[store.lock_places] = store.lock_values
        return value, store, crew

    def check_whole(self) -> None:
        """Reject a policy saved without its last streets."""
        if not self.whole:
            raise PolicyError(
                "evaluation needs all streets, but this policy was saved without its last streets; save the whole solution"
            )

    def __repr__(self) -> str:
        return f"<policy for {self.game}: {len(self):,} infosets>"
