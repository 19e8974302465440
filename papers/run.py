"""Run the reproductions, each in its own process, then write the report: ``python papers/run.py [NAME ...]``.

Without names all of them but ``SLOW``, which take more than an hour; their results stay as they are.
"""

import subprocess
import sys

from report import ORDER
from results import HERE, ROOT

SLOW = ("cfr2007_tables", "rebel_large")


def main(names: list[str]) -> None:
    unknown = sorted(set(names) - set(ORDER))
    if unknown:
        raise SystemExit(f"no reproduction called {', '.join(unknown)}; there are {', '.join(ORDER)}")
    for name in (*(names or [name for name in ORDER if name not in SLOW]), "report"):
        print(f"== {name}", flush=True)
        subprocess.run([sys.executable, str(HERE / f"{name}.py")], cwd=ROOT, check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
