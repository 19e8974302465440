"""Options of spots: what spot they make, and that every mistake is one message."""

import math
import random
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.holdem.cli.nonsense import NONSENSE
from treeplex.base.located_text import option
from treeplex.errors import SpecError, TreeplexError
from treeplex.holdem.betting.tree import betting_tree
from treeplex.holdem.cards.cards import parse_cards
from treeplex.holdem.cli.shared.requests import described_spot
from treeplex.holdem.spots.fields import read_target
from treeplex.holdem.spots.files import read_spot_file, spot_request
from treeplex.holdem.spots.spot import Rake
from treeplex.holdem.spots.spot_table import FIELDS
from treeplex.run.cli.main import app

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


def spot_of(options=GOOD, file=None, **sources):
    return described_spot(file, {**options, **sources}).game


def test_options_alone():
    found = spot_of()
    assert found.board == parse_cards("Td9d6hQc2s")
    assert found.settings.target.chips(200) == pytest.approx(1)
    assert found.bets.streets[3][1].to_json() == {"bets": "50%,a", "raises": "60%", "donk": "default"}


def test_sizes_of_streets_and_players_go_over_those_of_all():
    extra = {"river-bets": "33%", "oop-bets": "20%", "ip-raises": "3x", "donk": "none", "rake": "5%", "rake-cap": "3"}
    spot = spot_request(None, {**GOOD, "board": "Td9d6hQc", **extra}).spot()
    sizes = {(street, player): spot.bets.streets[street][player].to_json() for street in (2, 3) for player in (0, 1)}
    assert sizes[2, 0] == {"bets": "20%", "raises": "60%", "donk": ""}
    assert sizes[2, 1] == {"bets": "50%,a", "raises": "3x", "donk": "default"}
    assert (sizes[3, 0]["bets"], sizes[3, 1]["bets"]) == ("20%", "33%")
    assert (spot.rake.rate, spot.rake.cap) == (0.05, 3)


@pytest.mark.parametrize(
    ("extra", "turn", "river"),
    [
        ({"donk": "none"}, "", "50%,a"),
        ({"donk": "25%", "turn-bets": "33%"}, "25%", "50%,a"),
        ({"donk": "none", "oop-bets": "20%"}, "20%", "20%"),  # bets given for the player are no leads
        ({"river-donk": "none"}, "50%,a", "50%,a"),
        ({"donk": "default"}, "50%,a", "50%,a"),
    ],
)
def test_donk_sizes_are_also_the_first_bets_out_of_position(extra, turn, river):
    spot = spot_request(None, {**GOOD, "board": "Td9d6hQc", **extra}).spot()
    assert [spot.bets.streets[street][0].to_json()["bets"] for street in (2, 3)] == [turn, river]
    bets = {"turn": extra.get("turn-bets", "50%,a"), "river": "50%,a"}
    assert [spot.bets.streets[street][1].to_json()["bets"] for street in (2, 3)] == list(bets.values())
    _, first = next(betting_tree(spot).decisions())
    assert len(first.children) == 1 + len(turn.split(",")) * bool(turn)  # check, and the sizes


HEADS_UP = {"oop": "all", "ip": "all", "stack": "200", "pot": "0", "blinds": "1, 2"}
ON_TURN = {"board": "Td Ah Jh Qc", "oop": "TT+", "ip": "TT+, KQ", "pot": "200", "stack": "900"}
VALUES = {
    "bets": "{default: '50%, a', river: {oop: 33%}}",
    "raises": "{turn: 3x, default: a}",
    "donk": "{turn: none, river: 30%}",
    "rake": "{rate: 5%, cap: 3}",
    "format": "royal",
    "board": "Td Ah Jh Qc",
    "oop": "TT+",
    "ip": "TT+, KQ",
    "chip": "0.5",
    "locks": "{line: x, strategy: {x: 70%, a: 30%}}",
}
"""What to write for a field where its example would change nothing or not fit."""


OF_ANY_GAME = ("target", "iterations", "algorithm", "threads", "device")
"""Fields that are options of ``solve`` for any game."""


