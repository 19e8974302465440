"""Install Treeplex with the lowest versions that pyproject.toml allows, and solve with them.

python packaging/lower_bounds.py
"""

import os
import re
import subprocess
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COMMANDS = (
    ("solve", "leduc_poker", "-n", "100"),
    ("solve", ROOT / "examples/spots/river.yaml", "--target", "5%"),
    ("sample", "kuhn_poker", "-n", "10"),
)


def lowest(requirements: list[str]) -> list[str]:
    """``name>=version`` as ``name==version``."""
    return [re.sub(r">=\s*", "==", each.split(",")[0]) for each in requirements]


def main() -> None:
    """Install and solve; a failure ends with the command's exit code."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pins = lowest(project["dependencies"])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "env", with_pip=True)
        binaries = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
        subprocess.run([binaries / "python", "-m", "pip", "install", "--quiet", *pins, str(ROOT)], check=True)
        print("lowest versions:", *pins)
        for command in COMMANDS:
            subprocess.run([binaries / "treeplex", *map(str, command)], cwd=folder, check=True)


if __name__ == "__main__":
    main()
