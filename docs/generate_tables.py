"""Fill the generated parts of README and documentation, between ``<!-- generated: NAME -->`` and ``<!-- end -->``.

Run ``python docs/generate_tables.py`` after a change of games, algorithms or the command line; a test checks that it was run.
Parts marked ``<!-- measured: NAME -->`` are filled only with ``--measured`` and never checked: rounding differs between
machines.
"""

import argparse
import inspect
import json
import os
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import typer.main

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import treeplex as tp  # noqa: E402
from papers.common.results import MARK, modified_note  # noqa: E402
from treeplex.errors import AlgorithmError  # noqa: E402
from treeplex.games.parameters import GameInfo, with_lists, written  # noqa: E402
from treeplex.run.cli.main import app  # noqa: E402
from treeplex.run.cli.shared.commands import ALL_HELP  # noqa: E402

MARKER = re.compile(r"(?P<start><!-- (?P<kind>generated|measured): (?P<name>[^\n]+?) -->\n).*?(?P<end><!-- end -->)", re.DOTALL)

DESCENDING = "imp_info=true,points_order=descending"
SMALL_FLEETS = "board_width=2,board_height=2,ship_sizes=[2],ship_values=[2],num_shots=3,allow_repeated_shots=false"
SPECS: Mapping[str, tuple[str, ...]] = {
    "kuhn_poker": ("kuhn_poker", "kuhn_poker(players=3)", "kuhn_poker(players=4)"),
    "leduc_poker": ("leduc_poker", "leduc_poker(suit_isomorphism=true)", "leduc_poker(ranks=6)"),
    "big_leduc": ("big_leduc",),
    "no_limit_leduc": (
        "no_limit_leduc",
        "no_limit_leduc(sizes=[50%;100%;a])",
        "no_limit_leduc(sizes=[25%;50%;75%;100%;150%;200%;a])",
    ),
    "small_holdem": (
        "small_holdem",
        "small_holdem(ranks=4,suits=3,sizes=[50%;a],stack=10)",
        "small_holdem(ranks=4,hole=2,deal=[0;3],raises=1)",
    ),
    "turn_holdem": ("turn_holdem(ranks=5,stack=4,bets=[50%;a],raises=[])", "turn_holdem"),
    "rhode_island": ("rhode_island(ranks=2)", "rhode_island(ranks=3,raises=1)"),
    "bucketed_holdem": (
        "bucketed_holdem(buckets=2,cards=royal,boards=200,river_boards=200)",
        "bucketed_holdem(buckets=3,cards=royal,board=TcJdQhKs,sizes=[50%;a],stack=20,pot=4)",
    ),
    "holdem": (
        "holdem(stack=4,ranks=3,suits=2,hole=1,deal=[0;1])",
        "holdem(stack=6,sizes=[100%;a],ranks=4,suits=2,hole=1,deal=[0;1;1])",
        "holdem(players=3,stack=4,sizes=[a],ranks=3,suits=2,hole=1,deal=[0;1])",
    ),
    "repeated_poker": ("repeated_poker(game=holdem(stack=2,ranks=2,suits=2,hole=1,deal=[0;1]),max_num_hands=2)",),
    "liars_dice": (
        *(f"liars_dice(dice_sides={faces})" for faces in (3, 4, 5)),
        "liars_dice",
        "liars_dice(numdice=2,dice_sides=3)",
    ),
    "oshi_zumo": (
        "oshi_zumo(coins=3,size=1,horizon=3)",
        "oshi_zumo(coins=4,size=1,horizon=4)",
        "oshi_zumo(coins=6,size=1,horizon=5,min_bid=1)",
    ),
    "goofspiel": (
        *(f"goofspiel(num_cards={cards},{DESCENDING})" for cards in (3, 4, 5)),
        f"goofspiel(num_cards=3,{DESCENDING},returns_type=total_points)",
    ),
    "battleship": (f"battleship({SMALL_FLEETS})",),
    "tic_tac_toe": ("tic_tac_toe",),
    "phantom_ttt": (
        "phantom_ttt(rows=2,columns=2,line=2)",
        "phantom_ttt(gameversion=abrupt,rows=2,columns=2,line=2)",
        "phantom_ttt(rows=2,columns=3,line=2)",
    ),
    "dark_hex": ("dark_hex(board_size=2)", "dark_hex(board_size=2,gameversion=adh)", "dark_hex(num_rows=2,num_cols=3)"),
    "matrix": ("matrix(rows=[[1,-1],[-1,1]])",),
    "small_matrix": ("small_matrix",),
    "modified_rps": ("modified_rps",),
    "rock_paper_scissors": ("rock_paper_scissors",),
}
"""Instances of every built-in game whose sizes and values the documentation shows."""
MOST_SEQUENCES_FOR_LP = 50_000
COMPARED_GAMES: Mapping[str, str] = {
    "Kuhn poker": "kuhn_poker",
    "Leduc poker": "leduc_poker",
    "Liar's Dice, 4 faces": "liars_dice(dice_sides=4)",
    "Goofspiel, 4 cards": f"goofspiel(num_cards=4,{DESCENDING})",
    "Battleship, 2 by 2": f"battleship({SMALL_FLEETS})",
    "Small matrix": "small_matrix",
}
"""The games of the page on choosing an algorithm."""
NOT_COMPARED = ("lp", "recursive", "rm", "cfr-s", "cfr-jr", "pluribus-mccfr")
"""Excluded algorithms: exact ones, those that do not target equilibria, and those equal to another on such small games."""
MANY_PLAYER_GAMES: Mapping[str, str] = {
    "Kuhn, 3 players": "kuhn_poker(players=3)",
    "Kuhn, 4 players": "kuhn_poker(players=4)",
    "Goofspiel, 3 players, 3 cards": f"goofspiel(players=3,num_cards=3,{DESCENDING})",
    "Goofspiel, 3 players, 4 cards": f"goofspiel(players=3,num_cards=4,{DESCENDING})",
    "Leduc, 3 players, 8 cards, 1 raise": "leduc_poker(players=3,raises=1)",
    "Leduc, 3 players, 4 cards, 1 raise": "leduc_poker(players=3,ranks=2,raises=1)",
    "Goofspiel, 2 players, total points": f"goofspiel(num_cards=3,{DESCENDING},returns_type=total_points)",
}
"""The games of the page on many players."""
MANY_PLAYER_ALGORITHMS = ("cfr", "cfr+", "lcfr", "dcfr", "pcfr+")


