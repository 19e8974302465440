"""Options of ``holdem solve``: what spot they make, and that every mistake is one message."""

import random

import pytest

from treeplex.errors import TreeplexError
from treeplex.games.poker.cards.cards import parse_cards
from treeplex.play.cli.holdem.options import request_of
from treeplex.play.cli.holdem.requests import read_task

GOOD = {
    "board": "Td 9d 6h Qc 2s",
    "oop": "66+,AJs+",
    "ip": "QQ-22,ATs+",
    "pot": "200",
    "stack": "900",
    "bets": "50%,a",
    "raises": "60%",
    "target": "0.5%",
    "threads": "1",
}
NONE = dict.fromkeys(("endgame", "decoding", "phh", "hand", "street"))


def task(options=GOOD, file=None, resume=None, **sources):
    return read_task(file, options, {**NONE, **sources}, resume)


def test_options_alone():
    found = task()
    assert found.spot.board == parse_cards("Td9d6hQc2s")
    assert found.settings.target.chips(200) == pytest.approx(1)
    assert found.spot.bets.streets[3][1].to_json() == {"bets": "50%,a", "raises": "60%", "donk": "default"}


def test_sizes_of_streets_and_players_go_over_those_of_all():
    extra = {"river-bets": "33%", "oop-bets": "20%", "ip-raises": "3x", "donk": "none", "rake": "5%", "rake-cap": "3"}
    spot = request_of(None, {**GOOD, "board": "Td9d6hQc", **extra}).spot()
    sizes = {(street, player): spot.bets.streets[street][player].to_json() for street in (2, 3) for player in (0, 1)}
    assert sizes[2, 0] == {"bets": "20%", "raises": "60%", "donk": ""}
    assert sizes[2, 1] == {"bets": "50%,a", "raises": "3x", "donk": "default"}
    assert (sizes[3, 0]["bets"], sizes[3, 1]["bets"]) == ("20%", "33%")
    assert (spot.rake.rate, spot.rake.cap) == (0.05, 3)


def test_locks():
    found = task({**GOOD, "lock": ["x [QQ+]: x 100%", ": x 50%, b50% 50%"]})
    locks = [(lock.line, dict(lock.strategy)) for lock in found.settings.locks]
    assert locks == [("x", {"x": 1}), ("", {"x": 0.5, "b50%": 0.5})]


def test_a_hand_history(tmp_path):
    pytest.importorskip("pokerkit")
    path = tmp_path / "hand.phh"
    path.write_text(
        "variant = 'NT'\nantes = [0, 0]\nblinds_or_straddles = [1, 2]\nmin_bet = 2\nstarting_stacks = [100, 100]\n"
        "actions = ['d dh p1 ????', 'd dh p2 ????', 'p2 cbr 5', 'p1 cc', 'd db AsKd2c', 'p1 cc', 'p2 cbr 4', 'p1 cc', "
        "'d db 3h', 'p1 cbr 11', 'p2 f']\n"
    )
    found = task({"oop": "22+", "ip": "AK", "bets": "50%", "raises": "a", "stack": "80"}, phh=path)
    assert (found.spot.board, found.spot.pot, found.spot.stack) == (parse_cards("AsKd2c"), 10, 80)
    assert found.line == "x,b4,c,3h,b11,f"
    assert found.spot.bets.streets[1][1].to_json()["bets"] == "50%,4c"
    turn = task({"oop": "22+", "ip": "AK"}, phh=path, street="turn")
    assert (turn.spot.board, turn.spot.pot) == (parse_cards("AsKd2c3h"), 18)


@pytest.mark.parametrize(
    ("options", "sources", "says"),
    [
        ({}, {}, "no spot given; name a spot file, or give --board"),
        ({**GOOD, "pot": "x"}, {}, "--pot: 'x' is not a number; write --pot 200"),
        ({**GOOD, "oop": "66+,ZZ"}, {}, "--oop: "),
        ({**GOOD, "oop-bets": "2x"}, {}, "--oop-bets: bet size '2x'"),
        ({**GOOD, "rake-cap": "3"}, {}, "--rake-cap: a cap without a rate"),
        ({**GOOD, "board": "Td9d6hQc2sAs"}, {}, "--board: board 'Td9d6hQc2sAs' has 6 cards"),
        ({**GOOD, "target": "-1"}, {}, "--target: '-1' is no target"),
        ({**GOOD, "lock": ["x"]}, {}, "--lock: cannot read 'x'; write 'x, b50% [AA, KK]: c 80%, f 20%'"),
        ({key: GOOD[key] for key in GOOD if key != "ip"}, {}, "the spot: ip is missing; give --ip"),
        (GOOD, {"decoding": "true"}, "--decoding is for --endgame"),
        (GOOD, {"hand": 2}, "--hand is for --phh"),
        (GOOD, {"endgame": "x.txt"}, "--board does not go with --endgame"),
        ({"pot": "3"}, {"resume": "x"}, "--pot does not go with --resume"),
        ({}, {"resume": "x", "endgame": "y"}, "--endgame and --resume exclude each other"),
        ({}, {"endgame": "/nowhere/x.txt"}, "cannot read /nowhere/x.txt"),
        ({}, {"file": "/nowhere/x.yaml"}, "cannot read /nowhere/x.yaml"),
    ],
)
def test_mistakes(options, sources, says):
    with pytest.raises(TreeplexError) as caught:
        task(options, **sources)
    assert says in str(caught.value)


JUNK = [
    "",
    " ",
    "x",
    "0",
    "-1",
    "1e999",
    "nan",
    "%",
    "a,,b",
    "50",
    "[1]",
    "{",
    "9" * 300,
    "é",
    "\0",
    ":",
    "AA:9",
    "Td",
    "50%,50%",
]


@pytest.mark.parametrize("seed", range(5))
def test_junk_gives_one_message_or_a_spot(seed):
    draw = random.Random(seed)
    names = [*GOOD, "river-bets", "ip-bets", "oop-raises", "donk", "rake", "rake-cap", "iterations", "algorithm", "storage"]
    complaints = 0
    for _ in range(80):
        options = dict(GOOD)
        for name in draw.sample(names, draw.randint(1, 3)):
            options[name] = draw.choice(JUNK)
        if draw.random() < 0.2:
            options["lock"] = [draw.choice(JUNK)]
        try:
            task(options)
        except TreeplexError as error:
            complaints += 1
            message = str(error)
            assert "\n" not in message
            assert message.startswith(("--", "the spot")), message
            assert len(message) < 900
    assert complaints > 50
