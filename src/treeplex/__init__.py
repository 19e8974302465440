"""Treeplex solves imperfect-information games: equilibria, exploitability and the CFR family, from rules in thirty lines.

>>> import treeplex as tp
>>> solution = tp.solve("kuhn_poker", "dcfr", iterations=100)
>>> solution.exploitability < 1e-2
True

Names are imported when they are first used, so that ``import treeplex`` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treeplex import errors
    from treeplex.evaluate import Judgement
    from treeplex.evaluate.cce import best_cce, cce_gap, cce_gaps
    from treeplex.evaluate.correlation import DeviceJudgement, judge_device
    from treeplex.evaluate.playouts import estimate, head_to_head
    from treeplex.forms.compile.compile_game import compile_game as compile
    from treeplex.forms.compile.compiled_game import CompiledGame
    from treeplex.forms.correlation.device import Device
    from treeplex.forms.policies.files import load_policy, save_policy, to_dataframe, to_table
    from treeplex.forms.policies.sparse import TablePolicy, load_table_policy, save_table_policy
    from treeplex.forms.policies.tabular import Policy
    from treeplex.forms.sources.efg import write_efg
    from treeplex.forms.sources.load import load
    from treeplex.forms.sources.openspiel import from_tabular_policy, to_tabular_policy
    from treeplex.forms.structure.classes import Structure, structure
    from treeplex.games.base import CHANCE, SIMULTANEOUS, TERMINAL, Game, State
    from treeplex.games.registry import games as known_games
    from treeplex.learn.learner import Learner
    from treeplex.runs.compare import Comparison, compare
    from treeplex.runs.devices import device_from_policy, load_device, save_device
    from treeplex.runs.job.interrupt import Interrupted
    from treeplex.runs.job.memory import SpotEstimate, estimate_spot
    from treeplex.runs.judge import (
        as_policy,
        best_response,
        distance_to_value,
        exact_value,
        expected_values,
        exploitability,
        infostate_regrets,
        judge,
        nash_conv,
    )
    from treeplex.runs.rebel.judge import judge_rebel
    from treeplex.runs.sample.sample import sample
    from treeplex.runs.solve.solution import Solution
    from treeplex.runs.solve.solve import solve
    from treeplex.runs.train.kind import Training
    from treeplex.runs.train.train import train
    from treeplex.runs.tree_picture import draw
    from treeplex.search.agent import SearchAgent
    from treeplex.settings import Settings, setting
    from treeplex.solvers import (
        DiscountPolicy,
        FictitiousRule,
        Rule,
        Step,
        Variant,
        Weights,
        algorithms,
        load_discount_policy,
        save_discount_policy,
    )

    __version__: str

_HOMES = {
    "treeplex.evaluate": ("Judgement",),
    "treeplex.evaluate.cce": ("best_cce", "cce_gap", "cce_gaps"),
    "treeplex.evaluate.correlation": ("DeviceJudgement", "judge_device"),
    "treeplex.forms.compile.compile_game": ("compile_game",),
    "treeplex.forms.compile.compiled_game": ("CompiledGame",),
    "treeplex.forms.correlation.device": ("Device",),
    "treeplex.forms.sources.load": ("load",),
    "treeplex.forms.policies.tabular": ("Policy",),
    "treeplex.forms.policies.files": ("load_policy", "save_policy", "to_dataframe", "to_table"),
    "treeplex.forms.sources.openspiel": ("from_tabular_policy", "to_tabular_policy"),
    "treeplex.forms.sources.efg": ("write_efg",),
    "treeplex.games.base": ("CHANCE", "SIMULTANEOUS", "TERMINAL", "Game", "State"),
    "treeplex.games.registry": ("games",),
    "treeplex.runs.judge": (
        "as_policy",
        "best_response",
        "distance_to_value",
        "exact_value",
        "expected_values",
        "exploitability",
        "infostate_regrets",
        "judge",
        "nash_conv",
    ),
    "treeplex.runs.compare": ("Comparison", "compare"),
    "treeplex.runs.job.interrupt": ("Interrupted",),
    "treeplex.forms.structure.classes": ("Structure", "structure"),
    "treeplex.runs.train.train": ("train",),
    "treeplex.runs.train.kind": ("Training",),
    "treeplex.learn.learner": ("Learner",),
    "treeplex.settings": ("Settings", "setting"),
    "treeplex.runs.rebel.judge": ("judge_rebel",),
    "treeplex.search.agent": ("SearchAgent",),
    "treeplex.runs.sample.sample": ("sample",),
    "treeplex.forms.policies.sparse": ("TablePolicy", "load_table_policy", "save_table_policy"),
    "treeplex.evaluate.playouts": ("estimate", "head_to_head"),
    "treeplex.runs.job.memory": ("SpotEstimate", "estimate_spot"),
    "treeplex.runs.devices": ("device_from_policy", "load_device", "save_device"),
    "treeplex.runs.solve.solution": ("Solution",),
    "treeplex.runs.solve.solve": ("solve",),
    "treeplex.runs.tree_picture": ("draw",),
    "treeplex.solvers": (
        "DiscountPolicy",
        "FictitiousRule",
        "Rule",
        "Step",
        "Variant",
        "Weights",
        "algorithms",
        "load_discount_policy",
        "save_discount_policy",
    ),
}
_PUBLIC_NAMES = {"compile_game": "compile", "games": "known_games"}
_PLACES = {_PUBLIC_NAMES.get(name, name): (module, name) for module, names in _HOMES.items() for name in names}

__all__ = [
    "CHANCE",
    "SIMULTANEOUS",
    "TERMINAL",
    "Comparison",
    "CompiledGame",
    "Device",
    "DeviceJudgement",
    "DiscountPolicy",
    "FictitiousRule",
    "Game",
    "Interrupted",
    "Judgement",
    "Learner",
    "Policy",
    "Rule",
    "SearchAgent",
    "Settings",
    "Solution",
    "SpotEstimate",
    "State",
    "Step",
    "Structure",
    "TablePolicy",
    "Training",
    "Variant",
    "Weights",
    "algorithms",
    "as_policy",
    "best_cce",
    "best_response",
    "cce_gap",
    "cce_gaps",
    "compare",
    "compile",
    "device_from_policy",
    "distance_to_value",
    "draw",
    "errors",
    "estimate",
    "estimate_spot",
    "exact_value",
    "expected_values",
    "exploitability",
    "from_tabular_policy",
    "head_to_head",
    "infostate_regrets",
    "judge",
    "judge_device",
    "judge_rebel",
    "known_games",
    "load",
    "load_device",
    "load_discount_policy",
    "load_policy",
    "load_table_policy",
    "nash_conv",
    "sample",
    "save_device",
    "save_discount_policy",
    "save_policy",
    "save_table_policy",
    "setting",
    "solve",
    "structure",
    "to_dataframe",
    "to_table",
    "to_tabular_policy",
    "train",
    "write_efg",
]


def __getattr__(name: str) -> Any:
    """Import a public name on first use (PEP 562)."""
    value: Any
    if name == "__version__":
        from importlib.metadata import version

        value = version("treeplex")
    elif name == "errors":
        value = import_module("treeplex.errors")
    elif name in _PLACES:
        module, attribute = _PLACES[name]
        value = getattr(import_module(module), attribute)
    else:
        raise AttributeError(f"module 'treeplex' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