def table(head: tuple[str, ...], rows: list[tuple[str, ...]], right: tuple[int, ...] = ()) -> str:
    """A Markdown table; columns in ``right`` are right-aligned."""
    rule = ["--:" if column in right else "---" for column in range(len(head))]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (head, tuple(rule), *rows))


def page(folder: str, name: str, text: str) -> str:
    """A link to the page of a game or algorithm, from README (folder ``docs/...``) or from a page in the same folder."""
    return f"[{text}]({folder}{page_name(name)}.md)"


def page_name(name: str) -> str:
    """File name of the page of a game or algorithm, such as ``pcfr-plus`` for ``pcfr+``."""
    return name.replace("+", "-plus")


def games(folder: str = "") -> str:
    """All games by name."""
    rows = [(page(folder, name, f"`{name}`"), info.summary, info.source) for name, info in tp.known_games().items()]
    return table(("game", "what it is", "source"), rows)


def algorithms(folder: str = "") -> str:
    """All algorithms by name."""
    rows = [(page(folder, name, f"`{name}`"), each.summary, each.reference) for name, each in tp.algorithms().items()]
    return table(("algorithm", "what it does", "source"), rows)


def names(module: str) -> str:
    """The public names of a module, each with a link and the first line of its docstring."""
    public = import_module(module)
    shown = module.replace("treeplex", "tp", 1)
    rows = [(reference(f"{module}.{name}", f"{shown}.{name}"), first_line(getattr(public, name))) for name in public.__all__]
    return table(("name", "what it is"), [row for row in rows if row[1]])


