"""Solving only the first street of a spot: ``--until turn`` ends a flop after its betting and values turns with a network.

The search is :class:`treeplex.search.subgame_search.SubgameSearch` on one board (:mod:`treeplex.holdem.forms.first_street`). A
hand network values every possible next board for both players at once; its values are reused for :data:`USUALLY` iterations,
and for more before the flop. All-ins are exact. The result is a solution whose strategy ends with the first street; its EVs are
those of the average strategy with the network's values. Its exploitability is unknown unless the later streets are solved, see
:mod:`treeplex.holdem.solve.first_street_judge`.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from treeplex.base.notices import tell
from treeplex.errors import FileError, SpecError
from treeplex.holdem.cards.format import HOLDEM
from treeplex.holdem.forms.first_street import following_street
from treeplex.holdem.search.first_street import average_values
from treeplex.holdem.search.leaves.hand_values import HandValues
from treeplex.holdem.search.subgames.subgame import HoldemSubgame, cut_first_street
from treeplex.holdem.solve.first_street_judge import check_judging, judge_first_street
from treeplex.holdem.solve.session import text_option
from treeplex.holdem.solve.solution import SPOT, HoldemSettings, HoldemSolution, reread
from treeplex.holdem.spots.spot import Spot
from treeplex.learn.common.device import one_thread
from treeplex.learn.first_street.search import LEAF_STEPS, hand_network, unlike
from treeplex.learn.hand_values.shipped import HANDS
from treeplex.run.job.interrupt import Interrupt
from treeplex.run.job.job import Outcome
from treeplex.run.job.record import Record, check_count
from treeplex.run.solve.solvable import SolveRequest, SolvingJob
from treeplex.search.methods import METHODS, Method
from treeplex.search.subgame_search import SubgameSearch
from treeplex.solvers.registry import DEFAULT_ALGORITHM
from treeplex.solvers.rules.variants import Variant
from treeplex.solvers.synonyms import unknown_algorithm

SHOWDOWN = "showdown"
"""Name of leaf values from showdowns without further betting, in place of a network."""
EVERY = {"flop": 4}
"""Iterations for which a network's values are reused, by the street it values; :data:`USUALLY` for other streets."""
USUALLY = 2
ITERATIONS = 60
"""Default iterations of a solve until the next street."""
REFUSED = ("storage", "locks", "start", "workers", "ray", "most_memory")
"""Options of full solves that do not apply here."""
KEPT = ("kept0", "kept1")
"""Array names, in solution files, of the network's latest values."""


