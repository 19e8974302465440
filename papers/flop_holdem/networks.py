"""Deep CFR on flop hold'em: trained for minutes on one core, evaluated exactly over all hands and flops."""

import json
import re
import resource
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator

from papers.common.drawing import dress, line_style, panels, plain_labels, save
from papers.common.kept import code, effort, kept
from papers.common.results import Picture, Result, Table, published, stored
from papers.common.study import study
from papers.learners.trained import FOLDERS, trained
from treeplex.run.plots import GREY

PUBLISHED = published("flop_holdem")["flop_holdem"]
GAME, LEARNER = "flop_holdem", "deep-cfr"
STEPS = (5, 10, 20, 40, 80)
"""Iterations after which the learner is evaluated; its settings are the defaults."""
BIG_BLIND = 100.0
CODE = ("treeplex.learn.neural", "treeplex.holdem.rules.dealt", "treeplex.holdem.rules.looks")
"""Modules that affect a training run; if they change, it starts again."""
CALLED = f"{LEARNER}-{code(*CODE)}"
RunRecord = dict[str, Any]


def evaluation(policy: str | Path) -> list[str]:
    """The command that evaluates a policy."""
    return [sys.executable, "-m", "treeplex", "evaluate", GAME, str(policy), "--json"]


def judged(policy: str | Path) -> RunRecord:
    """Results of ``treeplex evaluate`` for a policy, in mbb/hand, and the CPU time of the command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = json.loads(subprocess.run(evaluation(policy), capture_output=True, text=True, check=True).stdout)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    unit = 1000.0 / BIG_BLIND
    return {
        "exploitability": unit * said["exploitability"],
        "nash_conv": unit * said["nash_conv"],
        "value": unit * said["value"][0],
        "judging": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
    }


def memory() -> float:
    """Peak memory of evaluating the current training state, in gigabytes, as reported by Linux."""
    peak, status = 0, Path("/proc")
    with subprocess.Popen(evaluation(FOLDERS / GAME / f"{CALLED}-0"), stdout=subprocess.PIPE) as running:
        while running.poll() is None:
            told = re.search(r"VmHWM:\s+(\d+) kB", (status / str(running.pid) / "status").read_text())
            peak = max(peak, int(told[1])) if told else peak
            time.sleep(0.1)
    return peak * 1024 / 1e9


def reached(steps: int) -> RunRecord:
    """The training run after the given number of iterations, and its policy's exploitability.

    The time of fitting the average is that of a call minus its iterations; less for a call that resumes between two checks.
    """
    began = time.process_time()
    training = trained(GAME, LEARNER, {"steps": steps}, called=CALLED)
    last = training.records[-1]
    before = next(
        (record.cpu_seconds for record in reversed(training.records) if record.done in STEPS and record is not last), 0.0
    )
    fitting = time.process_time() - began - (last.cpu_seconds - before)
    effort = {"seconds": last.cpu_seconds, "fitting": fitting, "nodes": last.measures["nodes"]}
    found = {"steps": steps, **effort, **judged(training.folder)}
    print(found, flush=True)
    return found


@study(title="Deep CFR on flop hold'em, evaluated exactly", place=3, minutes=20, needs=("torch",))
def reproduce() -> Result:
    key = {"study": "flop_holdem/networks", "code": code(*CODE)}
    uniform = kept({"study": "flop_holdem/networks", "policy": "uniform"}, partial(judged, "uniform"))
    runs = {str(steps): kept({**key, "steps": steps}, partial(reached, steps)) for steps in STEPS}
    solved = stored("flop_holdem/exact")["runs"]["Flop hold'em/dcfr/float32"]
    rows = [["uniform play", "", "", *cells(uniform)]]
    rows += [
        [f"{n} iterations", f"{each['seconds'] + each['fitting']:.0f}", f"{each['nodes'] / 1e6:.1f}", *cells(each)]
        for n, each in runs.items()
    ]
    last, gigabytes = runs[str(STEPS[-1])], kept({**key, "memory": STEPS[-1]}, memory)
    return Result(
        source=PUBLISHED["source"],
        findings=[
            f"After {STEPS[-1]} iterations and {last['seconds'] + last['fitting']:.0f} CPU s, a best response gains "
            f"{last['exploitability']:.1f} mbb/hand on average over both players, {last['nash_conv']:.1f} in sum. Against "
            f"uniform play it gains {uniform['exploitability']:.0f}. Deep CFR is published at {PUBLISHED['deep cfr']}, "
            f"NFSP at {PUBLISHED['nfsp']}.",
            "`treeplex evaluate` queries the network at all infosets, once per class of suits, and computes both best "
            f"responses in {last['judging']:.0f} CPU s and {gigabytes:.1f} GB.",
            f"The tabular solver is at {solved[0]['exploitability']:.1f} after {solved[0]['seconds']:.0f} s and at "
            f"{solved[-1]['exploitability']:.2f} after {solved[-1]['seconds']:.0f} s. In a game whose table fits into "
            f"memory, a network saves memory but not time.",
        ],
        tables=[
            Table(
                "Deep CFR on flop hold'em; exploitability in mbb/hand",
                ("policy", "CPU s", "million histories", "mean of the players", "sum", "CPU s to judge"),
                rows,
            )
        ],
        pictures=[picture(runs, solved)],
        notes=[
            "`treeplex train deep-cfr flop_holdem` with defaults, one seed, one core. Each player's regrets and average are "
            "networks with three layers of 64 units. CPU time of training includes traversals, gradient steps and fitting "
            "the average networks at the end. CPU time of evaluation is that of the whole command.",
            "The network's inputs are the cards up to suit isomorphism, the share of hands that its own hand beats on the "
            "flop, and the betting. The published networks see only the cards and the betting. Papers differ in whether "
            "exploitability is "
            "the mean over players or the sum, so the table has both.",
            effort(),
        ],
        numbers={"runs": runs, "uniform": {"0": uniform}, "memory": {"judging": {"gigabytes": gigabytes}}},
        threads=2,
    )


def cells(found: RunRecord) -> list[str]:
    """Evaluation results as text."""
    return [
        f"{found['exploitability']:.1f}",
        f"{found['nash_conv']:.1f}",
        f"{found['judging']:.0f}",
    ]


def picture(runs: dict[str, RunRecord], solved: list[RunRecord]) -> Picture:
    """Exploitability against CPU time: the network, the tabular solver, and published figures."""
    figure: Figure
    figure, (axes,) = panels(1, 1, size=(6.4, 4.0))
    for number, (name, points) in enumerate((("Deep CFR, a network", list(runs.values())), ("DCFR, a table", solved))):
        seconds = [each["seconds"] + each.get("fitting", 0.0) for each in points]
        axes.plot(
            seconds, [each["exploitability"] for each in points], marker="o", markersize=4, label=name, **line_style(number)
        )
    for name in ("deep cfr", "nfsp"):
        shown = {"deep cfr": "Deep CFR", "nfsp": "NFSP"}[name]
        axes.axhline(PUBLISHED[name], color=GREY, linewidth=1.0, linestyle=":")
        axes.annotate(f"published, {shown}: {PUBLISHED[name]}", (1.0, PUBLISHED[name]), xycoords=("axes fraction", "data"),
                      ha="right", va="bottom" if name == "nfsp" else "top", fontsize=8, color=GREY)  # fmt: skip
    dress(axes, "Flop hold'em, judged exactly")
    plain_labels(axes)
    axes.xaxis.set_major_locator(FixedLocator([30, 100, 300, 1000]))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel("CPU seconds")
    axes.set_ylabel("mbb/hand")
    axes.legend(frameon=False, fontsize=9)
    return save(figure, "flop_holdem_networks.png", "Exploitability on flop hold'em against CPU time: a network and a table.")