@pytest.mark.slow_cases("oop", "ip", "donk", "rake", "until", "net")
@pytest.mark.parametrize("name", [name for name in FIELDS if name not in OF_ANY_GAME])
def test_every_field_is_an_option_that_says_the_same_as_the_file(name, tmp_path):
    """The options are those of the real command, so a field without one, or read in another way, fails here."""
    field = FIELDS[name]
    base = {key: value for key, value in (HEADS_UP if name in ("blinds", "limps") else ON_TURN).items() if key != name}
    value = VALUES.get(name, field.example)
    text = "".join(f"{key}: {each}\n" for key, each in base.items())
    (tmp_path / "whole.yaml").write_text(f"{text}{name}: {value}\n")
    (tmp_path / "rest.yaml").write_text(text)
    words = [f"--{field.option}", value]
    spot, settings = parsed_by_solve(str(tmp_path / "rest.yaml"), *words)
    file = read_spot_file(tmp_path / "whole.yaml")
    assert spot.identity == file.spot().identity
    assert without_places(settings) == without_places(file.settings())
    if name not in ("board", "oop", "ip", "pot", "stack", "blinds"):  # it says something
        plain = read_spot_file(tmp_path / "rest.yaml")
        assert (spot.identity, without_places(settings)) != (plain.spot().identity, without_places(plain.settings()))


@pytest.mark.parametrize(
    ("file", "words", "says"),
    [
        (
            "thresholds: {add_allin: 150%, merge: 10%}",
            ["--merge", "30%"],
            lambda spot: (spot.bets.add_allin, spot.bets.merge) == (1.5, 0.3),
        ),
        ("rake: {rate: 5%, cap: 3}", ["--rake-cap", "1"], lambda spot: (spot.rake.rate, spot.rake.cap) == (0.05, 1)),
        ("rake: {rate: 5%, no_flop_no_drop: true}", ["--no-flop-no-drop", "false"], lambda spot: spot.rake == Rake(0.05)),
        ("rake: {rate: 5%, cap: 3}", ["--rake", "4%"], lambda spot: (spot.rake.rate, spot.rake.cap) == (0.04, math.inf)),
        ("bets: a", ["--river-bets", "{ip: 33%}"], lambda spot: [sizes(spot, 3, p) for p in (0, 1)] == ["a", "33%"]),
        ("raises: a", ["--river-raises", "3x"], lambda spot: [sizes(spot, s, 1, "raises") for s in (2, 3)] == ["a", "3x"]),
        ("donk: none", ["--river-donk", "20%"], lambda spot: [sizes(spot, s, 0, "donk") for s in (2, 3)] == ["", "20%"]),
    ],
)
def test_options_of_one_entry_keep_the_others_of_the_file(file, words, says, tmp_path):
    (tmp_path / "spot.yaml").write_text(f"board: Td Ah Jh Qc\noop: TT+\nip: TT+\npot: 200\nstack: 900\n{file}\n")
    assert says(parsed_by_solve(str(tmp_path / "spot.yaml"), *words)[0])


def sizes(spot, street, player, kind="bets"):
    return spot.bets.streets[street][player].to_json()[kind]


def parsed_by_solve(*words):
    """The spot and the settings that ``treeplex solve`` would solve with these words on the command line."""
    seen = []

    def stop(game, *_, **__):
        seen.append(game)
        raise SpecError("seen enough")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("treeplex.run.solve.solve.solve", stop)
        result = CliRunner().invoke(app, ["solve", *words])
    assert "seen enough" in result.output, result.output
    return seen[0], seen[0].settings


def without_places(settings):
    locks = [(lock.line, lock.hands, lock.strategy) for lock in settings.locks]
    return replace(settings, locks=()), locks


def test_the_example_says_the_same_as_options_as_in_the_file():
    path = Path(__file__).parents[4] / "examples" / "spots" / "river.yaml"
    head = "".join(line[1:] for line in path.read_text().split("\n") if line.startswith("#"))
    words = shlex.split(head[head.index("treeplex solve") :])[2:]
    target = words.pop(words.index("--target") + 1)
    words.remove("--target")
    spot, settings = parsed_by_solve(*words)
    file = read_spot_file(path)
    assert spot.identity == file.spot().identity
    assert replace(settings, target=read_target(option(target, "target"), None)) == file.settings()


