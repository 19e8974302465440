"""Monte Carlo CFR on Numba rules by compiled walks; infostate strings are computed on demand."""

from collections.abc import Sequence
from math import inf
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.base.storage.tensors import Tensor, TensorFile, tensor
from treeplex.engine.sampling.lazy_tables import UNKNOWN_PARENT, normalise_met, settle_averages
from treeplex.engine.sampling.sampled_tables import AVERAGE, MARK, POLICY, Tables
from treeplex.engine.sampling.schemes import LAZY, LEARNED, OPPONENT, SchemeCodes
from treeplex.engine.sampling.streams import Stream
from treeplex.engine.uncompiled import sampled_tables
from treeplex.engine.uncompiled.discover import ACTIONS, FIRST, LEVEL, NO_FAULT, PARENT, PATH, PLAYER, TOO_LONG, rehashed
from treeplex.engine.uncompiled.sampled_tables import RulesTables, Run, StorageRules, new_tables
from treeplex.engine.uncompiled.sampling import MOST_WALKED, sample_rules
from treeplex.errors import FileError, GameError
from treeplex.forms.compile.numba_rules import CompiledRules, raise_fault, try_rules
from treeplex.forms.compile.stepping import outcomes
from treeplex.forms.policies.sparse import Infosets, text_bytes
from treeplex.games.base import CHANCE, TERMINAL, Game
from treeplex.games.numba_rules import NumbaGame, NumbaRules
from treeplex.solvers.sampling.rules_tables import DICT_BYTES, NUMBER_BYTES
from treeplex.solvers.sampling.rules_walk import too_long

AT_ONCE = 1 << 20
"""Histories between two checks for Ctrl-C."""
TEXTS = 64
"""Number of playouts that estimate the longest infostate."""


