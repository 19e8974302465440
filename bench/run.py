"""Run benchmarks and update ``docs/benchmarks.md`` and the README's table. Use an idle machine.

    python bench/run.py --list                          every benchmark, with its time and requirements
    python bench/run.py iteration_speed --case leduc    one, with its own options (see --help)
    python bench/run.py roofline sampling               several
    python bench/run.py --all                           all on the page: three quarters of an hour
    python bench/run.py --all --quick                   tiny counts, to check that everything works: two minutes
    python bench/run.py --page                          only the page, from the stored results

One benchmark runs in this process, several run one after another in separate processes.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))
)  # for processes started here

from bench.common.benchmark import add_shared_options, benchmarks, results, run  # noqa: E402
from bench.common.report import page, short_table, write_page  # noqa: E402


def overview() -> str:
    """A line for each benchmark."""
    width = max(map(len, benchmarks()))
    return "\n".join(
        f"{each.name:<{width}}  {each.minutes:>3g} min  {each.summary}"
        + (f" Needs {', '.join(each.needs)}." if each.needs else "")
        + ("" if each.place is not None else " Not on the page.")
        for each in benchmarks().values()
    )


def main() -> None:
    """Run the requested benchmarks; the exit status is 1 if any fails, but the others still run."""
    name, *others = sys.argv[1:] or ["--list"]
    if name in benchmarks() and not set(others) & benchmarks().keys():
        if run(benchmarks()[name], others):
            write_page(results())
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="one benchmark with its own options, or several")
    parser.add_argument("--list", action="store_true", help="show all benchmarks (default)")
    parser.add_argument("--all", action="store_true", help="run all benchmarks on the page")
    parser.add_argument("--page", action="store_true", help="only write the page; with --quick, print that of quick results")
    add_shared_options(parser)
    asked = parser.parse_args()
    unknown = sorted(set(asked.names) - benchmarks().keys())
    if unknown:
        parser.error(f"no benchmark named {', '.join(unknown)}; choose from {', '.join(benchmarks())}")
    wanted = [each.name for each in benchmarks().values() if asked.all and each.place is not None] or asked.names
    shared = ["--quick"] * asked.quick + ([] if asked.core is None else ["--core", str(asked.core)])
    failed = []
    for name in wanted:
        print(f"\n== {name}", flush=True)
        if subprocess.run([sys.executable, __file__, name, *shared], check=False).returncode:
            failed.append(name)
    if asked.page and asked.quick:
        print(f"{page(results(quick=True))}\n{short_table(results(quick=True))}")
    elif asked.page:
        write_page(results())
    elif not wanted:
        print(overview())
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
