"""A seeded corpus of damaged input: every case ends in success or in one line of an error, and none hangs.

Specs of games, algorithms and agents, hold'em texts, files with their checksums recomputed, command lines and web requests are
cut, repeated, nested, swapped in type and filled with odd characters. Each case is made from its kind and number alone:
``FUZZ=specs:17 pytest tests/test_fuzz.py`` runs one, and ``FUZZ=files:0-5000`` more of a kind than the corpus has.
"""

import asyncio
import copy
import hashlib
import json
import os
import random
import shutil
import signal
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

pytest.importorskip("fastapi", reason="the web extra: pip install 'treeplex[web]'")

import httpx

import treeplex as tp
from treeplex.base.spec import parse_spec
from treeplex.base.storage.tensors import METADATA, begun_digest
from treeplex.base.work_clock import work_time
from treeplex.errors import TreeplexError
from treeplex.forms.policies.files import save_policy
from treeplex.games.betting.size_grammar import parse_sizes
from treeplex.holdem.cards.cards import parse_cards
from treeplex.holdem.cards.ranges import parse_range
from treeplex.holdem.solve.files import MAGIC, TRAILER, read_header
from treeplex.holdem.solve.solution import load_solution
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.spots.files import request_from_options, spot_request
from treeplex.run import plots
from treeplex.run.cli.main import app
from treeplex.run.job.folder import checksum_of
from treeplex.search.named_agents.registry import agent
from treeplex.solvers import make_solver
from treeplex.web.app import make_app
from treeplex.web.served import ServerState

SECONDS = 20.0
"""After which a case hangs; all are made so that they take less than a tenth of one once kernels are compiled."""
CORPUS = {"specs": 700, "agents": 400, "files": 300, "arguments": 200, "requests": 400}
"""How many cases of each kind there are."""
PART = 100
"""Cases of one test."""

RIVER = {
    "board": "Td 9d 6h Qc 2s",
    "oop": "AA, QQ, KJs",
    "ip": "KK, QJs, T9s",
    "pot": "100",
    "stack": "200",
    "bets": "50%, a",
    "raises": "a",
}
ODD = (
    *("", " ", "\0", "\n", "\t", "\x1b[31m", "\u202e", "\ud7ff", "é", "💥", "٣", "\ufeff"),
    *("nan", "inf", "-inf", "-1", "0", "-0", "1e400", "1e-400", "9" * 30, "9" * 5000, "0x10", "1_0", "1e3", "2.5", "½"),
    *(
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "[[",
        "(" * 200,
        "[" * 3000,
        "'",
        '"',
        ",",
        ";",
        "=",
        ":",
        "/",
        "..",
        "../../..",
        "-",
        "--",
    ),
    *("true", "None", "null", "%s", "{}", "\\", "$HOME", "~", "*", "#", "&a", "*a", "!!python/object:os.system", "A" * 6000),
)
"""What is put into texts."""
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 3, 2**31, 2**63, 10**30, 0.5, 1e308, -1e-308, float("nan"), float("inf")),
    *("", "x", "nan", "\0", "A" * 3000, [], {}, [None], [[[]]], {"": {}}, [1, 2, 3], {"a": 1}),
)
"""What is put in place of values of JSON."""


