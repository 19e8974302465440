"""Self-play and evaluation of ReBeL on Liar's Dice compared with the authors' released code, taking turns, in CPU seconds.

Both generate subgames with the released settings: linear CFR with 1,024 updates of one player (512 iterations of ours, which
update both), subgames of two actions, an untrained network of two layers of 256, one thread on one core. Episodes of the
released code follow one another; ours advance in lockstep, here without sharing searches between episodes at the same public
belief state. The gain from sharing them, as in training, has a separate column. A playthrough of an evaluation searches all
public states; the released code runs one after another, Treeplex 32 at once, several public states at a time.

    python bench/run.py rebel [--quick] [--rounds 5] [--game 1x4f] [--all]

The released code (facebookresearch/rebel, C++, Apache-2.0) is not part of Treeplex or needed by it. ``REBEL_DRIVER`` is the
command of a small program that you write around its ``RlRunner`` and ``compute_sampled_strategy_recursive_to_leaf``. It reads
commands, one a line, and answers each with a line of JSON. Without it only Treeplex is measured.

===================================== ============================================================================
``game DICE FACES NET``               ``version``; NET is a TorchScript file of a network that takes its queries
``generate COUNT UPDATES DEPTH SEED`` whole episodes until at least COUNT subgames are solved
``evaluate COUNT UPDATES DEPTH SEED`` COUNT playthroughs, seeds from SEED on
===================================== ============================================================================

The last two answer with ``count`` (done), ``cpu`` seconds in all, ``net_cpu`` seconds of the network, and ``leaves``, the
number of evaluated leaves summed over all updates; or only with ``error``. All other settings are as released: linear CFR, one
thread, leaves sampled, a quarter of the exploring player's actions at random. :mod:`bench.rivals.rebel_worker` implements this
protocol for Treeplex.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.common import record
from bench.common.benchmark import benchmark
from bench.rivals.programs import RivalError, Session, command_of
from treeplex.errors import SpecError
from treeplex.learn.common.device import torch_module
from treeplex.learn.common.value_net import value_net

GAMES = {"1x4f": (1, 4), "1x5f": (1, 5), "1x6f": (1, 6), "2x3f": (2, 3)}
"""Dice per player, and faces."""
OURS, RELEASED = "Treeplex", "released ReBeL"
UPDATES, DEPTH = 1024, 2
WIDTH, LAYERS = 256, 2
GENERATED = 64
"""Minimum number of subgames per turn: one advance of our episodes."""
RECIPE = 128
SMALL, TURNS = "1x4f", 2
"""The game that is always evaluated, and its turns; the others take minutes and have one turn."""
PLAYED, RELEASED_PLAYED = 32, {SMALL: 4}
"""Playthroughs per turn; the released code has one in the other games."""
WHOLE = 1024
"""Playthroughs in the paper's evaluation."""
FASTER, CHEAPER = 2.5, 5.0
"""Goals: subgames and playthroughs per CPU second, as multiples of the released code's."""
SEEDS = 1000
"""Distance between the seeds of consecutive turns."""
QUICK = {"updates": 16, "generated": 8, "recipe": 1, "played": 2}


def save_net(path: Path, dice: int, faces: int) -> None:
    """An untrained network for the released code: two flags, the last bid, both players' beliefs; one player's values."""
    hands, bids = faces**dice, 2 * dice * faces
    net = value_net(2 + bids + 1 + 2 * hands, hands, width=WIDTH, layers=LAYERS, seed=0)
    torch_module().jit.script(net.eval()).save(str(path))


