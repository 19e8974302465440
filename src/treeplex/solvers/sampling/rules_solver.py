"""Monte Carlo CFR on rules: the schemes of :mod:`treeplex.solvers.sampling.solver` for games too large to compile.

A walk asks the rules for one state after another; tables grow as infosets are met, within a limit. On a game that can be
compiled, the tables are those of the compiled walks.
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
    """Any :class:`treeplex.solvers.sampling.solver.SamplingScheme` on rules. One iteration is one walk for each player in turn.

    An infoset enters the tables when its player's walk first comes by (when anybody's does, if the scheme learns or counts
    there). Once the memory limit is reached no more do: infosets outside the tables are played uniformly and not learned, all
    that is in the tables is learned on, and visits outside are counted. So a run with a limit solves the game in which those
    infosets are fixed; since infosets enter as they are met, they are the ones seldom met.

    Attributes:
        game: the rules, with moves one at a time.
        iteration: iterations done.
        nodes: histories walked.
        unstored: visits of infosets for which there was no memory.
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
            scheme: which actions are followed.
            options: what it is combined with.
            seed: of everything random.
            most_bytes: memory that tables may take, by an upper estimate; None for any. Python, its libraries and the rules
                come on top.
            algorithm: text of the algorithm.
            functions: whether the rules are walked as Numba functions where there are any; else as Python, slowly.

        Raises:
            SpecError: an option outside its range.
            AlgorithmError: options that need the whole game, or are not sound here.
            GameError: rules that cannot be walked.
        """
        self.game, self.scheme, self.options = turn_by_turn(load(game).enumerable_rules()), scheme, options or SamplingOptions()
        self.algorithm, self.seed = algorithm or scheme.name, seed % 2**63
        if most_bytes is not None and most_bytes < LEAST_BYTES:
            raise SpecError(f"a memory limit is at least {LEAST_BYTES:,} bytes, not {most_bytes!r}")
        check_averaging(scheme, self.options.averaging, self.game.num_players)
        self.schedule = SampledSchedule(self.options.variant)
        self.rules: SchemeCodes = self.options.rules(scheme, self.schedule)
        self._check_options()
        self.most_bytes = most_bytes
        self.walks = self._walks(functions)
        self.iteration = 0
        self._torn = False

    def _walks(self, functions: bool) -> "PythonWalks | NumbaWalks":
        """Walks with empty tables; of Numba functions if these are asked for and there are any."""
        rules = self.game.numba_rules() if functions else None
        if isinstance(rules, NumbaRules):
            return NumbaWalks(self.game, rules, self.rules, self.options.key, self.most_bytes)
        return PythonWalks(self.game, self.rules, self.options.key, self.most_bytes)

    def _check_options(self) -> None:
        """Refuse what needs all infosets or histories at every iteration."""
        for name, code, wrong, instead in (
            ("averaging=full", self.rules.averaging, FULL, "averaging=lazy, which is as exact"),
            ("baseline=oracle", self.rules.baseline, ORACLE, "baseline=learned"),
        ):
            if code == wrong:
                raise AlgorithmError(f"{name} sweeps the whole game, which walks over rules do not have; use {instead}")
        if self.options.quantiles:
            raise AlgorithmError("quantiles are kept for each chance node of a compiled game; leave them out (es-mccfr)")
        if self.options.threads > 1:
            raise AlgorithmError("walks over rules run in one thread, since rules are Python; leave threads out")

    def run(self, iterations: int, *, nodes: int | None = None) -> None:
        """Run ``iterations`` more iterations; stop early at the limit of histories.

        Raises:
            GameError: what the rules do is not right; tables are then in the middle of a walk and cannot be saved or used on.
            AlgorithmError: an earlier walk was broken off.
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
        """Raise :class:`AlgorithmError` if a walk was broken off, so that tables are not those of any iteration."""
        if self._torn:
            raise AlgorithmError("a walk was broken off, so the tables are incomplete; resume from the last saved state")

    @property
    def nodes(self) -> int:
        """Histories walked."""
        return self.walks.nodes

    @property
    def unstored(self) -> int:
        """Visits of infosets for which there was no memory."""
        return self.walks.unstored

    @property
    def infosets(self) -> int:
        """Infosets in the tables."""
        return self.walks.infosets

    @property
    def bytes(self) -> int:
        """Memory that the tables take, an upper estimate; below the limit."""
        return self.walks.bytes

    @property
    def full(self) -> bool:
        """Whether the memory limit was reached, so that no more infosets enter."""
        return self.walks.full

    def average_policy(self) -> TablePolicy:
        """The average policy as it stands; it shares the infosets with the tables, and stays as it is while they grow."""
        self.check_whole()
        return self._policy(average=True)

    def current_policy(self) -> TablePolicy:
        """The policy of the next iteration."""
        return self._policy(average=False)

    def _policy(self, *, average: bool) -> TablePolicy:
        about = {"algorithm": self.algorithm, "iterations": str(self.iteration)}
        return TablePolicy(self.game.spec, *self.walks.policies(average=average), about)

    def tensors(self) -> Mapping[str, Tensor]:
        """Everything from which :meth:`restore` goes on bit for bit; nothing is copied."""
        self.check_whole()
        most = -1 if self.most_bytes is None else self.most_bytes
        counts = [self.iteration, self.nodes, self.unstored, int(self.full), most, self.seed]
        return {
            **self.walks.tensors(),
            "counts": tensor(np.array(counts, np.int64)),
            "schedule": tensor(self.schedule.running),
        }

    def restore(self, file: TensorFile) -> None:
        """Go on from what :meth:`tensors` gave; for a new sampler. With a larger limit than before, more infosets may enter.

        Raises:
            FileError: it does not fit this sampler.
            SpecError: the tables are larger than the limit.
        """
        counts, running = file.read("counts", "I64"), file.read("schedule", "F64")
        if counts.shape != (6,) or running.shape != self.schedule.running.shape or counts[5] != self.seed:
            raise FileError(f"{file.path}: the state of another run; put back the right file")
        if isinstance(self.walks, NumbaWalks) != ("walks" in file):
            self.walks = self._walks("walks" in file)
        self.walks.restore(file)
        if self.most_bytes is not None and self.bytes > self.most_bytes:
            raise SpecError(f"the tables take {self.bytes:,} bytes already, more than the memory limit of {self.most_bytes:,}")
        self.iteration = int(counts[0])
        self.walks.resume(counts[1:3].tolist(), full=bool(counts[3]) and (self.most_bytes or 2**62) <= counts[4])
        self.schedule.running[:] = running


