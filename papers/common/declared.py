"""Declarations read from files without running them: so files that need what is not installed can be listed all the same."""

import ast
import importlib.util
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def declaration(path: Path, decorator: str) -> tuple[str, dict[str, Any]] | None:
    """What the one function with this decorator says: the first paragraph of its file, and the decorator's arguments.

    None where there is no such function.

    Raises:
        SystemExit: if there are several, or arguments that are no literals.
    """
    text = path.read_text(encoding="utf-8")
    if f"\n@{decorator}(" not in text:
        return None
    tree = ast.parse(text)
    calls = [
        call
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        for call in node.decorator_list
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == decorator
    ]
    try:
        (call,) = calls
        said = {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg}
    except ValueError as error:
        raise SystemExit(f"{path}: write one @{decorator}(...) with literal arguments ({error})") from None
    return " ".join((ast.get_docstring(tree) or "").partition("\n\n")[0].split()), said


def lacking(needs: Iterable[str]) -> list[str]:
    """Which of these are not there: packages, and environment variables (in capitals)."""
    return [need for need in needs if not (os.environ.get(need) if need.isupper() else importlib.util.find_spec(need))]