@cache
def described() -> dict[int, tuple[str, str]]:
    """Page and anchor of each object of the Python reference, by id."""
    found = {}
    for page in sorted((ROOT / "docs" / "api").glob("*.md")):
        for place in re.findall(r"^::: (\S+)$", page.read_text(encoding="utf-8"), re.MULTILINE):
            found[id(pkgutil.resolve_name(place))] = (page.name, place)
    return found


def reference(place: str, shown: str) -> str:
    """A link to an object's entry in the Python reference, or to its module's page if there is one."""
    thing = pkgutil.resolve_name(place)
    page, anchor = described().get(id(thing), (f"{place.rpartition('.')[2]}.md", ""))
    if inspect.ismodule(thing):
        own = (ROOT / "docs" / "api" / page).is_file()
        return f"[`{shown}`]({page})" if own else f"[`{shown}`](#tp{place.rpartition('.')[2]})"
    return f"[`{shown}`]({page}#{anchor})" if anchor else f"`{shown}`"


def first_line(thing: object) -> str:
    """The first line of a docstring as Markdown; empty for constants."""
    said = inspect.getdoc(thing) if inspect.isclass(thing) or callable(thing) or inspect.ismodule(thing) else None
    line = re.sub(r":\w+:`~?([^`]+)`|``([^`]+)``", lambda found: f"`{found[1] or found[2]}`", (said or "").partition("\n")[0])
    return line.rstrip(".").replace("|", "\\|")


def parameters(name: str) -> str:
    """The parameters of a game."""
    info: GameInfo = tp.known_games()[name]
    if not info.parameters:
        return f"`{name}` has no parameters.\n"
    rows = [
        (f"`{each.name}`", "" if each.default is None else f"`{written(with_lists(each.default))}`", each.meaning)
        for each in info.parameters
    ]
    return table(("parameter", "default", "meaning"), rows)


@cache
def size_row(spec: str) -> tuple[str, ...]:
    """Counts of a game, and its value by linear programming if that is quick and defined."""
    game = tp.compile(spec)
    size = game.size
    value = ""
    if sum(game.sequences) <= MOST_SEQUENCES_FOR_LP:
        try:
            value = f"{tp.solve(game, 'lp').value[0]:+.6f}".replace("-0.000000", "+0.000000").replace("+0.000000", "0")
        except AlgorithmError:
            value = ""
    counts = (size.histories, size.terminals, size.depth, size.largest_infoset)
    return (
        f"`{spec}`",
        *(f"{count:,}" for count in counts),
        " / ".join(f"{count:,}" for count in game.infosets),
        " / ".join(f"{count:,}" for count in game.sequences),
        value,
    )


def sizes(name: str = "") -> str:
    """Counts and values of the instances of one game, or of all games."""
    specs = SPECS[name] if name else tuple(spec for group in SPECS.values() for spec in group)
    head = ("game", "histories", "terminals", "depth", "largest infoset", "infosets", "sequences", "value of player 0")
    return table(head, [size_row(spec) for spec in specs], right=(1, 2, 3, 4, 5, 6, 7))


def algorithm(name: str) -> str:
    """The facts of an algorithm that its registry entry holds."""
    each = tp.algorithms()[name]
    numbers = ", ".join(f"`{key}` = {value:g}" for key, value in each.parameters.items()) or "none"
    for key, what in each.texts.items():
        escaped = what.replace("|", chr(92) + "|")
        numbers += f", `{key}` = {escaped}" + (" (default: the shipped one)" if what == "FILE" else "")
    orders = ", ".join(each.updates) or "not applicable"
    plan = "needs the number of iterations in advance" if each.needs_horizon else "can stop at any time"
    plan = "follows a schedule over `horizon` iterations" if "horizon" in each.parameters else plan
    plan = "one iteration is the whole solution" if each.group == "exact" else plan
    rows = [
        ("parameters and defaults (of several options the first)", numbers),
        ("order of updates (default first)", orders),
        ("planning", plan),
        ("source", each.reference),
    ]
    return table(("name", f"`{name}`"), rows)


