"""HTML tables and images for notebooks: the ``_repr_html_`` of results."""

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path

LEFT = " style='text-align:left'"


def facts(rows: Mapping[str, str], caption: str = "") -> str:
    """Return an HTML table with one name and value per row."""
    cells = (f"<tr><th{LEFT}>{escape(name)}</th><td{LEFT}>{escape(text)}</td></tr>" for name, text in rows.items())
    return f"<table>{caption_of(caption)}{''.join(cells)}</table>"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "", note: str = "") -> str:
    """Return an HTML table with a header row, followed by ``note``."""
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join("<tr>" + "".join(f"<td{LEFT}>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table>{caption_of(caption)}<tr>{head}</tr>{body}</table>" + (f"<p>{escape(note)}</p>" if note else "")


def caption_of(text: str) -> str:
    """Return an HTML table caption, or an empty string if ``text`` is empty."""
    return f"<caption>{escape(text)}</caption>" if text else ""


def picture(path: Path) -> str:
    """Return a PNG file as an HTML image, or an empty string if the file does not exist."""
    return f"<img src='data:image/png;base64,{b64encode(path.read_bytes()).decode()}'>" if path.is_file() else ""