GAMES = (
    *("kuhn_poker", "kuhn_poker(players=3)", "leduc_poker(ranks=4,suits=2)", "liars_dice(dice=1,faces=4)", "big_leduc"),
    *("goofspiel(cards=4,order=descending)", "oshi_zumo(coins=4,size=2)", "battleship(width=2,height=2,ship_sizes=[1,2])"),
    *("tic_tac_toe", "phantom_ttt", "dark_hex(rows=3,columns=2)", "matching_pennies", "matrix(payoffs=[[1,-1],[-1,1]])"),
    *("turn_based(game=goofspiel(cards=3))", "no_limit_leduc", "rhode_island", "turn_endgame", "river.yaml", "kuhn.efg"),
    *("holdem(stack=20,sizes=[50%;a],rake=0.05)", "holdem(players=3,stack=[20;40;60],blinds=[1;2],ante=[0;0;1])"),
    *("small_holdem", "turn_holdem", "repeated(game=kuhn_poker,times=2)", "openspiel:kuhn_poker(players=3)", "mine.py:Game"),
)
ALGORITHMS = ("cfr+", "dcfr(alpha=1.5,beta=0,gamma=2)", "vt-cfr+", "pcfr+", "os-mccfr(epsilon=0.6)", "ddcfr", "lp", "cfr-br")
SIZES = ("33%,75%,a", "50%,120c,e,a", "2.5x,a", "60%,2e,120c", "none", "3bb,a")
RANGES = ("66+,A8s+,A5s-A4s,AJo+:0.5", "AsKs,QQ-22", "22+, A2s+:0.25, [50]KTo[/50]", "random", "all", "AhKh:1e-3")
BOARDS = ("Td 9d 6h Qc 2s", "AsKs2c", "Td9d6hQc", "")
LINES = ("x,b50%,c", "x", "b50,a,c", "x,x", "a,f", "")
AGENTS = (
    *("uniform", "kuhn", "policy.json", "river.spot", "blueprint(file=kuhn)", "rebel", "rebel:liars_dice", "network:kuhn"),
    *("search(depth=2,leaf=exact,iterations=10)", "deepstack(leaf=zero,rounds=1,depth=0,iterations=50)", "rules(style=folder)"),
    *("libratus(blueprint=kuhn,iterations=5)", "modicum(blueprint=kuhn,bias=5,continuations=4)", "lbr(agent=uniform)"),
    *("endgames(blueprint=kuhn)", "translated(agent=uniform)", "best_response(file=kuhn)", "alphaholdem(net=kuhn)"),
    *("openspiel(bot=uniform)", "mine.py:Agent(depth=2)", "rebel(network=kuhn,iterations=16)", "pluribus(blueprint=kuhn)"),
)
COMMANDS = (
    (["info", "kuhn_poker", "--refine", "--structure", "--json"], ["--limit", "2000"]),
    (["info", "leduc_poker(ranks=3)", "--inferior-to", "leduc_poker"], ["--limit", "2000"]),
    (["info", "kuhn.efg"], ["--limit", "2000"]),
    (["check", "matching_pennies", "--against", "kuhn.efg", "--seed", "1"], ["--playthroughs", "10"]),
    (["solve", "kuhn_poker", "-a", "dcfr", "--target", "0.01", "--every", "1", "--seed", "3"], ["-n", "2", "--limit", "2000"]),
    (["solve", "kuhn_poker", "--out", "new", "--updates", "alternating", "--json"], ["-n", "2", "--limit", "2000"]),
    (["solve", "--resume", "kuhn", "--json"], ["-n", "7", "--limit", "2000"]),
    (["solve", "river.yaml", "--storage", "int16", "--target", "1", "--out", "new.spot"], ["-n", "2", "--threads", "1"]),
    (["compare", "kuhn_poker", "-a", "cfr,dcfr(alpha=2)", "--x", "seconds", "--every", "1"], ["-n", "2", "--limit", "2000"]),
    (["sample", "kuhn_poker", "-a", "os-mccfr(epsilon=0.5)", "--memory", "5MB", "--seed", "2"], ["-n", "2", "--playouts", "5"]),
    (["evaluate", "kuhn_poker", "kuhn", "--worst", "3", "--exact"], ["--limit", "2000"]),
    (["evaluate", "kuhn_poker", "policy.csv", "--complete", "--json"], ["--limit", "2000"]),
    (["evaluate", "river.yaml", "river.spot", "--json"], ["--limit", "2000"]),
    (["match", "kuhn_poker", "kuhn", "uniform", "--duplicate", "--aivat", "--values", "zero", "--sampled"], ["-n", "2"]),
    (["match", "kuhn_poker", "kuhn", "policy.json", "--seats", "all", "--seed", "5", "--table"], ["-n", "2"]),
    (["playouts", "kuhn_poker", "kuhn", "--against", "policy.npz", "--seed", "1"], ["-n", "5"]),
    (["lbr", "kuhn_poker", "uniform", "--actions", "fc", "--first-round", "1"], ["--hands", "2"]),
    (["show", "kuhn", "--infostate", "0", "--player", "1", "--complete"], ["--limit", "3"]),
    (["show", "policy.json", "--game", "kuhn_poker", "--json"], ["--limit", "3"]),
    (["export", "kuhn", "out.csv", "--game", "kuhn_poker"], []),
    (["export", "kuhn_poker", "out.efg"], []),
    (["device", "kuhn", "--top", "3", "--lines", "5"], []),
    (["train", "deep-cfr", "kuhn_poker", "--set", "iterations=2", "--preset", "recipe", "--seconds", "1"], ["--show"]),
    (["train", "--resume", "kuhn", "--set", "width=3"], ["--show"]),
    (["agents", "--json"], []),
    (["algorithms"], []),
    (["games", "--version"], []),
    (["info", "river.yaml", "--bets", "50%,a", "--raises", "2.5x", "--rake", "5%", "--chip", "1"], []),
    (["info", "--board", "Td9d6hQc", "--oop", "AA,KJs", "--ip", "QQ", "--pot", "6bb", "--stack", "20bb"], []),
    (["solve", "river.yaml", "--lock", "x, b50% [AA]: c 80%, f", "--target", "1%", "--out", "o.spot"], ["-n", "2"]),
    (["solve", "--resume", "river.spot", "--out", "o.spot"], ["-n", "6", "--threads", "1"]),
    (["solve", "--from", "river.spot", "--oop", "AA,QQ", "--bets", "a"], ["-n", "7", "--threads", "1"]),
    (
        ["show", "river.spot", "--line", "x,b50%", "--player", "ip", "--hand", "KK", "--by", "made", "--only", "set"],
        [],
    ),
    (["show", "river.spot", "--depth", "2", "--ev", "net", "--json"], []),
    (["compare", "river.spot", "river.spot", "--line", "x", "--with-line", "x", "--hands", "3"], []),
    (
        ["holdem", "equity", "AKs:0.5", "QQ+", "--board", "Td9d6h", "--dead", "2c", "--hands", "3", "--seed", "1"],
        ["--samples", "9"],
    ),
    (["holdem", "pushfold", "--ante", "0.1", "--json"], ["--stack", "5"]),
    (["holdem", "preflop", "kuhn", "--line", "r3,c"], []),
    (["holdem", "flops", "river.yaml", "--boards", "AsKd2c", "--out", "flops", "--by", "suits"], ["--help"]),
    (["holdem", "review", "hand.txt", "--hero", "oop", "--oop", "AA", "--target", "0.5"], ["--help"]),
    (["web", "kuhn", "--port", "8000", "--host", "127.0.0.1", "--folder", "kuhn"], ["--help"]),
    (["play", "kuhn_poker", "--against", "kuhn", "--think", "500ms", "--seed", "1"], ["--help"]),
)
"""Commands with arguments that are damaged, and with what follows them unchanged, which bounds the work."""


