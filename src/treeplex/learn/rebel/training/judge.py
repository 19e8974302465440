"""Exploitability of search with a network, measured by averaging playthroughs (Brown et al. 2020, section 8)."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from treeplex.base import notebook
from treeplex.base.arrays import Floats
from treeplex.base.notices import reporting, tell
from treeplex.base.spec import nearest, suggests_arguments
from treeplex.base.storage.files import append_line
from treeplex.base.workers.executor import POLL_SECONDS
from treeplex.engine.tree.sweeps import reach
from treeplex.errors import PolicyError, SpecError
from treeplex.evaluate.judge import Judgement, judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import Policy, normalised
from treeplex.forms.sources.load import load, public_tree
from treeplex.games.base import Game
from treeplex.games.public import PublicTree
from treeplex.holdem.street_search.exact import compiled_whole, judge_whole, searched_strategy
from treeplex.holdem.whole.game import Holdem
from treeplex.learn.common.device import one_thread, torch_module
from treeplex.learn.rebel.files import NetFile, is_net_file, read_net
from treeplex.learn.rebel.network_leaf import NetworkLeaf
from treeplex.learn.rebel.shipped_nets import REBEL, shipped_name, shipped_net
from treeplex.learn.rebel.training.evaluation_parts import LEAST_PARTS, PART, EvaluationPart, Store, parts_of
from treeplex.learn.rebel.training.job import EVALUATIONS, JUDGED, NET, is_rebel_folder
from treeplex.learn.rebel.training.whole import JUDGED_ROWS, is_whole_folder, shipped_whole_net, whole_game, whole_net
from treeplex.learn.rebel.whole.nets import leaf_of
from treeplex.run.job.record import check_count
from treeplex.run.job.workers import Work
from treeplex.run.policy_source import holds_policy
from treeplex.search import play_distribution as repeated
from treeplex.search.perfect_information import certain_policy
from treeplex.search.play_distribution import playthrough_policy
from treeplex.search.settings import PlaythroughSettings
from treeplex.search.subgames.identity import public_identity

PLAYTHROUGHS = 256
SHIFTS = 2**32
"""A number above all part numbers, used for the random stream that parts share."""
SPLITS = 24
"""Number of random halves of the playthroughs, used to judge whether more playthroughs would change the result."""
LEAST_SETTLED = LEAST_PARTS * PART
"""Minimum number of playthroughs for meaningful halves; with fewer, halves consist of too few parts."""
SEARCH = ("method", "depth", "rounds", "endgame", "warm")
"""Search settings that an evaluation can change."""
LARGEST_GAIN, WIDEST = 0.1, 0.2
"""Thresholds for settled results, relative to exploitability: mean excess of the halves, and spread between them."""
HANDS = 8
"""Default playthroughs of full-game hold'em."""
Watch = Callable[[int, int, float | None], None]
"""Progress callback: playthroughs completed, their total, and seconds left. Exact evaluations report searches instead;
full-game hold'em reports streets, with total 0."""


@dataclass(frozen=True)
class Halves:
    """Exploitability from random halves of the playthroughs: lowest, mean and highest."""

    low: float
    mean: float
    high: float


