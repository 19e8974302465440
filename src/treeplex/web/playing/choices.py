"""Games offered for play, with suitable opponents."""

from typing import Any

from treeplex.games.registry import games
from treeplex.learn.rebel.shipped_nets import shipped_nets
from treeplex.run.policy_source import UNIFORM
from treeplex.search.named_agents.registry import agents
from treeplex.web.playing.session import SOLUTION

SHORT_LBR = "lbr(against=uniform,actions=fcpa)"
OFFERED: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    (
        "Hold'em, heads-up",
        "holdem(stack=200,sizes=[33%;75%;150%;a],preflop=[2.5bb;3x;a])",
        "no-limit, 100 big blinds, full game; resolver needs no training",
        ("resolver", SHORT_LBR, UNIFORM),
    ),
    (
        "Hold'em, six players",
        "holdem(players=6,stack=200,sizes=[50%;100%;a],preflop=[2.5bb;3x;a])",
        "no-limit, 100 big blinds. No strong agent plays six-handed yet: these follow fixed rules and ignore bet sizes. The "
        "tight and aggressive ones won 6 bb per hand (95% interval 2 to 10) from other rules and random play",
        ("rules(style=regular)", "rules(style=maniac)", "rules(style=station)", UNIFORM),
    ),
    ("Kuhn poker", "kuhn_poker", "three cards, one each, one bet", (SOLUTION, UNIFORM)),
    (
        "Leduc poker",
        "leduc_poker",
        "one private card each, one public card, two betting rounds",
        (SOLUTION, UNIFORM, "search(depth=2,iterations=32)"),
    ),
    ("Hold'em from the turn", "turn_endgame", "the opponent searches with a trained network", ("rebel",)),
    ("Liar's dice", "liars_dice(dice_sides=4)", "one die each, bids on both dice", (SOLUTION, "rebel", UNIFORM)),
    ("Goofspiel", "goofspiel(num_cards=3)", "simultaneous bids for point cards", (SOLUTION, UNIFORM)),
    ("Dark hex, 2×3", "dark_hex(num_rows=2,num_cols=3)", "hex with the opponent's stones hidden", (SOLUTION, UNIFORM)),
    ("Tic-tac-toe", "tic_tac_toe", "three in a row", (SOLUTION, UNIFORM)),
    (
        "Battleship, small",
        "battleship(board_width=2,board_height=2,ship_sizes=[1],ship_values=[1],num_shots=3)",
        "one ship each on a board of four cells",
        (SOLUTION, UNIFORM),
    ),
)
"""Games offered first: title, spec, description and opponents, the best opponent first; random play is never first."""

POKER = ("holdem", "turn_endgame", "kuhn_poker", "leduc_poker")
"""Names of the offered poker games."""


def is_poker(game: str) -> bool:
    """Whether an offered game is poker."""
    return game.partition("(")[0] in POKER


def choices(own_games: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the offered games and all games, agents and networks of the library, as JSON data."""
    first = [
        {"title": title, "game": game, "about": about, "against": list(against), "poker": is_poker(game)}
        for title, game, about, against in OFFERED
    ]
    own = {"about": "your own game", "against": [SOLUTION, UNIFORM], "poker": False}
    first += [{"title": game, "game": game, **own} for game in own_games]
    return {
        "offered": first,
        "games": [{"name": name, "about": info.summary} for name, info in games().items()],
        "agents": [
            {"name": name, "about": kind.text, "example": kind.example} for name, kind in agents().items() if not kind.external
        ],
        "networks": list(shipped_nets()),
    }