class Hang(BaseException):
    """A case took longer than :data:`SECONDS`."""


@contextmanager
def in_time() -> Iterator[None]:
    """Raise :class:`Hang` in code that takes too long, without the time for which kernels are compiled."""
    began = work_time()

    def stop(number: int, frame: FrameType | None) -> None:
        if (left := SECONDS - (work_time() - began)) <= 0:
            raise Hang(f"longer than {SECONDS:g} s")
        signal.setitimer(signal.ITIMER_REAL, max(left, 0.1))

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def damaged(draw: random.Random, text: str) -> str:
    """A text with one to three changes."""
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        start = draw.randint(0, len(text))
        end = min(len(text), start + draw.choice((0, 1, 1, 2, 5, 20)))
        odd = draw.choice(ODD)
        text = draw.choice(
            (
                text[:start],
                text[:start] + text[end:],
                text[:start] + odd + text[start:],
                text[:start] + odd + text[end:],
                text[:end] + text[start:end] * draw.choice((1, 2, 50)) + text[end:],
                "".join(draw.sample(text[start:end], end - start)).join((text[:start], text[end:])),
                replaced_number(draw, text),
            )
        )
    return text


def replaced_number(draw: random.Random, text: str) -> str:
    """A text with one of its numbers changed to another or to none."""
    digits = [place for place, letter in enumerate(text) if letter.isdigit()]
    if not digits:
        return text + draw.choice(ODD)
    first = last = draw.choice(digits)
    while last + 1 < len(text) and text[last + 1].isdigit():
        last += 1
    return text[:first] + draw.choice(("-1", "0", "nan", "1e9", "9" * 30, "0.5", "x", "")) + text[last + 1 :]