@dataclass(frozen=True)
class RebelJudgement:
    """Result of :func:`judge_rebel`; full-game hold'em is evaluated in chips per hand.

    Attributes:
        game: spec.
        network: the folder or file evaluated, or ``rebel:NAME``.
        settings: search method, depth, number N of playthroughs and iterations T per search.
        exact: whether the evaluated policy is exactly the agent's, without sampling; N then has no effect.
        seed: seed of the sampled iterations.
        judgement: evaluation of the policy averaged over all playthroughs; its exploitability is an upper bound on the agent's.
        halves: exploitability from half as many playthroughs; None with fewer than two playthroughs, and for exact results.
        seconds: CPU time of all searches, including those of earlier sessions.
        card: the network's model card.
        policy: the policy evaluated; None for full-game hold'em.
        big_blind: chips of full-game hold'em's big blind; None for other games.
    """

    game: str
    network: str
    settings: PlaythroughSettings
    exact: bool
    seed: int
    judgement: Judgement
    halves: Halves | None
    seconds: float
    card: dict[str, Any]
    policy: Policy | None = field(repr=False, default=None)
    big_blind: float | None = None

    @property
    def milliblinds(self) -> float | None:
        """Exploitability of full-game hold'em in mbb/hand."""
        return None if self.big_blind is None else 1000.0 * self.judgement.exploitability / self.big_blind

    @property
    def gain(self) -> float | None:
        """Reduction of exploitability due to the second half of the playthroughs; doubling their number again should reduce it
        by less."""
        return None if self.halves is None else self.halves.mean - self.judgement.exploitability

    @property
    def settled(self) -> bool:
        """Whether more playthroughs would hardly change the result: there are enough, and random halves agree with each other
        and with the full set.

        The spread of halves is about four standard errors of the full result with many parts and about three with few, so
        :data:`WIDEST` corresponds to a standard error of 5% to 7%.
        """
        if self.exact or self.halves is None or self.gain is None:
            return self.exact
        exploitability = self.judgement.exploitability
        close = (
            abs(self.gain) <= LARGEST_GAIN * exploitability and self.halves.high - self.halves.low <= WIDEST * exploitability
        )
        return close and self.settings.playthroughs >= LEAST_SETTLED

    def _repr_html_(self) -> str:
        shown = {name: str(value) for name, value in self.to_json().items() if isinstance(value, str | float | int)}
        return notebook.facts(shown)

    def to_json(self) -> dict[str, Any]:
        """The result as JSON, as ``--json`` prints it and ``evaluations.jsonl`` stores it."""
        return {
            "game": self.game,
            "algorithm": "rebel",
            "network": self.network,
            "exploitability": self.judgement.exploitability,
            "exact": self.exact,
            "playthroughs": None if self.exact else self.settings.playthroughs,
            "iterations": self.settings.iterations,
            "method": self.settings.method,
            "depth": self.settings.depth,
            "rounds": self.settings.rounds,
            "endgame": self.settings.endgame,
            "warm": self.settings.warm,
            "seed": self.seed,
            "seconds": self.seconds,
            "nash_conv": self.judgement.nash_conv,
            **({"mbb": self.milliblinds} if self.big_blind else {"value": list(self.judgement.value)}),
            "gains": list(self.judgement.best_response_values if self.big_blind else self.judgement.gains),
            "halves": None if self.halves is None else asdict(self.halves),
            "settled": self.settled,
            "trained": self.card,
        }


@dataclass(frozen=True, eq=False)
class Searcher:
    """Worker state: game, network and search settings."""

    spec: str
    net: NetFile
    settings: PlaythroughSettings
    seed: int
    own_net: str | None = None

    @cached_property
    def known(self) -> tuple[CompiledGame, PublicTree, NetworkLeaf]:
        """The compiled game, its rules, and the leaf value."""
        torch_module().set_num_threads(1)
        rules = public_tree(self.spec)
        return compile_game(self.spec), rules, self.net.leaf(rules, self.own_net)


def search_part(searcher: Searcher, job: EvaluationPart) -> tuple[Floats, float]:
    """Run a part's playthroughs; returns their mean in sequence form, float64 [Q], and the CPU time."""
    game, rules, leaf = searcher.known
    began, seed = process_time(), searcher.seed
    settings = PlaythroughSettings(**(asdict(searcher.settings) | {"playthroughs": job.count}))
    part = repeated.PlaythroughPart(job.number, np.random.default_rng([seed, SHIFTS]))
    policy = playthrough_policy(game, rules, leaf, settings, np.random.default_rng([seed, job.number]), part=part)
    return sequence_form(policy), process_time() - began


