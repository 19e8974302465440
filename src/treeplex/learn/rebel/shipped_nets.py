"""Networks of ReBeL that come with the library, found by the rules that they were trained on."""

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
"""The network for rivers of hold'em that turns are searched with."""
WHOLE = SHIPPED / "whole"
"""The folder of networks for whole hold'em."""
REBEL = "rebel"
"""The word for them in place of a file: the one judged best for the game, or ``rebel:NAME``; on turns, :data:`RIVERS`."""


def shipped_nets() -> dict[str, NetFile]:
    """All networks for whole games that come with the library, by file name."""
    return {path.stem: read_net(path) for path in sorted(SHIPPED.glob("*.safetensors"))}


def shipped_whole_nets() -> dict[str, NetFile]:
    """All networks for whole hold'em that come with the library, by file name."""
    return {path.stem: read_net(path) for path in sorted(WHOLE.glob("*.safetensors"))}


def shipped_net(rules: PublicTree | str | Game, name: str | None = None) -> NetFile:
    """The network for some rules that comes with the library.

    Args:
        rules: public-tree rules of the game, or its spec or rules.
        name: file name, without its ending; None for the one whose card has the lowest exploitability.

    Raises:
        PolicyError: there is none for these rules, or the one named is for others.
        SpecError: an unknown name.
    """
    known, identity = shipped_nets(), public_identity(public_tree(rules))
    if name is not None:
        if name not in known:
            raise SpecError(f"unknown network {REBEL}:{name}{nearest(name, known)}; known: {', '.join(known)}")
        if known[name].identity != identity:
            raise PolicyError(f"{REBEL}:{name} is a network for {known[name].game}, not for these rules")
        return known[name]
    fitting = [net for net in known.values() if net.identity == identity]
    if not fitting:
        games = ", ".join(f"{net.game} ({REBEL}:{stem})" for stem, net in known.items())
        raise PolicyError(
            f"no network for these rules comes with Treeplex, only for {games}; train one with treeplex train rebel"
        )
    return min(fitting, key=lambda net: float(net.card["judged"]["exploitability"]))


def shipped_name(net: NetFile) -> str | None:
    """``rebel:NAME`` of a network that comes with the library; None of any other."""
    return f"{REBEL}:{net.path.stem}" if net.path.parent in (SHIPPED, WHOLE) else None
