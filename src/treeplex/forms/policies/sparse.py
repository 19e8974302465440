"""Policies for games too large to compile: a table of visited infosets, and the uniform policy elsewhere."""

import os
import sys
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from treeplex.base.storage.reading import open_regular, tensor_metadata
from treeplex.base.storage.tensors import (
    LONGEST_HEADER,
    PIECE,
    Bytes,
    Tensor,
    TensorFile,
    tensor,
    write_tensors,
)
from treeplex.errors import FileError, PolicyError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import AnyState, Policy, uniform_probabilities
from treeplex.games.turn_based import other_names

FORMAT = "treeplex table policy"
VERSION = 1
TOLERANCE = 1e-9


@final
class Infosets:
    """One player's infosets in order of first visit; each infoset's actions occupy contiguous slots.

    Attributes:
        lookup: the number of each infostate.
        first: int64 [I+1], the first slot of each infoset, and the number of slots.
        actions: int64 [S], the rules' id of each slot's action.
        text_bytes: memory used by the infostate strings, in bytes.
    """

    def __init__(self) -> None:
        self.lookup: Final[dict[str, int]] = {}
        self.first: Final[array[int]] = array("q", (0,))
        self.actions: Final[array[int]] = array("q")
        self.text_bytes = 0

    def __len__(self) -> int:
        return len(self.lookup)

    def add(self, infostate: str, actions: Sequence[int]) -> int:
        """Add an infoset and return its number."""
        number = len(self.lookup)
        self.actions.extend(actions)
        self.first.append(len(self.actions))
        self.lookup[infostate] = number
        self.text_bytes += text_bytes(infostate)
        return number

    def actions_at(self, number: int) -> list[int]:
        """Return the action ids of an infoset."""
        return self.actions[self.first[number] : self.first[number + 1]].tolist()


def text_bytes(infostate: str) -> int:
    """Return the allocated bytes of a string: rounded up to 16 bytes, plus allocator overhead."""
    return sys.getsizeof(infostate) + 31 & ~15