def command_help(*names: str) -> str:
    """Return the output of ``treeplex NAME ... --help-all``."""
    command = typer.main.get_command(app)
    for name in names:
        command = command.commands[name]  # type: ignore[attr-defined]
    context = command.make_context(
        " ".join(("treeplex", *names)), [], resilient_parsing=True, terminal_width=100, max_content_width=100
    )
    context.meta[ALL_HELP] = True
    text = "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
    return f"```text\n{text}\n```\n"


def settings(name: str) -> str:
    """The settings of a learner; ``turns`` and ``whole`` are those of ReBeL on hold'em turns and on full-game hold'em."""
    from treeplex.learn.rebel.training.kind import HoldemRebelKind, WholeRebelKind
    from treeplex.learn.train.registry import learner_named

    own = {"turns": HoldemRebelKind, "whole": WholeRebelKind}
    learner = own[name]() if name in own else learner_named(name)
    return learner.settings.doc_table()


def learners() -> str:
    """The learners by name."""
    from treeplex.learn.train.registry import learners as known

    return table(
        ("learner", "what it makes", "source"), [(f"`{each.name}`", each.summary, each.source) for each in known().values()]
    )


def agents() -> str:
    """The agents by name."""
    rows = [(f"`{each.name}`", each.text, each.plays, each.source) for each in tp.agents().values()]
    return table(("agent", "what it does", "plays", "source"), rows)


def agent_settings(name: str) -> str:
    """The settings of an agent."""
    return tp.agents()[name].settings.doc_table()


def choosing(iterations: str = "1000") -> str:
    """Exploitability of every iterative algorithm after some iterations, the two best of each game in bold."""
    compiled = {title: tp.compile(spec) for title, spec in COMPARED_GAMES.items()}
    names = [name for name in tp.algorithms() if name not in NOT_COMPARED]
    found = {(name, title): reached(game, name, int(iterations)) for title, game in compiled.items() for name in names}

    def cell(name: str, title: str) -> str:
        value = found[name, title]
        text = f"{value:.1e}" if value >= 1e-12 else "< 1e-12"
        better = sum(max(found[other, title], 1e-12) < max(value, 1e-12) for other in names)
        return f"**{text}**" if better < 2 else text

    rows = [(page("../algorithms/", name, f"`{name}`"), *(cell(name, title) for title in compiled)) for name in names]
    return table(("algorithm", *compiled), rows, right=tuple(range(1, len(compiled) + 1)))


def reached(game: tp.CompiledGame, name: str, iterations: int) -> float:
    """Exploitability after some iterations; sampling algorithms visit as many histories as full alternating updates."""
    if name.endswith("-mccfr"):
        return tp.solve(game, name, nodes=iterations * game.players * game.size.histories, every=10**9).exploitability
    return tp.solve(game, name, iterations=iterations, every=iterations).exploitability


def many_players(iterations: str = "1000") -> str:
    """NashConv of some algorithms in both orders of updates, on games of more than two players or general sums."""
    compiled = {title: tp.compile(spec) for title, spec in MANY_PLAYER_GAMES.items()}
    count = int(iterations)
    rows = []
    for name in MANY_PLAYER_ALGORITHMS:
        for order in ("alternating", "simultaneous"):
            solutions = [tp.solve(game, name, iterations=count, every=count, updates=order) for game in compiled.values()]
            cells = [f"{each.nash_conv:.1e}" if each.nash_conv >= 1e-12 else "< 1e-12" for each in solutions]
            rows.append((page("../algorithms/", name, f"`{name}`"), order, *cells))
    return table(("algorithm", "updates", *compiled), rows, right=tuple(range(2, len(compiled) + 2)))