class Contest:
    """Both systems, each in a process, and their turns on each game."""

    def __init__(self, core: int | None, folder: Path, *, quick: bool) -> None:
        self.cores, self.folder, self.quick = (0 if core is None else core,), folder, quick
        self.updates = QUICK["updates"] if quick else UPDATES
        self.commands = {OURS: [sys.executable, "-m", "bench.rivals.rebel_worker"]}
        released = command_of(RELEASED)
        if released is not None:
            self.commands[RELEASED] = released
        self.sessions: dict[str, Session] = {}
        self.versions: dict[str, str] = {}

    def begin(self, label: str) -> str:
        """Switch both to a game; returns its spec."""
        dice, faces = GAMES[label]
        net = self.folder / f"{label}.pt"
        if RELEASED in self.commands:
            save_net(net, dice, faces)
        line, spec = f"game {dice} {faces} {net}", ""
        for system, command in self.commands.items():
            if system in self.sessions:
                about = self.sessions[system].ask(line)
            else:
                self.sessions[system] = Session(command, [line], cores=self.cores)
                about = self.sessions[system].about
            self.versions[system], spec = about["version"], about.get("spec", spec)
        return spec

    def turns(self, verb: str, counts: dict[str, int], rounds: int, *, updates: int) -> dict[str, list[dict[str, Any]]]:
        """Run the turns of both."""
        found: dict[str, list[dict[str, Any]]] = {system: [] for system in self.sessions}
        for number in range(rounds):
            for system, turns in found.items():
                turns.append(self.sessions[system].ask(f"{verb} {counts[system]} {updates} {DEPTH} {SEEDS * (number + 1)}"))
        return found

    def generation(self, label: str, rounds: int) -> dict[str, Any]:
        """Subgames of self-play on one game: the released settings with both systems taking turns, then our recipe."""
        print(f"{label}, self-play ...", file=sys.stderr, flush=True)
        spec = self.begin(label)
        counts = dict.fromkeys(self.sessions, QUICK["generated"] if self.quick else GENERATED)
        self.turns("generate", counts, 1, updates=8)  # loads kernels, and both compile
        turns = self.turns("generate", counts, rounds, updates=self.updates)
        ours = self.sessions[OURS]
        count = QUICK["recipe"] if self.quick else RECIPE
        ours.ask(f"recipe {count}")
        recipe = [ours.ask(f"recipe {count}") for _ in range(rounds)]
        found = {system: summary(each, self.updates) for system, each in turns.items()}
        shared = [ours.ask(f"shared {counts[OURS]} {self.updates} {DEPTH} {SEEDS * (number + 1)}") for number in range(rounds)]
        return {
            "game": label,
            "spec": spec,
            "systems": found,
            "ratio": compared(turns),
            "shared": summary(shared),
            "recipe": summary(recipe),
        }

    def evaluation(self, label: str) -> dict[str, Any]:
        """Playthroughs on one game."""
        print(f"{label}, evaluation ...", file=sys.stderr, flush=True)
        spec = self.begin(label)
        counts = {OURS: PLAYED, RELEASED: RELEASED_PLAYED.get(label, 1)}
        counts = dict.fromkeys(counts, QUICK["played"]) if self.quick else counts
        rounds = TURNS if label == SMALL and not self.quick else 1
        turns = self.turns("evaluate", counts, rounds, updates=self.updates)
        found = {system: summary(each) for system, each in turns.items()}
        return {"game": label, "spec": spec, "systems": found, "ratio": compared(turns)}

    def close(self) -> None:
        """End the processes."""
        for session in self.sessions.values():
            session.close()


def summary(turns: list[dict[str, Any]], updates: int | None = None) -> dict[str, Any]:
    """Sums over all turns of a system; the visited public states differ between turns, so medians would mislead."""
    total = {key: sum(turn[key] for turn in turns) for key in turns[0]}
    found = {
        "count": total["count"],
        "cpu_each": total["cpu"] / total["count"],
        "per_cpu_second": total["count"] / total["cpu"],
        "lowest": min(turn["count"] / turn["cpu"] for turn in turns),
        "highest": max(turn["count"] / turn["cpu"] for turn in turns),
        "net_share": total["net_cpu"] / total["cpu"],
    }
    if "leaf_cpu" in total:
        found["encoding_share"] = (total["leaf_cpu"] - total["net_cpu"]) / total["cpu"]
    if updates is not None:
        found |= {key: total[key] / (total["count"] * updates) for key in ("leaves", "rows") if key in total}
    return found


def compared(turns: dict[str, list[dict[str, Any]]]) -> dict[str, float] | None:
    """Ratio of rates per CPU second to the released code: over all turns, and the lowest and highest of paired turns."""
    if RELEASED not in turns:
        return None
    ours, theirs = (summary(turns[system])["per_cpu_second"] for system in (OURS, RELEASED))
    pairs = zip(turns[OURS], turns[RELEASED], strict=True)
    each = [a["count"] / a["cpu"] / (b["count"] / b["cpu"]) for a, b in pairs]
    return {"all": ours / theirs, "lowest": min(each), "highest": max(each)}


def verdict(ratio: dict[str, float] | None, goal: float) -> list[str]:
    """The ratio and the goal."""
    if ratio is None:
        return ["", f"{goal:g}"]
    times = f"{ratio['all']:.2f} ({ratio['lowest']:.2f} to {ratio['highest']:.2f})"
    return [times, f"{goal:g}: {'met' if ratio['all'] >= goal else 'missed'}"]


def of_both(systems: dict[str, Any], key: str, form: str) -> list[str]:
    """A figure of the released code, if it was measured, and ours."""
    return [format(systems[system][key], form) if system in systems else "" for system in (RELEASED, OURS)]