@final
class TablePolicy:
    """A behaviour policy on rules: probabilities at some infosets, uniform at all others.

    ``policy[player, infostate]`` gives ``{action id: probability}`` at an infoset in the table;
    ``policy.action_probabilities(state)`` does at any state of the rules.

    Attributes:
        spec: the text that names the game; empty for rules without a name.
        infosets: each player's infosets; further ones without probabilities may follow the policy's.
        probabilities: for each player float64 [S].
        about: metadata on its origin.
    """

    def __init__(
        self,
        spec: str,
        infosets: Sequence[Infosets],
        probabilities: Sequence[NDArray[np.float64]],
        about: Mapping[str, str] | None = None,
    ) -> None:
        """Wrap tables without copying."""
        self.spec, self.infosets, self.probabilities = spec, tuple(infosets), tuple(probabilities)
        self.about: Mapping[str, str] = dict(about or {})
        self.counts: Final = tuple(
            int(np.searchsorted(np.frombuffer(of_player.first, np.int64), len(row), side="left"))
            for of_player, row in zip(self.infosets, self.probabilities, strict=True)
        )

    @classmethod
    def uniform(cls, spec: str, players: int) -> "TablePolicy":
        """Return the uniform policy, as an empty table."""
        return cls(spec, [Infosets() for _ in range(players)], [np.empty(0) for _ in range(players)])

    @property
    def players(self) -> int:
        """The number of players."""
        return len(self.infosets)

    def number(self, player: int, infostate: str) -> int:
        """Return the number of an infoset among its player's infosets; -1 if it is not in the table."""
        lookup = self.infosets[player].lookup
        number = lookup.get(infostate, -1)
        for name in other_names(player, infostate) if number < 0 else ():
            number = max(number, lookup.get(name, -1))
        return number if number < self.counts[player] else -1

    def __len__(self) -> int:
        return sum(self.counts)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        for player, (infosets, count) in enumerate(zip(self.infosets, self.counts, strict=True)):
            yield from ((player, infostate) for infostate, number in infosets.lookup.items() if number < count)

    def __contains__(self, key: object) -> bool:
        return (
            isinstance(key, tuple)
            and len(key) == 2
            and key[0] in range(self.players)
            and isinstance(key[1], str)
            and self.number(*key) >= 0
        )

    def __getitem__(self, key: tuple[int, str]) -> dict[int, float]:
        if key not in self:
            raise PolicyError(f"no infostate {key!r} in the table; action_probabilities(state) is uniform there")
        return self.at(key[0], self.number(*key))

    def at(self, player: int, number: int) -> dict[int, float]:
        """``{action id: probability}`` at an infoset given by number."""
        first = self.infosets[player].first
        row = self.probabilities[player][first[number] : first[number + 1]]
        return dict(zip(self.infosets[player].actions_at(number), row.tolist(), strict=True))

    def action_probabilities(self, state: AnyState, player_id: int | None = None) -> dict[int, float]:
        """``{action id: probability}`` at a state; uniform if its infoset is not in the table. Name and meaning are
        OpenSpiel's.

        Raises:
            PolicyError: no player acts at the state, all act at once, or the table has other actions there.
        """
        player = state.current_player() if player_id is None else player_id
        if not 0 <= player < self.players:
            raise PolicyError("no single player acts at this state; give player_id, or a state at which one player acts")
        number = self.number(player, infostate := state.information_state_string(player))
        legal: list[int] = list(state.legal_actions())  # type: ignore[attr-defined]
        if number < 0:
            return dict.fromkeys(legal, 1.0 / len(legal))
        chances = self.at(player, number)
        if list(chances) != legal:
            raise PolicyError(
                f"actions at infostate {infostate!r} are {list(chances)} in the table, but {legal} in the game; "
                f"give a policy for this game (this one was made for {self.spec or 'rules without a name'})"
            )
        return chances

    def on(self, game: CompiledGame) -> Policy:
        """Return the full tabular policy on a compiled game.

        Raises:
            PolicyError: an infostate has other actions, or none of the game's infostates is in the table.
        """
        probabilities, known = uniform_probabilities(game), 0
        for (player, infostate), infoset in game.lookup.items():
            number = self.number(player, infostate) if player < self.players else -1
            if number < 0:
                continue
            chances, actions = self.at(player, number), list(game.actions_at(infoset))
            if sorted(chances) != sorted(actions):
                raise PolicyError(f"actions at infostate {infostate!r} are {list(chances)}, but {actions} in {game}")
            probabilities[game.sequences_at(infoset)] = [chances[action] for action in actions]
            known += 1
        if len(self) and not known:
            raise PolicyError(
                f"the policy contains none of the infostates of {game}; give a policy for that game (this one was made for "
                f"{self.spec or 'rules without a name'})"
            )
        return Policy(game, probabilities)

    def __repr__(self) -> str:
        return f"<table policy for {self.spec or 'rules without a name'}: {len(self)} infosets>"


def tensors_of(infosets: Infosets, player: int) -> dict[str, Tensor]:
    """Return a player's infosets as tensors: concatenated infostates, the end of each, first slots, and actions."""
    ends = np.empty(len(infosets), np.int64)
    end = 0
    for number, infostate in enumerate(infosets.lookup):
        end += len(infostate) if infostate.isascii() else len(infostate.encode())
        ends[number] = end
    return {
        f"infostates.{player}": Tensor("U8", (end,), lambda: encoded(infosets)),
        f"ends.{player}": tensor(ends),
        f"first.{player}": tensor(np.frombuffer(infosets.first, np.int64)),
        f"actions.{player}": tensor(np.frombuffer(infosets.actions, np.int64) if infosets.actions else np.empty(0, np.int64)),
    }


def encoded(infosets: Infosets) -> Iterator[Bytes]:
    """Yield all infostates, encoded as UTF-8, in pieces."""
    parts: list[str] = []
    size = 0
    for infostate in infosets.lookup:
        parts.append(infostate)
        size += len(infostate)
        if size > PIECE:
            yield "".join(parts).encode()
            parts, size = [], 0
    yield "".join(parts).encode()


