"""AlphaHoldem on hold'em: a small deck, judged exactly, and whole no-limit hold'em, as far as two minutes go."""

from typing import Any

from papers.common.results import ROOT, Result, Table
from papers.common.study import study
from treeplex.evaluate.match.statistics import NORMAL_95
from treeplex.forms.sources.load import load
from treeplex.runs.alphaholdem.job import ALPHAHOLDEM
from treeplex.runs.job.folder import kind_of
from treeplex.runs.lbr import local_best_response
from treeplex.runs.match.match import match
from treeplex.runs.train.kind import Training
from treeplex.runs.train.train import train

SOURCE = "Zhao et al. 2022, AlphaHoldem (AAAI), which trained for three days on eight graphics cards"
FOLDERS = ROOT / "runs" / "papers" / "alphaholdem"
SMALL = "holdem(stack=6,sizes=[100%;a],ranks=4,suits=2,hole=1,deal=[0;1;1])"
WHOLE = "holdem(sizes=[50%;100%;a],preflop=[3x;a])"
GAMES = {"small": SMALL, "whole": WHOLE}
UPDATES = {"small": 60, "whole": 200}
CHECKED = 4000
OPPONENTS = ("uniform", *(f"rules(style={style})" for style in ("caller", "shover", "rock", "regular", "station", "maniac")))
"""Agents of the library that it meets."""
HANDS, LBR_HANDS = 400, 150
"""Of a match, in pairs with the same cards; and of local best response."""


def trained(name: str) -> Training:
    """A training, which goes on where it stands."""
    folder = FOLDERS / f"holdem-{name}"
    if kind_of(folder) == ALPHAHOLDEM.name:
        return train(resume=folder, settings={"updates": UPDATES[name]})
    settings = {"updates": UPDATES[name], "checked": CHECKED, "every": 20}
    return train(GAMES[name], "alphaholdem", settings=settings, out=folder)


def meetings(folder: str) -> tuple[dict[str, Any], Table]:
    """Matches of the network for whole hold'em against agents of the library, and its local best response."""
    game, agent = load(WHOLE), f"alphaholdem(net={folder})"
    found: dict[str, Any] = {}
    for opponent in OPPONENTS:
        score = match(game, [agent, opponent], hands=HANDS, duplicate=True).scores[0]
        found[opponent] = {"won": score.result.mean[0], "interval": NORMAL_95 * score.result.error[0], "hands": score.hands}
        print(opponent, found[opponent], flush=True)
    response = local_best_response(game, agent, hands=LBR_HANDS, actions="fcpa")
    found["lbr"] = {"won": -response.value, "interval": response.interval, "hands": response.hands}
    print("lbr", found["lbr"], flush=True)
    rows = [
        [f"`{name}`", f"{each['won']:+.2f} ± {each['interval']:.2g}", f"{1000 * each['won'] / 2:+,.0f}", f"{each['hands']:,}"]
        for name, each in found.items()
    ]
    caption = "Whole hold'em: what the network wins from agents of the library, and what local best response takes from it"
    return found, Table(caption, ["against", "chips a hand", "thousandths of a big blind", "hands"], rows)


@study(title="AlphaHoldem on hold'em", place=22, minutes=10, needs=("torch",))
def reproduce() -> Result:
    measured, rows = {}, []
    for name, game in GAMES.items():
        records = trained(name).records
        first, last = records[0], records[-1]
        rate = last.decisions / last.cpu_seconds
        measured[name] = {
            "exploitability": last.exploitability,
            "exploitability at first": first.exploitability,
            "won": last.won,
            "interval": last.interval,
            "hands": last.hands,
            "decisions": last.decisions,
            "cpu_seconds": last.cpu_seconds,
        }
        judged = "" if last.exploitability is None else f"{first.exploitability:.3f} to {last.exploitability:.3f}"
        won = f"{last.won:+.2f} ± {last.interval:.2g}"
        rows.append([f"`{game}`", f"{last.done}", judged, won, f"{last.hands:,}", f"{last.cpu_seconds:.0f}", f"{rate:,.0f}"])
        print(rows[-1], flush=True)
    met, table = meetings(str(FOLDERS / "holdem-whole"))
    whole = measured["whole"]
    rate = whole["decisions"] / whole["cpu_seconds"]
    return Result(
        source=SOURCE,
        findings=[
            f"Whole hold'em trains by its rules, nothing enumerated: {rate:,.0f} decisions a second of processor, learning "
            f"included. After {whole['hands']:,} hands the network wins {whole['won']:+.1f} ± {whole['interval']:.2g} chips a "
            "hand from uniform play (95% interval). That is minutes of one processor: local best response takes "
            f"{-met['lbr']['won']:.1f} ± {met['lbr']['interval']:.2g} chips a hand from it, a lower bound of what it can lose.",
        ],
        tables=[
            Table(
                "After training",
                [
                    "game",
                    "updates",
                    "exploitability",
                    "against uniform, chips a hand",
                    "hands",
                    "processor seconds",
                    "decisions a second",
                ],
                rows,
            ),
            table,
        ],
        notes=[
            "One seed. Exploitability is exact, before training and after it. The big blind is 2 chips. Processor time is with "
            "evaluations. Local best response considers folding, calling, and bets of the pot and of everything.",
        ],
        numbers={"trainings": measured, "matches": met},
    )