@suggests_arguments
def judge_rebel(
    game: str | Game | CompiledGame,
    source: str | os.PathLike[str],
    *,
    playthroughs: int | None = None,
    iterations: int | None = None,
    search: Mapping[str, Any] | None = None,
    seed: int = 0,
    workers: int | None = None,
    ray: str | None = None,
    watch: Watch | None = None,
    progress: bool | None = None,
) -> RebelJudgement:
    """Evaluate search with a network, from the policies of N playthroughs, averaged with weights by reach.

    In a game of perfect information the agent's own policy can be computed exactly, with one search per state and without
    sampling. This is the default for such games unless ``playthroughs`` is given, and runs in this process.

    Full-game hold'em with a small deck is compiled as a spot, and evaluated in this process; see
    :func:`treeplex.holdem.street_search.exact.searched_strategy`.

    Finished parts are saved in the training folder, so an interrupted evaluation resumes when the call is repeated. A call with
    more playthroughs reuses earlier ones if both numbers are multiples of 32 and at least 128. Results do not depend on the
    number of workers.

    Args:
        game: the game.
        source: a training folder, a ``net.safetensors``, or ``rebel`` or ``rebel:NAME`` for a shipped network (whose parts
            are not saved).
        playthroughs: N; None for :data:`PLAYTHROUGHS`, for full-game hold'em :data:`HANDS`, or none in a game of perfect
            information.
        iterations: T of each search; both players update in each. Default: the network's own
            (:attr:`treeplex.learn.rebel.files.NetFile.play_iterations`).
        search: changes to the search settings used in its training, by the names of :data:`SEARCH`; ``net`` names a custom
            network again. For full-game hold'em only the method.
        seed: seed of the sampled iterations.
        workers: number of processes; None for all cores (Ray: all of the cluster's).
        ray: search on a Ray cluster: its address, ``auto`` for the one this machine belongs to, ``local`` for a new one on
            it.
        watch: called periodically with the work done, the total and the estimated seconds left.
        progress: False shows none; None shows it in a terminal, see :func:`treeplex.solve`.

    Returns:
        Exploitability in the game's units (full-game hold'em: chips per hand), how it was measured, and whether more
        playthroughs would change it.

    Raises:
        PolicyError: the network is for another game, or none is shipped for it.
        FileError: the network cannot be read, or the folder cannot be written.
        SpecError: an unknown method or network name, or a count below one; PyTorch (or Ray) is missing; no such cluster;
            full-game hold'em that is too large.
    """
    if playthroughs is not None:
        check_count("playthroughs", playthroughs)
    if iterations is not None:
        check_count("iterations", iterations)
    work = Work(workers, ray)
    work.check()
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise SpecError(f"seed must be an integer of at least 0, not {seed!r}")
    show: Watch = watch or (lambda done, total, left: tell(f"searching: {done:,}" + (f"/{total:,}" if total else "")))
    if isinstance(loaded := load(game).enumerable_rules(), Holdem):
        if work.asked:
            raise SpecError("networks for full-game hold'em are evaluated in one process; leave out 'workers' and 'ray'")
        with reporting(progress, "searching"):
            return judged_whole(loaded, source, playthroughs or HANDS, iterations, dict(search or {}), seed, show)
    folder = Path(source) if is_rebel_folder(source) else None
    rules = public_tree(game)
    certain = rules if playthroughs is None and rules.perfect_information else None
    if certain is not None and ray is not None:
        raise SpecError(
            f"{game} has perfect information and is evaluated without workers; leave --ray out, or give --playthroughs"
        )
    net = net_of(source, rules)
    compiled = compile_game(game, progress=progress)
    search = dict(search or {})
    own_net = search.pop("net", None)
    for name in search:
        if name not in SEARCH:
            raise SpecError(f"unknown setting {name!r}{nearest(name, SEARCH)}; search settings: {', '.join(SEARCH)}")
    changes = PlaythroughSettings.read_changes(search)
    if changes.get("warm") and not net.settings.get("policy_net"):
        raise SpecError("the network was trained without a policy network, which warm starts need; leave out 'warm'")
    iterations = net.play_iterations if iterations is None else iterations
    settings = net.searching(**changes, iterations=iterations, playthroughs=playthroughs or PLAYTHROUGHS)
    with reporting(progress, "searching"):
        if certain is not None:
            policy, halves, seconds = exact_policy(compiled, certain, net.leaf(certain, own_net), settings, show)
        else:
            store = Store(None if folder is None else folder / JUDGED, net, compiled, settings, seed)
            searcher = Searcher(compiled.spec, net, settings, seed, own_net)
            policy, halves, seconds = sampled_policy(searcher, compiled, store, work, show)
    result = RebelJudgement(
        game=compiled.spec,
        network=shipped_name(net) or str(source),
        settings=settings,
        exact=certain is not None,
        seed=seed,
        judgement=judge(compiled, policy),
        halves=halves,
        seconds=seconds,
        card=dict(net.card),
        policy=policy,
    )
    if folder is not None:
        append_line(folder / EVALUATIONS, json.dumps(result.to_json()))
    return result