def test_locks():
    found = spot_of({**GOOD, "lock": ["x [QQ+]: x 100%", ": x 50%, b50% 50%"]})
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
    options = {"oop": "22+", "ip": "AK", "bets": "50%", "raises": "a", "stack": "80"}
    found = described_spot(None, {**options, "phh": path})
    assert (found.game.board, found.game.pot, found.game.stack) == (parse_cards("AsKd2c"), 10, 80)
    assert found.steps == [("show {} --line x,b4,c,3h,b11", "the last decision of the hand")]
    assert found.game.bets.streets[1][1].to_json()["bets"] == "50%,4c"
    turn = spot_of({"oop": "22+", "ip": "AK"}, phh=path, street="turn")
    assert (turn.board, turn.pot) == (parse_cards("AsKd2c3h"), 18)


@pytest.mark.parametrize(
    ("options", "sources", "says"),
    [
        ({"stack": "9"}, {}, "the spot: board is missing; give --board"),
        ({**GOOD, "pot": "x"}, {}, "--pot: 'x' is not a number; write --pot 200"),
        ({**GOOD, "oop": "66+,ZZ"}, {}, "--oop: "),
        ({**GOOD, "oop-bets": "2x"}, {}, "--oop-bets: bet size '2x'"),
        ({**GOOD, "rake-cap": "3"}, {}, "--rake-cap: a cap needs a rate; add --rake 5%"),
        ({**GOOD, "bets": "{river: 50%"}, {}, "--bets: invalid YAML: "),
        ({**GOOD, "bets": "{rivr: 50%}"}, {}, "--bets: rivr: unknown key 'rivr'; did you mean 'river'?"),
        (
            {**GOOD, "thresholds": "10%"},
            {},
            "--thresholds: must be a table with the keys add_allin, force_allin, merge, not a string",
        ),
        ({**GOOD, "merge": "much"}, {}, "--merge: 'much' is not a number; write --merge 10%"),
        ({**GOOD, "thresholds": "{merge: much}"}, {}, "--thresholds: merge: 'much' is not a number; write merge: 10%"),
        ({**GOOD, "limit": "{bets: 2, most: 4}"}, {}, "--limit: fixed limit and no-limit sizes (bets) cannot be combined"),
        ({**GOOD, "pot": "6.5bb"}, {}, "--stack: 900 has no unit, but other amounts are in big blinds; write --stack 900bb"),
        ({**GOOD, "target": "0.1bb"}, {}, "--target: the big blind in chips is unknown"),
        ({**GOOD, "bets": "3bb"}, {}, "--bets: the big blind in chips is unknown"),
        ({**GOOD, "pot": "xbb", "stack": "97bb"}, {}, "--pot: 'x' is not a number; write --pot 200"),
        ({**GOOD, "pot": "6.5", "chip": "1"}, {}, "--pot: pot 6.5 is not a multiple of chip 1"),
        ({**GOOD, "board": "Td9d6hQc2sAs"}, {}, "--board: board 'Td9d6hQc2sAs' has 6 cards"),
        ({**GOOD, "target": "-1"}, {}, "--target: '-1' is not a target"),
        ({**GOOD, "lock": ["x"]}, {}, "--lock: cannot read 'x'; write 'x, b50% [AA, KK]: c 80%, f 20%'"),
        ({key: GOOD[key] for key in GOOD if key != "ip"}, {}, "the spot: ip is missing; give --ip"),
        (GOOD, {"decoding": "true"}, "--decoding needs --endgame"),
        (GOOD, {"hand": 2}, "--hand needs --phh"),
        (GOOD, {"endgame": "x.txt"}, "--board cannot be combined with --endgame"),
        ({"pot": "3"}, {"resume": "x"}, "--pot cannot be combined with --resume"),
        ({}, {"resume": "x", "endgame": "y"}, "--endgame and --resume cannot be combined"),
        ({}, {"endgame": "/nowhere/x.txt"}, "cannot read /nowhere/x.txt"),
        ({"pot": "3"}, {"file": "/nowhere/x.yaml"}, "cannot read /nowhere/x.yaml"),
        ({"pot": "3"}, {"file": "leduc_poker"}, "--pot applies to hold'em spots, not to leduc_poker"),
    ],
)
def test_mistakes(options, sources, says):
    with pytest.raises(TreeplexError) as caught:
        spot_of(options, **sources)
    assert says in str(caught.value)


JUNK = [*NONSENSE, "50%,50%"]


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
            spot_of(options)
        except TreeplexError as error:
            complaints += 1
            message = str(error)
            assert "\n" not in message
            assert message.startswith(("--", "the spot")), message
            assert len(message) < 900
    assert complaints > 50
