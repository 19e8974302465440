"""DDCFR Table 1: exploitability of DDCFR when a part is removed or replaced.

Policies are in ``policies/``, including the full one if it was trained like the others (otherwise the library's is used);
missing ones are shown as not trained. Hold'em rows need ``TREEPLEX_ENDGAMES``, see ``holdem.py``; without it they are kept from
an earlier run or omitted.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from papers.common.curves import SEEDS
from papers.common.drawing import dress, few_labels, panels, save
from papers.common.kept import effort
from papers.common.results import PAPERS, Picture, Result, Table, published, short
from papers.common.study import study
from papers.ddcfr.hands import NUMBERS, Subgame, at_hand, hand_run
from papers.ddcfr.runs import (
    LATE,
    OPTIMIZERS,
    Run,
    Theirs,
    as_runs,
    described,
    digest,
    games,
    own_policy,
    run_on,
    stored,
    theirs,
    training_games,
)
from treeplex.errors import TreeplexError
from treeplex.learn import load_discount_policy
from treeplex.solvers import DiscountPolicy

FOLDER = PAPERS / "ddcfr" / "policies"
FULL, LIBRARY = "DDCFR", "library"
COLUMNS = ("DDCFR-1", "DDCFR-2", "DDCFR-3", "DDCFR-it", "DDCFR-ex", "DDCFR-dis", "DDCFR-rl", FULL)
WITHOUT = {
    "DDCFR-1": "trained on the first game only",
    "DDCFR-2": "trained on the first two games",
    "DDCFR-3": "trained on the first three games",
    "DDCFR-it": "sees only the iteration",
    "DDCFR-ex": "sees only exploitability",
    "DDCFR-dis": "whole numbers as exponents",
    "DDCFR-rl": "trained by PPO",
    FULL: "all of it",
}
ROWS = ("leduc", *NUMBERS)
CLAIMS = (
    (("DDCFR-1",), (FULL,), "fewer training games are worse (DDCFR-1 against all four)"),
    (("DDCFR-1",), ("DDCFR-2", "DDCFR-3"), "two or three training games are better than one"),
    (("DDCFR-3",), (FULL,), "Small Matrix helps (DDCFR-3 against all four)"),
    (("DDCFR-ex",), ("DDCFR-it",), "the iteration alone is better than exploitability alone"),
    (("DDCFR-it", "DDCFR-ex"), (FULL,), "both features together are better than either alone"),
    (("DDCFR-dis",), (FULL,), "continuous actions are better than discrete ones"),
    (("DDCFR-rl",), (FULL,), "evolution strategies are better than PPO"),
)
"""The paper's conclusions from its table: the first policies are worse than the second."""
THEIR_STYLE = {"color": "#000000", "linestyle": "none", "marker": "D", "markersize": 5.5, "markerfacecolor": "none"}
COLOUR, NETWORK_COLOUR, DCFR_COLOUR = "#4B2E83", "#E69F00", "#009E73"

Column = dict[str, Run]


def policies() -> dict[str, DiscountPolicy]:
    """The available policies by column."""
    found = {FULL: own_policy()}
    for name in COLUMNS:
        path = FOLDER / f"{name.lower()}.safetensors"
        if path.exists():
            try:
                found[name] = load_discount_policy(path)
            except TreeplexError as error:
                raise SystemExit(f"{name}: {error}") from None
    return {name: found[name] for name in COLUMNS if name in found}


def on_rows(policy: DiscountPolicy) -> Column:
    """The games of the table, hold'em only if its files are available."""
    runs = {"leduc": run_on(games("leduc")["leduc"], policy)}
    for name in NUMBERS if at_hand() else ():
        runs[name] = hand_run(Subgame(name), policy, list(LATE), SEEDS)
    return runs


def measure(found: Mapping[str, DiscountPolicy]) -> tuple[dict[str, Column], str]:
    """Runs of every policy, hold'em from the stored result if its files are not available, and a sentence on that."""
    runs = {name: on_rows(policy) for name, policy in found.items()}
    if at_hand():
        return runs, ""
    before = stored("ddcfr/table1")
    for name, column in runs.items():
        if before.get("policies", {}).get(name) == digest(found[name]):
            column |= {row: Run(**run) for row, run in before["runs"][name].items() if row in NUMBERS}
    return runs, "The files of the hold'em subgames were not available; their rows are as an earlier run left them."


