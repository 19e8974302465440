"""ReBeL: what it costs to train in other ways than the paper does, on two small games: draws, beliefs, updates, targets.

Runs are kept in ``runs/papers`` one by one.
"""

import statistics
from collections.abc import Mapping
from dataclasses import asdict, replace
from time import process_time
from typing import Any

import numpy as np

from papers.common.kept import code, effort, kept
from papers.common.results import Result, Table, published
from papers.common.study import study
from treeplex.evaluate import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.subgames.public_rules import public_rules
from treeplex.learn.rebel.settings import RebelSettings
from treeplex.learn.rebel.trainer import RebelTrainer
from treeplex.learn.torch.device import torch_module
from treeplex.search.play_distribution import averaged_policy
from treeplex.search.settings import PlaythroughSettings

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
    "modified CFR-AVG, beliefs of the iteration": {"method": "lcfr-avg-modified"},
    "modified CFR-AVG, beliefs of the average": {"method": "lcfr-avg-modified", "passed_on": "average"},
    "modified CFR-AVG, both updated at once": {"method": "lcfr-avg-modified-simultaneous"},
}
SEEDS = (0, 1, 2)
PLAYTHROUGHS, ITERATIONS = 128, 128
CODE = ("papers.rebel.deviations", "treeplex.search", "treeplex.learn", "treeplex.forms", "treeplex.engine")


def trained(game: str, way: str, seed: int) -> dict[str, float]:
    """A training and how exploitable play with its network is, in the game's units."""
    spec, settings = GAMES[game]
    settings = replace(settings, seed=seed, **WAYS[way])

    def make() -> dict[str, float]:
        rules, began = public_rules(spec), process_time()
        trainer = RebelTrainer(rules, settings)
        while not trainer.finished:
            trainer.round()
        seconds = process_time() - began
        search = {name: getattr(settings, name) for name in ("method", "depth", "rounds", "endgame")}
        asked = PlaythroughSettings(**search, iterations=ITERATIONS, playthroughs=PLAYTHROUGHS)
        compiled = compile_game(spec)
        policy = averaged_policy(compiled, rules, trainer.leaf, asked, np.random.default_rng(0))
        return {"exploitability": judge(compiled, policy).exploitability, "seconds": seconds}

    key = {"what": "rebel/deviations", "game": spec, "settings": asdict(settings), "judged": [PLAYTHROUGHS, ITERATIONS]}
    return dict(kept({**key, "code": code(*CODE)}, make))


@study(title="ReBeL: other ways to train than the paper's", place=12, minutes=8, needs=("torch",))
def reproduce() -> Result:
    torch_module().set_num_threads(1)
    found = {game: {way: {str(seed): trained(game, way, seed) for seed in SEEDS} for way in WAYS} for game in GAMES}
    rows = []
    for way in WAYS:
        cells = []
        for own in found.values():
            values = [run["exploitability"] for run in own[way].values()]
            cells.append(f"{statistics.fmean(values):.4f} [{min(values):.4f}, {max(values):.4f}]")
        rows.append([way, *cells])
    return Result(
        source=f"{published('rebel')['source']}; algorithms 1 and 2, section 5.2, appendix I",
        findings=[],
        tables=[
            Table(
                f"Exploitability of play with the network, mean of {len(SEEDS)} trainings, in brackets the best and the worst",
                ["", *(f"{name}, {'points' if name == '1x4f' else 'chips'}" for name in GAMES)],
                rows,
            )
        ],
        notes=[
            f"Trainings of {DICE.solves:,} subgames on 1x4f and {TURN.solves:,} on "
            f"`{GAMES['a small turn'][0]}`, linear CFR, T = {DICE.iterations} and {TURN.iterations}, the recipe's other "
            "settings.",
            f"Judged by N = {PLAYTHROUGHS} playthroughs and T = {ITERATIONS} iterations of the training's method.",
            effort(),
        ],
        numbers={"trained": found},
    )
