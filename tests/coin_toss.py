"""The coin toss of ``examples/coin_toss.py``, and policies of it."""

import importlib.util
from functools import cache
from pathlib import Path
from types import ModuleType

import treeplex as tp
from treeplex.games.public import PublicTree

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "coin_toss.py"


@cache
def example() -> ModuleType:
    specification = importlib.util.spec_from_file_location("coin_toss", EXAMPLE)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@cache
def coin_toss() -> tp.CompiledGame:
    return tp.compile(example().CoinToss())


def toss_rules() -> PublicTree:
    rules: PublicTree = example().TossTree()
    return rules


def guessing(heads: float) -> tp.Policy:
    """Player 1 guesses heads so often; player 0 does anything."""
    game = coin_toss()
    probabilities = tp.Policy.uniform(game).probabilities.copy()
    probabilities[game.sequences_at(game.lookup[1, "guess"])] = [heads, 1 - heads]
    return tp.Policy(game, probabilities)
