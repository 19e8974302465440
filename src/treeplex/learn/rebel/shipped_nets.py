"""Lookup of shipped ReBeL networks by the rules that they were trained on."""

from pathlib import Path

from treeplex.base.spec import nearest
from treeplex.errors import PolicyError, SpecError
from treeplex.forms.sources.load import public_tree
from treeplex.games.base import Game
from treeplex.games.public import PublicTree
from treeplex.learn.rebel.files import NetFile, read_net
from treeplex.search.subgames.identity import public_identity

SHIPPED = Path(__file__).parent / "networks"
RIVERS = SHIPPED / "holdem" / "rivers.safetensors"
"""File of the shipped river network, used to search turns."""
WHOLE = SHIPPED / "whole"
"""Folder of networks for full-game hold'em."""
REBEL = "rebel"
"""Name of the shipped networks: the one with the best evaluation for the game, or ``rebel:NAME``; on turns, :data:`RIVERS`."""


def shipped_nets() -> dict[str, NetFile]:
    """All shipped networks except those for hold'em, by file name."""
    return {path.stem: read_net(path) for path in sorted(SHIPPED.glob("*.safetensors"))}


def shipped_whole_nets() -> dict[str, NetFile]:
    """All shipped networks for full-game hold'em, by file name."""
    return {path.stem: read_net(path) for path in sorted(WHOLE.glob("*.safetensors"))}


def shipped_net(rules: PublicTree | str | Game, name: str | None = None) -> NetFile:
    """The shipped network for a game.

    Args:
        rules: public-tree rules of the game, or its spec or rules.
        name: file name without suffix; None for the network whose card has the lowest exploitability.

    Raises:
        PolicyError: no network is shipped for these rules, or the named network is for other rules.
        SpecError: the name is unknown.
    """
    known, identity = shipped_nets(), public_identity(public_tree(rules))
    if name is not None:
        if name not in known:
            raise SpecError(f"unknown network {REBEL}:{name}{nearest(name, known)}; known: {', '.join(known)}")
        if known[name].identity != identity:
            raise PolicyError(f"{REBEL}:{name} is a network for {known[name].game}, not for these rules; use that game")
        return known[name]
    fitting = [net for net in known.values() if net.identity == identity]
    if not fitting:
        games = ", ".join(f"{net.game} ({REBEL}:{stem})" for stem, net in known.items())
        raise PolicyError(f"no network for these rules is shipped, only for {games}; train one with treeplex train rebel")
    return min(fitting, key=lambda net: float(net.card["judged"]["exploitability"]))


def shipped_name(net: NetFile) -> str | None:
    """``rebel:NAME`` for a shipped network; None for other networks."""
    return f"{REBEL}:{net.path.stem}" if net.path.parent in (SHIPPED, WHOLE) else None
