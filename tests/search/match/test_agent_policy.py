"""Agents judged by name: the policy that they play in a small game."""

import json
import re
from typing import Any

import numpy as np
import pytest

import treeplex as tp
from tests.commands import call
from treeplex.errors import GameError, SpecError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.search import SearchAgent, public_tree
from treeplex.search.agents.agent import agent_policy, histories_in
from treeplex.search.match.agent_policy import policy_of_agent

LEDUC = "leduc_poker(ranks=2)"


def judged(*arguments: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(call("evaluate", *arguments, "--json")[0])
    return found


def test_a_search_of_the_whole_game_is_as_good_as_solving_it() -> None:
    """One subgame, the game itself: the average policy of so many iterations of Discounted CFR."""
    found = judged(LEDUC, "search(depth=0,leaf=zero,drawn=false,iterations=100)")
    assert found["exploitability"] == pytest.approx(tp.solve(LEDUC, "dcfr", iterations=100).exploitability, rel=1e-6)
    assert (found["subgames"], found["playthroughs"]) == (1, None)
    assert found["algorithm"] == "search(depth=0,leaf=zero,drawn=false,iterations=100)"


def test_a_policy_as_an_agent_is_judged_like_the_policy(tmp_path: Any) -> None:
    tp.solve("kuhn_poker", iterations=50, out=tmp_path / "run")
    own, asked = judged("kuhn_poker", tmp_path / "run"), judged("kuhn_poker", f"blueprint(file={tmp_path / 'run'})")
    assert asked["exploitability"] == pytest.approx(own["exploitability"], rel=1e-9)
    assert asked["subgames"] == 0


def test_python_and_the_command_line_agree() -> None:
    text = "search(depth=1,leaf=zero,iterations=20,drawn=false)"
    game = tp.compile("kuhn_poker")
    found = judged("kuhn_poker", text, "--worst", 2, "--exact")
    assert found["exploitability"] == pytest.approx(tp.exploitability(game, tp.agent(text, game)), rel=1e-9)
    assert tp.judge(game, text).exploitability == pytest.approx(found["exploitability"], rel=1e-9)
    assert tp.judge(game, tp.agent(text, game)).value == pytest.approx(found["value"])
    assert found["exact_value"] == pytest.approx(-1 / 18)
    assert len(found["worst"]) == 2


def test_who_draws_is_judged_by_the_mean_of_plays() -> None:
    """The more plays, the closer to the agent; the seed decides what is drawn."""
    text = "search(iterations=32,depth=0,leaf=zero)"
    one, again, other, many = (
        judged("kuhn_poker", text, "--playthroughs", plays, "--seed", seed) for plays, seed in ((1, 1), (1, 1), (1, 2), (40, 1))
    )
    assert one["exploitability"] == again["exploitability"] != other["exploitability"]
    assert many["exploitability"] < 0.5 * max(one["exploitability"], other["exploitability"])
    assert many["playthroughs"] == 40
    assert judged("kuhn_poker", text)["playthroughs"] == 32
    assert "the mean of 2 playthroughs, " in call("evaluate", "kuhn_poker", text, "--playthroughs", 2)[0]


def test_settings_over_those_in_the_text() -> None:
    by_text = judged("kuhn_poker", "search(depth=1,leaf=zero,iterations=9,drawn=false)")
    changes = [part for change in ("depth=1", "leaf=zero", "drawn=false") for part in ("--set", change)]
    by_option = judged("kuhn_poker", "search(leaf=exact)", "--iterations", 9, *changes)
    assert by_text["exploitability"] == by_option["exploitability"]


def test_three_players() -> None:
    game = "kuhn_poker(players=3)"
    found = policy_of_agent(game, "uniform")
    assert found.policy.probabilities == pytest.approx(tp.Policy.uniform(compile_game(game)).probabilities)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("kuhn_poker", "search", "--complete"), "agent search does not support --complete"),
        (("kuhn_poker", "search", "--workers", 2), "agent search does not support .*--workers"),
        (("kuhn_poker", "search", "--think", "0"), "thinking time is"),
        (("kuhn_poker", "uniform", "--think", "1"), "apply to agents, not to uniform"),
        (("kuhn_poker", "uniform", "--workers", 2), "apply to agents, not to uniform"),
        (("kuhn_poker", "search", "--set", "dpeth=2"), "did you mean 'depth'"),
        (("kuhn_poker", "search", "--playthroughs", 0), "playthroughs must be"),
        (("turn_endgame", "search"), "is a hold'em spot, whose infosets are not enumerated"),
        (("goofspiel(num_cards=3)", "search"), "its rules do not define public states"),
        (("kuhn_poker", "serch(depth=2)"), "did you mean|no policy file"),
    ],
)
def test_refusals_are_one_line(arguments: tuple[object, ...], message: str) -> None:
    out, err = call("evaluate", *arguments, code=2)
    assert out == ""
    assert err.count("\n") == 1
    assert re.search(message, err), err


def test_agents_are_shown_and_exported(tmp_path: Any) -> None:
    assert "can play several games; name one (--game)" in call("show", "search", code=2)[1]
    text = "search(depth=0,leaf=zero,drawn=false,iterations=50)"
    assert "6 of 12" in call("show", text, "--game", "kuhn_poker", "--limit", 6)[0]
    call("export", text, tmp_path / "out.json", "--game", "kuhn_poker")
    assert judged("kuhn_poker", tmp_path / "out.json")["exploitability"] == judged("kuhn_poker", text)["exploitability"]


@pytest.mark.slow
def test_every_subgame_is_solved_once() -> None:
    """Though a new play is begun for every history, and few subgames are remembered."""
    game, counts = tp.compile("leduc_poker"), []
    for remember in (16, 10**6):
        told: list[tuple[int, int, int]] = []
        found = tp.agent("search(depth=2,leaf=zero,iterations=2,drawn=false)", game)
        assert isinstance(found, SearchAgent)
        found.remember = remember
        agent_policy(found, game, watch=lambda *numbers, told=told: told.append(numbers))
        assert found.searches == told[-1][2]
        assert [done for done, _, _ in told] == list(range(1, histories_in(public_tree("leduc_poker")) + 1))
        assert {total for _, total, _ in told} == {len(told)}
        counts.append(found.searches)
    assert counts[0] == counts[1] > 50


def test_agents_of_spots_have_no_table() -> None:
    with pytest.raises(GameError, match="hold'em spot"):
        policy_of_agent("turn_endgame", "uniform")
    with pytest.raises(SpecError, match="playthroughs"):
        policy_of_agent("kuhn_poker", "uniform", plays=0)
    assert np.isfinite(policy_of_agent("kuhn_poker", "uniform").seconds)
