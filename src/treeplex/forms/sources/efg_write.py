"""Writer for Gambit ``.efg`` files, for any rules: exact fractions, and labels that Gambit and OpenSpiel can read."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from treeplex.base.storage.files import write_atomically
from treeplex.errors import GameError
from treeplex.forms.compile.stepping import one_at_a_time
from treeplex.forms.sources.explicit_tree import ExplicitGame, exact_payoffs, exact_probabilities
from treeplex.forms.sources.load import load
from treeplex.games.base import CHANCE, TERMINAL, Game, State
from treeplex.games.size_estimate import SizeCheck, history_playout


def write_efg(game: str | Game | Any, path: str | os.PathLike[str]) -> None:
    """Write the tree of ``game`` (any argument of :func:`treeplex.load`) to ``path`` as a Gambit file.

    Simultaneous moves are written as sequential ones.

    Chance probabilities are fractions that sum to exactly one, and payoffs the simplest fractions that round to the same
    floats. Labels hold what Gambit allows: printable ASCII, single spaces inside; a label changed into that form stays unique.
    The prefix ``p{player}:`` that :func:`treeplex.forms.sources.efg_read.read_efg` adds to infostates is dropped.

    Raises:
        GameError: histories of one infostate have different actions, or there are too many histories to write.
        FileError: the file cannot be written.
    """
    write_atomically(path, efg_text(load(game).enumerable_rules()))


def efg_text(game: Game) -> str:
    """Return the text of the ``.efg`` file of ``game``."""
    game = one_at_a_time(game)
    names = game.player_names if isinstance(game, ExplicitGame) else [f"Player {player}" for player in range(game.num_players)]
    players = Labels()
    header = " ".join(f'"{players.label(name)}"' for name in names)
    title = label_text(game.title if isinstance(game, ExplicitGame) and game.title else game.spec or type(game).__name__)
    return "\n".join([f'EFG 2 R "{title}" {{ {header} }}', *EfgWriter(game).lines(), ""])


@dataclass(frozen=True, slots=True)
class KnownInfoset:
    """An information set that has already been written: its number, action ids and description."""

    number: int
    actions: tuple[int, ...]
    description: str


class Labels:
    """Unique labels in Gambit's character set."""

    def __init__(self) -> None:
        self.taken: set[str] = set()

    def label(self, text: str) -> str:
        """Convert ``text`` to a unique label."""
        base = candidate = label_text(text) or "_"
        count = 1
        while candidate in self.taken:
            count += 1
            candidate = f"{base}_{count}"
        self.taken.add(candidate)
        return candidate


class EfgWriter:
    """Writes a game in one walk, in prefix order."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.known: dict[tuple[int, str], KnownInfoset] = {}
        self.outcomes: dict[tuple[Fraction, ...], int] = {}
        self.labels = [Labels() for _ in range(game.num_players)]
        self.chance_nodes = 0

    def lines(self) -> Iterator[str]:
        """Yield one line per node."""
        stack: list[State] = [self.game.new_initial_state()]
        check, written = SizeCheck(str(self.game), history_playout(self.game)), 0
        while stack:
            state = stack.pop()
            written += 1
            if written >= check.next_look:
                check.look(written, written)
            player = state.current_player()
            if player == TERMINAL:
                yield self.terminal(state)
                continue
            if player == CHANCE:
                outcomes = exact_probabilities(state)
                actions: Sequence[int] = [action for action, _ in outcomes]
                yield self.chance_node(state, outcomes)
            else:
                actions = [int(action) for action in state.legal_actions()]
                yield self.player_node(state, player, tuple(actions))
            stack.extend(state.child(action) for action in reversed(actions))

    def terminal(self, state: State) -> str:
        payoffs = tuple(exact_payoffs(state))
        if len(payoffs) != self.game.num_players:
            raise GameError(f"returns() has {len(payoffs)} payoffs; return one for each of {self.game.num_players} players")
        number = self.outcomes.setdefault(payoffs, len(self.outcomes) + 1)
        return f't "" {number} "Outcome {number}" {{ {", ".join(map(number_text, payoffs))} }}'

    def chance_node(self, state: State, outcomes: Sequence[tuple[int, Fraction]]) -> str:
        """Return the line of a chance node, which is always a separate information set."""
        self.chance_nodes += 1
        names = Labels()
        inside = " ".join(f'"{names.label(state.action_to_string(action))}" {number_text(share)}' for action, share in outcomes)
        return f'c "" {self.chance_nodes} "Chance {self.chance_nodes}" {{ {inside} }} 0'

    def player_node(self, state: State, player: int, actions: tuple[int, ...]) -> str:
        infostate = state.information_state_string(player)
        known = self.known.get((player, infostate))
        if known is None:
            names = Labels()
            inside = " ".join(f'"{names.label(state.action_to_string(action))}"' for action in actions)
            label = self.labels[player].label(infostate.removeprefix(f"p{player}:"))
            known = KnownInfoset(len(self.labels[player].taken), actions, f'"{label}" {{ {inside} }}')
            self.known[player, infostate] = known
        if known.actions != actions:
            raise GameError(
                f"infostate {infostate!r} of player {player} has actions {list(actions)} at one history and "
                f"{list(known.actions)} at another; give these histories different infostates"
            )
        return f'p "" {player + 1} {known.number} {known.description} 0'


def label_text(text: str) -> str:
    """Return ``text`` in Gambit's character set for labels: printable ASCII, no double quotes or backslashes, single spaces."""
    replaced = text.replace('"', "'").replace("\\", "/")
    printable = "".join(c if " " < c <= "~" else " " if c.isspace() else f"<{ord(c):x}>" for c in replaced)
    return " ".join(printable.split())


def number_text(value: Fraction) -> str:
    """Format an exact number: a fraction of 32-bit integers (OpenSpiel's maximum) if possible, else a terminating decimal."""
    if max(abs(value.numerator), value.denominator) < 2**31:
        return str(value)
    rest, digits = value.denominator, 0
    for prime in (2, 5):
        power = 0
        while rest % prime == 0:
            rest //= prime
            power += 1
        digits = max(digits, power)
    if rest > 1:
        return str(value)
    whole, part = divmod(abs(value.numerator) * 10**digits // value.denominator, 10**digits)
    return f"{'-' if value < 0 else ''}{whole}" + (f".{part:0{digits}d}" if digits else "")
