"""The network for whole hold'em that comes with the library, against rule agents and a local best response.

Hands are plays of public states, each with the expected payoff over all hands that the two could hold; of opponents who call,
luck from the turn on is removed by what all would get if nobody bet any more. ``python papers/run.py rebel/whole_52 4`` plays
four times as many hands; what is known of each opponent is kept in ``runs/papers``.
"""

from time import process_time
from typing import Any

from papers.common.kept import kept
from papers.common.results import Result, Table, published
from papers.common.study import study
from treeplex.evaluate.match.winnings import CheckedDown, sampled_winnings
from treeplex.learn.rebel.shipped_nets import shipped_whole_nets
from treeplex.learn.torch.device import one_thread
from treeplex.runs.agents.played_game import PlayedGame
from treeplex.runs.agents.registry import agent
from treeplex.runs.lbr import local_best_response
from treeplex.search.agents.by_rules import STYLES

NAME = "holdem-50bb"
STYLE_NAMES = ("folder", "caller", "maniac", "shover")
HANDS = {"folder": 200, "caller": 100, "maniac": 100, "shover": 200}
PLAIN = ("folder",)
"""Opponents who do not call: values that suppose they do would add luck, not take it out."""
LBR_HANDS = 24
ITERATIONS = 24
MILLI = 1000 / 2
"""Thousandths of a big blind in a chip."""


def table_game() -> str:
    """The game that the network was trained on."""
    return shipped_whole_nets()[NAME].game


def against(style: str, hands: int) -> dict[str, float]:
    """What the agent wins from a rule agent, thousandths of a big blind a hand."""
    game, began = PlayedGame.of(table_game()), process_time()
    assert game.public is not None
    with one_thread():
        player = agent(f"rebel(network={NAME},iterations={ITERATIONS})", game, seed=0)
        opponent = agent(f"rules(style={style})", game, seed=1)
        values = None if style in PLAIN else CheckedDown(player.game.soon_shared)  # type: ignore[attr-defined]
        found = sampled_winnings(player, opponent, hands, seed=2, values=values)
    return {"won": MILLI * found.value, "interval": MILLI * found.interval, "hands": hands, "seconds": process_time() - began}


def bound(hands: int) -> dict[str, float]:
    """What a local best response wins from it."""
    began = process_time()
    with one_thread():
        asked = f"rebel(network={NAME},iterations={ITERATIONS})"
        found = local_best_response(table_game(), asked, hands=hands, actions="fcpa", seed=1)
    return {"won": MILLI * found.value, "interval": MILLI * found.interval, "hands": hands, "seconds": process_time() - began}


@study(title="ReBeL on whole hold'em with 52 cards", place=20, minutes=20)
def reproduce(options: list[str]) -> Result:
    times, net = float(options[0]) if options else 1.0, shipped_whole_nets()[NAME]
    known: dict[str, Any] = {}
    for style in STYLE_NAMES:
        hands = round(HANDS[style] * times)
        key = {"study": "whole_52", "network": net.checksum, "style": style, "hands": hands, "plain": style in PLAIN}
        known[style] = kept(key, lambda style=style, hands=hands: against(style, hands))
        print(style, known[style], flush=True)
    hands = round(LBR_HANDS * times)
    key = {"study": "whole_52", "network": net.checksum, "lbr": "fcpa", "hands": hands}
    known["lbr"] = kept(key, lambda: bound(hands))
    rows = [
        [f"`{style}`", STYLES[style].about, f"{found['hands']:,}", f"{found['won']:+,.0f} ± {found['interval']:,.0f}"]
        for style, found in known.items()
        if style != "lbr"
    ]
    won, card = known["lbr"], net.card
    return Result(
        source=published("rebel")["source"],
        findings=[
            f"After {card['solved']:,} streets, {card['cpu_seconds'] / 60:.0f} minutes of one core, a local best response "
            f"(fold, call, pot, all-in) wins {won['won']:+,.0f} ± {won['interval']:,.0f} mbb a hand over {won['hands']} hands."
        ],
        tables=[
            Table(
                f"`rebel:{NAME}` against rule agents, mbb a hand with 95% intervals",
                ["against", "who is", "hands", "won"],
                rows,
            )
        ],
        notes=[
            f"`{net.game}`, {ITERATIONS} iterations a street; a network of {net.settings['bins']} bins of strength, trained "
            f"with {net.settings['iterations']} iterations and {net.settings['boards']} board a state. The interval of a local "
            "best response is wide, and what it wins is a lower bound of what can be won.",
        ],
        numbers=known,
    )
