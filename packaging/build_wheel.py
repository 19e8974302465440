"""Build the sdist, the pure wheel and a platform wheel with prebuilt kernels.

The platform wheel is the pure wheel plus ``treeplex/prebuilt``: kernels compiled by ``treeplex kernels warm`` for a level of
x86-64 and for the Python that runs this script. Where they do not fit (another Python, Numba or processor), kernels are
compiled at first use.

    python packaging/build_wheel.py [--out dist] [--level x86-64-v3] [--pure] [--kernels FOLDER]
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MOST_BYTES = 40 * 2**20
PLATFORM = "manylinux2014_x86_64"
"""Kernels are machine code without references to a C library; what they call is in Numba."""
REMOVE_STALE = """
import importlib
import os
from treeplex.engine.kernel_cache import entries

for entry in list(entries()):
    module, _, name = entry.kernel.rpartition(".")
    try:
        cache = getattr(importlib.import_module(module), name)._cache
        stale = (
            entry.cpu.split("/")[1] != os.environ["NUMBA_CPU_NAME"]
            or cache.file_name([entry.signature], entry.cpu) != entry.path.name
        )
    except (ImportError, AttributeError):
        stale = True
    if stale:
        entry.path.unlink(missing_ok=True)
"""
"""Remove kernels of other sources, versions or levels from a folder that was kept."""


def run(*command: str | Path, **options: object) -> None:
    """Run a command; stop where it fails."""
    subprocess.run([str(part) for part in command], check=True, **options)  # type: ignore[call-overload]


def build_pure(out: Path) -> Path:
    """Build the sdist and, from it, the wheel without kernels. Returns the wheel."""
    with tempfile.TemporaryDirectory() as folder:
        run(sys.executable, "-m", "build", "--outdir", folder, ROOT)
        for built in Path(folder).iterdir():
            shutil.move(built, out / built.name)
    (wheel,) = out.glob("treeplex-*-none-any.whl")
    return wheel


def compile_kernels(package: Path, level: str, kernels: Path | None) -> int:
    """Compile the kernels of an unpacked wheel into it. Returns how many bytes they take.

    Args:
        package: the unpacked wheel.
        level: level of x86-64.
        kernels: folder of kernels that are compiled already, where a stopped build resumes; None to begin from none.
    """
    prebuilt = package / "treeplex/prebuilt"
    compiled = prebuilt if kernels is None else kernels.resolve()
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {
        "PYTHONPATH": str(package),
        "TREEPLEX_KERNELS": str(compiled),
        "NUMBA_CPU_NAME": level,
        "NUMBA_CPU_FEATURES": "",
    }
    run(sys.executable, "-m", "treeplex", "kernels", "warm", env=environment, cwd=package)
    run(sys.executable, "-c", REMOVE_STALE, env=environment, cwd=package)
    if compiled != prebuilt:
        shutil.copytree(compiled, prebuilt, ignore=shutil.ignore_patterns("*.part", "*.lock"))
    return sum(file.stat().st_size for file in prebuilt.iterdir())


def build_platform(pure: Path, out: Path, level: str, kernels: Path | None) -> Path:
    """Build the wheel with kernels from the pure one."""
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(pure) as archive:
            archive.extractall(folder)
        package = Path(folder)
        compile_kernels(package, level, kernels)
        for left in package.rglob("__pycache__"):
            shutil.rmtree(left)
        (info,) = package.glob("*.dist-info")
        tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
        text = (info / "WHEEL").read_text()
        text = text.replace("Root-Is-Purelib: true", "Root-Is-Purelib: false")
        (info / "WHEEL").write_text(text.replace("Tag: py3-none-any", f"Tag: {tag}-{tag}-{PLATFORM}"))
        run(sys.executable, "-m", "wheel", "pack", package, "--dest-dir", out)
    (wheel,) = out.glob(f"treeplex-*-{tag}-{tag}-{PLATFORM}.whl")
    if wheel.stat().st_size > MOST_BYTES:
        raise SystemExit(
            f"{wheel.name} has {wheel.stat().st_size / 2**20:.1f} MiB; at most {MOST_BYTES / 2**20:.0f} are allowed"
        )
    return wheel


def main() -> None:
    """Build what was asked for, and list it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder for what is built (default: dist)")
    parser.add_argument("--level", default="x86-64-v3", help="level of x86-64 (default: x86-64-v3)")
    parser.add_argument("--pure", action="store_true", help="build only the sdist and the pure wheel")
    parser.add_argument(
        "--kernels",
        type=Path,
        help="keep compiled kernels in this folder: a stopped build resumes, and a later one compiles only what changed",
    )
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for old in options.out.glob("treeplex-*"):
        old.unlink()
    pure = build_pure(options.out)
    if not options.pure:
        build_platform(pure, options.out, options.level, options.kernels)
    for built in sorted(options.out.glob("treeplex-*")):
        print(f"{built.stat().st_size / 2**20:6.1f} MiB  {built}")


if __name__ == "__main__":
    main()
