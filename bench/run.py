"""Runs all benchmarks one after another and writes the report. Use a quiet machine.

python bench/run.py [--quick] [--core 1] [--only roofline]
"""

import subprocess
import sys
from pathlib import Path

import record

HERE = Path(__file__).resolve().parent
BENCHMARKS = (
    "iteration_speed",
    "sampling",
    "long_runs",
    "holdem",
    "rebel",
    "roofline",
    "showdown_limits",
    "compile_scale",
    "cold_start",
)


def main() -> None:
    """Run them; the exit status is 1 if any fails, but the others still run."""
    parser = record.parser(__doc__)
    parser.add_argument("--only", action="append", choices=BENCHMARKS, help="only this benchmark (repeatable)")
    options = parser.parse_args()
    shared = ["--quick"] if options.quick else []
    pinned = [] if options.core is None else ["--core", str(options.core)]
    failed = []
    for name in options.only or BENCHMARKS:
        print(f"\n== {name}", flush=True)
        if subprocess.run([sys.executable, str(HERE / f"{name}.py"), *shared, *pinned], check=False).returncode:
            failed.append(name)
    print("\n== report", flush=True)
    if subprocess.run([sys.executable, str(HERE / "report.py"), *shared], check=False).returncode:
        failed.append("report")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
