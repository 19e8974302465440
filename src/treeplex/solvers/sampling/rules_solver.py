"""Monte Carlo CFR on rules: the schemes of :mod:`treeplex.solvers.sampling.solver` for games too large to compile.

A walk computes states from the rules, and tables grow with visited infosets up to a limit. On games that can be compiled, the
tables equal those of the compiled walks.
"""

from collections.abc import Mapping, Sequence
from typing import final

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.base.storage.tensors import Tensor, TensorFile, tensor
from treeplex.engine.sampling.schemes import AVERAGE_WEIGHT, FULL, ORACLE, SchemeCodes
from treeplex.errors import AlgorithmError, FileError, SpecError, TreeplexError
from treeplex.forms.compile.rule_errors import failed_rules
from treeplex.forms.compile.stepping import turn_by_turn
from treeplex.forms.policies.sparse import Infosets, TablePolicy
from treeplex.forms.sources.load import load
from treeplex.games.base import Game
from treeplex.games.numba_rules import NumbaRules
from treeplex.solvers.sampling.numba_walks import NumbaWalks
from treeplex.solvers.sampling.rules_tables import GrowingTables
from treeplex.solvers.sampling.rules_walk import HistoryWalk, StreamChoices
from treeplex.solvers.sampling.schedule import SampledSchedule
from treeplex.solvers.sampling.solver import SamplingOptions, SamplingScheme, check_averaging

LEAST_BYTES = 1 << 16


@final
class RulesSampler:
    """Any :class:`treeplex.solvers.sampling.solver.SamplingScheme` on rules; an iteration is one walk per player.

    An infoset is added to the tables on the first visit by its player's walk (or by any walk, if the scheme updates it there).
    Once the memory limit is reached, no more are added: play at other infosets stays uniform, and visits to them are counted. A
    run with a limit thus solves the game with a fixed policy at those infosets, which are the rarely visited ones.

    Attributes:
        game: the rules with sequential moves.
        iteration: iterations done.
        nodes: histories walked.
        unstored: visits to infosets not stored for lack of memory.
    """

    def __init__(
        self,
        game: str | Game,
        scheme: SamplingScheme,
        options: SamplingOptions | None = None,
        *,
        seed: int = 0,
        most_bytes: int | None = None,
        algorithm: str | None = None,
        functions: bool = True,
    ) -> None:
        """Start from the uniform policy.

        Args:
            game: rules or a spec.
            scheme: the sampling scheme.
            options: options of the scheme.
            seed: random seed.
            most_bytes: memory limit of the tables, by an upper estimate, without Python, libraries and rules; None for no
                limit.
            algorithm: canonical spec of the algorithm.
            functions: whether to use Numba functions of the rules if available, instead of slow Python walks.

        Raises:
            SpecError: an option is out of range.
            AlgorithmError: an option needs the compiled game, or is unsound here.
            GameError: the rules cannot be walked.
        """
        self.game, self.scheme, self.options = turn_by_turn(load(game).enumerable_rules()), scheme, options or SamplingOptions()
        self.algorithm, self.seed = algorithm or scheme.name, seed % 2**63
        if most_bytes is not None and most_bytes < LEAST_BYTES:
            raise SpecError(f"memory limit must be at least {LEAST_BYTES:,} bytes, not {most_bytes!r}")
        check_averaging(scheme, self.options.averaging, self.game.num_players)
        self.schedule = SampledSchedule(self.options.variant)
        self.rules: SchemeCodes = self.options.rules(scheme, self.schedule)
        self._check_options()
        self.most_bytes = most_bytes
        self.walks = self._walks(functions)
        self.iteration = 0
        self._torn = False

    def _walks(self, functions: bool) -> "PythonWalks | NumbaWalks":
        """Return walks with empty tables, using Numba functions if requested and available."""
        rules = self.game.numba_rules() if functions else None
        if isinstance(rules, NumbaRules):
            return NumbaWalks(self.game, rules, self.rules, self.options.key, self.most_bytes)
        return PythonWalks(self.game, self.rules, self.options.key, self.most_bytes)

    def _check_options(self) -> None:
        """Check that no option needs all infosets or histories in every iteration."""
        for name, code, wrong, instead in (
            ("averaging=full", self.rules.averaging, FULL, "averaging=lazy, which is also exact"),
            ("baseline=oracle", self.rules.baseline, ORACLE, "baseline=learned"),
        ):
            if code == wrong:
                raise AlgorithmError(f"{name} needs a compiled game; without one, use {instead}")
        if self.options.quantiles:
            raise AlgorithmError("'quantiles' needs a compiled game; leave it out (es-mccfr)")
        if self.options.threads > 1:
            raise AlgorithmError("sampling from rules in Python uses one thread; leave out 'threads'")

    def run(self, iterations: int, *, nodes: int | None = None) -> None:
        """Run ``iterations`` more iterations; stop early at the limit of histories.

        Raises:
            GameError: the rules are invalid; the tables are then incomplete and cannot be saved or used.
            AlgorithmError: an earlier walk was interrupted.
        """
        self.check_whole()
        limit = 2**62 if nodes is None else nodes
        for weights in self.schedule.chunks(self.iteration, iterations):
            begin = 0
            while begin < len(weights):
                self._torn = True
                done = self.walks.iterate(self.seed, self.iteration + 1, weights[begin:], limit)
                self._torn = False
                begin, self.iteration = begin + done, self.iteration + done
                if self.nodes >= limit:
                    self.schedule.stop(self.iteration)
                    return

    def check_whole(self) -> None:
        """Raise :class:`AlgorithmError` if a walk was interrupted, which leaves incomplete tables."""
        if self._torn:
            raise AlgorithmError("a walk was interrupted, so the tables are incomplete; resume from the last saved state")

    @property
    def nodes(self) -> int:
        """Number of visited histories."""
        return self.walks.nodes

    @property
    def unstored(self) -> int:
        """Number of visits to infosets not stored for lack of memory."""
        return self.walks.unstored

    @property
    def infosets(self) -> int:
        """Number of infosets in the tables."""
        return self.walks.infosets

    @property
    def bytes(self) -> int:
        """Conservative estimate of the tables' memory, in bytes; below the limit."""
        return self.walks.bytes

    @property
    def full(self) -> bool:
        """Whether the memory limit is reached, so that no more infosets are added."""
        return self.walks.full

    def average_policy(self) -> TablePolicy:
        """Return the current average policy; it shares infosets with the tables but does not change as they grow."""
        self.check_whole()
        return self._policy(average=True)

    def current_policy(self) -> TablePolicy:
        """Return the policy of the next iteration."""
        return self._policy(average=False)

    def _policy(self, *, average: bool) -> TablePolicy:
        about = {"algorithm": self.algorithm, "iterations": str(self.iteration)}
        return TablePolicy(self.game.spec, *self.walks.policies(average=average), about)

    def tensors(self) -> Mapping[str, Tensor]:
        """Return the complete state for :meth:`restore` without copying."""
        self.check_whole()
        most = -1 if self.most_bytes is None else self.most_bytes
        counts = [self.iteration, self.nodes, self.unstored, int(self.full), most, self.seed]
        return {
            **self.walks.tensors(),
            "counts": tensor(np.array(counts, np.int64)),
            "schedule": tensor(self.schedule.running),
        }

    def restore(self, file: TensorFile) -> None:
        """Restore a new sampler from :meth:`tensors`; a larger memory limit than before is allowed.

        Raises:
            FileError: the state does not match this sampler.
            SpecError: the tables are larger than the limit.
        """
        counts, running = file.read("counts", "I64"), file.read("schedule", "F64")
        if counts.shape != (6,) or running.shape != self.schedule.running.shape or counts[5] != self.seed:
            raise FileError(f"{file.path}: state belongs to another run; restore the matching file")
        if isinstance(self.walks, NumbaWalks) != ("walks" in file):
            self.walks = self._walks("walks" in file)
        self.walks.restore(file)
        if self.most_bytes is not None and self.bytes > self.most_bytes:
            raise SpecError(
                f"the tables take {self.bytes:,} bytes already; raise the memory limit of {self.most_bytes:,} bytes"
            )
        self.iteration = int(counts[0])
        self.walks.resume(counts[1:3].tolist(), full=bool(counts[3]) and (self.most_bytes or 2**62) <= counts[4])
        self.schedule.running[:] = running


