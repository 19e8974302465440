"""Interfaces for writing rules: histories (``Game``, ``State``), public trees, Numba functions and matrices."""

from treeplex.base.spec import Spec, parse_spec
from treeplex.engine.uncompiled.rules import mix
from treeplex.games.base import CHANCE, SIMULTANEOUS, TERMINAL, Game, State
from treeplex.games.builtin.matrix import MatrixGame
from treeplex.games.card_game import CardGame
from treeplex.games.numba_rules import NumbaGame, NumbaRules
from treeplex.games.parameters import GameInfo, Parameter
from treeplex.games.public import Chance, Decision, PublicGame, PublicTree, Terminal
from treeplex.games.turn_based import TurnBased

__all__ = [
    "CHANCE",
    "SIMULTANEOUS",
    "TERMINAL",
    "CardGame",
    "Chance",
    "Decision",
    "Game",
    "GameInfo",
    "MatrixGame",
    "NumbaGame",
    "NumbaRules",
    "Parameter",
    "PublicGame",
    "PublicTree",
    "Spec",
    "State",
    "Terminal",
    "TurnBased",
    "mix",
    "parse_spec",
]
