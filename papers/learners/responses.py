"""Learners by responses on Kuhn and Leduc poker: PSRO, neural fictitious self-play, regression CFR, exploitability descent, ARMAC."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from papers.common.results import Result, Table, published
from papers.common.study import study
from papers.learners.trained import curve_of, reached, trained

TABLE: Mapping[str, Any] = {"approximator": "table"}


class Run(NamedTuple):
    """A training: what it is called, its learner and game, and settings besides the defaults."""

    name: str
    learner: str
    game: str
    settings: Mapping[str, Any]


RUNS = (
    Run("psro", "psro", "kuhn_poker", {"steps": 8}),
    Run("psro", "psro", "leduc_poker", {"steps": 250}),
    Run("ned-table", "ned", "kuhn_poker", {**TABLE, "rate": 1.4, "slowing": 0.6, "steps": 20_000}),
    Run("ned-table", "ned", "leduc_poker", {**TABLE, "rate": 4.0, "slowing": 0.5, "steps": 10_000}),
    Run("nfsp-table", "nfsp", "leduc_poker", {**TABLE, "steps": 1800}),
    Run("ned", "ned", "leduc_poker", {"steps": 6000}),
    Run("nfsp", "nfsp", "leduc_poker", {"steps": 1800}),
    Run("psro-learned", "psro", "leduc_poker", {"oracle": "learned", "steps": 40}),
    Run("armac", "armac", "leduc_poker", {"steps": 400}),
    Run("rcfr", "rcfr", "leduc_poker", {"steps": 1000}),
)
"""In the order in which they are made; networks have the learners' defaults."""
