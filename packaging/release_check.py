"""Check that a release can be made: versions, changelog, metadata, links, licences, sizes. Lists problems; exit code 1 then.

python packaging/release_check.py [--tag v0.1.0] [--dist dist]
"""

import argparse
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACEHOLDER = "example.org"
MOST_FILE_BYTES = 5 * 2**20
MOST_WHEEL_BYTES = 40 * 2**20
LINK = re.compile(r"\]\((?!https?://|mailto:|#)([^)\s#]+)")
MUST_SHIP = ("treeplex/py.typed", "treeplex/web/assets/index.html", "treeplex/web/assets/licences.txt")


def versions(tag: str | None) -> Iterator[str]:
    """The version is the same in pyproject.toml, CITATION.cff, the conda recipe, the changelog and the tag."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    for name, pattern in {
        "CITATION.cff": r"^version: (\S+)$",
        "packaging/conda/recipe.yaml": r'^  version: "([^"]+)"$',
    }.items():
        found = re.search(pattern, (ROOT / name).read_text(), re.MULTILINE)
        if found is None or found[1] != version:
            yield f"{name} has version {found[1] if found else 'none'}, pyproject.toml has {version}"
    section = re.search(rf"^## \[?{re.escape(version)}\]?(.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    if section is None:
        yield f"CHANGELOG.md has no section for {version}"
    elif tag is not None and not re.search(r"\d{4}-\d\d-\d\d", section[1]):
        yield f"CHANGELOG.md has no date for {version}"
    if tag is not None and tag != f"v{version}":
        yield f"the tag is {tag}, pyproject.toml has version {version}"


def placeholders() -> Iterator[str]:
    """Project URLs are real ones."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    urls = project.get("urls", {})
    if not urls:
        yield "pyproject.toml has no [project.urls]"
    for name, url in urls.items():
        if PLACEHOLDER in url:
            yield f"[project.urls] {name} is a placeholder: {url}"


def links() -> Iterator[str]:
    """Relative links of the pages in the root lead to files."""
    for page in sorted(ROOT.glob("*.md")):
        for target in LINK.findall(page.read_text()):
            if not (page.parent / target).exists():
                yield f"{page.name} links to {target}, which does not exist"


def tracked_sizes() -> Iterator[str]:
    """No tracked file is larger than the limit."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    for name in filter(None, names):
        size = (ROOT / name).stat().st_size
        if size > MOST_FILE_BYTES:
            yield f"{name} has {size / 2**20:.1f} MiB; at most {MOST_FILE_BYTES / 2**20:.0f}"


def licences() -> Iterator[str]:
    """Shipped data files belong to a folder whose origin is written down in docs/licences.md."""
    page = ROOT / "docs/licences.md"
    text = page.read_text() if page.exists() else ""
    for suffix in ("safetensors", "npz", "js", "css", "woff2"):
        for folder in sorted({str(path.parent.relative_to(ROOT)) for path in (ROOT / "src").rglob(f"*.{suffix}")}):
            if folder not in text:
                yield f"docs/licences.md does not name {folder} (*.{suffix})"


def built(dist: Path) -> Iterator[str]:
    """What was built renders, is small enough and has what must ship."""
    files = sorted(dist.glob("treeplex-*"))
    if not files:
        yield f"nothing built in {dist}; run packaging/build_wheel.py"
        return
    checked = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", *map(str, files)], capture_output=True, text=True
    )
    if checked.returncode:
        yield f"twine check: {checked.stdout or checked.stderr}"
    for file in files:
        if file.suffix == ".whl":
            with zipfile.ZipFile(file) as archive:
                names = archive.namelist()
            if "-cp" in file.name and not any(name.endswith(".kernel") for name in names):
                yield f"{file.name} has no kernels"
            if file.stat().st_size > MOST_WHEEL_BYTES:
                yield f"{file.name} has {file.stat().st_size / 2**20:.1f} MiB"
        else:
            with tarfile.open(file) as source:
                names = [name.split("/", 2)[-1] for name in source.getnames()]
        yield from (f"{file.name} lacks {name}" for name in MUST_SHIP if name not in names)


def main() -> None:
    """Run the checks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tag", help="the tag to be released, v0.1.0")
    parser.add_argument("--dist", type=Path, help="also check what was built in this folder")
    options = parser.parse_args()
    checks = [versions(options.tag), placeholders(), links(), tracked_sizes(), licences()]
    if options.dist is not None:
        checks.append(built(options.dist))
    wrong = [line for check in checks for line in check]
    print(*wrong or ["ready for release"], sep="\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
