"""Run reproductions and regenerate ``docs/papers``.

    python papers/run.py --list                  every study, with its time and requirements
    python papers/run.py ddcfr/table4            one
    python papers/run.py rebel --within 5        all studies of a paper of at most five minutes
    python papers/run.py --all                   all studies on the pages of at most an hour
    python papers/run.py vtcfr/one_scheme kuhn   one, with its own option
    python papers/run.py --page                  only docs/papers, from the stored results, and the list in README.md

One study runs in this process, several run one after another in separate processes.
"""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)

from papers.common.study import Study, chosen, run, studies, write_pages  # noqa: E402

HOUR = 60.0


def overview() -> str:
    """A line for each study."""
    width = max(map(len, studies()))
    return "\n".join(
        f"{each.name:<{width}}  {each.minutes:>6g} min  {each.summary}"
        + (f" Needs {', '.join(each.needs)}." if each.needs else "")
        + ("" if each.place is not None else " Not on a page.")
        for each in studies().values()
    )


def run_each(wanted: Sequence[Study]) -> None:
    """Run studies in separate processes; studies with missing requirements are reported and skipped.

    Raises:
        SystemExit: any fails; the others still run.
    """
    failed = []
    for each in wanted:
        if missing := each.lacks():
            print(f"== {each.name}: left out, needs {' and '.join(missing)}", flush=True)
            continue
        print(f"== {each.name}", flush=True)
        if subprocess.run([sys.executable, __file__, each.name], cwd=ROOT, check=False).returncode:
            failed.append(each.name)
    if not wanted:
        print("no study is that short; increase --within")
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}")


def main() -> None:
    name, *options = sys.argv[1:] or ["--list"]
    if name in studies():
        run(studies()[name], options)
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="a study with its options, or several studies or papers")
    parser.add_argument("--list", action="store_true", help="show all studies (default)")
    parser.add_argument("--all", action="store_true", help="run all studies on the pages")
    parser.add_argument("--within", type=float, default=HOUR, metavar="MINUTES", help="skip longer studies (default: 60)")
    parser.add_argument("--page", action="store_true", help="only write the pages from stored results")
    asked = parser.parse_args()
    wanted = [each for each in studies().values() if asked.all and each.place is not None]
    wanted += [each for name in asked.names for each in chosen(name) if each not in wanted]
    if asked.page:
        write_pages()
    elif wanted:
        run_each([each for each in wanted if each.minutes <= asked.within])
    else:
        print(overview())


if __name__ == "__main__":
    main()