def generation_table(cases: list[dict[str, Any]]) -> str:
    """A row a game."""
    header = [
        "subgames per CPU second",
        RELEASED,
        OURS,
        "speed-up (turns)",
        "goal",
        "subgames measured",
        "leaves per subgame",
        "network's share of the time",
        "Treeplex, shared",
        "Treeplex, recipe",
    ]
    rows = []
    for case in cases:
        systems = case["systems"]
        pairs = [of_both(systems, key, form) for key, form in (("count", "d"), ("leaves", ".1f"), ("net_share", ".0%"))]
        rows.append(
            [
                f"{case['game']}, `{case['spec']}`",
                *of_both(systems, "per_cpu_second", ".1f"),
                *verdict(case["ratio"], FASTER),
                *(", ".join(filter(None, pair)) for pair in pairs),
                format(case["shared"]["per_cpu_second"], ".0f"),
                format(case["recipe"]["per_cpu_second"], ".0f"),
            ]
        )
    return record.markdown_table(header, rows)


def evaluation_table(cases: list[dict[str, Any]]) -> str:
    """A row a game."""
    header = [
        "CPU seconds per playthrough",
        RELEASED,
        OURS,
        "speed-up (turns)",
        "goal",
        "playthroughs measured",
        "network's share of the time",
        f"{WHOLE:,} playthroughs, projected CPU hours",
    ]
    rows = []
    for case in cases:
        systems = case["systems"]
        hours = {system: {"hours": WHOLE * found["cpu_each"] / 3600} for system, found in systems.items()}
        pairs = [of_both(systems, "count", "d"), of_both(systems, "net_share", ".0%"), of_both(hours, "hours", ".2f")]
        rows.append(
            [
                f"{case['game']}, `{case['spec']}`",
                *of_both(systems, "cpu_each", ".3g"),
                *verdict(case["ratio"], CHEAPER),
                *(", ".join(filter(None, pair)) for pair in pairs),
            ]
        )
    return record.markdown_table(header, rows)


def division(cases: list[dict[str, Any]]) -> str:
    """A sentence on how our time is divided."""
    parts = []
    for case in cases:
        ours = case["systems"][OURS]
        rest = 1.0 - ours["net_share"] - ours["encoding_share"]
        parts.append(
            f"{case['game']} {ours['net_share']:.0%}, {ours['encoding_share']:.0%}, {rest:.0%}, "
            f"{ours['rows']:.1f} rows per update for {ours['leaves']:.1f} leaves"
        )
    what = "network, converting beliefs to rows and back, the rest"
    return f"Shares of our self-play's time at the released settings ({what}): {'; '.join(parts)}."


def tables(result: dict[str, Any]) -> str:
    """The result as markdown."""
    parts = [generation_table(result["generation"]), division(result["generation"]), evaluation_table(result["evaluation"])]
    if RELEASED in result["systems"]:
        parts.append(
            f"In pairs of numbers the first is the released code's (commit `{result['systems'][RELEASED]}`), the second ours."
        )
    else:
        parts.append("The released code was not available.")
    return "\n\n".join(parts)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=None, help="turns of self-play (default 5; 1 with --quick)")
    parser.add_argument("--game", action="append", choices=list(GAMES), help="only this game (repeatable), evaluation included")
    parser.add_argument("--all", action="store_true", help="also evaluate on all games (some minutes more)")


@benchmark(
    title="ReBeL compared with the released code",
    place=5,
    minutes=10,
    about=(
        "Each system runs in its own process on one core with one thread, and the systems take turns. "
        "Times are CPU seconds, summed over "
        "the turns. The game is Liar's Dice with the released settings: linear CFR, 1,024 updates of one player (512 of our"
        " iterations), subgames of two actions, and an untrained network with two layers of 256 units. Self-play samples a "
        "leaf, and the exploring player takes random actions with probability 1/4. The released code evaluates its network at "
        "all leaves for one player at a time and plays one episode after another. Treeplex evaluates both players' values at "
        "once and skips leaves that the other player never reaches. It merges hands of several dice that differ only in "
        "order, and advances 64 episodes or 32 playthroughs at once. The mean number of leaves per subgame shows whether "
        "both systems visited similar states. The recipe uses 64 iterations of Discounted CFR and layers of 128 units. In "
        "the recipe and in rows marked “shared”, a subgame shared by several episodes is solved once and counted for each, "
        "as in training. In an evaluation, each playthrough searches all public states, each up to the sampled iteration."
    ),
    needs=("torch",),
)
def measure(options: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        try:
            return contested(options, Path(name))
        except (RivalError, SpecError, OSError) as error:
            sys.exit(f"error: {error}")


def contested(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Run all measurements."""
    labels = options.game or ([SMALL] if options.quick else list(GAMES))
    rounds = options.rounds or (1 if options.quick else 5)
    contest = Contest(options.core, folder, quick=options.quick)
    try:
        generation = [contest.generation(label, rounds) for label in labels]
        judged = [label for label in labels if options.all or options.game or label == SMALL]
        evaluation = [contest.evaluation(label) for label in judged]
    finally:
        contest.close()
    about = {"updates": contest.updates, "depth": DEPTH, "width": WIDTH, "layers": LAYERS, "whole": WHOLE}
    return {"rounds": rounds, "systems": contest.versions} | about | {"generation": generation, "evaluation": evaluation}
