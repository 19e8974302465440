"""Solve Leduc poker and compare with its known value: what ``make demo`` runs."""

import sys
import time

import treeplex as tp
from treeplex.results import Progress

GAME, ALGORITHM, TARGET = "leduc_poker", "dcfr", 1e-4
KNOWN_VALUE = -0.0856064  # of player 0, in chips; an independent linear program gives -0.085606424078


class Lines:
    """Prints a line each time exploitability halves."""

    def __init__(self) -> None:
        self.below = float("inf")

    def __call__(self, progress: Progress) -> None:
        found = progress.numbers.get("exploitability")
        if found is not None and found < self.below:
            pace = f"{progress.rate:>7,.0f} a second"
            print(f"  iteration {progress.done:>6,}   exploitability {found:.2e}   {pace}", flush=True)
            self.below = found / 2


def main(folder: str) -> None:
    """Solve, compare, save to ``folder`` and suggest next steps."""
    began = time.perf_counter()
    print(f"compiling {GAME} (the first time also the kernels, half a minute)", flush=True)
    game = tp.compile(GAME)
    tp.solve(game, ALGORITHM, iterations=1)
    size = game.size
    print(f"  {size.histories:,} histories, {sum(game.infosets)} infosets, {time.perf_counter() - began:.1f} s")

    print(f"solving with {ALGORITHM} until exploitability is at most {TARGET:g}", flush=True)
    solution = tp.solve(game, ALGORITHM, target=TARGET, out=folder, force=True, progress=Lines())
    last = solution.last
    print(f"  iteration {last.done:>6,}   exploitability {last.exploitability:.2e}   done in {last.seconds:.3f} s")
    print()
    print(f"value of the game for the first player   {solution.value[0]:+.7f} chips a hand")
    print(f"known value                              {KNOWN_VALUE:+.7f}")
    print()
    print(f"saved   {folder}/policy.safetensors   the policy")
    print(f"        {folder}/convergence.png      the plot")
    print(f"        {folder}/metrics.jsonl, run.json, state.safetensors")
    print()
    print("try     source .venv/bin/activate")
    for command, purpose in (
        (f"show {folder} --limit 10", "browse the strategy"),
        (f"solve --resume {folder} --target 1e-6", "go on"),
        ("compare leduc_poker -a cfr -a dcfr -a pcfr+", "compare algorithms"),
        ("solve examples/mygame.py:MyGame", "a game in thirty lines to modify"),
        ("web", "solve, browse and play in the browser"),
    ):
        print(f"        treeplex {command:<44} {purpose}")
    if not solution.target_reached or abs(solution.value[0] - KNOWN_VALUE) > 2 * TARGET:
        sys.exit("this is not the known value: please report it")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "runs/demo")
