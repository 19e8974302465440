"""Writer for LiteEFG game files; for the format see :mod:`treeplex.forms.sources.liteefg`."""

import os
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from treeplex.base.storage.files import write_atomically
from treeplex.forms.compile.stepping import one_at_a_time
from treeplex.forms.sources.load import load
from treeplex.games.base import CHANCE, TERMINAL, Game, State
from treeplex.games.size_estimate import SizeCheck, history_playout


def write_game_file(game: str | Game | Any, path: str | os.PathLike[str]) -> None:
    """Write the tree of ``game`` (any argument of :func:`treeplex.load`) to ``path`` as a LiteEFG file.

    Simultaneous moves become sequential ones.
    Blanks, slashes and equal signs in labels are percent-escaped; the prefix ``p{player}:`` of infostates is dropped.

    Raises:
        FileError: the file cannot be written.
        GameError: there are too many histories to write.
    """
    write_atomically(path, game_file_text(load(game).enumerable_rules()))


def game_file_text(game: Game) -> str:
    """Return the text of the ``.game`` file of ``game``."""
    game = one_at_a_time(game)
    lines = [
        f"# {word(game.spec or type(game).__name__)}",
        "#",
        "# Opt {",
        f"#     num_players: {game.num_players},",
        "# }",
        "#",
    ]
    labels_of: dict[tuple[int, str], list[str]] = {}
    nodes_of: dict[tuple[int, str], list[str]] = {}
    stack: list[tuple[str, State]] = [("/", game.new_initial_state())]
    check, written = SizeCheck(str(game), history_playout(game)), 0
    while stack:
        name, state = stack.pop()
        written += 1
        if written >= check.next_look:
            check.look(written, written)
        player = state.current_player()
        if player == TERMINAL:
            payoffs = " ".join(f"{number}={float(payoff)!r}" for number, payoff in enumerate(state.returns(), 1))
            lines.append(f"node {name} leaf payoffs {payoffs}")
            continue
        if player == CHANCE:
            actions, shares = zip(*state.chance_outcomes(), strict=True)
            labels = edge_labels(state, actions)
            pairs = zip(labels, shares, strict=True)
            lines.append(f"node {name} chance actions {' '.join(f'{label}={float(share)!r}' for label, share in pairs)}")
        else:
            actions = tuple(state.legal_actions())
            infoset = player, state.information_state_string(player)
            labels = labels_of.setdefault(infoset, edge_labels(state, actions))
            nodes_of.setdefault(infoset, []).append(name)
            lines.append(f"node {name} player {player + 1} actions {' '.join(labels)}")
        edge = f"{name.rstrip('/')}/{'C' if player == CHANCE else f'P{player + 1}'}:"
        children = zip(labels, actions, strict=True)
        stack.extend((edge + label, state.child(action)) for label, action in reversed(list(children)))
    for number, ((player, infostate), names) in enumerate(nodes_of.items()):
        label = word(infostate.removeprefix(f"p{player}:"))
        lines.append(f"infoset pl{player + 1}_{number}__{label} nodes {' '.join(names)}")
    return "\n".join([*lines, ""])


def edge_labels(state: State, actions: Sequence[int]) -> list[str]:
    """Return one word per action: its name, followed by its id if two actions have the same name."""
    names = [word(state.action_to_string(action)) for action in actions]
    return [name if names.count(name) == 1 else f"{name}@{action}" for name, action in zip(names, actions, strict=True)]


def word(text: str) -> str:
    """Convert ``text`` to one word without ``=``, ``/``, ``#`` or white space."""
    return quote(text, safe="!$&'()*+,:;?@[]~-._<>|^{}") or "_"