def stored(study: str) -> dict[str, Any]:
    """The header of a study's stored result: the first line of its file in ``papers``."""
    paper, name = study.split("/")
    with (ROOT / "papers" / paper / "results" / f"{name}.jsonl").open(encoding="utf-8") as lines:
        return dict(json.loads(next(lines)))


def leduc_of_three() -> str:
    """Results of the study many_players/leduc."""
    record = stored("many_players/leduc")
    made = record["made"]
    parts = ["".join(f"- {line}\n" for line in record["findings"]), *shown_tables("many_players/leduc")]
    parts.append(
        f"{record['notes'][0]} `python papers/run.py many_players/leduc` took {made['seconds']:.0f} s ({made['machine']}).\n"
    )
    return "\n".join(parts)


def shown_tables(name: str) -> list[str]:
    """The tables of a study, marked if runs are from a modified working tree, and an explanation of the mark."""
    note, parts = modified_note(name), []
    for each in stored(name)["tables"]:
        columns, rows = tuple(each["columns"]), [tuple(row) for row in each["rows"]]
        caption = f"{each['caption']} {MARK}" if note else each["caption"]
        parts.append(f"{caption}:\n\n{table(columns, rows, right=tuple(range(1, len(columns))))}")
    return [*parts, f"{note}\n"] if note else parts


def measured_tables(name: str) -> str:
    """The tables of a study, with its notes."""
    notes = " ".join(stored(name)["notes"])
    return "\n".join([*shown_tables(name), f"{notes} `python papers/run.py {name}` measures it.\n"])


def findings(name: str) -> str:
    """The findings of a study as a list."""
    note = modified_note(name)
    return "".join(f"- {line}\n" for line in stored(name)["findings"]) + (f"\n{note}\n" if note else "")


GENERATORS: Mapping[str, Callable[..., str]] = {
    "findings": findings,
    "games": games,
    "names": names,
    "algorithms": algorithms,
    "parameters": parameters,
    "sizes": sizes,
    "algorithm": algorithm,
    "help": command_help,
    "settings": settings,
    "learners": learners,
    "agents": agents,
    "agent_settings": agent_settings,
    "choosing": choosing,
    "many_players": many_players,
    "leduc_of_three": leduc_of_three,
    "measured_tables": measured_tables,
}


def fill(text: str, *, measured: bool, only: str | None = None) -> str:
    """The text with all generated parts regenerated, on request also measured ones, or only parts of one name."""

    def fresh(found: re.Match[str]) -> str:
        name, *arguments = found["name"].split()
        if (found["kind"] == "measured" and not measured) or only not in (None, name):
            return found[0]
        return f"{found['start']}{GENERATORS[name](*arguments)}{found['end']}"

    return MARKER.sub(fresh, text)


def files() -> Iterator[Path]:
    """README and all pages."""
    yield ROOT / "README.md"
    yield from sorted((ROOT / "docs").rglob("*.md"))


def main() -> None:
    """Rewrite outdated pages; with ``--check``, report them and fail."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", type=Path, metavar="PAGE", help="README.md or pages below docs (default: all)")
    parser.add_argument("--measured", action="store_true", help="also measure again the measured parts (minutes)")
    parser.add_argument("--only", metavar="NAME", help="only parts of this name, such as games or choosing")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page is out of date")
    asked = parser.parse_args()
    if asked.only is not None and asked.only not in GENERATORS:
        parser.error(f"no part is called {asked.only}; there are {', '.join(GENERATORS)}")
    stale = []
    for path in asked.pages or files():
        before = path.read_text(encoding="utf-8")
        after = fill(before, measured=asked.measured, only=asked.only)
        if after != before:
            stale.append(path)
            print(os.path.relpath(path, ROOT))
            if not asked.check:
                path.write_text(after, encoding="utf-8")
    if stale and asked.check:
        sys.exit("out of date; run: python docs/generate_tables.py")


if __name__ == "__main__":
    main()
