"""Which tests take long: ``slow.txt``, whose tests ``make test-slow`` runs, as measured.

``pytest -n 2 --dist loadgroup --durations=0 -vv > measured`` and ``python tests/measured.py measured`` add to the file what
took longer than :data:`LONG` seconds; with ``-m "slow or not slow"`` it is found anew (``--anew``). The first of the kernels
that tests share to be compiled counts for the test that needed it, so a second measurement adds a few more.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

LIST = Path(__file__).with_name("slow.txt")
LONG, KEPT = 0.75, 1.5
"""Seconds from which a case is slow, and below which the quickest of a test's cases is not."""
ALWAYS = frozenset(
    {
        "test_docs.py::test_examples_run[README.md]",
        "solvers/test_forms.py::test_strategies_are_those_of_the_oracle[cfr+-float64]",
        "solvers/test_forms.py::test_in_pieces_and_resumed_bit_for_bit[cfr-float32]",
        "solvers/test_forms.py::test_values_are_those_of_the_oracle[ddcfr-tree]",
        "runs/holdem/test_in_parts.py::test_workers_judge_what_stops_at_a_target",
        "workers/test_on_ray.py::test_the_same_bits_and_what_is_shared_is_there_once",
    }
)
"""What everybody begins with, the engines against an oracle, and the one use of a cluster and of processes."""
DURATION = re.compile(r"\s*([\d.]+)s (?:call|setup|teardown) +tests/(.+)")


def slow(text: str) -> set[str]:
    """The slow tests of a measurement, by their names below ``tests``."""
    seconds = defaultdict[str, float](float)
    for found in filter(None, map(DURATION.fullmatch, text.splitlines())):
        seconds[found[2].rpartition("@")[0] or found[2]] += float(found[1])
    cases = defaultdict[str, list[str]](list)
    for name in sorted(seconds, key=seconds.__getitem__):
        cases[name.partition("[")[0]].append(name)
    kept = {names[0] for names in cases.values() if seconds[names[0]] < KEPT}
    return {name for name, taken in seconds.items() if taken >= LONG} - kept - ALWAYS


if __name__ == "__main__":
    source, *rest = sys.argv[1:]
    earlier = set() if "--anew" in rest else set(LIST.read_text("utf-8").splitlines())
    LIST.write_text("".join(f"{name}\n" for name in sorted(earlier | slow(Path(source).read_text("utf-8")))), "utf-8")
