"""Searches a spot's first street with leaf values at the end of its betting, and evaluates the resulting strategy."""

import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from treeplex.base.spec import nearest
from treeplex.base.storage.memory import available_memory, megabytes
from treeplex.engine.threads import checked_threads
from treeplex.errors import FileError, GameError, SpecError
from treeplex.forms.sources.user_module import is_user_spec
from treeplex.holdem.betting.bet_plan import BetPlan, plan_from_json
from treeplex.holdem.betting.tree import Decision
from treeplex.holdem.betting.tree_size import check_nodes
from treeplex.holdem.cards.format import format_named
from treeplex.holdem.forms.spot_size import check_boards, spot_size
from treeplex.holdem.search.leaves.hand_values import HandValues
from treeplex.holdem.search.play_distribution import Player
from treeplex.holdem.search.subgames.subgame import HoldemSubgame, cut_spot
from treeplex.holdem.solve.estimate import needed_memory
from treeplex.holdem.solve.solution import HoldemSettings, HoldemSolution
from treeplex.holdem.spots.fields import street_names
from treeplex.holdem.spots.spot import Spot
from treeplex.learn.common.device import one_thread
from treeplex.learn.hand_values.kind import HAND_VALUES
from treeplex.learn.hand_values.net import FORM as HAND_FORM
from treeplex.learn.hand_values.net import NET as HAND_NET
from treeplex.learn.hand_values.net import hand_net_of
from treeplex.learn.hand_values.settings import END
from treeplex.learn.hand_values.shipped import HANDS, shipped_hand_net
from treeplex.learn.hand_values.shipped import SHIPPED as SHIPPED_HANDS
from treeplex.learn.rebel.files import NetFile, is_net_file, read_net
from treeplex.learn.rebel.shipped_nets import REBEL, RIVERS
from treeplex.learn.rebel.training.job import NET, TURNS, is_turn_folder
from treeplex.learn.rebel.turns.nets import check_turn, read_turn_leaf
from treeplex.run.job.folder import JobFolder, kind_of
from treeplex.run.job.interrupt import Interrupt
from treeplex.run.job.record import Progress, Record, check_count
from treeplex.search.agents.of_users import load_leaf
from treeplex.search.leaf import LeafValue, ZeroLeaf
from treeplex.search.methods import METHODS
from treeplex.search.subgame_search import SubgameSearch
from treeplex.search.warm_start.begin import begin_search

Watcher = Callable[[Progress], None]
ITERATIONS, METHOD, RIVER, STORAGE = 128, "lcfr", 64, "float32"
"""Defaults for search iterations, search method and endgame iterations; and the number type of searches."""
LEAF_STEPS = {"turn": 2, "flop": 24}
"""Stride over complete boards when equities are computed at leaves valued by hand networks."""


@dataclass(frozen=True, eq=False)
class SearchedSpot:
    """A searched spot.

    Attributes:
        search: the search, with the average policy.
        values: name of the source of leaf values: ``exact``, ``zero``, ``rebel`` for the shipped network, a file, or a class
            name.
        net: the network's file if a network gives the values, otherwise None.
        method: search method, a key of :data:`treeplex.search.METHODS`.
        river: iterations of Discounted CFR per endgame.
        ev: the search's EV estimate of each player, in chips relative to half of the starting pot.
        first: the player who acts first.
        actions: that player's actions and their frequencies, averaged over its range.
        seconds, cpu_seconds: time of the search.
        played: the average policy, completed by endgames solved at its beliefs, as an evaluated solution of the full spot; None
            if not requested.
        judging_seconds: time for solving those endgames and evaluating the strategy.
        status: ``finished`` or ``interrupted``.
    """

    search: SubgameSearch
    values: str
    net: NetFile | None
    method: str
    river: int
    ev: tuple[float, float]
    first: int
    actions: Mapping[str, float]
    seconds: float
    cpu_seconds: float
    played: HoldemSolution | None = field(repr=False, default=None)
    judging_seconds: float = 0.0
    status: str = "finished"

    @property
    def spot(self) -> Spot:
        """The spot."""
        return subgame_of(self.search).game.spot

    @property
    def unlike(self) -> list[str]:
        """Features of the spot that the network was not trained on, according to its card."""
        return unlike(self.net, self.spot)


