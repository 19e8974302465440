"""The public names: every one is there, said once to type checkers and once to Python, and ``dir`` shows nothing else."""

import ast
import inspect
import pkgutil
import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import treeplex as tp

MODULES = ["treeplex", *(f"treeplex.{name}" for name in tp.__all__ if inspect.ismodule(getattr(tp, name)))]
LAZY = ["treeplex", "treeplex.environments", "treeplex.holdem", "treeplex.learn", "treeplex.search"]


def module_of(name: str) -> ModuleType:
    if name == "treeplex.environments":
        pytest.importorskip("gymnasium")
        pytest.importorskip("pettingzoo")
    return import_module(name)


@pytest.mark.parametrize("name", [name for name in MODULES if name != "treeplex.errors"])
def test_every_public_name_is_there(name):
    module = module_of(name)
    assert sorted(set(module.__all__)) == sorted(module.__all__)
    assert all(getattr(module, public) is not None for public in module.__all__)
    assert module.__doc__


@pytest.mark.parametrize("name", LAZY)
def test_type_checkers_and_python_see_the_same_names(name):
    module = module_of(name)
    block = next(node for node in ast.parse(inspect.getsource(module)).body if isinstance(node, ast.If))
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    seen = {alias.asname or alias.name: (node.module, alias.name) for node in imports for alias in node.names}
    assert sorted(seen) == sorted(module.__all__) == dir(module)
    for public, (home, name_there) in seen.items():
        assert getattr(module, public) is getattr(import_module(home), name_there)


@pytest.mark.parametrize("name", LAZY)
def test_a_name_that_is_not_public(name):
    with pytest.raises(AttributeError, match=f"module '{name}' has no attribute 'no_such'"):
        sys.modules[name].no_such


def test_verbs_find_what_they_name():
    assert "kuhn_poker" in tp.known_games()
    assert "dcfr" in tp.algorithms()
    assert tp.compile("kuhn_poker").players == 2
    assert tp.policies.load is tp.load_policy
    assert tp.__version__


API = Path(__file__).resolve().parents[1] / "docs" / "api"
ENTRY = re.compile(r"^::: (?P<place>\S+)$(?P<below>.*?)(?=^::: |\Z)", re.MULTILINE | re.DOTALL)


def described() -> dict[int, str]:
    """Every object of the Python reference, by id, and what stands below it up to the next."""
    texts = [page.read_text(encoding="utf-8") for page in sorted(API.glob("*.md"))]
    found = [entry for text in texts for entry in ENTRY.finditer(text)]
    return {id(pkgutil.resolve_name(entry["place"])): entry["below"] for entry in found}


@pytest.mark.parametrize("name", [name for name in MODULES if name != "treeplex.errors"])
def test_the_reference_has_every_public_name_with_an_example(name):
    module, entries = module_of(name), described()
    things = {public: getattr(module, public) for public in module.__all__ if not inspect.ismodule(getattr(module, public))}
    assert [public for public, thing in things.items() if "```python\n" not in entries.get(id(thing), "")] == []


@pytest.mark.parametrize("name", [name for name in MODULES if name != "treeplex.errors"])
def test_every_public_name_says_what_it_takes(name):
    module = module_of(name)
    for public in module.__all__:
        thing = getattr(module, public)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            said = inspect.getdoc(thing)
            assert said, public
        if inspect.isfunction(thing) and len(takes := inspect.signature(thing).parameters) > 1:
            assert "rguments as for" in said or all(re.search(rf"\b{each}\b", said) for each in takes), public
