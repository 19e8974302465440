"""README and documentation: every example runs, every generated part is current, every game and algorithm has its page."""

import importlib.util
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

import treeplex as tp
from treeplex.learn.train.registry import NEURAL, learner_named, learners
from treeplex.run.cli.main import app

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
WRITTEN_BY_SCRIPTS = {DOCS / "benchmarks.md", *(DOCS / "papers").glob("*.md")}
PAGES = [ROOT / "README.md", *sorted(page for page in DOCS.rglob("*.md") if page not in WRITTEN_BY_SCRIPTS)]
LARGEST_PAGE = 80_000
"""Bytes of the largest page in ``docs``."""
FENCE = re.compile(
    r"^```(?: \{ \.)?(?P<language>\w+)(?: title=\"(?P<title>[^\"]+)\")?(?: \})?\n(?P<content>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
SNIPPET = re.compile(r'^--8<-- "(.+)"$', re.MULTILINE)
LANGUAGES = {"python", "console", "sh", "text"}
DISCOUNT = ("ddcfr", "dpcfr+", "pddcfr")
"""Learners of discounts, which make no policy."""
NOT_RUN = {"make", "pip", "git", "source"}
"""Programs whose lines in examples are not run here."""


@dataclass(frozen=True)
class Block:
    """A fenced block: where it stands, what it says."""

    place: str
    language: str
    title: str | None
    content: str


LONG = {
    "docs/agents.md",
    "docs/alphaholdem.md",
    "docs/api/learn.md",
    "docs/arena.md",
    "docs/cluster.md",
    "docs/common-questions.md",
    "docs/cooperative-games.md",
    "docs/deepstack.md",
    "docs/extending.md",
    "docs/games/holdem.md",
    "docs/games/rhode_island.md",
    "docs/games/tic_tac_toe.md",
    "docs/lbr.md",
    "docs/learner-reference.md",
    "docs/learners-gradients.md",
    "docs/learners-responses.md",
    "docs/learners.md",
    "docs/notebook/resolving.md",
    "docs/numba-rules.md",
    "docs/pluribus.md",
    "docs/poker/analysis.md",
    "docs/poker/limit-holdem.md",
    "docs/poker/preflop.md",
    "docs/poker/whole-holdem.md",
    "docs/rebel-holdem.md",
    "docs/rebel.md",
    "docs/resolving.md",
    "docs/sampling-rules.md",
}
"""Pages whose examples take several seconds; the slow tests run them."""


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, snippets inserted."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in FENCE.finditer(text):
        content = SNIPPET.sub(lambda snippet: (ROOT / snippet[1]).read_text(encoding="utf-8").rstrip(), match["content"])
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(f"{page.relative_to(ROOT)}:{line}", match["language"], match["title"], content))
    assert len(found) == len(re.findall(r"^\s*```[ \w]", text, re.MULTILINE)), f"{page}: a block that is not understood"
    return found


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a copy of ``examples``, which is the current one and from which modules can be imported."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(tmp_path) in (getattr(sys.modules[name], "__file__", None) or ""):
            del sys.modules[name]


@pytest.mark.slow_cases(
    "docs/algorithms/ccs-mccfr.md",
    "docs/algorithms/lp.md",
    "docs/algorithms/pddcfr.md",
    "docs/algorithms/recursive.md",
    "docs/algorithms/rm.md",
    "docs/api/environments.md",
    "docs/api/evaluation.md",
    "docs/api/games.md",
    "docs/api/policies.md",
    "docs/api/search.md",
    "docs/api/solving.md",
    "docs/choosing.md",
    "docs/command-line.md",
    "docs/correlation.md",
    "docs/environments.md",
    "docs/errors.md",
    "docs/evaluation.md",
    "docs/files-and-formats.md",
    "docs/games/big_leduc.md",
    "docs/games/kuhn_poker.md",
    "docs/games/no_limit_leduc.md",
    "docs/games/small_holdem.md",
    "docs/games/turn_holdem.md",
    "docs/many-players.md",
    "docs/poker/flop-holdem.md",
    "docs/poker/hand-values.md",
    "docs/poker/index.md",
    "docs/poker/spot-files.md",
    "docs/quickstart.md",
    "docs/sampling.md",
    "docs/switching-from-openspiel.md",
    "docs/theory.md",
    "docs/training.md",
    "docs/your-own-game.md",
)
@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=pytest.mark.slow if str(page.relative_to(ROOT)) in LONG else ()) for page in PAGES],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_examples_run(page: Path, workplace: Path) -> None:
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page):
        assert block.language in LANGUAGES, f"{block.place}: {block.language} blocks are not run"
        if block.title:
            (workplace / block.title).write_text(block.content, encoding="utf-8")
        elif block.language == "python":
            exec(compile(block.content, block.place, "exec"), namespace)
        elif block.language in ("console", "sh"):
            run_commands(block)


