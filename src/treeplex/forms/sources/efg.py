"""Gambit's extensive-form files: :func:`read_efg`, :func:`parse_efg`, :func:`write_efg`, :func:`efg_text`."""

from treeplex.forms.sources.efg_read import parse_efg, read_efg
from treeplex.forms.sources.efg_write import efg_text, write_efg

__all__ = ["efg_text", "parse_efg", "read_efg", "write_efg"]
