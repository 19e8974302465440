"""Spot files: what they mean, and that every mistake gives one message with file, line and remedy."""

import math
import random
import re

import numpy as np
import pytest

from treeplex.errors import FileError, SpecError, TreeplexError
from treeplex.holdem.betting.bet_plan import BetPlan, FixedLimit
from treeplex.holdem.betting.tree import betting_tree
from treeplex.holdem.cards.cards import HANDS, hand_index, parse_cards
from treeplex.holdem.cards.ranges import parse_range
from treeplex.holdem.spots.files import FIELDS, read_spot_file, request_from_options

FULL = """\
# a turn
board: Td 9d 6h Qc
oop: 66+, A8s+, A5s-A4s, AJo+
ip: QQ-22, A2s+, ATo+:0.5
pot: 200
stack: 900
bets: {default: "50%, a", river: {oop: "33%, 75%", ip: [40%, a]}, ip: 25%}
raises: 60%
donk: none
thresholds: {add_allin: 150%, force_allin: 0.2, merge: 10%}
min_bet: 2
rake: {rate: 5%, cap: 3}
chip: 1
format: holdem
target: 0.5%
iterations: 500
threads: 2
algorithm: dcfr
storage: int16
locks:
  - line: x
    strategy: {x: 70%, bet 50%: 30%}
  - "x, b50% [AA, KK]: call 80%, fold 20%"
"""
TOML = """\
board = "Td 9d 6h Qc"
oop = "66+, A8s+, A5s-A4s, AJo+"
ip = "QQ-22, A2s+, ATo+:0.5"
pot = 200
stack = 900
raises = "60%"
donk = "none"
min_bet = 2
target = "0.5%"
iterations = 500
threads = 2
algorithm = "dcfr"
storage = "int16"
chip = 1.0
format = "holdem"

[bets]
default = "50%, a"
river = { oop = "33%, 75%", ip = ["40%", "a"] }
ip = "25%"

[thresholds]
add_allin = "150%"
force_allin = 0.2
merge = "10%"

[rake]
rate = "5%"
cap = 3

[[locks]]
line = "x"
strategy = { x = "70%", "bet 50%" = "30%" }

[[locks]]
line = "x, b50%"
hands = "AA, KK"
strategy = "call 80%, fold 20%"
"""