def search_spot(
    spot: Spot,
    source: str | os.PathLike[str] | LeafValue | None = None,
    *,
    iterations: int = ITERATIONS,
    method: str = METHOD,
    river: int = RIVER,
    threads: int | None = None,
    judge: bool | None = None,
    progress: Watcher | None = None,
) -> SearchedSpot:
    """Search the first street of a spot to the end of its betting, for all hands at once.

    Args:
        spot: a spot with at least one later street.
        source: source of the leaf values. For turns: a training folder, its network's file, or ``rebel``, the shipped
            network. For turns and flops: also the folder or file of a hand network, or ``hands``, the shipped one. For any
            spot: a custom leaf value such as :class:`treeplex.search.ZeroLeaf`, or ``file.py:NAME``. None for exact values: all
            later streets are re-solved in every iteration.
        iterations: iterations of the search; each updates both players.
        method: search method, a key of :data:`treeplex.search.METHODS`.
        river: iterations of Discounted CFR per endgame (on a turn: per river).
        threads: threads for endgames and evaluation, without effect on results; None for one per available core.
        judge: whether to compute the exploitability of the average policy with endgames solved at its beliefs; None does so if
            memory allows.
        progress: called after each iteration.

    Returns:
        The search, the EVs and the root policy in chips and frequencies and, if requested, the evaluated average policy.

    Raises:
        SpecError: a value is outside its range, networks do not support the spot, memory is too small, or PyTorch is missing.
        GameError: the spot has no later street or is too large, or its ranges contain no compatible pair of hands.
        FileError: the source is not a hold'em river network.
    """
    custom_leaf, file = (source, None) if callable(source) else (None, source)
    hands = None if file is None else hand_network(file, spot)
    threads, net, leaf = check_search(None if hands else file, iterations, method, river, threads)
    leaf = custom_leaf or leaf
    if hands is not None:
        net, leaf = hands
    elif net is not None:
        check_turn(spot)
    check_streets(spot)
    cut = cut_spot(spot)
    player, needed = None, leaf is None or judge is True
    if (needed or judge is None) and memory_for(cut, threads, needed=needed):
        player = Player(cut, river, storage=STORAGE, threads=threads)
        leaf = leaf or player.endgames
    assert leaf is not None
    search = begin_search(cut, METHODS[method], leaf, None, iterations)
    began, processor = perf_counter(), process_time()
    with Interrupt() as interrupt, one_thread() if net is not None else nullcontext():
        for done in range(search.iteration + 1, iterations + 1):
            search.run(1)
            if progress is not None:
                rate = done / (perf_counter() - began)
                progress(Progress(method, "iterations", done, iterations, rate, (iterations - done) / rate))
            if interrupt.requested:
                break
    event, (first_value, second_value) = cut.game.tree.nodes[0], search.mean_values()
    assert isinstance(event, Decision)
    shares = search.root_actions().tolist()
    searched = SearchedSpot(
        search=search,
        values=name_of(source, net),
        net=net,
        method=method,
        river=river,
        ev=(float(first_value[0]), float(second_value[0])),
        first=event.player,
        actions={str(action): share for action, share in zip(event.actions, shares, strict=True)},
        seconds=perf_counter() - began,
        cpu_seconds=process_time() - processor,
        status="finished" if search.iteration == iterations else "interrupted",
    )
    return searched if player is None or judge is False else judge_search(searched, player, threads)


def check_search(
    source: str | os.PathLike[str] | None, iterations: int, method: str, river: int, threads: int | None
) -> tuple[int, NetFile | None, LeafValue | None]:
    """Check a search's arguments; returns the number of threads, and the network and its leaf value or None.

    Raises:
        SpecError, FileError: as :func:`search_spot`.
    """
    check_count("iterations", iterations)
    check_count("iterations of endgames", river)
    threads = checked_threads(threads)
    if method not in METHODS:
        raise SpecError(f"unknown method {method!r}{nearest(method, METHODS)}")
    if source is not None and is_user_spec(str(source)):
        return threads, None, load_leaf(str(source))
    return (threads, None, None) if source is None else (threads, *network(source))


