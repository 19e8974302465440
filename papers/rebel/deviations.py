"""ReBeL: effect of training choices that differ from the paper's, on two small games.

Runs are cached in ``runs/papers`` one by one. With the option ``stored`` nothing is trained: tables and findings are computed
from the training runs stored with the study.
"""

import statistics
from collections.abc import Mapping
from dataclasses import asdict, replace
from time import process_time
from typing import Any

import numpy as np

import treeplex as tp
from papers.common.comparison import LEVEL, p_value, verdict
from papers.common.kept import code, effort, kept
from papers.common.results import Result, Table, published, stored
from papers.common.study import study
from treeplex import judge
from treeplex.learn import RebelSettings, RebelTrainer
from treeplex.learn.common.device import torch_module
from treeplex.search import PlaythroughSettings, playthrough_policy, public_tree

DICE = RebelSettings(method="lcfr", solves=15_000)
TURN = RebelSettings(method="lcfr", depth=0, rounds=True, endgame=7, solves=4_000, iterations=32, reuse=128.0)
GAMES: Mapping[str, tuple[str, RebelSettings]] = {
    "1x4f": ("liars_dice(dice=1,faces=4)", DICE),
    "a small turn": ("turn_holdem(ranks=5,stack=4,bets=[50%;a],raises=[])", TURN),
}
WAYS: Mapping[str, Mapping[str, Any]] = {
    "CFR-D, uniform draw": {},
    "CFR-D, draw of algorithm 2": {"draw": "average"},
    "CFR-D, values from rewards": {"draw": "average", "targets": "rewards"},
    "CFR-D, squared errors of values": {"value_loss": "squared"},
    "CFR-D, policy network": {"policy_net": True},
    "CFR-D, policy network by cross entropy": {"policy_net": True, "policy_loss": "cross-entropy"},
    "modified CFR-AVG, beliefs of the iteration": {"method": "lcfr-avg-modified"},
    "modified CFR-AVG, beliefs of the average": {"method": "lcfr-avg-modified", "passed_on": "average"},
    "modified CFR-AVG, both updated at once": {"method": "lcfr-avg-modified-simultaneous"},
}
BESIDE: Mapping[str, str] = {
    "CFR-D, draw of algorithm 2": "CFR-D, uniform draw",
    "CFR-D, values from rewards": "CFR-D, draw of algorithm 2",
    "CFR-D, squared errors of values": "CFR-D, uniform draw",
    "CFR-D, policy network": "CFR-D, uniform draw",
    "CFR-D, policy network by cross entropy": "CFR-D, policy network",
    "modified CFR-AVG, beliefs of the iteration": "CFR-D, uniform draw",
    "modified CFR-AVG, beliefs of the average": "modified CFR-AVG, beliefs of the iteration",
    "modified CFR-AVG, both updated at once": "modified CFR-AVG, beliefs of the iteration",
}
"""Reference of each variant, which differs only in the tested choice."""
SEEDS = (0, 1, 2)
PLAYTHROUGHS, ITERATIONS = 128, 128
CODE = ("papers.rebel.deviations", "treeplex.search", "treeplex.learn", "treeplex.forms", "treeplex.engine")


def trained(game: str, way: str, seed: int) -> dict[str, float]:
    """A training run and the exploitability of play with its network, in the game's units."""
    spec, settings = GAMES[game]
    settings = replace(settings, seed=seed, **WAYS[way])

    def make() -> dict[str, float]:
        rules, began = public_tree(spec), process_time()
        trainer = RebelTrainer(rules, settings)
        while not trainer.finished:
            trainer.round()
        seconds = process_time() - began
        search = {name: getattr(settings, name) for name in ("method", "depth", "rounds", "endgame")}
        asked = PlaythroughSettings(**search, iterations=ITERATIONS, playthroughs=PLAYTHROUGHS)
        compiled = tp.compile(spec)
        policy = playthrough_policy(compiled, rules, trainer.leaf, asked, np.random.default_rng(0))
        return {"exploitability": judge(compiled, policy).exploitability, "seconds": seconds}

    key = {"what": "rebel/deviations", "game": spec, "settings": asdict(settings), "judged": [PLAYTHROUGHS, ITERATIONS]}
    return dict(kept({**key, "code": code(*CODE)}, make))