@study(title="DDCFR, Table 1: ablations", place=3, minutes=2)
def reproduce() -> Result:
    numbers = published("ddcfr")
    table1 = {**numbers["holdem"]["table1"], **numbers["table1"]}
    known = {name: dict(zip(table1["columns"], table1[name], strict=True)) for name in ROWS}
    found = policies()
    runs, missing = measure({**found, LIBRARY: own_policy()})
    library = runs.pop(LIBRARY)
    fixed = dcfr_runs()
    authors = theirs("ddcfr/table1", network_rows)
    network = as_runs(authors.found or {})
    return Result(
        source=f"{numbers['source']}; table 1",
        findings=findings(known, found, runs, network, fixed),
        tables=[ends_table(known, runs, library, network, fixed), policies_table(found), claims_table(known, runs)],
        pictures=[draw(known, runs, network, fixed)],
        notes=notes(authors, missing),
        numbers={
            "runs": {
                name: {row: asdict(run) for row, run in column.items()} for name, column in {**runs, LIBRARY: library}.items()
            },
            "policies": {name: digest(policy) for name, policy in {**found, LIBRARY: own_policy()}.items()},
            "dcfr": {row: asdict(run) for row, run in fixed.items()},
            "authors_network": authors.record,
            "readings": readings(known, runs),
        },
    )


def network_rows(policy: DiscountPolicy) -> dict[str, Any]:
    """The authors' network on the games of the table, hold'em as in :func:`measure`."""
    runs = {row: asdict(run) for row, run in on_rows(policy).items()}
    before = stored("ddcfr/table1").get("authors_network") or {}
    if before.get("policy") == digest(policy):
        runs = {row: run for row, run in before["found"].items() if row in NUMBERS} | runs
    return {row: runs[row] for row in ROWS if row in runs}


def dcfr_runs() -> Column:
    """DCFR on the same games, for comparison."""
    runs = {"leduc": run_on(games("leduc")["leduc"], "dcfr")}
    kept = stored("ddcfr/table1").get("dcfr", {})
    for name in NUMBERS:
        if at_hand():
            runs[name] = hand_run(Subgame(name), "dcfr", list(LATE), SEEDS)
        elif name in kept:
            runs[name] = Run(**kept[name])
    return runs


def cell(run: Run | None) -> str:
    """The geometric mean and the range."""
    return "-" if run is None else f"{short(run.middle)} ({run.ends})"


def ends_table(known: Mapping, runs: Mapping[str, Column], library: Column, network: Column, fixed: Column) -> Table:
    """The paper's table transposed, for readability."""
    rows = []
    for name in COLUMNS:
        cells = [
            text
            for row in ROWS
            for text in (short(known[row][name], 4), cell(runs[name].get(row)) if name in runs else "not trained")
        ]
        rows.append([f"{name}: {WITHOUT[name]}", *cells])
    if digest(policies()[FULL]) != digest(own_policy()):
        rows.append(["the library's policy", *(text for row in ROWS for text in ("", cell(library.get(row))))])
    rows.append(["the authors' network", *(text for row in ROWS for text in ("", cell(network.get(row))))])
    rows.append(["DCFR, fixed", *(text for row in ROWS for text in ("", cell(fixed.get(row))))])
    head = ["", *(text for row in ROWS for text in (f"{row}, published", "measured (range)"))]
    return Table("Exploitability at iteration 1000; measured: geometric mean and range of perturbed runs", head, rows)


def policies_table(found: Mapping[str, DiscountPolicy]) -> Table:
    """Description of each policy, from the policy and its card."""
    rows = []
    for name in COLUMNS:
        policy = found.get(name)
        if policy is None:
            rows.append([name, *["not trained"] * 6])
            continue
        card, settings = policy.card, policy.card.get("settings", {})
        rows.append(
            [
                name,
                f"{card['epochs']:,}" if "epochs" in card else "none",
                OPTIMIZERS.get(settings.get("optimizer"), "-"),
                settings.get("fitness", "-"),
                " and ".join(policy.features),
                "whole numbers" if any(policy.levels) else "continuous",
                ", ".join(training_games(policy)) or "-",
            ]
        )
    return Table("The policies measured", ["", "epochs", "by", "fitness", "sees", "exponents", "trained on"], rows)


