"""A person at the terminal plays whole hands: who the opponent is, and what it is called."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from treeplex.errors import GameError, SpecError
from treeplex.holdem.cli.shared.hands import HandsPlan, play_hands
from treeplex.run.cli.shared.live import Live

if TYPE_CHECKING:
    from treeplex.holdem.whole.game import Holdem


@dataclass(frozen=True)
class Thinking:
    """How an opponent thinks.

    Attributes:
        iterations, think: of each search; None for its own, and two seconds at most.
        seed: of deals and draws; None for others each time.
    """

    iterations: int | None
    think: str | None
    seed: int | None


def play_whole(game: str, against: str | None, plan: HandsPlan, how: Thinking) -> None:
    """Play whole hands.

    Args:
        game: its spec.
        against: the opponent, None for :func:`usual_opponent`.
        plan: how hands are played.
        how: how the opponent thinks.
    """
    with Live(None) as live:
        live.say(f"setting up {game}")
        import numpy as np

        from treeplex.forms.sources.load import load
        from treeplex.holdem.tables.whole import WholeTable
        from treeplex.holdem.whole.game import Holdem
        from treeplex.search.tables.seating import agent_against_person

        rules = load(game).enumerable_rules()
        assert isinstance(rules, Holdem)
        own = None if how.seed is None else int(np.random.default_rng((how.seed, 1)).integers(2**63))
        whom = usual_opponent(rules) if against is None else against
        opponent = agent_against_person(whom, rules, how.iterations, how.think, own)
        name = name_of(whom)
        table = WholeTable(opponent, name, np.random.default_rng(how.seed))
    said = getattr(opponent, "about", "")
    about = said if said.startswith(name) else f"{whom}: {said}" if said else whom
    play_hands(table, about + (" (--against names another)" if against is None else ""), plan)


def usual_opponent(rules: "Holdem") -> str:
    """The opponent where none is named: ReBeL's network for these stacks if one comes with the library, else simple rules."""
    from treeplex.holdem.whole.public import PublicHoldem
    from treeplex.learn.rebel.shipped_nets import REBEL
    from treeplex.learn.rebel.training.whole import shipped_whole_net
    from treeplex.run.policy_source import UNIFORM
    from treeplex.search.named_agents.rules import Rules

    if rules.num_players > 2:
        return UNIFORM
    try:
        shipped_whole_net(PublicHoldem(rules.rules))
    except (SpecError, GameError):
        return f"{Rules.name}(style=regular)"
    return REBEL


def name_of(text: str) -> str:
    """What an opponent is called at the table: ``rebel``, ``maniac``, the name of a folder, of a class."""
    if Path(text).exists():
        return Path(text).resolve().stem
    name, _, inner = text.partition("(")
    style = re.search(r"style=(\w+)", inner)
    return style[1] if style else name.rpartition(":")[2].strip()