@pytest.fixture
def write(tmp_path):
    def written(text, name="spot.yaml"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return written


def read_all(path):
    request = read_spot_file(path)
    return request.spot(), request.settings()


def complaint(path):
    """The one message of a bad file."""
    with pytest.raises(TreeplexError) as caught:
        read_all(path)
    message = str(caught.value)
    assert "\n" not in message
    return message.replace(str(path), path.name)


def changed(old, new, text=FULL):
    assert old in text
    return text.replace(old, new)


@pytest.mark.parametrize(("text", "name"), [(FULL, "spot.yaml"), (TOML, "spot.toml")])
def test_all_fields(write, text, name):
    request = read_spot_file(write(text, name))
    spot, settings = request.spot(), request.settings()
    assert spot.board == parse_cards("Td9d6hQc")
    assert (spot.pot, spot.stack, spot.chip) == (200, 900, 1)
    assert (spot.rake.rate, spot.rake.cap) == (0.05, 3)
    clear = ~np.isin(HANDS, spot.board).any(axis=1)
    np.testing.assert_array_equal(spot.ranges[0], parse_range("66+,A8s+,A5s-A4s,AJo+") * clear)
    assert spot.ranges[1][hand_index(*parse_cards("AcTh"))] == 0.5
    plan = spot.bets
    assert isinstance(plan, BetPlan)
    assert (plan.add_allin, plan.force_allin, plan.merge, plan.min_bet) == (1.5, 0.2, pytest.approx(0.1), 2)
    sizes = {(street, player): plan.streets[street][player].to_json() for street in (2, 3) for player in (0, 1)}
    assert sizes[2, 0] == {"bets": "50%,a", "raises": "60%", "donk": ""}
    assert sizes[2, 1] == {"bets": "25%", "raises": "60%", "donk": "default"}
    assert sizes[3, 0]["bets"] == "33%,75%"
    assert sizes[3, 1]["bets"] == "40%,a"
    assert settings.target.chips(200) == pytest.approx(1.0)
    assert (settings.iterations, settings.threads, settings.algorithm, settings.storage) == (500, 2, "dcfr", "int16")
    first, second = settings.locks
    assert (first.line, first.hands, dict(first.strategy)) == ("x", None, {"x": 0.7, "b50%": 0.3})
    assert (second.line, dict(second.strategy)) == ("x, b50%", {"c": 0.8, "f": 0.2})
    np.testing.assert_array_equal(second.hands, parse_range("AA,KK"))


def test_defaults(write):
    spot = read_spot_file(write("board: Td9d6h\noop: AA\nip: KK\npot: 10\nstack: 100\n")).spot()
    sizes = spot.bets.streets[1][0].to_json()
    assert (sizes["bets"], sizes["raises"], sizes["donk"]) == ("50%,100%,a", "2.5x,a", "default")
    assert spot.rake.rate == 0
    assert math.isinf(spot.rake.cap)


def test_other_games(write):
    leduc = "format: small(ranks=3)\noop: all\nip: K, Qc:0.5\npot: 2\nstack: 100\nlimit: {bets: [2, 4], most: 2}\n"
    spot = read_spot_file(write(leduc)).spot()
    assert isinstance(spot.bets, FixedLimit)
    assert (spot.bets.bets, spot.bets.most) == ((2, 4), (2, 2))
    assert spot.format.names(np.flatnonzero(spot.ranges[1])) == ["Qc", "Kc", "Kd"]
    preflop = "oop: all\nip: all\npot: 0\nstack: 200\nblinds: 1/2\nbets: {default: a}\n"
    assert read_spot_file(write(preflop)).spot().blinds == (1, 2)


def test_options_go_over_files(write):
    file = read_spot_file(write(FULL))
    request = request_from_options({"pot": 300, "target": "2c", "turn-bets": "10%"}).over(file)
    spot = request.spot()
    assert (spot.pot, spot.stack) == (300, 900)
    assert [spot.bets.streets[street][0].to_json()["bets"] for street in (2, 3)] == ["", "33%,75%"]  # donk: none
    assert spot.bets.streets[2][1].to_json()["bets"] == "10%"
    assert request.settings().target.chips(300) == 2
    limit = request_from_options({"limit": "2"}).over(file)
    with pytest.raises(SpecError, match="--limit"):
        limit.spot()


SMALL = "board: Td9d6h2c3s\noop: all\nip: all\nraises: a\n"


@pytest.mark.parametrize(
    ("text", "chip", "first"),
    [
        ("pot: 200\nstack: 900\nbets: 50%, 75%", 1, [100, 150]),
        ("pot: 6.5\nstack: 97\nbets: 50%", 0.01, [3.25]),
        ("pot: 6\nstack: 97\nbets: 10%, 75%", 0.01, [0.6, 4.5]),
        ("pot: 6.5bb\nstack: 97bb\nbets: 50%, 2.5bb", 0.01, [2.5, 3.25]),
        ("pot: 60\nstack: 970\nbets: 33%", 0.1, [19.8]),
        ("pot: 100\nstack: 900\nbets: 5%", 0.1, [5]),
        ("pot: 200\nstack: 900\nbets: 2.25c", 0.01, [2.25]),
        ("pot: 2\nstack: 90\nbets: a", 1, [90]),
        ("pot: 6\nstack: 97\nbets: 10%\nchip: 1", 1, [1]),
        ("pot: 6\nstack: 97.25\nbets: 100%\nmin_bet: 1.125", 0.001, [6]),
    ],
)
def test_the_chip_follows_from_what_is_written(write, text, chip, first):
    spot = read_spot_file(write(SMALL + text + "\n")).spot()
    assert spot.chip == pytest.approx(chip)
    root = betting_tree(spot).nodes[0]
    assert [action.amount for action in root.actions[1:]] == pytest.approx(first)


def test_amounts_in_big_blinds(write):
    request = read_spot_file(
        write(SMALL + "pot: 6.5bb\nstack: 97 bb\nmin_bet: 1bb\nrake: {rate: 5%, cap: 3bb}\ntarget: 0.1bb\n")
    )
    spot = request.spot()
    assert (spot.pot, spot.stack, spot.min_bet, spot.rake.cap) == (6.5, 97, 1, 3)
    assert request.settings().target.chips(spot.pot) == pytest.approx(0.1)
    preflop = "oop: all\nip: all\npot: 0\nstack: 100bb\nblinds: 5/10\nbets: {default: 3bb}\ntarget: 0.1bb\n"
    request = read_spot_file(write(preflop))
    assert (request.spot().stack, request.settings().target.chips(0)) == (1000, 1)
    assert str(request.spot().bets.streets[0][1].bets[0]) == "3bb"


def test_a_raise_in_big_blinds_is_to_so_many_before_the_flop(write):
    blinds = "oop: all\nip: all\npot: 0\nstack: 20bb\nblinds: 0.5/1\nbets: none\nraises: {preflop: '2.5bb,a', default: a}\n"
    spot = read_spot_file(write(blinds)).spot()
    tree = betting_tree(spot)
    assert [str(action) for action in tree.nodes[0].actions] == ["fold", "call", "raise 2.5", "allin 20"]
    assert [str(action) for action in tree.nodes[tree.nodes[0].children[2]].actions] == ["fold", "call", "allin 20"]
    with pytest.raises(SpecError, match="'3bb' is for a first raise preflop; write a multiple of the bet faced, such as 3x"):
        read_spot_file(write(SMALL.replace("raises: a", "raises: 3bb") + "pot: 6.5bb\nstack: 97bb\n")).spot()


def test_fixed_limit_rounds_nothing_and_keeps_whole_chips(write):
    limit = "limit: {bets: 2, most: 4}\npot: 4\nstack: 90\nboard: Td9d6h2c3s\noop: all\nip: all\n"
    assert read_spot_file(write(limit)).spot().chip == 1
    assert read_spot_file(write(limit.replace("bets: 2", "bets: 2.5"))).spot().chip == 0.1


@pytest.mark.parametrize("line", ["limps: false", "min_bet: 2", "thresholds: {merge: 10%}"])
def test_fixed_limit_has_no_options_of_no_limit(write, line):
    rest = "pot: 4\nstack: 90\nboard: Td9d6h2c3s\noop: all\nip: all\n"
    name = line.partition(":")[0]
    said = f"spot.yaml:1: {name}: applies to no limit and cannot be combined with limit; give only one of them"
    assert said in complaint(write(f"{line}\nlimit: {{bets: 2, most: 4}}\n{rest}"))
    file = read_spot_file(write(f"{line}\n{rest}"))
    limit = {"limit": {"bets": "2", "most": "4"}}
    assert request_from_options(limit).over(file).spot().bets == FixedLimit((2,) * 4, (4,) * 4)  # of the file, dropped
    if name == "min_bet":
        with pytest.raises(SpecError, match="--min-bet: applies to no limit"):
            request_from_options({"min-bet": "2", **limit}).over(file).spot()


def test_a_solved_spot_is_not_a_spot_file(write):
    path = write(b"treeplex poker solution\n" + bytes(range(256)) * 20_000, "river.spot")
    with pytest.raises(FileError, match=r"river.spot is a solved spot, not a spot file; show it with treeplex show "):
        read_spot_file(path)


def test_another_board(write):
    spot = read_spot_file(write(changed("board: Td 9d 6h Qc\n", ""))).on_board("AsKd2c").spot()
    assert spot.board == parse_cards("AsKd2c")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("pot: 200", "pott: 200", "spot.yaml:5: spot file: unknown key 'pott'; did you mean 'pot'?"),
        ("pot: 200", "pot: lots", "spot.yaml:5: pot: 'lots' is not a number; write pot: 200"),
        ("pot: 200", "pot: nan", "spot.yaml:5: pot: 'nan' is not a number"),
        ("pot: 200", "pot: -5", "spot.yaml:5: pot: -5 is too small"),
        ("pot: 200", "pot: 0", "spot.yaml:5: pot is 0.0; give chips of at least 1"),
        ("pot: 200", "pot: 200.5", "spot.yaml:5: pot 200.5 is not a multiple of chip 1"),
        ("pot: 200", "pot:", "spot.yaml:5: pot: is empty; write pot: 200"),
        ("pot: 200", "pot: [1, [2]]", "spot.yaml:5: pot: must be a string, not a list"),
        ("pot: 200\n", "", "spot.yaml: pot is missing; add the line pot: 200"),
        ("stack: 900", "stack: 900\nstack: 800", "spot.yaml:7: key 'stack' appears twice (first at spot.yaml:6)"),
        ("Td 9d 6h Qc", "Td 9d 6h Xc", "spot.yaml:2: board: cards 'Td 9d 6h Xc': 'Xc' is not a card"),
        ("Td 9d 6h Qc", "Td 9d 6h 9d", "spot.yaml:2: board: cards 'Td 9d 6h 9d': 9d appears twice"),
        ("Td 9d 6h Qc", "Td 9d", "spot.yaml:2: board: board 'Td9d' has 2 cards"),
        ("Td 9d 6h Qc", "", "spot.yaml:2: board: is empty"),
        ("oop: 66+, A8s+", "oop: 66+, A8z+", "spot.yaml:3: oop: "),
        ("oop: 66+, A8s+, A5s-A4s, AJo+", "oop: TdTd", "spot.yaml:3: oop: "),
        (
            "oop: 66+, A8s+, A5s-A4s, AJo+",
            "oop: TdQc",
            "spot.yaml:3: no hand in the range of the player out of position avoids",
        ),
        ("raises: 60%", "raises: 6", "spot.yaml:8: raises: cannot read the bet size '6'"),
        (
            "raises: 60%",
            "raises: 60%, 0%",
            "spot.yaml:8: raises: bet size '0%' must be greater than 0; write none to",
        ),
        ("raises: 60%", "raises: 0c", "spot.yaml:8: raises: bet size '0c' must be greater than 0"),
        ("raises: 60%", "raises: {turn: 60%}", "spot.yaml:8: raises: no sizes for the river, player OOP; add river:"),
        ("raises: 60%", "raises: {truns: 60%}", "spot.yaml:8: raises: unknown key 'truns'; did you mean 'turn'?"),
        ("ip: [40%, a]", "ip: {a: 40%}", "spot.yaml:7: bets: ip must be sizes such as 50%, a"),
        ("ip: [40%, a]", "op: 40%", "spot.yaml:7: bets: unknown key 'op'; did you mean 'oop'?"),
        ("ip: 25%", "ip: 2.5x", "spot.yaml:7: bets: bet size '2.5x'"),
        ("merge: 10%", "merge: much", "spot.yaml:10: merge: 'much' is not a number; write merge: 10%"),
        ("merge: 10%", "marge: 10%", "spot.yaml:10: thresholds: unknown key 'marge'; did you mean 'merge'?"),
        ("min_bet: 2", "min_bet: 0", "spot.yaml:11: min_bet: must be greater than 0"),
        (
            "{rate: 5%, cap: 3}",
            "{rate: 5%, no_flop_no_drop: 1}",
            "spot.yaml:12: no_flop_no_drop: '1' is neither",
        ),
        ("min_bet: 2", "limps: no way", "spot.yaml:11: limps: 'no way' is neither true nor false; write limps: true, or false"),
        (
            "min_bet: 2",
            "limps: false",
            "spot.yaml:11: 'limps' needs blinds",
        ),
        (
            "{rate: 5%, cap: 3}",
            "{no_flop_no_drop: true}",
            "spot.yaml:12: rake: no_flop_no_drop needs a rate; write rake: {rate",
        ),
        ("rate: 5%", "rate: 500%", "spot.yaml:12: rate: '500%' is not a share from 0% to 100%; write rate: 5%"),
        ("{rate: 5%, cap: 3}", "{cap: 3}", "spot.yaml:12: rake: a cap needs a rate; write rake: {rate: 5%, cap: 3}"),
        ("format: holdem", "format: holdm", "spot.yaml:14: format: unknown format 'holdm'; did you mean 'holdem'?"),
        ("target: 0.5%", "target: 5 big blinds", "spot.yaml:15: target: '5 big blinds' is not a target; write 0.5%"),
        ("iterations: 500", "iterations: 1e3", "spot.yaml:16: iterations: '1e3' is not an integer of at least 0"),
        ("threads: 2", "threads: 0", "spot.yaml:17: threads: '0' is not an integer of at least 1"),
        (
            "storage: int16",
            "storage: int4",
            "spot.yaml:19: storage: 'int4' is not known; write float32, float64, int16, int8, packed or disk:FOLDER",
        ),
        ("strategy: {x: 70%", "strategy: {x: 60%", "spot.yaml:22: strategy: the shares add up to 90%, not 100%"),
        ("line: x", "lines: x", "spot.yaml:21: locks: unknown key 'lines'; did you mean 'line'?"),
        ("call 80%, fold 20%", "call 80%, c 20%", "spot.yaml:23: strategy: c appears twice"),
        ("[AA, KK]", "[AA, ZZ]", "spot.yaml:23: hands: "),
        (
            "pot: 200",
            "pot: 200\nlimit: {bets: 2, most: 4}",
            "spot.yaml:6: limit: fixed limit and no-limit sizes (bets) cannot be",
        ),
        ("stack: 900", "stack: 900\nblinds: 1, 2", "blinds need an empty board"),
        ("pot: 200", "\tpot: 200", "spot.yaml:5: invalid YAML:"),
        ("pot: 200", "pot: *x", "spot.yaml:5: invalid YAML: found undefined alias"),
        ("pot: 200", "? [a, b]\n: 2", "spot.yaml:5: key must be a word"),
        ("# a turn", "---\na: 1\n---", "spot.yaml:3: invalid YAML:"),
        ("pot: 200", "pot: 200\x00", "spot.yaml:5: invalid character"),
    ],
)
def test_mistakes_in_yaml(write, old, new, says):
    assert says in complaint(write(changed(old, new)))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("pot = 200", "pot = lots", "spot.toml:4: invalid TOML:"),
        ("pot = 200", "pott = 200", "spot.toml:4: spot file: unknown key 'pott'; did you mean 'pot'?"),
        ("pot = 200", "pot = 2020-01-01", "spot.toml:4: pot: '2020-01-01' is not a number"),
        ("pot = 200", "pot = true", "spot.toml:4: pot: 'true' is not a number"),
        ("pot = 200", "pot = 200\npot = 200", "spot.toml:5: invalid TOML:"),
        ('default = "50%, a"', 'default = "5"', "spot.toml:18: bets: cannot read the bet size '5'"),
        ("cap = 3", "cup = 3", "spot.toml:29: rake: unknown key 'cup'; did you mean 'cap'?"),
        ('strategy = "call 80%, fold 20%"', 'strategy = "call"', "spot.toml:38: strategy: cannot read 'call'"),
    ],
)
def test_mistakes_in_toml(write, old, new, says):
    assert says in complaint(write(changed(old, new, TOML), "spot.toml"))


