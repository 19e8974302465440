"""Games that can be played, with opponents that suit them."""

from typing import Any

from treeplex.games.registry import games
from treeplex.learn.rebel.shipped_nets import shipped_nets
from treeplex.run.policy_source import UNIFORM
from treeplex.search.named_agents.registry import agents
from treeplex.web.playing.session import SOLUTION

SHORT_LBR = "lbr(against=uniform,actions=fcpa)"
OFFERED: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("Kuhn poker", "kuhn_poker", "one card each from three, one bet", (SOLUTION, UNIFORM)),
    (
        "Leduc poker",
        "leduc_poker",
        "one card each, one in the middle, two rounds",
        (SOLUTION, UNIFORM, "search(depth=2,iterations=32)"),
    ),
    (
        "Hold'em, heads-up",
        "holdem(stack=200,sizes=[33%;75%;150%;a],preflop=[2.5bb;3x;a])",
        "no limit, 100 big blinds, from the deal to the showdown",
        (SHORT_LBR, UNIFORM),
    ),
    (
        "Hold'em, six players",
        "holdem(players=6,stack=200,sizes=[50%;100%;a],preflop=[2.5bb;3x;a])",
        "no limit, 100 big blinds",
        (UNIFORM,),
    ),
    ("Hold'em from the turn", "turn_endgame", "a trained network searches as it plays", ("rebel",)),
    ("Liar's dice", "liars_dice(dice_sides=4)", "one die each, bids on both", (SOLUTION, "rebel", UNIFORM)),
    ("Goofspiel", "goofspiel(num_cards=3)", "bids for point cards, both at once", (SOLUTION, UNIFORM)),
    ("Phantom tic-tac-toe", "phantom_ttt", "the other's stones are seen only where one tries to place one's own", (UNIFORM,)),
    ("Dark hex, 3 by 3", "dark_hex(num_rows=3,num_cols=3)", "hex without seeing the other's stones", (UNIFORM,)),
    ("Tic-tac-toe", "tic_tac_toe", "three in a row", (UNIFORM,)),
    (
        "Battleship, small",
        "battleship(board_width=2,board_height=2,ship_sizes=[1],ship_values=[1],num_shots=3)",
        "one ship each on four cells",
        (SOLUTION, UNIFORM),
    ),
)
"""Games to begin with: what people call them, the spec, a line, and opponents, the best first."""


def choices(own_games: tuple[str, ...] = ()) -> dict[str, Any]:
    """Games to begin with, then all games and agents of the library."""
    first = [
        {"title": title, "game": game, "about": about, "against": list(against)} for title, game, about, against in OFFERED
    ]
    first += [{"title": game, "game": game, "about": "your own game", "against": [SOLUTION, UNIFORM]} for game in own_games]
    return {
        "offered": first,
        "games": [{"name": name, "about": info.summary} for name, info in games().items()],
        "agents": [{"name": name, "about": kind.text, "example": kind.example} for name, kind in agents().items()],
        "networks": list(shipped_nets()),
    }