@final
class NumbaWalks:
    """Compiled walks with growing tables; see :class:`treeplex.solvers.sampling.rules_solver.RulesSampler`."""

    def __init__(self, game: Game, functions: NumbaRules, rules: SchemeCodes, key: str, most_bytes: int | None) -> None:
        """Compile the functions.

        Args:
            game: the game as ordinary rules, which provide infostate strings.
            functions: the functions.
            rules: the scheme.
            key: key of baselines.
            most_bytes: memory limit of the tables.

        Raises:
            GameError: a function fails.
        """
        self.game, self.rules = game, rules
        try_rules(game, NumbaGame(functions), inf)
        self.compiled = CompiledRules(functions)
        learns, players = rules.baseline == LEARNED, functions.players
        by_slot = learns and key == "infoset"
        moved = 4 + 1  # the longest row of an array that is being copied to a longer one
        keeping = StorageRules(
            everybody=by_slot or rules.averaging == OPPONENT,
            by_history=learns and not by_slot,
            by_slot=by_slot,
            infoset_bytes=8 * (8 + 3 + 4) + DICT_BYTES + NUMBER_BYTES + longest_text(game),
            slot_bytes=8 * (4 + 1 + 2 * rules.discounts + players * by_slot + moved + 2),  # also for a policy
            step_bytes=4,
            history_bytes=8 * (1 + 2 * players),
            most_bytes=2**62 if most_bytes is None else most_bytes,
        )
        self.run = Run(self.compiled.calls, rules, keeping)
        self.tables = new_tables(self.compiled.calls, rules)
        self._texts = [Infosets() for _ in range(players)]
        self._written = 0

    def iterate(self, seed: int, first: int, weights: Floats, most_nodes: int) -> int:
        """Run iterations from ``first`` by weight rows; stop early at ``most_nodes`` histories.

        Returns:
            Number of iterations done, possibly fewer than rows.

        Raises:
            GameError: the rules are invalid.
            AlgorithmError: a walk is too long, see :func:`treeplex.solvers.sampling.rules_walk.too_long`.
        """
        pause = min(most_nodes, self.nodes + AT_ONCE)
        self.tables, done, fault, detail, path = sample_rules(
            self.run, self.compiled.start, self.tables, (seed, first), weights, pause
        )
        if fault == TOO_LONG:
            raise too_long(MOST_WALKED)
        if fault != NO_FAULT:
            raise_fault(self.game, (self.tables.infosets, self.tables.action_ids), fault, detail, path.tolist())
        return done

    @property
    def nodes(self) -> int:
        """Number of visited histories."""
        return int(self.tables.counts[sampled_tables.WALKED])

    @property
    def unstored(self) -> int:
        """Number of visits to infosets not stored for lack of memory."""
        return int(self.tables.counts[sampled_tables.UNSTORED])

    @property
    def infosets(self) -> int:
        """Number of infosets in the tables."""
        return int(self.tables.counts[sampled_tables.INFOSETS])

    @property
    def bytes(self) -> int:
        """Conservative estimate of the tables' memory, in bytes."""
        return int(self.tables.counts[sampled_tables.USED])

    @property
    def full(self) -> bool:
        """Whether the memory limit was reached."""
        return bool(self.tables.counts[sampled_tables.FULL])

    def policies(self, *, average: bool) -> tuple[list[Infosets], list[Floats]]:
        """Return each player's infosets and probabilities [S] of the average or the next policy.

        Raises:
            GameError: the functions distinguish more histories than the ordinary rules.
        """
        self._write_texts()
        return self._texts, [self._policy(player, average) for player in range(len(self._texts))]

    def _policy(self, player: int, average: bool) -> Floats:
        tables = self.tables
        infosets = tables.infosets[: self.infosets]
        infosets = infosets[infosets[:, PLAYER] == player]
        first = np.concatenate(([0], np.cumsum(infosets[:, ACTIONS])))
        slots = np.repeat(infosets[:, FIRST] - first[:-1], infosets[:, ACTIONS]) + np.arange(first[-1])
        if not average:
            current: Floats = tables.held.rows[slots, POLICY]
            return current
        weights: Floats = tables.held.rows[slots, AVERAGE]
        if self.rules.averaging == LAZY:
            rows = np.zeros(int(tables.counts[sampled_tables.SLOTS]), np.int64)
            rows[slots] = np.arange(len(slots))
            parents = np.where(infosets[:, PARENT] >= 0, rows[infosets[:, PARENT]], infosets[:, PARENT])
            marks, policy = tables.held.rows[infosets[:, FIRST], MARK], tables.held.rows[slots, POLICY]
            settle_averages(first, parents, marks, policy, float(tables.held.totals[player]), weights)
        normalise_met(first, weights)
        return weights

    def _write_texts(self) -> None:
        """Compute the infostate strings of newly visited infosets from their first histories."""
        tables, states, path = self.tables, [self.game.new_initial_state()], list[int]()
        for row in tables.infosets[self._written : self.infosets].tolist():
            actions = tables.paths[row[PATH] : row[PATH] + row[LEVEL]].tolist()
            same = 0
            while same < min(len(path), len(actions)) and path[same] == actions[same]:
                same += 1
            del states[same + 1 :]
            for action in actions[same:]:
                states.append(states[-1].child(action))
            path, known = actions, self._texts[row[PLAYER]]
            infostate = states[-1].information_state_string(row[PLAYER])
            if infostate in known.lookup:
                raise GameError(
                    f"{self.game}: infoset() differs in two histories of infostate {infostate!r}; make the Numba functions "
                    "and the Python rules agree (treeplex check compares them)"
                )
            known.add(infostate, tables.action_ids[row[FIRST] : row[FIRST] + row[ACTIONS]].tolist())
            self._written += 1

    def tensors(self) -> dict[str, Tensor]:
        """Return all tables for writing."""
        tables, counts = self.tables, self.tables.counts.tolist()
        slots = counts[sampled_tables.SLOTS]
        arrays: dict[str, NDArray[Any]] = {
            "infosets": tables.infosets[: self.infosets],
            "action_ids": tables.action_ids[:slots],
            "paths": tables.paths[: counts[sampled_tables.STEPS]],
            "rows": tables.held.rows[:slots],
            "logs": tables.held.logs[:slots],
            "totals": tables.held.totals,
            "children": tables.children[: counts[sampled_tables.HISTORIES]],
            "baselines": tables.baselines[: max(slots, counts[sampled_tables.HISTORIES])],
            "walks": tables.counts,
        }
        return {name: tensor(array) for name, array in arrays.items()}

    def restore(self, file: TensorFile) -> None:
        """Restore the tables of :meth:`tensors`.

        Raises:
            FileError: the tensors do not match.
        """
        held, counts = self.tables.held, file.read("walks", "I64")
        infosets, rows, logs = file.read("infosets", "I64"), file.read("rows", "F64"), file.read("logs", "F64")
        tables = RulesTables(
            infosets=infosets,
            places=rehashed(infosets, len(infosets), 4 * (len(infosets) + 1)),
            action_ids=file.read("action_ids", "I64"),
            paths=file.read("paths", "I32"),
            held=Tables(rows, logs, file.read("totals", "F64"), held.baselines, held.quantiles),
            children=file.read("children", "I64"),
            baselines=file.read("baselines", "F64"),
            counts=counts,
        )
        if not fits(tables, self.tables):
            raise FileError(f"{file.path}: state belongs to another run; restore the matching file")
        self.tables = tables
        self._texts, self._written = [Infosets() for _ in self._texts], 0

    def resume(self, counts: Sequence[int], *, full: bool) -> None:
        """Resume; ``full`` says whether the memory limit is still reached. The tables already contain ``counts``."""
        self.tables.counts[sampled_tables.FULL] = full


