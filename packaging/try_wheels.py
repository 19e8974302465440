"""Install each built file into a fresh environment and use it: solve Leduc poker and a river, also on the web page.

With the kernels of the platform wheel nothing may be compiled.

python packaging/try_wheels.py dist
"""

import json
import os
import shlex
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
START_SECONDS, SOLVE_SECONDS = 60.0, 900.0
SMALL_RIVER = {"board": "Td 9d 6h Qc 2s", "oop": "AA, KK", "ip": "QQ, JJ", "pot": "20", "stack": "60", "bets": "a"}
WITH_KERNELS = (
    "sample kuhn_poker -n 10",
    "solve 'kuhn_poker(players=3)' -n 10",
    "match leduc_poker 'search(depth=2,leaf=exact)' uniform --hands 1",
    "holdem equity AKs QQ",
    "solve --board 'Td 9d 6h Qc' --pot 20 --stack 60 --bets a --oop AA --ip KK --rake 5% --rake-cap 3 -n 2",
)
"""Further commands that the platform wheel runs without compiling."""


def environment() -> dict[str, str]:
    """The environment of a user who has set nothing."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NUMBA", "TREEPLEX"))}


def timed(command: list[str | Path], folder: Path) -> tuple[str, float]:
    """Standard output of a command, and its wall seconds."""
    start = time.perf_counter()
    done = subprocess.run(
        [str(part) for part in command], cwd=folder, env=environment(), check=True, capture_output=True, text=True
    )
    return done.stdout, time.perf_counter() - start


def ask_server(treeplex: Path, folder: Path) -> float:
    """Seconds from the start of ``treeplex web`` to its first answer; a river is then solved there."""
    start = time.perf_counter()
    command = [str(treeplex), "web", "--folder", str(folder), "--port", str(PORT), "--no-browser"]
    server = subprocess.Popen(command, cwd=folder, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while True:
            try:
                assert b"<html" in fetch("/").lower()
                break
            except OSError:
                if server.poll() is not None or time.perf_counter() - start > START_SECONDS:
                    raise
                time.sleep(0.05)
        opened = time.perf_counter() - start
        job = json.loads(fetch("/api/jobs", {"fields": {**SMALL_RIVER, "iterations": 20}}))
        while job["state"] != "finished":
            assert job["state"] != "failed", job["error"]
            assert time.perf_counter() - start < SOLVE_SECONDS, job
            time.sleep(0.2)
            job = json.loads(fetch(f"/api/jobs/{job['id']}"))
        return opened
    finally:
        server.terminate()
        server.wait()


def fetch(path: str, body: dict[str, object] | None = None) -> bytes:
    """A response of the server; with a body, to a POST request."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{PORT}{path}", data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        content: bytes = answer.read()
    return content


def compiled_kernels(treeplex: Path, folder: Path) -> list[str]:
    """Names of the kernels that were compiled since the installation."""
    text, _ = timed([treeplex, "kernels", "list", "--json"], folder)
    return [entry["kernel"] for entry in json.loads(text) if Path(entry["path"]).parent.name != "prebuilt"]


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
        page = ask_server(treeplex, folder)
        has_kernels = "none-any" not in built.name and built.suffix == ".whl"
        for command in WITH_KERNELS if has_kernels else ():
            timed([treeplex, *shlex.split(command)], folder)
        compiled = compiled_kernels(treeplex, folder)
        assert not (has_kernels and compiled), f"{built.name} lacks kernels: {', '.join(compiled)}"
        print(
            f"{built.name}: Leduc poker {leduc:.1f} s, a river {river:.1f} s, page {page:.1f} s, "
            f"{len(compiled)} kernels compiled",
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