@final
class PythonWalks:
    """Walks in Python with growing tables.

    Attributes:
        tables: tables of all players.
        nodes, unstored: as in the sampler.
    """

    def __init__(self, game: Game, rules: SchemeCodes, key: str, most_bytes: int | None) -> None:
        """Create empty tables."""
        self.rules, self.root = rules, game.new_initial_state()
        self.tables = GrowingTables(rules, game.num_players, key, most_bytes)
        self.nodes = self.unstored = 0

    def iterate(self, seed: int, first: int, weights: Floats, most_nodes: int) -> int:
        """Run one iteration with a walk per player; return 1; see :meth:`NumbaWalks.iterate`."""
        rules, row = self.rules, weights[0].tolist()
        for player, table in enumerate(self.tables.players):
            table.total += row[AVERAGE_WEIGHT]
            choices = StreamChoices(seed, first, player)
            prunes = rules.prune > 0.0 and first > rules.prune_after and choices.happens(rules.prune, 1)
            walk = HistoryWalk(self.tables, rules, player, choices, row, prunes=prunes)
            try:
                walk.run(self.root)
            except (TreeplexError, MemoryError):
                raise
            except (Exception, SystemExit) as error:
                raise failed_rules(error, f"at {walk.at!r}") from error
            table.match(rules.floor, walk.touched)
            self.nodes += walk.nodes
            self.unstored += walk.unstored
        return 1

    @property
    def infosets(self) -> int:
        """Number of infosets in the tables."""
        return self.tables.infosets

    @property
    def bytes(self) -> int:
        """Conservative estimate of the tables' memory, in bytes."""
        return self.tables.book.used

    @property
    def full(self) -> bool:
        """Whether the memory limit was reached."""
        return self.tables.book.full

    def policies(self, *, average: bool) -> tuple[list[Infosets], list[Floats]]:
        """Return each player's infosets and probabilities [S] of the average or the next policy."""
        tables = self.tables.players
        policies = [table.average_policy() if average else np.array(table.policy, np.float64) for table in tables]
        return [table.infosets for table in tables], policies

    def tensors(self) -> dict[str, Tensor]:
        """Return all tables for writing, without copying."""
        return self.tables.tensors()

    def restore(self, file: TensorFile) -> None:
        """Restore empty tables from :meth:`tensors`.

        Raises:
            FileError: the tensors do not fit.
        """
        self.tables.restore(file)

    def resume(self, counts: Sequence[int], *, full: bool) -> None:
        """Restore the counts of visited histories and of visits not stored, and whether memory is full."""
        self.nodes, self.unstored = counts
        self.tables.book.full = full
