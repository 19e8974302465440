"""AlphaHoldem on hold'em: a small deck, judged exactly, and whole no-limit hold'em, as far as two minutes go."""

from papers.common.results import ROOT, Result, Table
from papers.common.study import study
from treeplex.runs.alphaholdem.job import ALPHAHOLDEM
from treeplex.runs.job.folder import kind_of
from treeplex.runs.train.kind import Training
from treeplex.runs.train.train import train

SOURCE = "Zhao et al. 2022, AlphaHoldem (AAAI), which trained for three days on eight graphics cards"
FOLDERS = ROOT / "runs" / "papers" / "alphaholdem"
SMALL = "holdem(stack=6,sizes=[100%;a],ranks=4,suits=2,hole=1,deal=[0;1;1])"
WHOLE = "holdem(sizes=[50%;100%;a],preflop=[3x;a])"
GAMES = {"small": SMALL, "whole": WHOLE}
UPDATES = {"small": 60, "whole": 200}
CHECKED = 4000


def trained(name: str) -> Training:
    """A training, which goes on where it stands."""
    folder = FOLDERS / f"holdem-{name}"
    if kind_of(folder) == ALPHAHOLDEM.name:
        return train(resume=folder, settings={"updates": UPDATES[name]})
    settings = {"updates": UPDATES[name], "checked": CHECKED, "every": 20}
    return train(GAMES[name], "alphaholdem", settings=settings, out=folder)


@study(title="AlphaHoldem on hold'em", place=22, minutes=6, needs=("torch",))
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
    whole = measured["whole"]
    rate = whole["decisions"] / whole["cpu_seconds"]
    return Result(
        source=SOURCE,
        findings=[
            f"Whole hold'em trains by its rules, nothing enumerated: {rate:,.0f} decisions a second of processor, learning "
            f"included. After {whole['hands']:,} hands the network wins {whole['won']:+.1f} ± {whole['interval']:.2g} chips a "
            "hand from uniform play (95% interval). That is minutes of one processor, and no measure of strength.",
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
            )
        ],
        notes=[
            "One seed. Exploitability is exact, before training and after it. The big blind is 2 chips. Processor time is with "
            "evaluations.",
        ],
        numbers=measured,
    )