Values = Mapping[str, Mapping[str, Mapping[str, Mapping[str, float]]]]
"""Records by game, variant and seed."""


def exploitability_of(runs: Mapping[str, Mapping[str, float]]) -> list[float]:
    """Exploitabilities of a variant's training runs, ascending."""
    return sorted(run["exploitability"] for run in runs.values())


def comparison(way: str, base: str, found: Values) -> str:
    """Factor between the exploitabilities of two variants on each game, and its significance."""
    pairs = {game: (exploitability_of(own[way]), exploitability_of(own[base])) for game, own in found.items()}
    parts = []
    for game, pair in pairs.items():
        ratio = statistics.fmean(pair[0]) / statistics.fmean(pair[1])
        parts.append(f"{ratio:.2g} times on {game} (p = {p_value(pair):.2g})")
    both = f"both games together: {verdict(*pairs.values())}, p = {p_value(*pairs.values()):.2g}"
    return f"{way}, compared with {base}: {' and '.join(parts)} as exploitable; {both}."


@study(title="ReBeL: training choices that differ from the paper's", place=12, minutes=8, needs=("torch",))
def reproduce(*options: str) -> Result:
    if options not in ((), ("stored",)):
        raise SystemExit(f"rebel/deviations takes the option stored or none, not {' '.join(options)}")
    if options:
        return result(stored("rebel/deviations")["trained"], "Trainings as stored; each result says when it was made.")
    torch_module().set_num_threads(1)
    found = {game: {way: {str(seed): trained(game, way, seed) for seed in SEEDS} for way in WAYS} for game in GAMES}
    return result(found, effort())


def result(found: Values, spent: str) -> Result:
    """Result from the training runs."""
    rows = []
    for way in WAYS:
        cells = []
        for own in found.values():
            values = exploitability_of(own[way])
            cells.append(f"{statistics.fmean(values):.4f} [{values[0]:.4f}, {values[-1]:.4f}]")
        rows.append([way, *cells])
    return Result(
        source=f"{published('rebel')['source']}; algorithms 1 and 2, sections 5.2 and 7, appendix I",
        findings=[comparison(way, base, found) for way, base in BESIDE.items()],
        tables=[
            Table(
                (
                    f"Exploitability of play with the network, mean of {len(SEEDS)} trainings, in brackets the best and "
                    "the worst"
                ),
                ["", *(f"{name}, {'points' if name == '1x4f' else 'chips'}" for name in GAMES)],
                rows,
            )
        ],
        notes=[
            f"Training runs have {DICE.solves:,} subgames on 1x4f and {TURN.solves:,} on `{GAMES['a small turn'][0]}`, "
            f"linear CFR, T = {DICE.iterations} and {TURN.iterations}, and otherwise the recipe's settings.",
            "Below 1 the Huber loss is half the squared error, and Adam takes the same steps for both except for "
            "rounding and clipped gradients. On 1x4f values lie between -1 and 1, so any difference between the two is "
            "random variation between training runs.",
            "p is the probability of a difference at least as large by chance, by an exact permutation test of "
            f"ranks. Higher and lower are reported for p up to {LEVEL:g}; a test measures that equal methods are "
            "reported at most that often. With three training runs each, p cannot be below 0.1 on one game, so only both "
            "games together can be significant.",
            f"Evaluated with N = {PLAYTHROUGHS} playthroughs and T = {ITERATIONS} iterations of the training run's method.",
            spent,
        ],
        numbers={"trained": found},
    )
