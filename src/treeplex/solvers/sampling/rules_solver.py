"""Monte Carlo CFR on rules: the schemes of :mod:`treeplex.solvers.sampling.solver` for games too large to compile.

A walk asks the rules for one state after another; tables grow as infosets are met, within a limit. On a game that can be
compiled, the tables are those of the compiled walks.
"""

from collections.abc import Mapping
from typing import Any, final

import numpy as np

from treeplex.engine.histories.walks import AVERAGE_WEIGHT, FULL, ORACLE, Rules
from treeplex.errors import AlgorithmError, FileError, SpecError, TreeplexError
from treeplex.forms.compile.rule_errors import failed_rules
from treeplex.forms.compile.stepping import turn_by_turn
from treeplex.forms.policies.sparse import TablePolicy
from treeplex.forms.sources.load import load_rules
from treeplex.games.base import Game, State
from treeplex.solvers.sampling.rules_tables import GrowingTables
from treeplex.solvers.sampling.rules_walk import StreamChoices, Walk
from treeplex.solvers.sampling.schedule import SampledSchedule
from treeplex.solvers.sampling.solver import SamplingOptions, SamplingScheme, check_averaging
from treeplex.storage.tensors import Tensor, TensorFile, tensor

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

        Raises:
            SpecError: an option outside its range.
            AlgorithmError: options that need the whole game, or are not sound here.
            GameError: rules that cannot be walked.
        """
        self.game, self.scheme, self.options = turn_by_turn(load_rules(game)), scheme, options or SamplingOptions()
        self.algorithm, self.seed = algorithm or scheme.name, seed % 2**63
        if most_bytes is not None and most_bytes < LEAST_BYTES:
            raise SpecError(f"a memory limit is at least {LEAST_BYTES:,} bytes, not {most_bytes!r}")
        check_averaging(scheme, self.options.averaging, self.game.num_players)
        self.schedule = SampledSchedule(self.options.variant)
        self.rules: Rules = self.options.rules(scheme, self.schedule)
        self._check_options()
        self.tables = GrowingTables(self.rules, self.game.num_players, self.options.key, most_bytes)
        self.iteration = self.nodes = self.unstored = 0
        self._torn = False

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
        """Do so many more iterations; stop early once so many histories have been walked in all.

        Raises:
            GameError: what the rules do is not right; tables are then in the middle of a walk and cannot be saved or used on.
            AlgorithmError: an earlier walk was broken off.
        """
        self.check_whole()
        root = self.game.new_initial_state()
        for weights in self.schedule.chunks(self.iteration, iterations):
            for row in weights:
                self._iterate(root, row.tolist())
                self.iteration += 1
                if nodes is not None and self.nodes >= nodes:
                    self.schedule.stop(self.iteration)
                    return

    def _iterate(self, root: State, weights: list[float]) -> None:
        """A walk for every player in turn."""
        self._torn = True
        for player, table in enumerate(self.tables.players):
            table.total += weights[AVERAGE_WEIGHT]
            choices = StreamChoices(self.seed, self.iteration + 1, player)
            rules = self.rules
            prunes = rules.prune > 0.0 and self.iteration + 1 > rules.prune_after and choices.happens(rules.prune, 1)
            walk = Walk(self.tables, rules, player, choices, weights, prunes=prunes)
            try:
                walk.run(root)
            except (TreeplexError, MemoryError):
                raise
            except (Exception, SystemExit) as error:
                raise failed_rules(error, f"at {walk.at!r}") from error
            table.match(self.rules.floor, walk.touched)
            self.nodes += walk.nodes
            self.unstored += walk.unstored
        self._torn = False

    def check_whole(self) -> None:
        """Raise :class:`AlgorithmError` if a walk was broken off, so that tables are not those of any iteration."""
        if self._torn:
            raise AlgorithmError("a walk was broken off, so the tables are incomplete; resume from the last saved state")

    @property
    def infosets(self) -> int:
        """Infosets in the tables."""
        return self.tables.infosets

    @property
    def bytes(self) -> int:
        """Memory that the tables take, an upper estimate; below the limit."""
        return self.tables.book.used

    @property
    def full(self) -> bool:
        """Whether the memory limit was reached, so that no more infosets enter."""
        return self.tables.book.full

    def average_policy(self) -> TablePolicy:
        """The average policy as it stands; it shares the infosets with the tables, and stays as it is while they grow."""
        self.check_whole()
        return self._policy([table.average_policy() for table in self.tables.players])

    def current_policy(self) -> TablePolicy:
        """The policy of the next iteration."""
        return self._policy([np.array(table.policy, np.float64) for table in self.tables.players])

    def _policy(self, probabilities: list[Any]) -> TablePolicy:
        about = {"algorithm": self.algorithm, "iterations": str(self.iteration)}
        return TablePolicy(self.game.spec, [table.infosets for table in self.tables.players], probabilities, about)

    def tensors(self) -> Mapping[str, Tensor]:
        """Everything from which :meth:`restore` goes on bit for bit; nothing is copied."""
        self.check_whole()
        most = -1 if self.tables.book.most is None else self.tables.book.most
        counts = [self.iteration, self.nodes, self.unstored, int(self.full), most, self.seed]
        return {
            **self.tables.tensors(),
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
        self.tables.restore(file)
        book = self.tables.book
        if book.most is not None and book.used > book.most:
            raise SpecError(f"the tables take {book.used:,} bytes already, more than the memory limit of {book.most:,}")
        self.iteration, self.nodes, self.unstored = (int(count) for count in counts[:3])
        book.full = bool(counts[3]) and book.most is not None and book.most <= counts[4]
        self.schedule.running[:] = running
