"""Install each built file into a fresh environment and use it: solve Leduc poker and a river, open the web page once.

python packaging/try_wheels.py dist
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RIVER = ROOT / "examples/spots/river.yaml"
PORT = 18761
START_SECONDS = 60.0


def timed(command: list[str | Path], folder: Path) -> tuple[str, float]:
    """Standard output of a command, and its wall seconds."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NUMBA", "TREEPLEX"))}
    start = time.perf_counter()
    done = subprocess.run(
        [str(part) for part in command], cwd=folder, env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout, time.perf_counter() - start


def ask_server(treeplex: Path, folder: Path) -> float:
    """Seconds from the start of ``treeplex web`` to its first answer."""
    start = time.perf_counter()
    command = [str(treeplex), "web", "--folder", str(folder), "--port", str(PORT), "--no-browser"]
    server = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/", timeout=5) as answer:
                    assert b"<html" in answer.read().lower()
                return time.perf_counter() - start
            except OSError:
                if server.poll() is not None or time.perf_counter() - start > START_SECONDS:
                    raise
                time.sleep(0.05)
    finally:
        server.terminate()
        server.wait()


def try_file(built: Path) -> None:
    """Install one file and use it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "env", with_pip=True)
        python = folder / "env" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        treeplex = python.with_name("treeplex.exe" if os.name == "nt" else "treeplex")
        timed([python, "-m", "pip", "install", "--quiet", "--constraint", ROOT / "constraints.txt", f"{built}[web]"], folder)
        timed([treeplex, "--help"], folder)  # the first start compiles Python's bytecode
        text, leduc = timed([treeplex, "solve", "leduc_poker", "-n", "100", "--json"], folder)
        assert json.loads(text)["exploitability"] < 0.02, text
        text, river = timed([treeplex, "solve", RIVER, "--target", "5%", "--json"], folder)
        assert json.loads(text)["exploitability_percent"] <= 5.0, text
        print(
            f"{built.name}: Leduc poker {leduc:.1f} s, a river {river:.1f} s, page {ask_server(treeplex, folder):.1f} s",
            flush=True,
        )


def main() -> None:
    """Try every file in a folder that fits this Python."""
    here = f"cp{sys.version_info.major}{sys.version_info.minor}"
    files = [
        path
        for path in sorted(Path(sys.argv[1]).resolve().glob("treeplex-*"))
        if "-cp" not in path.name or f"-{here}-" in path.name
    ]
    if not files:
        raise SystemExit(f"nothing built in {sys.argv[1]}; run packaging/build_wheel.py")
    for built in files:
        try_file(built)


if __name__ == "__main__":
    main()
