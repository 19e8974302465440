"""Agents by name: what texts mean, what is refused, and that those who meet play one game."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treeplex as tp
from treeplex.base.settings import Settings
from treeplex.base.spec import parse_spec
from treeplex.errors import FileError, GameError, PolicyError, SpecError
from treeplex.forms.sources.load import load
from treeplex.games.base import TERMINAL
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.spots.known import holdem
from treeplex.search import SearchAgent
from treeplex.search.agents.agent import TableAgent, UniformAgent, agent_policy, play_game
from treeplex.search.named_agents.kind import AgentKind
from treeplex.search.named_agents.registry import PATIENCE, agent, agents, names_agent, seconds_of, spec_of, usual_time

KUHN = "kuhn_poker"
SPOT = holdem("3s7hTdKs", "QQ,AKs", "99,KQs", pot=20.0, stack=40.0, bets=BetPlan.same("100%", ""))
OWN = """\
from treeplex.search import TableAgent, ZeroLeaf
import treeplex as tp

ZERO = ZeroLeaf()


def uniform(game):
    return TableAgent(game, tp.policies.as_policy(tp.compile("kuhn_poker"), "uniform"))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a run, a policy file and a file of one's own."""
    monkeypatch.chdir(tmp_path)
    solution = tp.solve(KUHN, iterations=100, out="run")
    tp.policies.save(solution.policy, "policy.json")
    (tmp_path / "my.py").write_text(OWN)
    return tmp_path


def test_every_kind_says_what_it_is() -> None:
    for name, kind in tp.agents().items():
        assert isinstance(kind, AgentKind)
        assert kind.name == name
        assert issubclass(kind.settings, Settings)
        assert kind.text
        assert kind.plays
        assert spec_of(kind.example).name == name
        kind.settings.read_changes(spec_of(kind.example).parameters)
        assert all(meaning for _, _, meaning in kind.settings.table_rows())


@pytest.mark.quick_cases("policy.json")
@pytest.mark.parametrize("text", ["run", "policy.json", "blueprint(file=run)", "blueprint(file='policy.json')"])
def test_a_stored_policy_is_played_as_it_is(folder: Path, text: str) -> None:
    game = tp.compile(KUHN)
    found = agent_policy(tp.agent(text, KUHN), game)
    assert found.probabilities == pytest.approx(tp.load_policy("run", game).probabilities, abs=1e-12)


def test_a_name_comes_before_a_folder(folder: Path) -> None:
    (folder / "run").rename("uniform")
    uniform, stored = (tp.agent(text, KUHN) for text in ("uniform", "./uniform"))
    assert (uniform.policy() == 0.5).all()
    assert not (stored.policy() == 0.5).all()


def test_files_of_ones_own(folder: Path) -> None:
    assert isinstance(tp.agent("my.py:uniform", KUHN), TableAgent)
    assert tp.agent("my.py:uniform", KUHN, think="2s").think == 2.0  # type: ignore[attr-defined]
    found = tp.agent("my.py:ZERO", KUHN, iterations=7)
    assert isinstance(found, SearchAgent)
    assert found.settings.iterations == 7
    with pytest.raises(SpecError, match="iterations: give settings of a custom agent in brackets"):
        tp.agent("my.py:uniform", KUHN, iterations=7)


ADVISED = Path(__file__).resolve().parents[3] / "examples" / "extending" / "advised_agent.py"


def test_a_kind_of_ones_own_has_settings() -> None:
    found = tp.agent(f"{ADVISED}:AdvisedSearch(depth=1,iterations=9,think=500ms)", KUHN, iterations=8)
    assert isinstance(found, SearchAgent)
    assert (found.settings.horizon.depth, found.settings.iterations, found.think) == (1, 8, 0.5)
    with pytest.raises(SpecError, match="agent advised has no setting 'dpeth'; did you mean 'depth'"):
        tp.agent(f"{ADVISED}:AdvisedSearch(dpeth=1)", KUHN)
    with pytest.raises(SpecError, match="depth must be an integer of at least 1, not 0"):
        tp.agent(f"{ADVISED}:AdvisedSearch(depth=0)", KUHN)


def test_settings_in_words_and_in_python() -> None:
    one = tp.agent("search(depth=1,leaf=zero,iterations=9,think=500ms,drawn=false)", KUHN)
    other = tp.agent("search", KUHN, depth=1, leaf="zero", iterations=9, think=0.5, drawn=False)
    for found in (one, other):
        assert isinstance(found, SearchAgent)
        assert (found.settings.iterations, found.settings.horizon.depth, found.think, found.drawn) == (9, 1, 0.5, False)
    assert tp.agent("search(think=3s)", KUHN, think=1).think == 1.0  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "seconds"), [("2s", 2.0), ("500ms", 0.5), ("2", 2.0), (" 1.5 S", 1.5), ("2min", 120.0), (".25", 0.25), (3, 3.0)]
)
def test_times(text: Any, seconds: float) -> None:
    assert seconds_of(text) == pytest.approx(seconds)


