"""No circle of imports, deferred ones included: what a module needs can be read without it."""

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import treeplex

PACKAGE = Path(treeplex.__file__).parent


def modules(root: Path) -> dict[str, Path]:
    """Every module below a package, by its full name."""
    named = {".".join((root.name, *path.relative_to(root).with_suffix("").parts)): path for path in root.rglob("*.py")}
    return {name.removesuffix(".__init__"): path for name, path in named.items()}


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """All that runs, in functions as well; not what only type checkers read."""
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)):
            yield child
            yield from statements(child)


def imports(source: str, known: Mapping[str, object]) -> set[str]:
    """The known modules that a source imports."""
    found: set[str] = set()
    for each in statements(ast.parse(source)):
        if isinstance(each, ast.Import):
            found.update(alias.name for alias in each.names)
        elif isinstance(each, ast.ImportFrom) and each.module and not each.level:
            inner = (f"{each.module}.{alias.name}" for alias in each.names)
            found.update(name if name in known else each.module for name in inner)
    return found & known.keys()


def check(graph: Mapping[str, set[str]]) -> None:
    """Raise CycleError for a circle."""
    TopologicalSorter(graph).prepare()


@pytest.mark.slow
def test_no_module_needs_itself() -> None:
    known = modules(PACKAGE)
    graph = {name: imports(path.read_text("utf-8"), known) for name, path in known.items()}
    assert sum(map(len, graph.values())) > len(graph)
    try:
        check(graph)
    except CycleError as error:
        pytest.fail("circle of imports: " + " <- ".join(error.args[1]))


def test_deferred_imports_count_and_those_of_type_checkers_do_not() -> None:
    known = {"p.a": 0, "p.b": 0, "p.c": 0}
    deferred = "def f():\n    from p.b import thing\n"
    checked = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p import c\nimport p.a\nfrom p import b\n"
    assert imports(deferred, known) == {"p.b"}
    assert imports(checked, known) == {"p.a", "p.b"}
    with pytest.raises(CycleError):
        check({"p.a": {"p.b"}, "p.b": {"p.c"}, "p.c": {"p.a"}})
