"""Save one small example of every file Treeplex writes, with the numbers obtained by reading it back.

python -m tests.saved.make VERSION [NAME ...]

Writes tests/saved/VERSION anew, or the items named in it. What is saved must come from the code of that version, so nothing
here is run again for a version that is out.
"""

import argparse
import json
import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path
from time import process_time
from typing import Any

from tests.fence.record import entries_of, machine
from tests.saved.items import ITEMS, JOBS

HERE = Path(__file__).resolve().parent
NUMBERS = "numbers.json"


def place_of(name: str) -> str:
    """The folder of an item."""
    return name.replace(",", "").replace("'", "").replace(" ", "-")


def save(name: str) -> dict[str, Any]:
    """Write an item below the working directory; what reading each part of it gives."""
    folder = Path(place_of(name))
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    thing = ITEMS.get(name) or JOBS[name]
    thing.make(folder)
    for path in [*folder.rglob("*.png"), *folder.rglob(".lock"), *folder.rglob("*.lock")]:  # pictures are not read
        path.unlink()
    check_private(folder)
    if name in ITEMS:
        return {"": read(ITEMS[name].look, folder)}
    job = JOBS[name]
    return {part: read(job.look, folder / f"{part}{job.suffix}") for part in ("finished", "interrupted")}


def read(look: Any, path: Path) -> dict[str, Any]:
    """The numbers of a copy, for some readers write beside what they read."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        (shutil.copytree if path.is_dir() else shutil.copy)(path, copy)
        return entries_of(look(copy))


def check_private(folder: Path) -> None:
    """Refuse files that name this machine."""
    for path in (each for each in folder.rglob("*") if each.is_file()):
        content = path.read_bytes()
        for private in (socket.gethostname(), str(Path.home()), str(HERE), os.path.realpath(tempfile.gettempdir())):
            assert len(private) < 4 or private.encode() not in content, f"{path} has {private}"


def main() -> None:
    """Read the options and save."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("version", help="the folder: of which version the things are")
    parser.add_argument("names", nargs="*", metavar="NAME", help="names of items; default: all")
    options = parser.parse_args()
    target = HERE / options.version
    target.mkdir(exist_ok=True)
    os.chdir(target)
    file = Path(NUMBERS)
    kept = json.loads(file.read_text()) if file.exists() and options.names else {"items": {}}
    names = options.names or [*JOBS, *ITEMS]
    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TREEPLEX_CACHE"] = cache
        for name in names:
            began = process_time()
            kept["items"][name] = save(name)
            size = sum(path.stat().st_size for path in Path(place_of(name)).rglob("*") if path.is_file())
            print(f"{process_time() - began:7.2f} s {size / 1000:8.1f} kB  {name}", flush=True)
    items = {name: kept["items"][name] for name in (*JOBS, *ITEMS) if name in kept["items"]}
    about = {"commit": kept.get("commit", commit), "machine": machine(), "items": items}
    file.write_text(text_of(about))


def text_of(about: dict[str, Any]) -> str:
    """What ``numbers.json`` says, an item a line."""
    items = ",\n".join(f"  {json.dumps(name)}: {json.dumps(parts)}" for name, parts in about["items"].items())
    rest = "".join(f" {json.dumps(name)}: {json.dumps(value)},\n" for name, value in about.items() if name != "items")
    return f'{{\n{rest} "items": {{\n{items}\n }}\n}}\n'


if __name__ == "__main__":
    main()