def verdict(worse: float, better: float, overlap: bool) -> str:
    """Which of two policies is better."""
    if overlap:
        return "ranges overlap"
    return "yes" if worse > better else "no"


def claims_table(known: Mapping, runs: Mapping[str, Column]) -> Table:
    """The paper's conclusions from its table, and the results here."""
    rows = []
    for worse, better, words in CLAIMS:
        cells = []
        for row in ROWS:
            theirs_hold = all(known[row][a] > known[row][b] for a in worse for b in better)
            ours = [
                pair(runs[a][row], runs[b][row])
                for a in worse
                for b in better
                if row in runs.get(a, {}) and row in runs.get(b, {})
            ]
            complete = len(ours) == len(worse) * len(better)
            missing = "not run" if all(name in runs for name in worse + better) else "not trained"
            cells += ["yes" if theirs_hold else "no", joined(ours) if complete else missing]
        rows.append([words, *cells])
    head = ["", *(text for row in ROWS for text in (f"{row}, published", "measured"))]
    return Table("The paper's conclusions from its table", head, rows)


def readings(known: Mapping, runs: Mapping[str, Column]) -> dict[str, int]:
    """Counts of each verdict here."""
    cells = [text for _, *row in claims_table(known, runs).rows for text in row[1::2]]
    return {word: cells.count(word) for word in ("yes", "no", "ranges overlap")}


def pair(worse: Run, better: Run) -> str:
    """Whether the first policy is worse, beyond the ranges."""
    overlap = worse.band[0] <= better.band[1] and better.band[0] <= worse.band[1]
    return verdict(worse.middle, better.middle, overlap)


def joined(verdicts: list[str]) -> str:
    """One verdict for several: no if any is no, else overlap if any overlaps."""
    return next((word for word in ("no", "ranges overlap") if word in verdicts), "yes")


def findings(
    known: Mapping, found: Mapping[str, DiscountPolicy], runs: Mapping[str, Column], network: Column, fixed: Column
) -> list[str]:
    """The findings."""
    cells = [text for _, *row in claims_table(known, runs).rows for text in row]
    count = readings(known, runs)
    untrained = [name for name in COLUMNS if name not in found or not found[name].card]
    lines = [
        f"The paper's table has one run per cell. {spread_sentence(runs, network)}",
        f"The paper's conclusions hold for {cells[::2].count('yes')} of {len(cells) // 2} cells of its own table. "
        f"Here, with ranges: yes {count['yes']}, no {count['no']}, undecided because ranges overlap "
        f"{count['ranges overlap']}, without a policy or a game {len(cells) // 2 - sum(count.values())}.",
    ]
    lines.append(whole_sentence(found, runs, fixed))
    lines += [f"Not trained: {', '.join(untrained)}."] if untrained else []
    unlike = [f"{name} ({', '.join(parts)})" for name in found if (parts := unlike_full(name, found))]
    lines += (
        [f"Not trained like the full policy, so that more than the named part differs: {'; '.join(unlike)}."] if unlike else []
    )
    return lines


def whole_sentence(found: Mapping[str, DiscountPolicy], runs: Mapping[str, Column], fixed: Column) -> str:
    """Training of the policies, and their final values relative to DCFR, as a sentence."""
    parts = []
    for row, base in fixed.items():
        below = [name for name in runs if row in runs[name] and runs[name][row].band[1] < base.band[0]]
        above = [name for name in runs if row in runs[name] and runs[name][row].band[0] > base.band[1]]
        parts.append(f"on {row} below it {', '.join(below) or 'none'}, above it {', '.join(above) or 'none'}")
    return (
        f"The full policy of this table was trained for {described(found[FULL])}, with one seed like all of them; the "
        "paper's for 1000 epochs on four games. Another seed may change an order. Whole ranges compared with DCFR's: "
        f"{'; '.join(parts)}."
    )


