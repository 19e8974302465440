"""Policies written by hand: mappings in Python, and plain ``.json`` and ``.csv`` files without Treeplex's header.

======================================================  =======================================================
``{infostate: {action: probability}}``                  a mapping, or the same as JSON
``{player: {infostate: {action: probability}}}``        JSON, where two players have an infostate of one name
``infostate,action,probability`` (and ``player``)       CSV, one line per action, in any order; other columns are ignored
======================================================  =======================================================

An action is an id or a name. Omitted actions have probability 0. In files, the probabilities of an infostate may be rounded to
three digits; they are divided by their sum.
"""

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.spec import shown
from treeplex.errors import FileError, PolicyError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import uniform_probabilities
from treeplex.games.turn_based import other_names

ROUNDED = 5e-3
"""Tolerance for the sum of an infostate's probabilities in a file."""
REQUIRED = ("infostate", "action", "probability")

Table = Mapping[Any, Any]
"""``{infostate: {action: probability}}``; keys may be pairs (player, infostate)."""


def table_from_json(path: Path, value: Any) -> Table:
    """Return the table from a JSON file without a header."""
    remedy = "write {infostate: {action: probability}}, or that for each player: {player: {infostate: {...}}}"
    if not isinstance(value, dict) or not all(isinstance(row, dict) for row in value.values()):
        raise FileError(f"{path} is not a policy; {remedy}")
    inner = [entry for row in value.values() for entry in row.values()]
    if not inner or not all(isinstance(entry, dict) for entry in inner):
        return value
    if not all(player.isdecimal() for player in value):
        raise FileError(
            f"{path} is not a policy: {shown(next(p for p in value if not p.isdecimal()))} is not a player; {remedy}"
        )
    return {(int(player), infostate): row for player, rows in value.items() for infostate, row in rows.items()}


def table_from_csv(path: Path, text: str) -> Table:
    """Return the table from a CSV file without a header comment."""
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True, skipinitialspace=True)
    columns = reader.fieldnames or ()
    if missing := [name for name in REQUIRED if name not in columns]:
        raise FileError(
            f"{path}:1: column {missing[0]!r} is missing; the first line must be "
            "player,infostate,action,probability (player is optional)"
        )
    table: dict[Any, dict[str, float]] = {}
    for row in reader:
        location = f"{path}:{reader.line_num}"
        if any(row[name] is None for name in REQUIRED):
            raise FileError(f"{location}: too few entries; write one per column ({','.join(columns)})")
        player = row.get("player")
        if player is not None and not player.strip().isdecimal():
            raise FileError(f"{location}: player {shown(player)} is not a player number (0, 1, ...)")
        try:
            probability = float(row["probability"])
        except ValueError as error:
            raise FileError(f"{location}: probability {shown(row['probability'])} is not a number") from error
        key = row["infostate"] if player is None else (int(player), row["infostate"])
        shares, action = table.setdefault(key, {}), row["action"].strip()
        if action in shares:
            raise FileError(f"{location}: action {shown(action)} at infostate {shown(row['infostate'])} is given twice")
        shares[action] = probability
    return table


def probabilities_of(game: CompiledGame, table: Table, *, complete: bool = False, rounded: float = 0.0) -> NDArray[np.float64]:
    """Convert a table to probabilities [Q] on ``game``.

    Args:
        game: the compiled game.
        table: the policy.
        complete: play uniformly at infostates that the table lacks, instead of raising an error.
        rounded: tolerance for the sum of an infostate's probabilities, which are then divided by their sum.

    Raises:
        PolicyError: infostates are missing, an infostate or action does not exist, or a probability is not a number.
    """
    probabilities = uniform_probabilities(game)
    used: set[Any] = set()
    missing: list[tuple[int, str]] = []
    for (player, infostate), infoset in game.lookup.items():
        key = next((key for key in keys_of(player, infostate) if key in table), None)
        if key is None:
            missing.append((player, infostate))
            continue
        used.add(key)
        shares = shares_of(game, player, infostate, game.actions_at(infoset), table[key])
        total = sum(shares)
        if 0 < abs(total - 1.0) <= rounded:
            shares = [share / total for share in shares]
        probabilities[game.sequences_at(infoset)] = shares
    if unknown := [key for key in table if key not in used]:
        whom, known = next(iter(game.lookup), (0, ""))
        strange, example = unknown[0], shown(known)
        if isinstance(strange, tuple) and len(strange) == 2:
            name, example = f"{shown(str(strange[1]))} of player {strange[0]}", f"{example} of player {whom}"
        else:
            name = shown(str(strange))
        raise PolicyError(f"{game} has no infostate {name}; its infostates look like {example}")
    if missing and not complete:
        player, infostate = missing[0]
        raise PolicyError(
            f"the policy lacks {len(missing):,} of {len(game.lookup):,} infostates of {game}, such as {shown(infostate)} of "
            f"player {player}; add them, or play uniformly there (complete=True, --complete)"
        )
    return probabilities


def keys_of(player: int, infostate: str) -> list[object]:
    """Return the possible keys of an infostate in a table."""
    names = (infostate, *other_names(player, infostate))
    return [key for name in names for key in ((player, name), name)]


def shares_of(game: CompiledGame, player: int, infostate: str, actions: list[int], row: Any) -> list[float]:
    """Return the probability of each action at an infostate."""
    if not isinstance(row, Mapping):
        raise PolicyError(f"infostate {shown(infostate)} needs {{action: probability}}, not {shown(repr(row))}")
    named = [game.action_names[player].get(action, str(action)) for action in actions]
    names = {  # an ambiguous name is unknown
        name if named.count(name) == 1 else str(action): action for name, action in zip(named, actions, strict=True)
    }
    shares: dict[int, float] = {}
    for given, probability in row.items():
        action = int(given) if isinstance(given, str) and given.isdecimal() and int(given) in actions else given
        action = names.get(action, action) if isinstance(action, str) else action
        if action not in actions:
            legal = ", ".join(f"{action_id} ({name})" if name != str(action_id) else name for name, action_id in names.items())
            raise PolicyError(
                f"no action {shown(str(given))} at infostate {shown(infostate)} of {game}; legal actions: {legal}"
            )
        if action in shares:
            raise PolicyError(f"action {shown(str(given))} at infostate {shown(infostate)} is given twice, by id and by name")
        try:
            shares[action] = float(probability)
        except (TypeError, ValueError) as error:
            raise PolicyError(
                f"the probability of action {shown(str(given))} at infostate {shown(infostate)} is not a number: "
                f"{probability!r}"
            ) from error
    return [shares.get(action, 0.0) for action in actions]
