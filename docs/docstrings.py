"""A Griffe extension: docstrings as Markdown (roles, literal blocks and simple tables of reStructuredText converted)."""

import re
from typing import Any

import griffe

ROLE = re.compile(r":(?:class|func|mod|meth|attr|data|exc):`~?([^`]+)`")
TABLE = re.compile(r"(?m)^([ ]*)=+(?: +=+)+\n(?:.*\n)*?\1=+(?: +=+)+$")
LITERAL = re.compile(r"::\n\n(?=[ ]{4})")


def as_markdown(text: str) -> str:
    """A docstring as Markdown."""
    text = TABLE.sub(fenced_table, text)
    text = LITERAL.sub(":\n\n", text)
    return ROLE.sub(lambda found: f"`{found[1].removeprefix('treeplex.')}`", text)


def fenced_table(found: re.Match[str]) -> str:
    """A simple table as preformatted text, without its rules."""
    lines = [line for line in found[0].splitlines() if not line.strip().startswith("==")]
    indent = found[1]
    return "\n".join([f"{indent}```text", *(line.replace("``", "") for line in lines), f"{indent}```"])


class MarkdownDocstrings(griffe.Extension):
    """Converts every docstring when its object is found."""

    def on_instance(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring:
            obj.docstring.value = as_markdown(obj.docstring.value)