def judged_whole(
    rules: Holdem,
    source: str | os.PathLike[str],
    playthroughs: int,
    iterations: int | None,
    search: dict[str, Any],
    seed: int,
    watch: Watch,
) -> RebelJudgement:
    """Evaluate a network for full-game hold'em; ``watch`` is called with the number of streets searched."""
    _, game = whole_game(rules)
    net = shipped_whole_net(game, str(source).partition(":")[2] or None) if is_shipped(source) else whole_net(source, game)
    for name in search:
        if name != "method":
            raise SpecError(
                f"{name} does not apply to full-game hold'em, whose streets are searched to their end; leave it out"
            )
    settings = PlaythroughSettings(method=str(net.settings["method"]), depth=0, rounds=True, batch=JUDGED_ROWS).changed(
        search, {"iterations": iterations or net.play_iterations, "playthroughs": playthroughs}
    )
    compiled, generator, began = compiled_whole(game), np.random.default_rng(seed), process_time()
    with one_thread():
        leaf = leaf_of(net, game)
        searched = searched_strategy(game, leaf, settings, generator, compiled, watch=lambda streets: watch(streets, 0, None))
    result = RebelJudgement(
        game=rules.spec,
        network=shipped_name(net) or str(source),
        settings=settings,
        exact=False,
        seed=seed,
        judgement=judge_whole(compiled, searched),
        halves=None,
        seconds=process_time() - began,
        card=dict(net.card),
        big_blind=rules.big_blind,
    )
    if is_whole_folder(source):
        append_line(Path(source) / EVALUATIONS, json.dumps(result.to_json()))
    return result


PolicyResult = tuple[Policy, Halves | None, float]
"""A policy, the exploitability from random halves of the playthroughs, and the CPU seconds of all searches."""


def exact_policy(
    game: CompiledGame, rules: PublicTree, leaf: NetworkLeaf, settings: PlaythroughSettings, watch: Watch | None
) -> PolicyResult:
    """Compute the agent's exact policy in a game of perfect information."""
    began, processor = perf_counter(), process_time()

    def tell(searched: int, known: int) -> None:
        nonlocal began
        if not searched:  # the states are still being listed
            began = perf_counter()
        if watch is not None:
            watch(searched, known, (perf_counter() - began) / searched * (known - searched) if searched else None)

    with one_thread():
        policy = certain_policy(game, rules, leaf, settings, watch=tell)
    return policy, None, process_time() - processor


