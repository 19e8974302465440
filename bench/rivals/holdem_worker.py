"""Treeplex as a process that answers the commands of :mod:`bench.rivals.programs`, for :mod:`bench.holdem`.

The first line is JSON: ``case``, ``threads``, ``storage``. Imports and compiled kernels are timed separately from building the
game. Other output goes to the error stream.
"""

import json
import os
import resource
import sys
import time
from importlib.metadata import version
from typing import Any

ALGORITHM = "dcfr"
SMALL = "Td9d6hQc2s"
"""A board that builds instantly, for warming up the compiled kernels."""


class Ours:
    """A solver of one spot."""

    def __init__(self, case: str, threads: int, storage: str) -> None:
        start = time.perf_counter()
        from bench.common.holdem_spots import CASES, basic
        from treeplex.holdem.forms.compile_spot import compile_spot
        from treeplex.holdem.policies.judge import judge_spot, judging_crew
        from treeplex.holdem.solve.solver import HoldemSolver, predicted_memory

        self.about: dict[str, Any] = {"import_seconds": time.perf_counter() - start, "start_bytes": peak_bytes()}
        spot = CASES[case].spot()
        start = time.perf_counter()
        compile_spot(basic(SMALL)())
        self.loading = time.perf_counter() - start
        start = time.perf_counter()
        game = compile_spot(spot)
        self.make = lambda: HoldemSolver(game, ALGORITHM, threads=threads, storage=storage)
        self.solver = self.make()
        self.about["build_seconds"] = time.perf_counter() - start
        self.about["predicted_bytes"] = predicted_memory(game.size, ALGORITHM, threads=threads, storage=storage)
        self.about["version"] = version("treeplex")
        self.crew = judging_crew(game, threads)
        self.judge, self.pot, self.percent = judge_spot, spot.pot, float("nan")

    def warm(self) -> float:
        """Seconds of compiling or loading kernels: the difference between first and second calls."""
        spent = []
        for _ in range(2):
            start = time.perf_counter()
            self.solver.run(1)
            self.check()
            spent.append(time.perf_counter() - start)
        self.solver = self.make()
        return self.loading + spent[0] - spent[1]

    def check(self, *, expected: bool = False) -> Any:
        """Evaluate the average strategies in double precision; expected values only on request, as in the other solvers."""
        solver = self.solver
        found = self.judge(solver.game, solver.store.average, solver.store, self.crew, expected=expected)
        self.percent = 100 * found.exploitability / self.pot
        return found

    def answer(self, words: list[str]) -> dict[str, Any]:
        """The answer to a command."""
        cpu, wall = time.process_time(), time.perf_counter()
        match words:
            case ["iterate", times]:
                self.solver.run(int(times))
                return self.timed(cpu, wall)
            case ["exploitability"]:
                self.check()
                return self.timed(cpu, wall) | {"percent": self.percent}
            case ["solve", target, most, every]:
                return self.solve(float(target), int(most), int(every))
            case ["ev"]:
                return {"ev": list(map(float, self.check(expected=True).value))}
            case ["reset"]:
                del self.solver
                self.solver = self.make()
                return {"iteration": 0}
        return {"error": f"no such command: {' '.join(words)}"}

    def timed(self, cpu: float, wall: float) -> dict[str, Any]:
        """Seconds since the given times, and the solver's progress."""
        return {
            "iteration": self.solver.iteration,
            "wall": time.perf_counter() - wall,
            "cpu": time.process_time() - cpu,
        }

    def solve(self, target: float, most: int, every: int) -> dict[str, Any]:
        """Iterate until the target exploitability; checks are timed separately."""
        cpu, spent, checks = time.process_time(), 0.0, 0.0
        self.percent = float("inf")
        while self.solver.iteration < most and self.percent > target:
            start = time.perf_counter()
            self.solver.run(min(every, most - self.solver.iteration))
            ended = time.perf_counter()
            self.check()
            spent, checks = spent + ended - start, checks + time.perf_counter() - ended
        found = {"iteration": self.solver.iteration, "percent": self.percent, "wall": spent, "check_wall": checks}
        return found | {"cpu": time.process_time() - cpu}


def peak_bytes() -> int:
    """The largest resident size so far."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def serve() -> None:
    """Answer until the input ends."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def reply(content: dict[str, Any]) -> None:
        replies.write(json.dumps(content | {"peak_bytes": peak_bytes()}) + "\n")
        replies.flush()

    try:
        ours = Ours(**json.loads(sys.stdin.readline()))
        ours.about["kernel_seconds"] = ours.warm()
        reply(ours.about)
        for line in sys.stdin:
            reply(ours.answer(line.split()))
    except Exception as error:
        reply({"error": f"{type(error).__name__}: {error}"})


if __name__ == "__main__":
    serve()
