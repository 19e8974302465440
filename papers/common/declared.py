"""Declarations read from files without importing them, so that files with missing requirements can be listed too."""

import ast
import importlib.util
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def declaration(path: Path, decorator: str) -> tuple[str, dict[str, Any]] | None:
    """The first paragraph of a file and the arguments of its one decorated function.

    None if there is no such function.

    Raises:
        SystemExit: there are several, or arguments are not literals.
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
    """The missing ones of these packages and environment variables (in capitals)."""
    return [need for need in needs if not (os.environ.get(need) if need.isupper() else importlib.util.find_spec(need))]
