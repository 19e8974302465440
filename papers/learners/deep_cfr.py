"""The family of Deep CFR on Leduc poker: exploitability of what networks learn, beside the published figures."""

import sys
from collections.abc import Mapping
from typing import Any

from papers.common.results import Result, Table, published
from papers.common.study import study
from papers.learners.trained import curve_of, reached, trained

GAME = "leduc_poker"
MATCHED = 4_700_000
"""Histories of the runs that published figures are from."""
LEARNERS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "sd-cfr": ("sd-cfr", {}),
    "deep-cfr": ("deep-cfr", {"every": 50}),
    "vr-deep-pdcfr+": ("vr-deep-pdcfr+", {"nodes": MATCHED, "every": 15}),
    "escher": ("escher", {"steps": 80, "every": 20}),
    "escher, corrected": ("escher", {"steps": 80, "every": 20, "corrected": True}),
    "dream": ("dream", {"steps": 100, "every": 20}),
    "vr-deep-dcfr+": ("vr-deep-dcfr+", {"nodes": MATCHED, "every": 15}),
}
"""Learner and settings besides the defaults, by what a run is called."""


@study(title="Deep CFR and its kin on Leduc poker", place=1, minutes=40, needs=("torch",))
def reproduce(options: list[str] | None = None) -> Result:
    """With options: names of learners, as in :data:`LEARNERS`; others are shown as far as they have come."""
    said = published("learners")["deep_cfr"]
    trainings = {}
    for name in options or LEARNERS:
        learner, settings = LEARNERS[name]
        trainings[name] = trained(GAME, learner, settings, called=name)
        print(name, reached(trainings[name]), flush=True)
    found = {name: reached(training) for name, training in trainings.items()}
    curves = {name: curve_of(training) for name, training in trainings.items()}
    rows = [
        [
            f"`{name}`",
            f"{each['exploitability']:.3f}",
            f"{each['steps']:,}",
            f"{each['nodes'] / 1e6:.2f}",
            f"{each['cpu_seconds']:.0f}",
            said[name],
        ]
        for name, each in found.items()
    ]
    columns = ["learner", "exploitability", "iterations", "million histories", "processor seconds", "published"]
    steps = (1, 10, 20, 30, 50, 100)
    shown = [
        [f"`{name}`", *(f"{curve[str(step)]:.3f}" if str(step) in curve else "" for step in steps)]
        for name, curve in curves.items()
    ]
    findings = [
        f"`{name}` comes to {found[name]['exploitability']:.3f} after {found[name]['steps']:,} iterations and "
        f"{found[name]['cpu_seconds']:.0f} seconds of one processor."
        for name in ("deep-cfr", "sd-cfr")
        if name in found
    ]
    return Result(
        source=said["source"],
        findings=findings,
        tables=[
            Table("Exploitability in chips, the mean over players", columns, rows),
            Table("After so many iterations", ["learner", *map(str, steps)], shown),
        ],
        notes=[
            "One seed, 0; the defaults of each learner. Networks have three layers of 64 units and see ranks, suits, betting "
            "and chips.",
            said["sources"],
            "Exploitability is exact. Processor seconds are those of walks and fits; networks of the average, which are fitted "
            "when the average is asked for, are not in them.",
        ],
        numbers={"reached": found, "curves": curves},
    )


if __name__ == "__main__":
    reproduce(sys.argv[1:])