def fits(tables: RulesTables, blank: RulesTables) -> bool:
    """Return whether tables from a file are consistent with each other and with the run's ``blank`` tables."""
    counts = tables.counts.tolist() if tables.counts.shape == blank.counts.shape else [0] * sampled_tables.COUNTS
    infosets, slots, steps, histories = counts[: sampled_tables.USED]
    rows = tables.infosets
    players, baseline_rows = len(blank.held.totals), max(slots, histories)
    shapes = (
        tables.infosets.shape == (infosets, 8)
        and tables.held.rows.shape == (slots, 4)
        and tables.action_ids.shape == (slots,)
        and tables.held.logs.shape == (slots if len(blank.held.logs) else 0, 2)
        and tables.paths.shape == (steps,)
        and tables.held.totals.shape == (players,)
        and tables.children.shape == (histories,)
        and tables.baselines.shape == (baseline_rows if len(blank.baselines) else 0, players)
    )
    if not shapes:
        return False
    within = [
        (rows[:, PLAYER], 0, players),
        (rows[:, FIRST], 0, slots - rows[:, ACTIONS] + 1),
        (rows[:, ACTIONS], 1, slots + 1),
        (rows[:, PARENT], UNKNOWN_PARENT, slots),
        (rows[:, PATH], 0, steps - rows[:, LEVEL] + 1),
        (rows[:, LEVEL], 0, steps + 1),
        (tables.children, 0, histories),
    ]
    return all(bool(((column >= low) & (column < high)).all()) for column, low, high in within)


def longest_text(game: Game) -> int:
    """Return the bytes of the longest infostate in random playouts."""
    longest = 0
    for number in range(TEXTS):
        state, stream = game.new_initial_state(), Stream(0, number, 0)
        while (actor := state.current_player()) != TERMINAL:
            actions = outcomes(state)[0] if actor == CHANCE else list(state.legal_actions())
            if actor != CHANCE:
                longest = max(longest, text_bytes(state.information_state_string(actor)))
            state = state.child(actions[int(stream.draw() * len(actions))])
    return longest