@final
class PythonWalks:
    """Tables that grow as walks in Python meet infosets.

    Attributes:
        tables: of all players.
        nodes, unstored: as of the sampler.
    """

    def __init__(self, game: Game, rules: SchemeCodes, key: str, most_bytes: int | None) -> None:
        """Empty tables."""
        self.rules, self.root = rules, game.new_initial_state()
        self.tables = GrowingTables(rules, game.num_players, key, most_bytes)
        self.nodes = self.unstored = 0

    def iterate(self, seed: int, first: int, weights: Floats, most_nodes: int) -> int:
        """One iteration: a walk for every player in turn. Returns 1; see :meth:`NumbaWalks.iterate`."""
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
        """Infosets in the tables."""
        return self.tables.infosets

    @property
    def bytes(self) -> int:
        """Memory that tables take, an upper estimate."""
        return self.tables.book.used

    @property
    def full(self) -> bool:
        """Whether the memory limit was reached."""
        return self.tables.book.full

    def policies(self, *, average: bool) -> tuple[list[Infosets], list[Floats]]:
        """Each player's infosets and probabilities [S], of the average or of the next iteration."""
        tables = self.tables.players
        found = [table.average_policy() if average else np.array(table.policy, np.float64) for table in tables]
        return [table.infosets for table in tables], found

    def tensors(self) -> dict[str, Tensor]:
        """Everything, to be written; nothing is copied."""
        return self.tables.tensors()

    def restore(self, file: TensorFile) -> None:
        """Fill empty tables with what :meth:`tensors` gave.

        Raises:
            FileError: the tensors do not fit.
        """
        self.tables.restore(file)

    def resume(self, counts: Sequence[int], *, full: bool) -> None:
        """Restore the counts of histories walked and visits unstored, and whether memory is full."""
        self.nodes, self.unstored = counts
        self.tables.book.full = full