def hand_network(
    source: str | os.PathLike[str], spot: Spot, *, every: int = 0, symmetric: bool = False
) -> tuple[NetFile, HandValues] | None:
    """The hand network in a training folder, in a file, or named ``hands``; None for any other source.

    Args:
        source: the source.
        spot: a spot of the street before the network's.
        every, symmetric: see :class:`treeplex.holdem.search.leaves.hand_values.HandValues`.

    Raises:
        FileError: the folder does not contain a network yet, or the file is corrupted.
        SpecError: the network is for another street or other cards, or the spot has rake.
    """
    path = Path(source)
    if kind_of(path) == HAND_VALUES.name:
        path = path / HAND_NET
    following = street_names(spot.format)[spot.street + 1] if len(spot.streets) > 1 else ""
    if source == HANDS and not path.exists():
        path = shipped_hand_net(following)
    elif not is_net_file(path, form=HAND_FORM):
        return None
    file = read_net(path, form=HAND_FORM, makers="train hand-values")
    net = hand_net_of(file)
    if net.at == END:
        raise SpecError(f"{path} values hands at the end of the {net.street}, for resolver(net=...); give one for the start")
    if net.street != following:
        raise SpecError(
            f"{path} values hands at the start of the {net.street}; give a spot that begins on the preceding street"
        )
    if spot.format != format_named(net.format):
        raise SpecError(f"{path} values hands of {net.format}, not of {spot.format.name}; search with --exact")
    if spot.rake.rate or not spot.opening_pot > 0:
        raise SpecError("hand networks need a pot above 0 and no rake; change the spot, or search with --exact")
    return file, net.leaf(step=LEAF_STEPS.get(net.street, 1), every=every, symmetric=symmetric)


def network(source: str | os.PathLike[str]) -> tuple[NetFile, LeafValue]:
    """The network in a training folder or file, or the shipped one (``rebel``), and its leaf value.

    Raises:
        FileError: the source has no network, or its network is of another type.
        SpecError: PyTorch is missing.
    """
    path = RIVERS if source == REBEL and not is_turn_folder(source) else Path(source)
    if path.is_dir() or is_turn_folder(path):
        JobFolder(TURNS, path).about()
        if not (path / NET).is_file():
            raise FileError(f"{path} has no network yet; resume it: treeplex train --resume {path}")
        path = path / NET
    return read_net(path), read_turn_leaf(path)


def name_of(source: str | os.PathLike[str] | LeafValue | None, net: NetFile | None) -> str:
    """Display name of a source of leaf values; see :class:`SearchedSpot`."""
    if net is not None:
        shipped = {RIVERS: REBEL} | dict.fromkeys(SHIPPED_HANDS.glob("*.safetensors"), HANDS)
        return shipped.get(net.path, str(net.path))
    if source is None:
        return "exact"
    if callable(source):
        return "zero" if isinstance(source, ZeroLeaf) else type(source).__name__
    return str(source)


def check_streets(spot: Spot) -> None:
    """Check that a spot has a later street and is small enough to compile.

    Raises:
        GameError: the spot has only one street of betting.
        SpecError: the betting tree is too large, or there are too many boards.
    """
    if len(spot.streets) < 2:
        raise GameError("the spot has only one street of betting, so there are no leaf values to use; solve it: treeplex solve")
    check_boards(spot, isomorphism=False)
    check_nodes(spot_size(spot, isomorphism=False).nodes)


def unlike(net: NetFile | None, spot: Spot) -> list[str]:
    """Features of a spot that a network was not trained on, according to its card; empty without a network."""
    trained = {} if net is None else net.card.get("spot", {})
    if net is not None and "street" in net.settings:
        return unlike_hands(net, spot)
    if net is None or not trained:
        return []
    fields = spot.to_json()
    deepest = float(net.settings["stacks"][1]) / trained["pot"] - 0.5
    checks = {
        "other cards": trained["format"] != fields["format"],
        "another board": not net.settings["boards"] and trained["board"] != fields["board"],
        f"other bet sizes{sizes_text(trained['bets'])}": tree_of(trained) != tree_of(fields),
        f"deeper stacks ({deepest:g} pots behind at most in training)": spot.stack / spot.pot > deepest,
    }
    return [text for text, differs in checks.items() if differs]