def run_commands(block: Block) -> None:
    """Run the commands of a block: the lines from ``$ `` in ``console`` blocks, all lines in ``sh`` blocks.

    A command ends with 0 unless its comment says ``exit code N``; if a line ``error: ...`` follows, it prints just that and
    ends with 2.
    """
    lines = block.content.splitlines()
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if block.language == "console" and not line.startswith("$ "):
            assert line.startswith("error: "), f"{block.place}: output other than errors is not checked: {line}"
            continue
        command = line.removeprefix("$ ")
        words = shlex.split(command, comments=True)
        if not words or words[0] in NOT_RUN:
            continue
        assert words[0] == "treeplex", f"{block.place}: {command}"
        result = CliRunner().invoke(app, words[1:])
        expected = re.search(r"# exit code (\d+)", command)
        code = int(expected[1]) if expected else 2 if following.startswith("error: ") else 0
        assert result.exit_code == code, f"{block.place}: {command}\n{result.output}\n{result.exception!r}"
        if following.startswith("error: "):
            assert result.stderr.strip() == following, f"{block.place}: {command}"


def script(path: Path) -> ModuleType:
    """A Python file outside the package, imported."""
    specification = importlib.util.spec_from_file_location(path.stem, path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize("part", ["most", pytest.param("all", marks=pytest.mark.slow)])
def test_generated_parts_are_current(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All but the sizes of games, for which large ones are compiled: of these one; all of them in the slow test."""
    tables = script(ROOT / "docs" / "generate_tables.py")
    text = {page: page.read_text(encoding="utf-8") for page in PAGES}
    if part == "most":
        monkeypatch.setattr(tables, "SPECS", {"kuhn_poker": tables.SPECS["kuhn_poker"]})
        of_games = re.compile(r"<!-- generated: sizes(?! kuhn_poker).*?<!-- end -->", re.DOTALL)
        text = {page: of_games.sub("", found) for page, found in text.items()}
    stale = [page.relative_to(ROOT) for page, found in text.items() if tables.fill(found, measured=False) != found]
    assert not stale, "run: python docs/generate_tables.py"


def test_generated_parts_are_noticed_when_stale() -> None:
    tables = script(ROOT / "docs" / "generate_tables.py")
    text = "<!-- generated: parameters kuhn_poker -->\nold\n<!-- end -->"
    assert "number of players" in tables.fill(text, measured=False)
    assert tables.fill(text.replace("generated", "measured"), measured=False) == text.replace("generated", "measured")
    assert tables.fill(text, measured=False, only="games") == text
    assert tables.fill(text, measured=False, only="parameters") == tables.fill(text, measured=False) != text


def test_model_cards_are_current() -> None:
    pytest.importorskip("torch")
    cards = script(ROOT / "docs" / "generate_model_cards.py")
    assert {path.name: path.read_text(encoding="utf-8") for path in cards.FOLDER.glob("*.md")} == cards.render()


def test_every_shipped_model_has_a_card() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in (DOCS / "models").glob("*.md"))
    package = ROOT / "src" / "treeplex"
    shipped = [path.relative_to(ROOT) for ending in ("safetensors", "spot") for path in package.rglob(f"*.{ending}")]
    assert shipped
    assert [path for path in shipped if f"`{path}`" not in text] == []


def test_every_game_and_algorithm_has_a_page() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = [f"games/{name}.md" for name in tp.known_games()]
    pages += [f"algorithms/{name.replace('+', '-plus')}.md" for name in tp.algorithms()]
    assert [page for page in pages if not (ROOT / "docs" / page).is_file() or f": {page}" not in navigation] == []


def test_every_learner_is_compared() -> None:
    reference = (ROOT / "docs" / "learner-reference.md").read_text(encoding="utf-8")
    notebook = (ROOT / "docs" / "notebook" / "learners.md").read_text(encoding="utf-8")
    results = (ROOT / "docs" / "papers" / "learners.md").read_text(encoding="utf-8")
    compared = reference.split("## Which learner")[1].split("## Settings")[0]
    rows = re.findall(r"^\| \[?`(.+?)`(?:\]\(.+?\))? \|(.+)\|$", compared, re.MULTILINE)
    assert len({name for name, _ in rows}) == len(rows)
    assert all(row.count("|") == 4 for _, row in rows)
    assert {*learners()} == {name for name, _ in rows} | {*DISCOUNT}
    assert all(f"`{name}`" in compared for name in DISCOUNT)
    left_out = notebook.split("## At equal processor time")[1].split("\n## ")[0]
    measured = results.split("{ #equal_time }")[1].split("\n## ")[0]
    assert all(f"`{name}`" in left_out or f"| `{name}` |" in measured for name in NEURAL)


def test_no_page_of_papers_is_too_large() -> None:
    assert [page.name for page in (DOCS / "papers").glob("*.md") if page.stat().st_size > LARGEST_PAGE] == []


def test_a_game_takes_thirty_lines() -> None:
    lines = (ROOT / "examples" / "mygame.py").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith('"""')
    assert sum(bool(line.strip()) for line in lines[1:]) <= 30


def test_readme_example_takes_ten_lines() -> None:
    first = next(block for block in blocks(ROOT / "README.md") if block.language == "python")
    assert len(first.content.splitlines()) <= 10


@pytest.mark.slow
def test_demo(workplace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    demo = script(ROOT / "examples" / "demo.py")
    for _ in range(2):
        demo.main("runs/demo")
        printed = capsys.readouterr().out
        assert f"{demo.KNOWN_VALUE:+.7f}" in printed
        assert "runs/demo/policy.safetensors" in printed
    assert tp.exploitability("leduc_poker", "runs/demo") <= 1e-4
    assert abs(tp.solve("leduc_poker", "lp").value[0] - demo.KNOWN_VALUE) < 1e-7


def test_nothing_is_fetched_by_the_site() -> None:
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert "font: false" in settings
    assert "http" not in settings


def test_trainings_of_rebel_in_examples_take_steps() -> None:
    """Before ``burn_in`` subgames there is no step; an example as short as that would learn nothing."""
    kind, found = learner_named("rebel"), 0
    for page in PAGES:
        for block in blocks(page):
            for words in map(shlex.split, re.findall(r"^(?:\$ )?treeplex (train rebel .*)$", block.content, re.MULTILINE)):
                asked = dict(text.split("=", 1) for text, option in zip(words[1:], words, strict=False) if option == "--set")
                asked.pop("net", None)
                if "solves" not in asked:
                    continue
                settings = kind.for_game(words[2]).presets(words[2])["recipe"].changed(asked)
                assert settings.burn_in <= settings.solves / 3, f"{block.place}: {' '.join(words)}"
                found += 1
    assert found >= 5


def test_the_readme_is_short_and_counts_right() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.encode()) <= 8000
    assert f"[{len(tp.known_games())} games]" in text
    assert f"[{len(tp.algorithms())} algorithms]" in text


def navigation() -> Any:
    """The ``nav`` of ``mkdocs.yml``."""
    return yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]


def pages_below(node: Any) -> Iterator[str]:
    """The pages of a part of the navigation."""
    if isinstance(node, str):
        yield node
    else:
        for child in node.values() if isinstance(node, dict) else node:
            yield from pages_below(child)


def test_the_guide_can_be_read_in_an_evening() -> None:
    """At most 25,000 words, examples included; tables written by scripts and tutorials are left out."""
    guide = next(section["User guide"] for section in navigation() if "User guide" in section)
    generated = re.compile(r"<!-- (?:generated|measured): .*?<!-- end -->", re.DOTALL)
    pages = [page for page in pages_below(guide) if not page.startswith("tutorials/")]
    texts = {page: (ROOT / "docs" / page).read_text(encoding="utf-8") for page in pages}
    words = {page: len(generated.sub("", text).split()) for page, text in texts.items()}
    assert sum(words.values()) <= 25_000, words


def test_no_page_is_larger_than_80_kb() -> None:
    sizes = {page: page.stat().st_size for page in (ROOT / "docs").rglob("*.md")}
    assert [page for page, size in sizes.items() if size > 80_000] == []


def test_navigation_folds() -> None:
    """No level lists more than 15 pages or sections."""

    def levels(node: Any) -> Iterator[int]:
        if isinstance(node, list):
            yield len(node)
        if not isinstance(node, str):
            for child in node.values() if isinstance(node, dict) else node:
                yield from levels(child)

    assert max(levels(navigation())) <= 15
