"""How to install what an extra needs, from a source checkout and from a wheel."""

import importlib.metadata
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from treeplex.base import version
from treeplex.base.version import CHECKOUT, install_hint

EXTRAS = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]


def test_in_a_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(CHECKOUT)
    assert install_hint("torch") == "pip install -c constraints.txt -e '.[torch]'"
    monkeypatch.chdir(tmp_path)
    assert install_hint("torch") == f"pip install -c {CHECKOUT}/constraints.txt -e '{CHECKOUT}[torch]'"


def test_from_a_wheel_packages_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Treeplex itself is on no index."""
    monkeypatch.setattr(version, "CHECKOUT", tmp_path)
    requirements = [f'{needed}; extra == "{extra}"' for extra in ("torch", "rl", "web") for needed in EXTRAS[extra]]
    monkeypatch.setattr(importlib.metadata, "requires", lambda name: ["numpy>=1.26", *requirements])
    assert install_hint("torch") == f"pip install '{EXTRAS['torch'][0]}'"
    assert install_hint("rl") == "pip install " + " ".join(f"'{each}'" for each in EXTRAS["rl"])

    def missing(name: str) -> list[str]:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "requires", missing)
    assert install_hint("web") == "pip install 'treeplex[web]'"


def test_every_hint_is_made_in_one_place_and_for_an_extra_that_there_is() -> None:
    sources = {path: path.read_text("utf-8") for path in (CHECKOUT / "src" / "treeplex").rglob("*.py")}
    named = {extra for text in sources.values() for extra in re.findall(r"install_hint\('(\w+)'\)", text)}
    assert named == {"torch", "ray", "web", "nash", "rl", "openspiel", "poker"}
    assert named <= EXTRAS.keys()
    assert [path.name for path, text in sources.items() if "treeplex[" in text] == ["version.py"]


def test_the_documentation_is_built_with_pinned_versions() -> None:
    """Every package that building it needs, directly or not, is in ``constraints.txt``, in the version that is installed."""
    lines = (line.partition("#")[0].strip() for line in (CHECKOUT / "constraints.txt").read_text("utf-8").splitlines())
    pinned = {canonicalize_name(name): at for name, _, at in (line.partition("==") for line in lines if line)}
    needed, waiting = set[str](), ["mkdocs", "mkdocs-material", "mkdocstrings", "mkdocstrings-python", "ruff"]
    while waiting:
        if (name := canonicalize_name(waiting.pop())) not in needed:
            needed.add(name)
            found = map(Requirement, importlib.metadata.requires(name) or ())
            waiting += [each.name for each in found if each.marker is None or each.marker.evaluate({"extra": ""})]
    assert "mkdocs-autorefs" in needed
    assert {name: pinned.get(name) for name in needed} == {name: importlib.metadata.version(name) for name in needed}