def damaged_json(draw: random.Random, whole: Any) -> Any:
    """Data with one to three entries changed, removed, repeated or nested."""
    whole = copy.deepcopy(whole)
    for _ in range(draw.choice((1, 1, 2, 3))):
        places = list(entries_of(whole))
        if not places:
            return draw.choice(VALUES)
        parent, key = draw.choice(places)
        before, how = parent[key], draw.randrange(8)
        if how == 0:
            del parent[key]
        elif how == 1 and isinstance(parent, list):
            parent.insert(key, copy.deepcopy(before))
        elif how == 2:
            parent[key] = damaged(draw, before if isinstance(before, str) else str(before))
        elif how == 3:
            for _ in range(draw.choice((1, 3, 70, 300))):
                before = [before] if draw.random() < 0.5 else {"a": before}
            parent[key] = before
        elif how == 4 and isinstance(before, int | float):
            parent[key] = draw.choice((-before, before + 1, before * 1000, str(before), [before]))
        else:
            parent[key] = copy.deepcopy(draw.choice(VALUES))
    return whole


def entries_of(data: Any) -> Iterator[tuple[Any, Any]]:
    """All places of JSON data: the list or object, and the key."""
    for key in data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ():
        yield data, key
        yield from entries_of(data[key])


class Folder:
    """Files that cases damage, in a folder of their own, which is the working folder.

    Attributes:
        path: the folder.
        game: a compiled game.
        data: what the files hold before a case.
        command: the command line, built once.
        client, loop: ask an application that serves the folder, in this process.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.game = path, tp.compile("kuhn_poker")
        solution = tp.solve(self.game, "dcfr", iterations=5, every=2, out=path / "kuhn")
        for suffix in ("safetensors", "json", "csv", "npz"):
            save_policy(solution.policy, path / f"policy.{suffix}")
        spot = request_from_options(RIVER).spot()
        solve_spot(spot, iterations=4, threads=1, every=2, target=0.0, out=path / "river.spot")
        (path / "river.yaml").write_text("".join(f"{name}: {value}\n" for name, value in RIVER.items()))
        (path / "mine.py").write_text("import treeplex as tp\n")
        self.command = typer.main.get_command(app)
        CliRunner().invoke(app, ["export", "kuhn_poker", str(path / "kuhn.efg")])
        self.loop = asyncio.new_event_loop()
        transport = httpx.ASGITransport(make_app(ServerState(path, threads=1)))
        self.client = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1")
        self.data = {each.relative_to(path): each.read_bytes() for each in path.rglob("*") if each.is_file()}

    def restore(self) -> None:
        """Make the folder what it was."""
        for each in self.path.iterdir():
            if each.is_dir() and not each.is_symlink():
                shutil.rmtree(each)
            else:
                each.unlink()
        (self.path / "kuhn").mkdir()
        for name, data in self.data.items():
            (self.path / name).write_bytes(data)


@pytest.fixture(scope="module")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Folder]:
    folder = Folder(tmp_path_factory.mktemp("fuzz"))
    yield folder
    folder.loop.run_until_complete(folder.client.aclose())
    folder.loop.run_until_complete(folder.loop.shutdown_default_executor())
    folder.loop.close()


@pytest.fixture
def folder(shared_folder: Folder, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    """The folder as it is before each case."""
    monkeypatch.chdir(shared_folder.path)
    monkeypatch.setattr(typer.testing, "_get_command", lambda app: shared_folder.command)
    monkeypatch.setattr(plots, "write_figure", lambda figure, path: None)  # most of the time of a short run
    yield shared_folder
    shared_folder.restore()


Case = tuple[object, Callable[[], None]]
"""What is shown of a case that fails, and the case."""


def run_quietly(do: Callable[[], object]) -> None:
    """Call a function, which succeeds or raises an error of the library that is one line."""
    try:
        do()
    except TreeplexError as error:
        said = str(error)
    else:
        return
    assert said.strip()
    assert "\n" not in said


def specs(draw: random.Random, folder: Folder) -> Case:
    """A game, an algorithm, bet sizes, a range, a board, or fields of a spot."""
    kind = draw.choice(("game", "game", "game", "algorithm", "sizes", "range", "board", "spot", "spec"))
    if kind == "spot":
        fields = damaged_json(draw, RIVER)
        return fields, lambda: run_quietly(lambda: request_from_options(fields).spot())
    known = {"game": GAMES, "algorithm": ALGORITHMS, "sizes": SIZES, "range": RANGES, "board": BOARDS, "spec": GAMES}
    text, raises = damaged(draw, draw.choice(known[kind])), draw.random() < 0.5
    read: dict[str, Callable[[], object]] = {
        "game": lambda: tp.load(text),
        "algorithm": lambda: make_solver(folder.game, text),
        "sizes": lambda: parse_sizes(text, raises),
        "range": lambda: parse_range(text),
        "board": lambda: parse_cards(text),
        "spec": lambda: parse_spec(text),
    }
    return (kind, text), lambda: run_quietly(read[kind])


def agents(draw: random.Random, folder: Folder) -> Case:
    """An agent is made, but does not play."""
    text, game = damaged(draw, draw.choice(AGENTS)), draw.choice(("kuhn_poker", "liars_dice(dice=1,faces=3)", "river.yaml"))
    return (text, game), lambda: run_quietly(lambda: agent(text, game, seed=1))


def arguments(draw: random.Random, folder: Folder) -> Case:
    """A command with damaged arguments."""
    given, bounds = draw.choice(COMMANDS)
    words = list(given)
    first = 2 if words[0] == "holdem" else 1
    for _ in range(draw.choice((1, 1, 2))):
        place = draw.randrange(first, len(words)) if len(words) > first else len(words)
        how = draw.randrange(8)
        if how == 0 and place < len(words):
            del words[place]
        elif how == 1:
            words.insert(place, draw.choice(ODD))
        elif how == 2 and place < len(words):
            words.insert(place, words[place])
        elif place < len(words):
            words[place] = damaged(draw, words[place])
    words = [*words, *bounds] if "--" not in words else words[: words.index("--")] + bounds

    def call() -> None:
        result = CliRunner().invoke(app, words)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code in (0, 2, 3), result.output
        if result.exit_code == 2:
            assert result.stderr.startswith("error: "), result.stderr
            assert result.stderr.rstrip("\n").count("\n") == 0, result.stderr

    return words, call


def files(draw: random.Random, folder: Folder) -> Case:
    """A file with damaged contents, mostly with its checksum right."""
    name = draw.choice((*READERS, *READERS, "kuhn.efg", "river.yaml"))
    path, data = folder.path / name, folder.data[Path(name)]
    if name in READERS and draw.random() < 0.9:
        data = READERS[name][0](draw, data)
    elif path.suffix in TEXTS:
        data = damaged(draw, data.decode()).encode("utf-8", "surrogatepass")
    else:
        place = draw.randrange(len(data))
        data = draw.choice((data[:place], data[:place] + draw.randbytes(3) + data[place + 3 :], data + data[:place], b""))
    read = READERS[name][1] if name in READERS else spot_request if path.suffix == ".yaml" else tp.load

    def call() -> None:
        path.write_bytes(data)
        run_quietly(lambda: read(str(path)))

    return (name, data[-4000:]), call


TEXTS = (".json", ".jsonl", ".csv", ".efg", ".yaml")


def damaged_run(draw: random.Random, data: bytes) -> bytes:
    """``run.json`` with its checksum right."""
    about = json.loads(data)
    del about["checksum"]
    about = damaged_json(draw, about)
    if isinstance(about, dict):
        about["checksum"] = checksum_of(about)
    return json.dumps(about).encode()


def damaged_lines(draw: random.Random, data: bytes) -> bytes:
    """Records, one of them damaged."""
    lines = data.decode().splitlines()
    place = draw.randrange(len(lines))
    lines[place] = json.dumps(damaged_json(draw, json.loads(lines[place])))
    return ("\n".join(lines) + "\n").encode()


def damaged_tensors(draw: random.Random, data: bytes) -> bytes:
    """A file of tensors whose header is damaged, its digest right."""
    length = int.from_bytes(data[:8], "little")
    header, body = damaged_json(draw, json.loads(data[8 : 8 + length])), data[8 + length :]
    about = header.get(METADATA)
    if isinstance(about, dict):
        digest = begun_digest(
            {str(key): str(value) for key, value in about.items()}, {k: v for k, v in header.items() if k != METADATA}
        )
        digest.update(body)
        about["digest"] = digest.hexdigest()
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def damaged_policy(draw: random.Random, data: bytes) -> bytes:
    """A policy as JSON, its checksum right for the probabilities as they were."""
    return json.dumps(damaged_json(draw, json.loads(data))).encode()


def damaged_spot(draw: random.Random, data: bytes) -> bytes:
    """A solved spot whose header is damaged, its checksum right."""
    length, _ = TRAILER.unpack(data[-TRAILER.size :])
    end = len(data) - TRAILER.size
    header = json.dumps(damaged_json(draw, json.loads(data[end - length : end]))).encode()
    whole = data[: end - length] + header + struct.pack("<Q", len(header))
    assert data.startswith(MAGIC)
    return whole + hashlib.sha256(whole).digest()


def read_spot(path: str) -> None:
    """Look at a solved spot, and solve on."""
    run_quietly(lambda: read_header(path))
    solution = load_solution(path)
    solution.at("x")
    solve_spot(iterations=solution.iterations + 1, threads=1, resume=solution)


def read_run(path: str) -> None:
    """Read a run, and resume it."""
    folder = Path(path).parent
    run_quietly(lambda: tp.load_policy(folder))
    tp.solve(resume=folder, iterations=7)


def read_policy(path: str) -> None:
    tp.load_policy(path, "kuhn_poker")


Damage = Callable[[random.Random, bytes], bytes]
READERS: dict[str, tuple[Damage, Callable[[str], None]]] = {
    "kuhn/run.json": (damaged_run, read_run),
    "kuhn/metrics.jsonl": (damaged_lines, read_run),
    "kuhn/state.safetensors": (damaged_tensors, read_run),
    "kuhn/policy.safetensors": (damaged_tensors, read_run),
    "policy.json": (damaged_policy, read_policy),
    "river.spot": (damaged_spot, read_spot),
}


ASKED: tuple[tuple[str, str, Any], ...] = (
    ("GET", "/api/solution", {"file": "river.spot"}),
    ("GET", "/api/solution/node", {"file": "river.spot", "line": "x,b50%", "ev": "net"}),
    ("GET", "/api/solution/runouts", {"file": "river.spot", "line": "x", "then": "x"}),
    ("GET", "/api/solution/range", {"file": "river.spot", "player": "0", "line": "x"}),
    ("GET", "/api/solution/compare", {"file": "river.spot", "with": "river.spot", "line": "x", "with_line": "x"}),
    ("GET", "/api/solution/export", {"file": "river.spot", "as": "csv", "line": "x", "depth": "1", "ev": "pot"}),
    ("GET", "/api/solution/page", {"file": "river.spot", "line": "x"}),
    ("GET", "/api/runs/curves", {"file": "kuhn"}),
    ("GET", "/api/batch", {"file": "kuhn"}),
    ("GET", "/api/download", {"file": "river.spot"}),
    ("GET", "/api/hands/replay", {"file": "hand.phh"}),
    ("GET", "/api/spots/file", {"file": "river.yaml"}),
    ("GET", "/api/preflop/pushfold", {"stack": "10", "ante": "0.1"}),
    ("GET", "/api/jobs/1/node", {"line": "x"}),
    ("DELETE", "/api/presets", {"name": "mine"}),
    ("POST", "/api/spots/check", {"fields": RIVER, "boards": None}),
    ("POST", "/api/spots/range", {"text": "AA,KQs:0.5"}),
    ("POST", "/api/spots/read", {"text": "pot: 100\nboard: Td9d6hQc\n"}),
    ("POST", "/api/presets", {"name": "mine", "text": "AA"}),
    ("POST", "/api/hands/replay", {"text": "variant = 'NT'\nblinds_or_straddles = [1, 2]\nactions = ['d dh p1 AsKs']\n"}),
)
"""Requests that start no process and no long work: method, path, and query or body."""


def requests(draw: random.Random, folder: Folder) -> Case:
    """A request with a damaged query or body."""
    method, path, given = draw.choice(ASKED)
    given = damaged_json(draw, given)
    body = query = None
    if method == "POST":
        text = json.dumps(given)
        body = (damaged(draw, text) if draw.random() < 0.2 else text).encode("utf-8", "surrogatepass")
    elif isinstance(given, dict):
        query = {str(key): str(value)[:2000] for key, value in given.items()}

    def call() -> None:
        headers = {"content-type": "application/json"} if method == "POST" else {}
        asked = folder.client.request(method, path, params=query, content=body, headers=headers)
        answer = folder.loop.run_until_complete(asked)
        assert answer.status_code < 500, answer.text
        if answer.status_code >= 400:
            said = answer.json()["error"]
            assert said.strip()
            assert "\n" not in said

    return (method, path, given), call


KINDS: dict[str, Callable[[random.Random, Folder], Case]] = {
    "specs": specs,
    "agents": agents,
    "files": files,
    "arguments": arguments,
    "requests": requests,
}


def parts() -> Iterator[tuple[str, range]]:
    """Kinds and numbers of cases: those of the corpus, or those that ``FUZZ`` names."""
    asked, _, numbers = os.environ.get("FUZZ", "").partition(":")
    if asked:
        first, _, last = numbers.partition("-")
        yield asked, range(int(first), int(last or first) + 1)
        return
    for kind, count in CORPUS.items():
        for start in range(0, count, PART):
            yield kind, range(start, min(start + PART, count))


@pytest.mark.slow_cases(
    "specs-0",
    "agents-0",
    "agents-100",
    "agents-200",
    "agents-300",
    "files-0",
    "files-100",
    "files-200",
    "arguments-0",
    "arguments-100",
)
@pytest.mark.parametrize(("kind", "numbers"), [pytest.param(*each, id=f"{each[0]}-{each[1].start}") for each in parts()])
def test_damaged_input_ends_in_one_line(kind: str, numbers: range, folder: Folder) -> None:
    failed = []
    for number in numbers:
        shown, case = KINDS[kind](random.Random(f"{kind} {number}"), folder)
        began = work_time()
        try:
            with in_time():
                case()
            assert work_time() - began < SECONDS  # what a case raises when its time is up may have been caught
        except (Hang, Exception) as error:
            failed.append(f"FUZZ={kind}:{number}  {type(error).__name__}: {error}"[:600] + f"\n    {shown!r}"[:1500])
        if os.environ.get("FUZZ") and work_time() - began > 0.2:
            print(f"{kind}:{number} {work_time() - began:.2f} s {shown!r}"[:300], file=sys.stderr)
        folder.restore()
    assert not failed, "\n".join([f"{len(failed)} of {len(numbers)} cases failed", *failed])
