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
    """A simple table as preformatted text, its columns aligned again without rules and markup."""
    indent, (rule, *lines) = found[1], found[0].splitlines()
    starts = [column.start() for column in re.finditer("=+", rule)]
    ends = [*starts[1:], None]
    rows = [
        [plain(line[start:end]) for start, end in zip(starts, ends, strict=True)]
        for line in lines
        if not line.strip().startswith("==")
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(starts))]
    text = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([f"{indent}```text", *(indent + line for line in text), f"{indent}```"])


def plain(cell: str) -> str:
    """A cell without markup."""
    return ROLE.sub(lambda found: found[1].removeprefix("treeplex."), cell).replace("``", "").strip()


class MarkdownDocstrings(griffe.Extension):
    """Converts every docstring when its object is found."""

    def on_instance(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring:
            obj.docstring.value = as_markdown(obj.docstring.value)
