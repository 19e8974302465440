"""Infostates as binary tensors for networks, from the words of their strings."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.games.base import Game

WORD = re.compile(r"\d+|[^\W\d]+|\S")


def infostate_tensors(game: CompiledGame | str | Game | Any, player: int) -> NDArray[np.uint8]:
    """Return a player's infostates as binary rows, uint8 [I, D]; no two infostates have the same row.

    Column (n, word) says that the n-th word of the infostate's string is that word: a number, a name or a sign. Constant and
    duplicate columns are dropped. Rows are in the order of the compiled game, which may be given as a spec or rules.
    """
    game = compile_game(game)
    first, last = (int(number) for number in game.tree.infoset_offsets[player : player + 2])
    return word_tensors(game.infostates[first:last])


def word_tensors(infostates: Sequence[str]) -> NDArray[np.uint8]:
    """Return the rows of :func:`infostate_tensors` for arbitrary texts, uint8 [texts, D]."""
    texts = [WORD.findall(text) for text in infostates]
    columns: dict[tuple[int, str], list[int]] = {}
    for row, words in enumerate(texts):
        for index, word in enumerate(words):
            columns.setdefault((index, word), []).append(row)
    distinct = distinct_columns(columns.values(), len(texts))
    table = np.zeros((len(texts), len(distinct)), np.uint8)
    for column, rows in enumerate(distinct):
        table[rows, column] = 1
    return table


def distinct_columns(columns: Iterable[list[int]], rows: int) -> list[list[int]]:
    """Return the distinct non-constant columns, as lists of rows with a one."""
    return [list(ones) for ones in dict.fromkeys(map(tuple, columns)) if len(ones) < rows]