class UntilJob(SolvingJob):
    """A running solve of a first street.

    Args:
        search: the search at iteration 0.
        values: its leaf values.
        settings: settings of the solve.
        iterations: total number of iterations, including those of earlier sessions.
        file: file in which progress is saved; None to save none.
        judged: whether to evaluate the solution at the end of an uninterrupted session, by solving all later streets.
        interrupt: an existing handler of stop requests.
    """

    kind = SPOT

    def __init__(
        self,
        search: SubgameSearch,
        values: HandValues,
        settings: HoldemSettings,
        *,
        iterations: int,
        file: Path | None = None,
        judged: bool = False,
        interrupt: Interrupt | None = None,
    ) -> None:
        super().__init__(interrupt)
        assert isinstance(search.subgame, HoldemSubgame)
        self.search, self.values, self.settings, self.file, self.judged = search, values, settings, file, judged
        self.subgame, self.iterations = search.subgame, iterations

    @property
    def name(self) -> str:
        """The algorithm."""
        return self.search.method.name

    @property
    def identity(self) -> str:
        """The spot's identity."""
        return self.subgame.game.spot.identity

    @property
    def done(self) -> int:
        """Number of iterations completed."""
        return self.search.iteration

    @property
    def total(self) -> int:
        """Total number of iterations."""
        return self.iterations

    def step(self, count: int) -> None:
        """Run iterations."""
        self.search.run(count)

    def measure(self) -> Mapping[str, Any]:
        """Return no measurements, since the strategy on later streets is unknown."""
        return {"exploitability": nan}

    def points(self) -> Iterator[int]:
        """Measurement points: only the last iteration."""
        return iter((self.iterations,))

    def about(self) -> Mapping[str, Any]:
        """Spot and algorithm."""
        return {"spot": self.subgame.game.spot.to_json(), "algorithm": self.name}

    def keep(self, records: Sequence[Record], status: str) -> None:
        """Write the file from which solving can resume."""
        if self.file is not None:
            self.made(records, status).save(self.file)

    def solution(self, outcome: Outcome) -> HoldemSolution:
        """The solution at the end of a session; only the returned solution, not the saved file, includes exploitability."""
        made = self.made(outcome.records, outcome.status)
        if not self.judged or made.status == "interrupted":
            return made
        judged = judge_first_street(
            made, threads=1, progress=lambda done, total: tell(f"judging: iteration {done:,} of {total:,}")
        )
        last = replace(made.records[-1], numbers={"exploitability": judged.exploitability})
        return replace(made, records=(*made.records[:-1], last))

    def made(self, records: Sequence[Record], status: str) -> HoldemSolution:
        """The solution from the search's current state."""
        ev, _, ends = average_values(self.search, self.values)
        last = Record(self.done, self.clock.seconds, self.clock.cpu_seconds, {"exploitability": nan})
        state = {"average": self.search.average.copy(), "regrets": self.search.regrets.copy()}
        if self.search.policy is not self.search.regrets:
            state["policy"] = self.search.policy.copy()
        if self.values.kept is not None:
            state |= dict(zip(KEPT, self.values.kept, strict=True))
        return HoldemSolution(
            game=self.subgame.top,
            algorithm=self.name,
            settings=self.settings,
            records=(*(record for record in records if record.done < self.done), last),
            ev=ev,
            status=status,
            average=state["average"],
            scales=np.zeros(0, np.float32),
            state=state,
            streets=1,
            ends=ends,
            folder=self.file,
        )

    def go_on(self, resume: HoldemSolution) -> None:
        """Resume from the state of a solution.

        Raises:
            FileError: the state does not fit the spot.
        """
        assert resume.state is not None
        for name, array in (("average", self.search.average), ("regrets", self.search.regrets), ("policy", self.search.policy)):
            stored = resume.state.get(name, array)
            if stored.shape != array.shape:
                raise FileError(f"the state of the solution does not fit: {name} has shape {stored.shape}; solve it again")
            array[:] = stored
        for player in (0, 1):
            self.search.arrays.play(player)
        self.search.iteration = resume.iterations
        cached = tuple(np.asarray(resume.state[name], np.float64) for name in KEPT if name in resume.state)
        if len(cached) == len(KEPT):
            self.values.keep(self.subgame.leaves, (cached[0], cached[1]), resume.iterations)
        self.clock.seconds, self.clock.cpu_seconds = resume.records[-1].seconds, resume.records[-1].cpu_seconds


def until_job(spot: Spot | None, request: SolveRequest, stack: ExitStack) -> UntilJob:
    """Create the job that solves a spot up to a street, new or resumed from a solution.

    Args:
        spot: the spot; None to use the spot of the solution to resume.
        request: as for :func:`treeplex.holdem.solve.solve_spot.solve_spot`.
        stack: exit stack that closes the resources opened for the job.

    Raises:
        SpecError: the street is not the next one, an option applies to full solves only, searches do not support the algorithm,
            or the network does not fit the street or the spot.
        GameError: the spot has no later street, or its ranges contain no compatible pair of hands.
        FileError: the network does not exist, or the solution cannot be resumed.
    """
    resume: HoldemSolution | None = request.resume
    if resume is not None and spot is not None and reread(spot).identity != reread(resume.spot).identity:
        raise SpecError("the solution to resume is for another spot; leave the spot out, or solve it from the start")
    given, how = resume.spot if spot is None and resume is not None else spot, None if spot is None else spot.settings
    assert given is not None
    until = text_option(request, "until") or (resume.settings.until if resume else "") or (how.until if how else "") or ""
    net = text_option(request, "net") or (resume.settings.net if resume else "") or (how.net if how else "") or HANDS
    check_asked(given, until, request)
    algorithm = str(
        request.algorithm or (resume.algorithm if resume else (how.algorithm if how else None)) or DEFAULT_ALGORITHM
    )
    method = METHODS.get(algorithm)
    if method is None or not isinstance(method.scheme, Variant) or not is_algorithm(method):
        known = [name for name, candidate in METHODS.items() if is_algorithm(candidate)]
        raise unknown_algorithm(algorithm, known, f"until {until}: unknown algorithm")
    longest = resume.settings.horizon if resume is not None and method.scheme.needs_horizon else None
    usual = longest or max(ITERATIONS, 2 * resume.iterations if resume else 0)
    iterations = next((count for count in (request.iterations, how.iterations if how else None) if count is not None), usual)
    check_count("iterations", iterations)
    if request.options.get("judge"):
        check_judging(given)
    if resume is not None:
        check_resumed(resume, algorithm, net, iterations)
    if longest is not None and iterations > longest:
        raise SpecError(f"{algorithm} was started with a schedule of {longest:,} iterations; set at most that many in total")
    values = values_of(given, net)
    settings = HoldemSettings("float64", 1, resume.settings.horizon if resume else iterations, None, until, net)
    search = SubgameSearch(cut_first_street(given), method, values, horizon=settings.horizon)
    stack.enter_context(one_thread())
    judged = bool(request.options.get("judge"))
    job = UntilJob(
        search, values, settings, iterations=iterations, file=request.out, judged=judged, interrupt=request.interrupt
    )
    if resume is not None:
        job.go_on(resume)
    return job


