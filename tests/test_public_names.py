"""The public names: every one is there, said once to type checkers and once to Python, and ``dir`` shows nothing else."""

import ast
import inspect
import json
import pkgutil
import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import treeplex as tp

MODULES = ["treeplex", *(f"treeplex.{name}" for name in tp.__all__ if inspect.ismodule(getattr(tp, name)))]
LAZY = [
    "treeplex",
    *(f"treeplex.{name}" for name in ("arena", "engine", "environments", "holdem", "learn", "results", "search")),
]


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
            assert re.search(r"rguments (as for|of :)", said) or all(re.search(rf"\b{each}\b", said) for each in takes), public


def test_the_reference_describes_public_names_only():
    places = [entry["place"] for page in sorted(API.glob("*.md")) for entry in ENTRY.finditer(page.read_text(encoding="utf-8"))]
    assert [place for place in places if not is_public(*place.rpartition(".")[::2]) and place != "treeplex.errors"] == []


ROOT = API.parents[1]
BLOCK = re.compile(r"^```python[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
LIBRARY = ("treeplex.run.cli.shared.commands", "command")
"""Documented for those who change the library itself."""
PROBED = {
    "helpers of every study": "base run.job run.plots run.solve",
    "kernels measured, stepped or compared one by one": "engine.histories engine.kernel engine.sampling engine.tree",
    "schedules, samplers and joint solvers taken apart": "solvers",
    "compiled games looked into": "forms games",
    "subgames, matches and luck, step by step": "search",
    "compiled spots, blueprints and charts looked into": "holdem",
    "trainings stopped half-way, their networks and rows": "learn",
}
"""Packages of which papers use more than public names, by reason."""


def is_public(module: str, name: str) -> bool:
    """Whether a public module lists a name, or is meant itself."""
    if f"{module}.{name}" in MODULES or module == "treeplex.errors":
        return True
    return module in MODULES and name in import_module(module).__all__


def homes() -> dict[tuple[str, str], str]:
    """The public module of each public name, by the module and name where it is defined."""
    found: dict[tuple[str, str], str] = {}
    for name in (module for module in MODULES if module != "treeplex.errors"):
        source = Path(str(import_module(name).__file__)).read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ImportFrom) and node.module:
                public = ((alias.name, alias.asname or alias.name) for alias in node.names)
                found |= {(node.module, there): name for there, here in public if here in import_module(name).__all__}
    return found


def python_blocks(path: Path) -> list[str]:
    """A Python file, the Python blocks of a Markdown file, or the code cells of a notebook."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        return ["".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    return BLOCK.findall(text) if path.suffix == ".md" else [text]


def imported(paths: list[Path]) -> set[tuple[str, str, str]]:
    """Modules and names of treeplex that files import, and the files."""
    found = set()
    for path in paths:
        for block in python_blocks(path):
            for node in ast.walk(ast.parse(block)):
                if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "treeplex":
                    found |= {(str(node.module), alias.name, path.name) for alias in node.names}
                elif isinstance(node, ast.Import):
                    found |= {
                        (*alias.name.rpartition(".")[::2], path.name) for alias in node.names if "treeplex." in alias.name
                    }
    return found


def test_examples_and_documentation_use_public_names_only():
    pages = [ROOT / "README.md", *(page for page in (ROOT / "docs").rglob("*.md") if page.name != "log.md")]
    notebooks = [*(ROOT / "examples").glob("*.ipynb"), *(ROOT / "docs" / "tutorials").glob("*.ipynb")]
    found = imported([*(ROOT / "examples").rglob("*.py"), *pages, *notebooks])
    assert len(found) > 50
    assert sorted(each for each in found if not is_public(*each[:2]) and each[:2] != LIBRARY) == []


def test_papers_use_public_names_where_there_are_any():
    found, public = imported(sorted((ROOT / "papers").rglob("*.py"))), homes()
    private = {each for each in found if not is_public(*each[:2])}
    assert (
        sorted(f"{path}: {name} is in {public[module, name]}" for module, name, path in private if (module, name) in public)
        == []
    )
    packages = [f"treeplex.{package}" for packages in PROBED.values() for package in packages.split()]
    used = {package for package in packages for module, *_ in private if f"{module}.".startswith(f"{package}.")}
    assert used == set(packages)
    assert sorted(each for each in private if not any(f"{each[0]}.".startswith(f"{package}.") for package in packages)) == []
