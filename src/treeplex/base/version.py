"""The installed version of Treeplex, and install commands for its extras."""

import re
from pathlib import Path
from shlex import quote

CHECKOUT = Path(__file__).parents[3]
"""The root of the source checkout, if Treeplex runs from one."""


def own_version() -> str:
    """The installed version of Treeplex; ``unknown`` if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version  # slow to import

    try:
        return version("treeplex")
    except PackageNotFoundError:
        return "unknown"


def install_hint(extra: str) -> str:
    """Return the command that installs an extra's dependencies, such as ``pip install 'torch>=2.6'``.

    In a source checkout it is ``pip install -c constraints.txt -e '.[torch]'``, with the checkout's path if called elsewhere.
    """
    from importlib.metadata import PackageNotFoundError, requires

    if (CHECKOUT / "pyproject.toml").exists() and (CHECKOUT / "constraints.txt").exists():
        here = Path.cwd() == CHECKOUT
        constraints = "constraints.txt" if here else quote(str(CHECKOUT / "constraints.txt"))
        return f"pip install -c {constraints} -e '{'.' if here else CHECKOUT}[{extra}]'"
    try:
        needed = [
            re.split(r"\s*;", requirement)[0]
            for requirement in requires("treeplex") or ()
            if re.search(rf"extra == .{extra}\b", requirement)
        ]
    except PackageNotFoundError:
        needed = []
    return f"pip install {' '.join(map(quote, needed or [f'treeplex[{extra}]']))}"