def is_algorithm(method: Method) -> bool:
    """Whether a search method is also available for full solves: CFR-D with alternating updates."""
    return isinstance(method.scheme, Variant) and method.leaves == "current" and method.updates == "alternating"


def check_resumed(resume: HoldemSolution, algorithm: str, net: str, iterations: int) -> None:
    """Check that a solution can be resumed with the given algorithm, network and number of iterations."""
    done = resume.iterations
    if resume.state is None:
        raise SpecError("this solution was saved without solver state (resumable) and cannot be resumed; solve the spot again")
    if not resume.settings.until:
        raise SpecError("the solution to resume covers all streets; leave out 'until', or solve the spot from the start")
    if algorithm != resume.algorithm:
        raise SpecError(f"the solution to resume uses {resume.algorithm}, not {algorithm}; leave the algorithm out")
    if net != resume.settings.net:
        raise SpecError(f"the solution to resume uses net={resume.settings.net}, not net={net}; leave out 'net'")
    if iterations < done:
        raise SpecError(f"the solution already has {done} iterations, which count toward the total; set more than {done}")


def check_asked(spot: Spot, until: str, request: SolveRequest) -> None:
    """Check that the street is the next one, and that no option is given that only full solves support."""
    following = following_street(spot)
    if until != following:
        remedy = f"write until: {following}" if following else "leave until out"
        raise SpecError(
            f"until {until}: {'the next street is the ' + following if following else 'no street follows'}; {remedy}"
        )
    for name in REFUSED:
        if request.options.get(name) or getattr(spot.settings, name, None):
            raise SpecError(f"{name} has no effect with 'until'; leave it out")
    if request.target is not None:
        raise SpecError(
            "with 'until', later streets are not solved, so exploitability is unknown; leave out 'target', and set 'iterations'"
        )
    if request.options.get("threads") not in (None, 1):
        raise SpecError("'threads' has no effect with 'until', which runs on one thread; leave it out")


def values_of(spot: Spot, net: str) -> HandValues:
    """Hand values at the start of the next street.

    Args:
        spot: the spot.
        net: :data:`SHOWDOWN`, ``hands`` for the shipped network, or a training folder or file.

    Raises:
        SpecError, FileError: as :func:`treeplex.learn.first_street.search.hand_network`, or not a hand network.
    """
    following = following_street(spot)
    every = EVERY.get(following, USUALLY)
    if net == SHOWDOWN:
        step = LEAF_STEPS.get(following, 1) if spot.format == HOLDEM else 1
        return HandValues(None, step=step, every=every, symmetric=True)
    network = hand_network(net, spot, every=every, symmetric=True)
    if network is None:
        raise SpecError(f"no hand network at {net}; name a folder of treeplex train hand-values, hands or showdown")
    return network[1]


def unlike_training(spot: Spot, net: str) -> list[str]:
    """Features of a spot that its network was not trained on, according to the network's card."""
    network = None if net == SHOWDOWN else hand_network(net, spot)
    return [] if network is None else unlike(network[0], spot)