def test_files_that_are_no_spots(write, tmp_path):
    assert complaint(write("")).startswith("spot.yaml: file is empty")
    assert complaint(write("# nothing\n")).startswith("spot.yaml: file is empty")
    assert "must have lines such as pot: 200, not a list" in complaint(write("- 1\n- 2\n"))
    assert "must have lines such as pot: 200, not a string" in complaint(write("hello"))
    assert "spot.yaml:2: not UTF-8" in complaint(write(b"pot: 1\n\xff\xfe\n"))
    assert "larger than the limit of 4 MB" in complaint(write("#" * 4_000_001))
    assert complaint(write("[" * 100_000)).startswith("spot.yaml")
    assert "too deep" in complaint(write("pot: " + "[" * 20 + "]" * 20))
    assert "invalid TOML" in complaint(write("a = " + "[" * 5000, "spot.toml"))
    with pytest.raises(FileError, match="check the path"):
        read_spot_file(tmp_path / "nowhere.yaml")
    with pytest.raises(FileError, match="check the path"):
        read_spot_file(tmp_path)
    with pytest.raises(FileError, match="check the path"):
        read_spot_file("a\0b")


def test_aliases_do_not_blow_up(write):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 7)]
    assert "nested too deeply or too long" in complaint(write("\n".join(lines)))
    assert read_spot_file(write(changed("ip: QQ-22, A2s+, ATo+:0.5", "ip: *r").replace("oop: 66", "oop: &r 66"))).spot()


