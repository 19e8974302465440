"""A MkDocs hook: each tutorial notebook becomes a page with a download link."""

import json
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page of every notebook."""
    for file in list(files):
        path = PurePosixPath(file.src_uri)
        if path.suffix == ".ipynb":
            cells = json.loads(Path(str(file.abs_src_path)).read_text(encoding="utf-8"))["cells"]
            page = File.generated(config, str(path.with_suffix(".md")), content=as_markdown(cells, path.name))
            files.append(page)
    return files


def as_markdown(cells: Sequence[dict[str, Any]], name: str) -> str:
    """The cells of a notebook as a page: the title, a link to the file, text and code."""
    title, *rest = (as_block(cell) for cell in cells)
    heading, _, introduction = title.partition("\n")
    return "\n\n".join([heading, introduction.strip(), f"[Download the notebook]({name}){{ download }}", *rest]) + "\n"


def as_block(cell: dict[str, Any]) -> str:
    """A cell as Markdown."""
    source = "".join(cell["source"])
    return f"```python\n{source}\n```" if cell["cell_type"] == "code" else source