def unlike_full(name: str, found: Mapping[str, DiscountPolicy]) -> list[str]:
    """Differences of a policy's training from the full one's, other than the ablation."""
    ours, full = found[name].card, found[FULL].card
    if not ours or not full:
        return []
    own, whole = ours.get("settings", {}), full.get("settings", {})
    parts = [f"fitness {own.get('fitness')}"] if own.get("fitness") != whole.get("fitness") else []
    if name != "DDCFR-rl" and ours.get("epochs") != full.get("epochs"):
        parts.append(f"{ours.get('epochs')} epochs")
    if name not in ("DDCFR-1", "DDCFR-2", "DDCFR-3") and ours.get("games") != full.get("games"):
        parts.append(f"{len(ours.get('games', []))} games instead of {len(full.get('games', []))}")
    return parts


def spread_sentence(runs: Mapping[str, Column], network: Column) -> str:
    """Effect of rounding alone on the full policy's cells, as a sentence."""
    best = network or runs[FULL]
    whose = "the authors' network" if network else "our policy"
    parts = [f"{run.band[1] / run.band[0]:.2g} on {name}" for name, run in best.items()]
    return f"Rounding alone changes the result of {whose} by factors of up to {', '.join(parts)} over {len(SEEDS) + 1} runs."


def notes(authors: Theirs, missing: str) -> list[str]:
    """How it was measured."""
    return [
        "Training games in the paper's order: Kuhn poker, Goofspiel-3, Liar's Dice-3, Small Matrix; the first x of them for "
        "DDCFR-x, all four for the others.",
        f"Every cell covers one run and {len(SEEDS)} perturbed runs, whose regrets are changed in the first three iterations "
        "(by 1e-14 on Leduc and by 1e-7 in single precision on hold'em).",
        "Hold'em has the rules and units (big blinds) of the authors' program (see the section on hold'em).",
        "The table marks overlapping ranges regardless of which mean is lower.",
        authors.note,
        *([missing] if missing else []),
        effort(),
    ]


def draw(known: Mapping, runs: Mapping[str, Column], network: Column, fixed: Column) -> Picture:
    """A panel per game, a position per column."""
    figure, axes = panels(1, 3, size=(11.5, 4.1))
    for place, row in enumerate(ROWS):
        panel = axes[place]
        for number, name in enumerate(COLUMNS):
            panel.plot([number - 0.15], [known[row][name]], **THEIR_STYLE)
            if row in runs.get(name, {}):
                dots(panel, number + 0.15, runs[name][row], COLOUR)
        if row in network:
            dots(panel, len(COLUMNS) + 0.0, network[row], NETWORK_COLOUR)
        if row in fixed:
            low, high = fixed[row].band
            panel.axhspan(low, high, color=DCFR_COLOUR, alpha=0.18, linewidth=0)
        dress(panel, row)
        panel.set_xscale("linear")
        panel.set_xlim(-0.7, len(COLUMNS) + 0.7)
        names = [name.removeprefix("DDCFR") or "full" for name in COLUMNS]
        panel.set_xticks(range(len(COLUMNS) + 1), [*names, "theirs"], fontsize=8.5)
        panel.grid(axis="x", visible=False)
        few_labels(panel)
    axes[0].set_ylabel("exploitability at iteration 1000")
    handles = [
        handle("published", **THEIR_STYLE),
        handle("measured (mean and range)", color=COLOUR, marker="o", linewidth=1.6),
        handle("the authors' network, measured", color=NETWORK_COLOUR, marker="o", linewidth=1.6),
        handle("DCFR, range", color=DCFR_COLOUR, alpha=0.3, linewidth=8),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False, fontsize=10)
    return save(
        figure,
        "ddcfr-table-1.png",
        "Exploitability at iteration 1000 of the ablated policies on Leduc and the two hold'em subgames, published and "
        "measured with ranges of perturbed runs, beside the range of DCFR",
    )


def dots(panel: Axes, x: float, run: Run, colour: str) -> None:
    """The range as a line, the geometric mean as a dot."""
    panel.plot([x, x], run.band, color=colour, linewidth=1.6, solid_capstyle="butt")
    panel.plot([x], [run.middle], color=colour, marker="o", markersize=5.5, linestyle="none")


def handle(label: str, **style: Any) -> Line2D:
    """An entry of the legend."""
    return Line2D([], [], label=label, **style)
