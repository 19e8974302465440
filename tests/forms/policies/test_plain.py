"""Policies written by hand: mappings, plain JSON and plain CSV."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treeplex as tp
from treeplex.errors import FileError, PolicyError

PASS, BET = 0, 1
BLUFF = {"0": {"0": 1.0}, "0pb": {"0": 1}, "1": {"0": 2 / 3, "1": 1 / 3}, "1pb": {"1": 1}, "2": {"Bet": 1}, "2pb": {"Bet": 1}}


def whole() -> dict[str, Mapping[Any, float]]:
    """A policy of Kuhn poker; that of player 1 is uniform."""
    other = {f"{card}{move}": {"0": 0.5, "1": 0.5} for card in range(3) for move in "pb"}
    return {**BLUFF, **other}


def check_bluff(policy: tp.Policy) -> None:
    assert policy["0pb"] == {PASS: 1.0, BET: 0.0}
    assert policy["1"] == pytest.approx({PASS: 2 / 3, BET: 1 / 3})
    assert policy["2"] == {PASS: 0.0, BET: 1.0}
    assert policy["2b"] == {PASS: 0.5, BET: 0.5}


def csv_of(table: Mapping[str, Mapping[Any, float]], first: str = "infostate,action,probability") -> str:
    rows = [f"{infostate},{action},{p:.3f}" for infostate, row in table.items() for action, p in row.items()]
    return "\n".join([first, *rows, ""])


def test_plain_json(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(whole()))
    check_bluff(tp.load_policy(path, "kuhn_poker"))
    assert tp.judge("kuhn_poker", path).value[0] == tp.judge("kuhn_poker", whole()).value[0]
    by_player = {str(player): {key: row for key, row in whole().items() if len(key) % 2 != player} for player in (0, 1)}
    path.write_text(json.dumps(by_player))
    check_bluff(tp.load_policy(path, tp.compile("kuhn_poker")))


def test_plain_csv(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(csv_of(whole()))
    check_bluff_rounded = tp.load_policy(path, "kuhn_poker")
    assert check_bluff_rounded["1"] == pytest.approx({PASS: 0.667, BET: 0.333})
    rows = "\n".join(f"{len(key) % 2 ^ 1},x,{key},{a},{p}" for key, row in whole().items() for a, p in row.items())
    path.write_text(f"player,comment,infostate,action,probability\n{rows}\n")
    check_bluff(tp.load_policy(path, "kuhn_poker"))


def test_thirds_written_with_three_digits_are_a_distribution(tmp_path: Path) -> None:
    path = tmp_path / "rps.csv"
    states = [infostate for _, infostate in tp.Policy.uniform(tp.compile("rock_paper_scissors"))]
    rows = "".join(f'"{state}",{name},0.333\n' for state in states for name in ("Rock", "Paper", "Scissors"))
    path.write_text("infostate,action,probability\n" + rows)
    policy = tp.load_policy(path, "rock_paper_scissors")
    np.testing.assert_allclose(list(policy[states[0]].values()), 1 / 3, rtol=1e-12)
    path.write_text("infostate,action,probability\n" + rows.replace("0.333", "0.3"))
    with pytest.raises(PolicyError, match="not a distribution at infostate"):
        tp.load_policy(path, "rock_paper_scissors")


@pytest.mark.parametrize("kind", ["mapping", "json", "csv"])
def test_partial_policies_are_completed_on_request(kind: str, tmp_path: Path) -> None:
    source: Any = BLUFF
    if kind != "mapping":
        source = tmp_path / f"part.{kind}"
        source.write_text(json.dumps(BLUFF) if kind == "json" else csv_of(BLUFF))
    with pytest.raises(PolicyError, match=r"lacks 6 of 12 infostates of kuhn_poker, such as .* of player 1.*--complete"):
        tp.policies.as_policy("kuhn_poker", source)
    policy = tp.policies.as_policy("kuhn_poker", source, complete=True)
    assert policy["2b"] == {PASS: 0.5, BET: 0.5}
    assert policy["2"] == {PASS: 0.0, BET: 1.0}


@pytest.mark.parametrize("suffix", [".json", ".csv"])
def test_files_with_a_header_are_completed_too(suffix: str, tmp_path: Path) -> None:
    policy = tp.solve("kuhn_poker", iterations=50).policy
    path = tmp_path / f"policy{suffix}"
    tp.policies.save(policy, path)
    text = path.read_text()
    if suffix == ".json":
        data = json.loads(text)
        del data["checksum"], data["policy"]["0"]["0pb"]
        path.write_text(json.dumps(data))
    else:
        lines = text.splitlines(keepends=True)
        header = json.loads(lines[0][1:])
        del header["checksum"]
        path.write_text(f"# {json.dumps(header)}\n" + "".join(line for line in lines[1:] if '"0pb"' not in line))
    with pytest.raises(PolicyError, match="infostate '0pb'"):
        tp.load_policy(path)
    found = tp.load_policy(path, complete=True)
    assert found["0pb"] == {PASS: 0.5, BET: 0.5}
    assert found["1"] == policy["1"]


@pytest.mark.parametrize(
    ("name", "text", "error", "message"),
    [
        (
            "a.csv",
            "state,action,probability\n",
            FileError,
            r"a\.csv:1: column 'infostate' is missing; the first line must be",
        ),
        ("a.csv", "", FileError, "column 'infostate' is missing"),
        ("a.csv", "infostate,action,probability\n0,0,half\n", FileError, r"a\.csv:2: probability 'half' is not a number"),
        ("a.csv", "infostate,action,probability\n0,0\n", FileError, r"a\.csv:2: too few entries"),
        ("a.json", '{"0": {"0": 1}, "1": {"0": 1}, "0": {"1": 1}}', FileError, r"a\.json .*'0' is given twice"),
        ("a.json", '{"0": {"0": 0.5, "1": 0.5, "0": 1}}', FileError, r"a\.json .*'0' is given twice"),
        ("a.csv", "infostate,action,probability\n0,0,1\n0,0,1\n", FileError, r"a\.csv:3: action '0' at .* is given twice"),
        (
            "a.csv",
            "player,infostate,action,probability\nx,0,0,1\n",
            FileError,
            r"a\.csv:2: player 'x' is not a player number",
        ),
        (
            "a.csv",
            "infostate,action,probability\n0,Raise,1\n",
            PolicyError,
            r"no action .Raise. .*legal actions: 0 \(Pass\), 1",
        ),
        ("a.csv", "infostate,action,probability\n9,0,1\n", PolicyError, "has no infostate '9'; its infostates look like '0'"),
        ("a.json", "[]", FileError, "is not a policy; write {infostate: {action: probability}}"),
        ("a.json", '{"0": 1}', FileError, "is not a policy; write"),
        ("a.json", '{"0": {"0": "much"}}', PolicyError, "is not a number: 'much'"),
        ("a.json", '{"me": {"0": {"0": 1}}}', FileError, "'me' is not a player"),
        ("a.json", '{"0": {"0": 0.5, "1": 0.6}}', PolicyError, "not a distribution at infostate '0'"),
        ("a.json", '{"0": {"0": 0.9, "Pass": 0.5, "1": 0.5}}', PolicyError, "action 'Pass' at infostate '0' is given twice"),
    ],
)
def test_what_is_wrong_is_said(name: str, text: str, error: type[Exception], message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(error, match=message):
        tp.load_policy(tmp_path / name, "kuhn_poker", complete=True)


def test_the_game_has_to_be_given(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(whole()))
    with pytest.raises(PolicyError, match=r"a\.json does not name its game; give the game"):
        tp.load_policy(tmp_path / "a.json")