def infosets_from(file: TensorFile, player: int) -> Infosets:
    """Rebuild infosets from the tensors of :func:`tensors_of`.

    Raises:
        FileError: the tensors do not fit each other.
    """
    infosets = Infosets()
    ends, first = file.read(f"ends.{player}", "I64"), file.read(f"first.{player}", "I64")
    actions, text = file.read(f"actions.{player}", "I64"), file.read(f"infostates.{player}", "U8")
    whole = len(first) == len(ends) + 1 and first[0] == 0 and first[-1] == len(actions) and bool((np.diff(first) > 0).all())
    starts = np.concatenate(([0], ends[:-1])) if len(ends) else ends
    if not whole or not (starts <= ends).all() or (ends[-1] if len(ends) else 0) != len(text):
        raise FileError(f"{file.path}: infosets and actions of player {player} do not match; restore a backup")
    infosets.actions.frombytes(actions.tobytes())
    infosets.first.frombytes(first[1:].tobytes())
    data = text.tobytes()
    for number, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        try:
            infostate = data[start:end].decode()
        except UnicodeDecodeError as error:
            raise FileError(f"{file.path}: an infostate is not UTF-8 text; restore a backup") from error
        infosets.lookup[infostate] = number
        infosets.text_bytes += text_bytes(infostate)
    if len(infosets.lookup) != len(ends):
        raise FileError(f"{file.path}: an infostate of player {player} occurs twice; restore a backup")
    return infosets


def save_table_policy(policy: TablePolicy, path: str | os.PathLike[str]) -> None:
    """Write a policy to a ``.safetensors`` file piece by piece.

    Args:
        policy: the policy.
        path: the file.

    Raises:
        FileError: the file cannot be written.
    """
    tensors: dict[str, Tensor] = {}
    for player, (infosets, probabilities) in enumerate(zip(policy.infosets, policy.probabilities, strict=True)):
        if policy.counts[player] != len(infosets):
            raise PolicyError("the table has grown since this policy was created; create the policy again before saving")
        tensors |= {**tensors_of(infosets, player), f"probabilities.{player}": tensor(probabilities)}
    about = {
        **policy.about,
        "format": FORMAT,
        "version": str(VERSION),
        "game": policy.spec,
        "players": str(policy.players),
    }
    write_tensors(path, about, tensors)


def load_table_policy(path: str | os.PathLike[str]) -> TablePolicy:
    """Read a policy written by :func:`save_table_policy`; executes no code and loads no game.

    Raises:
        FileError: the file is missing, truncated, changed, not a table policy, or of another version.
    """
    with TensorFile(path, FORMAT, VERSION) as file:
        try:
            players = int(file.about.get("players", ""))
        except ValueError as error:
            raise FileError(f"{path}: the number of players is missing; restore a backup") from error
        infosets = [infosets_from(file, player) for player in range(players)]
        probabilities = [file.read(f"probabilities.{player}", "F64") for player in range(players)]
        about = {key: value for key, value in file.about.items() if key not in OWN_FIELDS}
        for player, (of_player, row) in enumerate(zip(infosets, probabilities, strict=True)):
            check_distributions(file, player, of_player, row)
        return TablePolicy(file.about.get("game", ""), infosets, probabilities, about)


def is_table_policy(path: str | os.PathLike[str]) -> bool:
    """Return whether a file's header declares a table policy, without validating the file."""
    return file_format(path) == FORMAT


def file_format(path: str | os.PathLike[str]) -> str | None:
    """Return the format stated in a tensor file's header; None for other files."""
    try:
        with open_regular(path) as file:
            begin = file.read(8)
            header = file.read(min(int.from_bytes(begin, "little"), LONGEST_HEADER))
        return tensor_metadata(begin + header).get("format")
    except (OSError, ValueError):
        return None


OWN_FIELDS = ("format", "version", "game", "players", "digest")


def check_distributions(file: TensorFile, player: int, infosets: Infosets, probabilities: NDArray[Any]) -> None:
    """Raise :class:`FileError` unless every infoset has a probability distribution."""
    first = np.frombuffer(infosets.first, np.int64)
    whole = len(probabilities) == first[-1] and bool((probabilities >= 0.0).all())
    sums = np.add.reduceat(probabilities, first[:-1]) if whole and len(infosets) else np.empty(0)
    if not whole or not (np.abs(sums - 1.0) <= TOLERANCE).all():
        raise FileError(f"{file.path}: probabilities at an infoset of player {player} are not a distribution; restore a backup")