def unlike_hands(net: NetFile, spot: Spot) -> list[str]:
    """Features of a spot that a hand network was not trained on, according to its settings."""
    sizes = BetPlan.same(str(net.settings["bets"]), str(net.settings["raises"])).streets[-1]
    most, played = float(net.settings["most_stack"]), spot.bets.streets[-1] if isinstance(spot.bets, BetPlan) else None
    checks = {
        f"other bet sizes (trained with --bets {net.settings['bets']} --raises {net.settings['raises']})": played != sizes,
        f"deeper stacks ({most:g} pots behind at most in training)": spot.stack / spot.opening_pot > most,
    }
    return [text for text, differs in checks.items() if differs]


def tree_of(spot: Mapping[str, Any]) -> dict[str, Any]:
    """A spot's turn and river betting as plain data, with chips as fractions of the pot."""
    bets, plan = spot["bets"], plan_from_json(spot["bets"])
    in_chips = not isinstance(plan, BetPlan) or any(
        size.kind == "chips"
        for street in plan.streets[-2:]
        for player_sizes in street
        for size in (*player_sizes.bets, *player_sizes.raises)
    )
    later = {name: bets[name][-2:] for name in ("streets", "bets", "most") if name in bets}
    least = None if bets.get("min_bet") is None else bets["min_bet"] / spot["pot"]
    return {**bets, **later, "min_bet": least, "pot": spot["pot"] if in_chips else None}


def sizes_text(bets: Mapping[str, Any]) -> str:
    """A betting plan's sizes as command-line options, in brackets; empty if they differ between players or streets."""
    sizes = [player_sizes for street in bets.get("streets", [])[-2:] for player_sizes in street]
    if not sizes or any(
        (player_sizes["bets"], player_sizes["raises"]) != (sizes[0]["bets"], sizes[0]["raises"]) for player_sizes in sizes
    ):
        return ""
    first, later = (sizes[0][name] or "none" for name in ("bets", "raises"))
    return f" (trained with --bets {first} --raises {later})"


def memory_for(cut: HoldemSubgame, threads: int, *, needed: bool) -> bool:
    """Whether there is enough memory to solve all endgames and evaluate the strategy.

    Raises:
        SpecError: memory is too small, and ``needed`` is true.
    """
    size = needed_memory(cut.whole.size, "dcfr", storage=STORAGE, threads=threads) + 3 * 8 * cut.whole.stored
    free = available_memory()
    if free is None or size <= free:
        return True
    if needed:
        raise SpecError(
            f"solving the streets after this spot's first needs {megabytes(size)} of memory, but only "
            f"{megabytes(free)} are free; offer fewer bet sizes, narrow the ranges, or search with a network and "
            "without evaluation (--no-judge)"
        )
    return False


def subgame_of(search: SubgameSearch) -> HoldemSubgame:
    """The one-street subgame of a search."""
    assert isinstance(search.subgame, HoldemSubgame)
    return search.subgame


def judge_search(result: SearchedSpot, player: Player, threads: int) -> SearchedSpot:
    """Evaluate the strategy in the full spot, with endgames solved exactly at their initial beliefs."""
    began, search = perf_counter(), result.search
    strategy = player.average(search)
    verdict = player.judge(strategy)
    took = perf_counter() - began
    played = HoldemSolution(
        game=subgame_of(search).whole,
        algorithm=f"search by {result.method}",
        settings=HoldemSettings(STORAGE, threads, search.horizon),
        records=(Record(search.iteration, result.seconds, result.cpu_seconds, {"exploitability": verdict.exploitability}),),
        ev=(verdict.value[0], verdict.value[1]),
        status=result.status,
        average=strategy.astype(np.float32),
        scales=np.zeros(0, np.float32),
        state=None,
        streets=len(subgame_of(search).whole.boards),
        judging_seconds=took,
    )
    return replace(result, played=played, judging_seconds=took)
