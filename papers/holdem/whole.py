"""Whole no-limit hold'em with 50 big blinds: a blueprint in buckets against rule agents and a local best response.

The blueprint is that of ``runs/holdem``; without such a folder it is trained first. A longer training is measured as it is.
"""

from pathlib import Path

from papers.common.results import Result, Table
from papers.common.study import study
from treeplex.forms.policies.holdem.blueprint import HoldemBlueprint
from treeplex.runs.blueprint.settings import BlueprintTraining
from treeplex.runs.lbr import local_best_response
from treeplex.runs.match.match import match
from treeplex.runs.train.train import train
from treeplex.search.agents.by_rules import STYLES

GAME = "holdem(stack=100,preflop=[2.5bb;3x;a],sizes=[50%;100%;a],raises=[4;3;3;3])"
FOLDER, BOARDS = Path("runs/holdem"), 100_000
HANDS = {"folder": 500, "caller": 2000, "shover": 2000, "rock": 400, "regular": 400, "station": 400, "maniac": 400}
LBR_HANDS = 100
MILLI = 1000 / 2
"""Thousandths of a big blind in a chip."""


def against_rules() -> tuple[list[list[str]], dict[str, float]]:
    """Rows and numbers of matches with rule agents."""
    rows, numbers = [], {}
    for style, about in STYLES.items():
        found = match(GAME, [str(FOLDER), f"rules(style={style})"], hands=HANDS[style], seed=1)
        low, high = (MILLI * each for each in found.interval[0])
        numbers[style] = MILLI * found.value[0]
        rows.append([f"`{style}`", about.about, f"{HANDS[style]:,}", f"{numbers[style]:+,.0f}", f"{low:+,.0f} to {high:+,.0f}"])
        print(rows[-1], flush=True)
    return rows, numbers


@study(title="Whole no-limit hold'em", place=2, minutes=30)
def reproduce() -> Result:
    if not FOLDER.exists():
        train(GAME, "blueprint", settings=BlueprintTraining(boards=BOARDS), out=FOLDER)
    card = HoldemBlueprint.load(FOLDER).card
    numbers: dict = {"blueprint": dict(card)}
    rules, numbers["rules"] = against_rules()
    bound = local_best_response(GAME, str(FOLDER), hands=LBR_HANDS, actions="fcpa", seed=1)
    numbers["lbr"] = [MILLI * bound.value, MILLI * bound.interval]
    return Result(
        source="Brown and Sandholm 2017, 2018, 2019; Lisý and Bowling 2017",
        findings=["A small blueprint beats simple players."],
        tables=[
            Table(
                "The blueprint against rule agents, in thousandths of a big blind a hand",
                ["against", "who is", "hands", "won", "95% interval"],
                rules,
            ),
        ],
        notes=[
            f"{GAME}; the blueprint: {card['boards']:,} boards with {card['deals']} deals each, "
            f"{card['cpu_seconds']:,} s of one core.",
            f"A local best response (fold, call, pot, all-in) gets {numbers['lbr'][0]:+,.0f} ± {numbers['lbr'][1]:,.0f} mbb "
            f"a hand from it over {LBR_HANDS:,} hands.",
        ],
        numbers=numbers,
    )
