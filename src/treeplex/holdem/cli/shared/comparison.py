"""Comparison of two solved spots, as printed by ``treeplex compare``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import typer

from treeplex.base.digits import short
from treeplex.holdem.cli.shared.texts import amount, echo_table, per_cent
from treeplex.holdem.solve.solution import load_solution
from treeplex.holdem.study.report.comparison import NodeComparison, SideComparison, compare_nodes
from treeplex.holdem.study.report.export import number, rounded
from treeplex.holdem.study.report.page_data import PLAYERS
from treeplex.run.cli.shared.console import print_facts, print_json

FEW = 12


def compare_solutions(files: tuple[Path, Path], options: Mapping[str, Any], *, as_json: bool) -> None:
    """Compare two solved spots at one decision: EV, equity, action frequencies, and hands that gain or lose.

    Args:
        files: files of the solutions.
        options: ``treeplex compare`` options for hold'em; None where not given.
        as_json: print JSON.
    """
    solutions = load_solution(files[0]), load_solution(files[1])
    comparison = compare_nodes(*solutions, options.get("line") or "", options.get("other_line"))
    exploitabilities = solutions[0].exploitability, solutions[1].exploitability
    if as_json:
        print_json(comparison_json(comparison, exploitabilities))
    else:
        most = options.get("hands")
        known = [f"{short(left)} {solution.spot.unit}" for solution, left in zip(solutions, exploitabilities, strict=True)]
        print_comparison(comparison, files, known, FEW if most is None else most)


def comparison_json(comparison: NodeComparison, exploitabilities: tuple[float, float]) -> dict[str, object]:
    """The comparison hand by hand, as JSON data."""
    sides = {}
    for name, side in zip(("oop", "ip"), comparison.sides, strict=True):
        hands = zip(side.names, rounded(side.ev.T), rounded(side.share), strict=True)
        sides[name] = {
            "ev": [number(mean) for mean in side.means],
            "equity": [number(mean) for mean in side.equities],
            "gain": number(side.gain),
            "hands": {hand: {"ev": evs, "share": share} for hand, evs, share in hands},
        }
    return {
        "lines": [node.line for node in comparison.nodes],
        "boards": [node.board for node in comparison.nodes],
        "pots": [node.pot for node in comparison.nodes],
        "exploitability": list(exploitabilities),
        "player": None if comparison.nodes[0].player is None else ("oop", "ip")[comparison.nodes[0].player],
        "actions": list(comparison.actions),
        "frequencies": rounded(comparison.frequencies),
        **sides,
    }


def print_comparison(comparison: NodeComparison, files: tuple[Path, Path], exploitabilities: Sequence[str], most: int) -> None:
    """Print a human-readable comparison."""
    facts = {}
    for file, node, left in zip(files, comparison.nodes, exploitabilities, strict=True):
        facts[file.name] = f"{node.board}, {node.line or 'first decision'}, pot {node.pot:g}; exploitability {left}"
    print_facts(facts, title="two solutions")
    typer.echo("")
    rows = []
    for name, side in zip(PLAYERS, comparison.sides, strict=True):
        evs, equities = [amount(value, False) for value in side.means], [per_cent(value) for value in side.equities]
        rows.append([name, *evs, amount(side.means[1] - side.means[0], True), amount(side.gain, True), *equities])
    echo_table(["range", "EV", "EV other", "difference", "gain", "equity", "equity other"], rows)
    typer.echo("")
    if comparison.actions:
        rows = [
            [name, *(per_cent(value) for value in comparison.frequencies[:, index])]
            for index, name in enumerate(comparison.actions)
        ]
        echo_table(["action", "taken", "other"], rows)
        typer.echo("")
    for name, side in zip(PLAYERS, comparison.sides, strict=True):
        print_hands(name, side, most)


def print_hands(name: str, side: SideComparison, most: int) -> None:
    """Print the hands that gain or lose most, weighted by reach."""
    weighted = np.nan_to_num(np.abs(side.difference) * side.share)
    order = [int(row) for row in np.argsort(-weighted, kind="stable")[:most] if weighted[row] > 0]
    if not order:
        return
    rows = []
    for row in order:
        evs = [amount(float(ev), False) for ev in side.ev[:, row]]
        rows.append([side.names[row], per_cent(float(side.share[row])), *evs, amount(float(side.difference[row]), True)])
    echo_table([f"{name} hand", "of range", "EV", "EV other", "difference"], rows)
    typer.echo("")