def test_no_time_to_think_is_a_setting() -> None:
    assert (tp.agent("search(think=2s)", KUHN).think, tp.agent("search(think=none)", KUHN).think) == (2.0, None)


@pytest.mark.parametrize("text", ["0", "0ms", 0, -1, "-1s", "soon", "2h", "", "1e3s", float("nan"), float("inf")])
def test_what_is_no_time(text: Any) -> None:
    with pytest.raises(SpecError, match="give a time above 0, such as 2s, 500ms or 2"):
        seconds_of(text)


@pytest.mark.parametrize(
    ("text", "game", "error", "message"),
    [
        ("nobody", KUHN, SpecError, "unknown agent or policy file 'nobody'; known: .*; see treeplex agents"),
        ("unifrom", KUHN, SpecError, "did you mean 'uniform'"),
        ("blueprint", KUHN, SpecError, r"agent blueprint needs file; write, for example, blueprint\(file=runs/leduc\)"),
        ("blueprint(file=none.json)", KUHN, FileError, "none.json"),
        ("uniform(depth=2)", KUHN, SpecError, "agent uniform has no setting 'depth', nor any other"),
        ("search(dpeth=2)", KUHN, SpecError, "agent search has no setting 'dpeth'; did you mean 'depth'"),
        ("search(depth=-1)", KUHN, SpecError, "depth must be an integer of at least 0, or none, not -1"),
        ("search(think=0s)", KUHN, SpecError, "thinking time is"),
        ("search(", KUHN, SpecError, "no closing bracket"),
        ("rebel", "tic_tac_toe", PolicyError, "no network for these rules"),
        (
            "rebel:",
            "liars_dice(dice=1,faces=4)",
            SpecError,
            "rebel: names no network; write rebel for the best one, or rebel:NAME",
        ),
        ("x" * 5000, KUHN, SpecError, "unknown agent or policy file 'xxx"),
        (f"{'x' * 5000}.py:Agent", KUHN, SpecError, "no file x+ ... x*"),
        (f"rebel(network={'x' * 5000}.safetensors)", KUHN, FileError, "cannot read x+.*file name too long"),
        ("deepstack(depth=1,rounds=0)", KUHN, SpecError, "100,000 iterations per decision; choose .* at most 10,000"),
        (
            "uniform",
            "goofspiel(num_cards=3)",
            GameError,
            "its rules do not define public states",
        ),
    ],
)
def test_refusals(text: str, game: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        tp.agent(text, game).policy()


def test_who_does_not_search_takes_no_time() -> None:
    for changes in ({"think": 1}, {"iterations": 5}):
        with pytest.raises(SpecError, match="is a search setting, but agent uniform does not search; leave it out"):
            tp.agent("uniform", KUHN, **changes)


def test_who_meets_plays_one_game() -> None:
    game = load("leduc_poker(ranks=2)")
    found = [agent(text, game, seed=1) for text in ("uniform", "search(leaf=zero,iterations=4)")]
    assert sum(play_game(found, np.random.default_rng(1))) == 0.0
    with pytest.raises(GameError, match="the agents play different games"):
        play_game([found[0], tp.agent("uniform", KUHN)], np.random.default_rng(1))


def test_a_seed_repeats_the_play() -> None:
    def plays(seed: int) -> list[list[float]]:
        found = tp.agent("search(leaf=zero,iterations=32,depth=0)", KUHN, seed=seed)
        return [found.policy().ravel().tolist() for _ in range(5) if found.begin() is None]

    assert plays(1) == plays(1) != plays(2)


def test_networks_that_come_with_the_library() -> None:
    pytest.importorskip("torch")
    four = "liars_dice(dice=1,faces=4)"
    texts = ["rebel", "rebel:liars_dice-1x4f-rests", "rebel(network=liars_dice-1x4f-rests)", "rebel(iterations=8)"]
    for text in texts:
        found = tp.agent(text, four, seed=0)
        assert found.about.startswith("rebel:liars_dice-1x4f-rests: trained on ")  # type: ignore[attr-defined]
    assert found.about.endswith(" 8 iterations per search")  # type: ignore[attr-defined]


def test_the_solution_of_a_spot_is_an_agent(tmp_path: Path) -> None:
    """Along a line with a card it plays what the solution says there."""
    solution = tp.solve(SPOT, iterations=30)
    solution.save(tmp_path / "turn.spot")
    game = load(SPOT)
    found = tp.agent(str(tmp_path / "turn.spot"), game)
    for line, seen in (("", ()), ("x", (0,)), ("x,x,2c", (0, 0, 0)), ("b20,c,2c,x", (1, 1, 0, 0))):
        found.begin()
        for event in seen:
            found.see(event)
        view = solution.at(line)
        assert game.public.options(found.state).player == view.player
        np.testing.assert_array_equal(found.policy()[:, view.hands], view.strategy)
    uniform = tp.agent("uniform", game)
    assert isinstance(uniform, UniformAgent)
    assert sum(play_game([found, uniform], np.random.default_rng(0))) == pytest.approx(0.0)
    with pytest.raises(SpecError, match="depth applies to games with a public tree"):
        tp.agent("search(depth=2)", game)


def test_turns_are_searched() -> None:
    game = load(SPOT)
    found = tp.agent("search(iterations=3,river=4)", game, seed=0)
    uniform = tp.agent("uniform", game)
    assert sum(play_game([found, uniform], np.random.default_rng(0))) == pytest.approx(0.0)
    assert game.public.options(found.state).player == TERMINAL


def test_a_search_ends_when_the_time_is_up() -> None:
    """Of a million iterations only some are done; the first always is."""
    found = tp.agent("search(leaf=zero,iterations=20000,depth=0,drawn=false)", "leduc_poker", think="1ms")
    assert isinstance(found, SearchAgent)
    found.policy()
    assert found.thought is not None
    assert 1 <= found.thought.iterations < 20_000
    assert found.thought.subgames == 1
    drawing = tp.agent("search(leaf=zero,iterations=2000,depth=0)", KUHN, think="1ms", seed=1)
    assert drawing.policy().sum(axis=0) == pytest.approx(np.ones(3))


@pytest.mark.parametrize("inner", ["libratus(blueprint=a,gadget=b)", '"libratus(blueprint=a,gadget=b)"'])
def test_agents_within_agents_are_texts(inner: str) -> None:
    found = parse_spec(f"translated(agent={inner},x=2)").parameters
    assert found == {"agent": "libratus(blueprint=a,gadget=b)", "x": 2}


def test_all_have_a_place_in_the_list() -> None:
    assert list(agents())[:2] == ["uniform", "blueprint"]


def test_folders_of_trainings_are_played(tmp_path: Path) -> None:
    folder = str(tmp_path / "response")
    tp.train(KUHN, "best-response", settings={"against": "uniform", "steps": 2, "batch": 64, "hands": 100}, out=folder)
    assert spec_of(folder) == parse_spec(f"best_response(file={folder})")
    assert names_agent(folder)
    assert tp.match(KUHN, [folder, "uniform"]).exact
    (tmp_path / "run.json").write_text('{"format": "treeplex run", "kind": "deepstack"}', encoding="utf-8")
    assert spec_of(str(tmp_path)) == parse_spec(f"deepstack(net={tmp_path})")
    with pytest.raises(FileError, match="nets"):
        tp.agent(tmp_path, KUHN)


@pytest.mark.slow
def test_alphaholdem_plays_its_own_game(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    network = str(tmp_path / "network")
    small = {"updates": 1, "hands": 8, "checked": 8, "channels": 2, "width": 8}
    tp.train(KUHN, "alphaholdem", settings=small, out=network)
    assert spec_of(network) == parse_spec(f"alphaholdem(net={network})")
    assert tp.match(KUHN, [network, "uniform"]).exact
    with pytest.raises(SpecError, match="is a network for kuhn_poker, not for leduc_poker"):
        tp.agent(network, "leduc_poker")


@pytest.mark.parametrize(
    ("text", "game", "iterations", "seconds"),
    [
        ("libratus(blueprint=runs/any)", "leduc_poker", None, PATIENCE),
        ("libratus(blueprint=runs/any)", "leduc_poker", 50, None),
        ("libratus(blueprint=runs/any,iterations=50)", "leduc_poker", None, None),
        ("libratus(blueprint=runs/any,think=none)", "leduc_poker", None, None),
        ("endgames(blueprint=runs/any)", "holdem(stack=100)", None, None),  # it has a time of its own
        ("rebel", "liars_dice(dice=1,faces=4)", None, PATIENCE),
        ("rebel", "holdem(stack=100)", None, None),
        ("uniform", "leduc_poker", None, None),
    ],
)
def test_a_person_waits_two_seconds(text: str, game: str, iterations: int | None, seconds: float | None) -> None:
    assert usual_time(text, load(game), iterations) == seconds


def test_a_time_where_only_iterations_count_names_the_agents_that_take_one() -> None:
    with pytest.raises(
        SpecError,
        match="does not support 'think' in full-game hold'em; set 'iterations', or use an agent that supports it: endgames",
    ):
        agent("rebel", "holdem(stack=100)", think="1s")
