"""ReBeL on Liar's Dice: how exploitable the library's networks are when they search with more or fewer iterations.

``python papers/rebel_iterations.py`` judges them, in some ten minutes; a judgement that is done is kept in ``runs/papers``.
"""

from drawing import dress, line_style, panels, plain_labels, save
from kept import code, kept
from results import Picture, Result, Table, finish, published
from treeplex.forms.public_rules import public_rules
from treeplex.learn.shipped_nets import shipped_net
from treeplex.runs.rebel_judge import judge_rebel

PLAYTHROUGHS, ITERATIONS = 256, (64, 128, 256, 512)
PAPERS = 512
"""The paper's T: 1,024 updates of one player."""
JUDGING = (
    *("treeplex.search.playthroughs", "treeplex.search.subgame", "treeplex.search.leaf", "treeplex.runs.rebel_judge"),
    *("treeplex.forms.subgames", "treeplex.engine.perceptron", "treeplex.learn.value_net"),
)
"""What decides the numbers besides settings; see ``kept.py``."""


def judged(game: str, iterations: int) -> dict[str, float]:
    """Exploitability of the library's network for a game."""
    net = shipped_net(public_rules(game))
    key = {"what": "rebel_iterations", "net": net.checksum, "N": PLAYTHROUGHS, "T": iterations, "code": code(*JUDGING)}

    def make() -> dict[str, float]:
        found = judge_rebel(game, "rebel", playthroughs=PLAYTHROUGHS, iterations=iterations, workers=1).to_json()
        print(f"{game} T = {iterations}: {found['exploitability']:.4f}, {found['seconds']:.0f} s", flush=True)
        return {name: float(found[name]) for name in ("exploitability", "seconds", "endgame")}

    return dict(kept(key, make))


def draw(found: dict[str, dict[int, dict[str, float]]]) -> Picture:
    """A curve for each game."""
    figure, (axes,) = panels(1, 1, size=(6.4, 4.4))
    for number, (label, row) in enumerate(found.items()):
        points = [each["exploitability"] for each in row.values()]
        axes.plot(list(row), points, label=label, marker="o", markersize=3.5, **line_style(number))
    dress(axes, "Networks that search, by iterations a search")
    plain_labels(axes)
    axes.set_xticks(ITERATIONS)
    axes.minorticks_off()
    axes.set(xlabel="iterations T of a search, in play", ylabel="exploitability")
    axes.legend(frameon=False, fontsize=9)
    return save(
        figure,
        "rebel-iterations.png",
        "Exploitability of four networks for Liar's Dice against the iterations of each search in play, both axes logarithmic",
    )


def main() -> None:
    numbers = published()["rebel"]
    games, goals = numbers["games"], dict(zip(numbers["games"], numbers["table2"]["rebel_cfr"], strict=True))
    found = {label: {count: judged(game, count) for count in ITERATIONS} for label, game in games.items()}
    best = {label: min(row, key=lambda count, row=row: row[count]["exploitability"]) for label, row in found.items()}
    rising = [label for label in found if best[label] < PAPERS]
    missed = [
        f"{label} ({row[PAPERS]['exploitability']:.4f}, published {goals[label]:.3f})"
        for label, row in found.items()
        if round(row[PAPERS]["exploitability"], 3) > goals[label]
    ]
    reached = [
        f"{label} {row[PAPERS]['exploitability']:.4f} (published {goals[label]:.3f})"
        for label, row in found.items()
        if round(row[PAPERS]["exploitability"], 3) <= goals[label]
    ]
    finish(
        Result(
            name="rebel_iterations",
            title="ReBeL on Liar's Dice: iterations in play",
            source=f"{numbers['source']}; the CFR-D row of Table 2, one T for all",
            findings=[
                "More iterations are not always better with a network. We have not found out why; searches may come to beliefs "
                "and errors there that training, with T = 64, never came to. Least exploitable: "
                f"{', '.join(f'{label} with T = {best[label]}' for label in found)}"
                + (f"; more than that is worse on {', '.join(rising)}." if rising else "."),
                f"With the paper's T ({PAPERS} of these iterations), one network a game: as good as published are "
                f"{', '.join(reached) or 'none'}; not as good {', '.join(missed) or 'none'}.",
            ],
            pictures=[draw(found)],
            tables=[
                Table(
                    f"Exploitability of the networks that come with the library, N = {PLAYTHROUGHS}",
                    ["", *(f"T = {count}" for count in ITERATIONS), "small rests solved whole"],
                    [
                        [
                            label,
                            *(f"{row[count]['exploitability']:.4f}" for count in ITERATIONS),
                            f"up to {row[PAPERS]['endgame']:.0f} nodes" if row[PAPERS]["endgame"] else "no",
                        ]
                        for label, row in found.items()
                    ],
                )
            ],
            notes=[
                "One training a game (seed 0), trained with T = 64; an iteration here is two updates of one player.",
                "Table 2 above uses T = 256, which was chosen before this was looked at; it is near the best of these, so its "
                "rows lean on that choice.",
            ],
            numbers={label: {str(count): each for count, each in row.items()} for label, row in found.items()},
        )
    )


if __name__ == "__main__":
    main()