def sampled_policy(searcher: Searcher, game: CompiledGame, store: Store, work: Work, watch: Watch | None) -> PolicyResult:
    """Compute the policy averaged over sampled playthroughs, which workers run."""
    parts = parts_of(searcher.settings.playthroughs)
    parts_done = collect_parts(searcher, store, parts, work, watch)
    sizes = np.array([part.count for part in parts], np.float64)
    strategies = np.stack([strategy for strategy, _ in parts_done])
    halves = halves_of(game, strategies, sizes, searcher.seed)
    return mixture_policy(game, strategies, sizes), halves, sum(seconds for _, seconds in parts_done)


def is_rebel(source: str | os.PathLike[str]) -> bool:
    """Whether a source is a ReBeL training folder, a network file from one, or a shipped network."""
    return is_rebel_folder(source) or is_net_file(source) or is_shipped(source)


def is_shipped(source: str | os.PathLike[str]) -> bool:
    """Whether a source is ``rebel`` or ``rebel:NAME`` rather than a folder named ``rebel`` that contains a training run or a
    policy."""
    if isinstance(source, str) and source == REBEL:
        return not is_rebel_folder(source) and not holds_policy(source)
    return isinstance(source, str) and source.startswith(f"{REBEL}:")


def net_of(source: str | os.PathLike[str], rules: PublicTree) -> NetFile:
    """The network in a training folder or file, or a shipped network.

    Raises:
        PolicyError: the network is for other rules, or none is shipped for these rules.
        FileError: the network cannot be read.
        SpecError: an unknown name after ``rebel:``.
    """
    if is_shipped(source):
        return shipped_net(rules, str(source).partition(":")[2] or None)
    net = read_net(Path(source) / NET if is_rebel_folder(source) else source)
    if public_identity(rules) != net.identity:
        raise PolicyError(f"{source} has a network for {net.game}, not for these rules; give the game that it was trained on")
    return net


def collect_parts(
    searcher: Searcher, store: Store, parts: Sequence[EvaluationPart], work: Work, watch: Watch | None
) -> list[tuple[Floats, float]]:
    """Strategy and seconds of every part, loaded from the store or computed and saved."""
    results = {part: stored for part in parts if (stored := store.get(part)) is not None}
    missing = [part for part in parts if part not in results]
    if missing:
        began, before, total = perf_counter(), sum(part.count for part in results), sum(part.count for part in parts)
        with work.executor(len(missing)) as executor:
            shared = executor.share(searcher)
            for part in missing:
                executor.add(part, search_part, shared, part)
            while executor.left():
                for name, result in executor.finished(POLL_SECONDS):
                    assert isinstance(name, EvaluationPart)
                    results[name] = result
                    store.put(name, *result)
                done = sum(part.count for part in results)
                rate = (perf_counter() - began) / (done - before) if done > before else None
                if watch is not None:
                    watch(done, total, None if rate is None else rate * (total - done))
    return [results[part] for part in parts]


def sequence_form(policy: Policy) -> Floats:
    """Sequence form of a policy, float64 [Q]."""
    strategy = np.empty_like(policy.probabilities)
    for player in range(policy.game.players):
        reach(policy.game.tree, player, policy.probabilities, strategy)
    return strategy


def mixture_policy(game: CompiledGame, strategies: Floats, weights: Floats) -> Policy:
    """The policy whose sequence form is the weighted mean of strategies, [K, Q]."""
    return Policy(game, normalised(game, weights @ strategies / weights.sum()))


def halves_of(game: CompiledGame, strategies: Floats, sizes: Floats, seed: int) -> Halves | None:
    """Exploitability from random halves of the parts, and from their complements."""
    count = len(sizes)
    if count < 2:
        return None
    generator = np.random.default_rng(seed)
    halves = []
    for _ in range(SPLITS // 2):
        order = generator.permutation(count)
        halves += [order[: count // 2], order[count // 2 : 2 * (count // 2)]]
    exploitability = [judge(game, mixture_policy(game, strategies[chosen], sizes[chosen])).exploitability for chosen in halves]
    return Halves(min(exploitability), float(np.mean(exploitability)), max(exploitability))
