"""Rules of games: the contracts, the built-in games, and how to find them by name."""

from treeplex.games.base import CHANCE, SIMULTANEOUS, TERMINAL, Game, State
from treeplex.games.matrix import MatrixGame
from treeplex.games.parameters import GameInfo, Parameter
from treeplex.games.public import Chance, Decision, Leaf, PublicTree
from treeplex.games.registry import games, load
from treeplex.games.turn_based import TurnBased

__all__ = [
    "CHANCE",
    "SIMULTANEOUS",
    "TERMINAL",
    "Chance",
    "Decision",
    "Game",
    "GameInfo",
    "Leaf",
    "MatrixGame",
    "Parameter",
    "PublicTree",
    "State",
    "TurnBased",
    "games",
    "load",
]