def test_examples(request):
    found = sorted((request.config.rootpath / "examples" / "spots").glob("*.yaml"))
    assert found
    for path in found:
        read = read_spot_file(path)
        read.settings()
        (read if "board" in read.fields or "blinds" in read.fields else read.on_board("Td9d6h")).spot()


JUNK = [
    *("", " ", "0", "-1", "1e999", "inf", "nan", "%", "c", "a", "x", ":", "-", "[]", "{}", "[[]]", "{a: b}", "null", "~"),
    *("true", "'", '"', "&a", "*a", "!!python/object/apply:os.system ['true']", "!!int x", "|", ">", "@x", "`x`", "%x", "\t"),
    *("50%", "50", "9" * 400, "AA:2", "AA-22-33", "Td9d6h", "Td9d6h7h8h2c", "é", "\u2028", "\ufeff", "🂡", "x: 100%"),
    *(
        "{default: {oop: {turn: 1}}}",
        "{oop: 5%, ip: 5%}",
        "[50%, {a: b}]",
        "2.5x",
        "20c0r",
        "e",
        "2000e",
        "- - -",
        "1,2",
        "1/2/3",
    ),
]


@pytest.mark.slow_cases("0", "6", "7")
@pytest.mark.parametrize("seed", range(8))
def test_junk_gives_one_message_or_a_spot(write, seed):
    draw = random.Random(seed)
    complaints = 0
    for _ in range(60):
        lines = FULL.split("\n")
        for _ in range(draw.randint(1, 3)):
            place = draw.randrange(len(lines))
            key = draw.choice(list(FIELDS))
            lines[place] = draw.choice(
                [
                    f"{key}: {draw.choice(JUNK)}",
                    re.sub(r": .*", lambda _: f": {draw.choice(JUNK)}", lines[place]),
                    draw.choice(JUNK),
                    "".join(draw.sample(lines[place], len(lines[place]))),
                    lines[place][: draw.randint(0, len(lines[place]))],
                ]
            )
        path = write("\n".join(lines))
        try:
            read_all(path)
        except TreeplexError as error:
            complaints += 1
            message = str(error)
            assert "\n" not in message
            assert len(message) < 700
            assert message.startswith(str(path)), message
    assert complaints > 30


def test_a_missing_board_is_asked_for_with_a_flop():
    fields = {"oop": "AA", "ip": "KK", "pot": "10", "stack": "10", "bets": "a"}
    with pytest.raises(SpecError, match='board is missing; give --board "Td 9d 6h", or with turn and river'):
        request_from_options(fields).spot()
