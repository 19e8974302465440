"""Matches: exact and sampled, repeated and resumed, by one process and by several, with agents that fail."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import treeplex as tp
from tests.processes import interrupt_after
from treeplex.base.arrays import Floats
from treeplex.errors import AlgorithmError, FileError, GameError, JobInterrupt, PolicyError, SpecError, TreeplexError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.sources.load import load, public_tree
from treeplex.run.cli.main import app
from treeplex.run.job.folder import METRICS, STATE
from treeplex.run.job.record import Progress
from treeplex.search import PlaythroughSettings, SearchAgent, ZeroLeaf
from treeplex.search.agents.agent import BaseAgent, TableAgent, UniformAgent
from treeplex.search.evaluate.tables import expected_payoffs
from treeplex.search.match.match import match
from treeplex.search.match.settings import HANDS, PLOT, RESULT

LEDUC = "leduc_poker(ranks=2)"
THREE = "kuhn_poker(players=3)"

OWN = """
import numpy as np
from treeplex.search import PlaythroughSettings, SearchAgent, ZeroLeaf
from treeplex.search.agents.agent import BaseAgent


class Mine(BaseAgent):
    '''Plays all actions alike, and may fail with one of the cards, or with all.'''

    draws = True

    def __init__(self, game, fails=False, always=False):
        super().__init__(game)
        self.fails, self.always = fails, always

    def begin(self, seat=None, generator=None, *, at=None):
        self.sit(seat, generator)
        self.state = self.game.first_state()

    def see(self, event):
        self.state = self.game.after(self.state, event)

    def policy(self):
        options = self.game.options(self.state)
        return np.full((len(options.labels), len(self.game.possible(self.state)[options.player])), 1 / len(options.labels))

    def act(self, hand):
        if self.always or (self.fails and hand == 0):
            raise RuntimeError("not this card")
        return super().act(hand)


class Cheap:
    '''Values: nothing for anybody.'''

    def __init__(self, game):
        self.players = game.players

    def __call__(self, state, held):
        return np.zeros((self.players, 1, 1))
"""


@pytest.fixture(scope="module")
def policies() -> list[Policy]:
    game = tp.compile(LEDUC)
    return [tp.solve(game, "cfr+", iterations=n).policy for n in (50, 3)]


@pytest.fixture
def own(tmp_path: Path) -> str:
    (tmp_path / "mine.py").write_text(OWN)
    return f"{tmp_path}/mine.py"


def played(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / HANDS).read_text().splitlines()]


def test_policies_are_judged_exactly(policies: list[Policy]) -> None:
    game = policies[0].game
    found = match(game, policies)
    one, other = (expected_payoffs(game, order) for order in (policies, policies[::-1]))
    assert found.exact
    assert found.hands == 0
    assert found.value == pytest.approx(((one[0] + other[1]) / 2, (one[1] + other[0]) / 2))
    assert found.stderr == (0.0, 0.0)
    assert found.scores[0].by_seat.tolist() == [pytest.approx([one[0], other[1]]), pytest.approx([other[0], one[1]])]
    assert found.mbb_per_hand == pytest.approx([1000 * value for value in found.value])
    assert found.p_value is None
    assert match(game, policies, seats="fixed").value == pytest.approx(tuple(one))


def test_of_three_players_each_sits_everywhere() -> None:
    game = tp.compile(THREE)
    solved = tp.solve(game, "cfr", iterations=50).policy
    uniform = Policy.uniform(game)
    exact = match(game, [solved, "uniform", "uniform"])
    seats = [expected_payoffs(game, [solved if own == seat else uniform for own in range(3)])[seat] for seat in range(3)]
    assert exact.exact
    assert exact.value[0] == pytest.approx(np.mean(seats))
    assert exact.about.agents[1:] == ("uniform", "uniform (2)")
    every = match(game, [solved, "uniform", "uniform"], seats="all")
    assert every.value == pytest.approx((exact.value[0], -exact.value[0] / 2, -exact.value[0] / 2))
    sampled = match(game, [solved, "uniform", "uniform"], sampled=True, hands=30_000)
    assert sampled.hands == 30_000
    assert abs(np.array(sampled.value) - exact.value).max() < 4 * max(sampled.stderr)


@pytest.mark.parametrize("options", [{}, {"duplicate": True}, {"duplicate": True, "seats": "all"}])
def test_sampled_values_agree_with_exact_ones(policies: list[Policy], options: dict[str, Any]) -> None:
    exact = match(LEDUC, policies)
    found = match(LEDUC, policies, sampled=True, hands=20_000, **options)
    assert not found.exact
    assert abs(found.value[0] - exact.value[0]) < 4 * found.stderr[0]
    assert found.value[0] == -found.value[1]
    low, high = found.interval[0]
    assert high - low == pytest.approx(2 * 1.96 * found.stderr[0], rel=1e-3)
    assert found.deals[0] * (2 if options else 1) == 20_000


@pytest.mark.parametrize(("hands", "duplicate", "deals"), [(29, False, 30), (58, True, 29), (28, False, 28)])
def test_an_interval_needs_thirty_deals(policies: list[Policy], hands: int, duplicate: bool, deals: int) -> None:
    """Hands of one deal count once; rounds of two hands are whole."""
    found = match(LEDUC, policies, sampled=True, hands=hands, duplicate=duplicate)
    assert found.deals == (deals, deals)
    note = f"no 95% interval for fewer than 30 deals; {deals} so far"
    assert (note in found.notes()) == (deals < 30)
    assert (found.table()[0][found.columns.index("95% interval")] == "-") == (deals < 30)
    assert (found.plain()["interval"][0] == [None, None]) == (deals < 30)
    assert found.table()[0][1] == f"{found.value[0]:+z.4f}"


def test_duplicate_deals_take_luck_away(policies: list[Policy], tmp_path: Path) -> None:
    plain = match(LEDUC, policies, sampled=True, hands=20_000)
    found = match(LEDUC, policies, sampled=True, hands=20_000, duplicate=True, out=tmp_path / "m")
    assert found.stderr[0] < 0.9 * plain.stderr[0]
    hands = played(tmp_path / "m")
    assert [(hand["hand"], hand["deal"], hand["agents"]) for hand in hands[:4]] == [
        (0, 0, [0, 1]),
        (1, 0, [1, 0]),
        (2, 1, [0, 1]),
        (3, 1, [1, 0]),
    ]


@pytest.mark.slow
def test_aivat_agrees_with_exact_values_and_knows_more(policies: list[Policy]) -> None:
    exact = match(LEDUC, policies)
    for values in (True, "zero", policies[0]):
        found = match(LEDUC, policies, sampled=True, hands=400, aivat=values)
        assert abs(found.value[0] - exact.value[0]) < 4 * found.stderr[0]
        score = found.scores[0]
        assert score.result.deviation[0] < (0.9 if values == "zero" else 0.4) * score.plain.deviation[0]
        assert found.plain()["aivat"]["plain_value"][0][0] == score.plain.mean[0]


def test_everybody_against_everybody(policies: list[Policy], tmp_path: Path) -> None:
    everybody = [*policies, "uniform"]
    found = match(LEDUC, everybody, table=True, out=tmp_path / "exact")
    assert found.matrix is not None
    for i in range(3):
        assert found.matrix[i][i] is None
        for j in range(i):
            value = match(LEDUC, [everybody[i], everybody[j]]).value[0]
            assert found.matrix[i][j] == pytest.approx(value)
            assert found.matrix[j][i] == pytest.approx(-value)
    assert found.value[2] == pytest.approx(np.mean([found.matrix[2][0], found.matrix[2][1]]))
    sampled = match(LEDUC, everybody, table=True, sampled=True, hands=5000, out=tmp_path / "sampled")
    assert sampled.hands == 15_000
    assert " ± " in sampled.table()[0][2]
    assert "± is the standard error" in sampled.notes()[0]
    assert "±" not in found.notes()[0]
    assert sampled.matrix is not None
    assert sampled.matrix_stderr is not None
    assert abs(sampled.matrix[0][2] - found.matrix[0][2]) < 4 * sampled.matrix_stderr[0][2]  # type: ignore[operator]
    for folder in ("exact", "sampled"):
        assert (tmp_path / folder / PLOT).stat().st_size > 10_000
        assert json.loads((tmp_path / folder / RESULT).read_text())["matrix"][0][1] is not None
    three = match(THREE, ["uniform", tp.solve(THREE, iterations=20).policy], table=True)
    assert three.matrix is not None
    assert three.matrix[1][0] > 0  # type: ignore[operator]


def stop_at(hands: int) -> Callable[[Progress], None]:
    def watch(progress: Progress) -> None:
        if progress.done >= hands:
            raise KeyboardInterrupt

    return watch


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"aivat": "zero"}])
def test_a_match_resumes_bit_for_bit(policies: list[Policy], tmp_path: Path, options: dict[str, Any]) -> None:
    whole = match(LEDUC, policies, sampled=True, hands=60, out=tmp_path / "whole", **options)
    match(LEDUC, policies, sampled=True, hands=20, out=tmp_path / "parts", **options)
    with (tmp_path / "parts" / HANDS).open("a") as file:  # hands that were played after the last checkpoint, and half a line
        file.write('{"hand": 20, "deal": 3, "agents": [0, 1], "payoffs": [5, 5]}\n{"hand": 21')
    again = match(LEDUC, policies, hands=60, resume=tmp_path / "parts")
    assert again.plain() == whole.plain()
    assert (tmp_path / "parts" / HANDS).read_text() == (tmp_path / "whole" / HANDS).read_text()
    done = [
        [json.loads(line)["done"] for line in (tmp_path / f / METRICS).read_text().splitlines()] for f in ("parts", "whole")
    ]
    assert done[0] == done[1] == [1, 2, 5, 10, 20, 50, 60]
    assert match(LEDUC, policies, resume=tmp_path / "parts").plain() == whole.plain()


def test_a_match_that_was_killed(policies: list[Policy], tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        match(LEDUC, policies, sampled=True, aivat="zero", hands=60, out=tmp_path / "m", progress=stop_at(9))
    assert not (tmp_path / "m" / STATE).exists()
    again = match(LEDUC, policies, resume=tmp_path / "m")
    assert again.plain() == match(LEDUC, policies, sampled=True, aivat="zero", hands=60).plain()


def test_a_match_resumes_with_its_names_and_says_why_it_ended(policies: list[Policy], tmp_path: Path) -> None:
    named = {"hero": "uniform", "villain": "uniform"}
    first = match(LEDUC, named, sampled=True, hands=10**6, seconds=0.2, out=tmp_path / "m")
    assert first.status == "time up"
    assert json.loads((tmp_path / "m" / RESULT).read_text())["status"] == "time up"
    again = match(resume=tmp_path / "m", seconds=0.2)
    assert json.loads((tmp_path / "m" / RESULT).read_text())["agents"] == [*named]
    assert again.hands > first.hands


def test_a_match_does_not_resume_with_other_policies(tmp_path: Path) -> None:
    run = tmp_path / "run"
    tp.solve(LEDUC, "cfr", iterations=1, out=run)
    agents, values = [str(run), "uniform"], f"blueprint(file={run})"
    match(LEDUC, agents, sampled=True, hands=20, out=tmp_path / "m")
    match(LEDUC, ["uniform", values], sampled=True, hands=20, out=tmp_path / "nested")
    assert match(resume=tmp_path / "m", hands=40).hands == 40
    tp.solve(LEDUC, "cfr", iterations=2, out=run, force=True)
    for folder in ("m", "nested"):
        with pytest.raises(FileError, match="run has changed since the start; restore it or restart"):
            match(resume=tmp_path / folder, hands=60)


def test_seconds_lift_the_default_number_of_hands(tmp_path: Path) -> None:
    match(LEDUC, ["uniform"] * 2, sampled=True, hands=20, out=tmp_path / "m")
    assert match(resume=tmp_path / "m", seconds=0.5).hands > 20


def test_exact_values_name_the_options_without_effect() -> None:
    ignored = match(LEDUC, ["uniform"] * 2, hands=7, aivat="zero", seed=2)
    assert ignored.notes()[0].endswith("so hands, aivat, seed had no effect (--sampled plays hands)")
    assert match(LEDUC, ["uniform"] * 2, seconds=3).notes() == ["exact over all cards and actions, without playing hands"]


def test_random_numbers_of_an_agent_depend_on_the_seed_alone() -> None:
    agents = ["pluribus(search=sampled,iterations=3,deals=4,blueprint=uniform)", "uniform", "uniform"]
    found = [match(THREE, agents, hands=12, seed=seed).plain() for seed in (0, 0)]
    assert found[0] == found[1]


@pytest.mark.slow
def test_what_a_resumed_match_refuses(policies: list[Policy], tmp_path: Path, own: str) -> None:
    match(LEDUC, policies, sampled=True, hands=10, out=tmp_path / "m")
    with pytest.raises(SpecError, match="duplicate False, not True"):
        match(LEDUC, policies, duplicate=True, resume=tmp_path / "m")
    with pytest.raises(SpecError, match="10 hands already"):
        match(LEDUC, policies, hands=4, resume=tmp_path / "m")
    with pytest.raises(FileError, match="not empty"):
        match(LEDUC, policies, out=tmp_path / "m")
    (tmp_path / "m" / HANDS).write_text("[]\n" * 10)
    with pytest.raises(FileError, match=r"^\S*hands\.jsonl, line 1: not a hand of a match"):
        match(LEDUC, policies, resume=tmp_path / "m")
    match(LEDUC, ["uniform", f"{own}:Mine"], hands=4, out=tmp_path / "own")
    with pytest.raises(SpecError, match="name the game and all agents"):
        match(resume=tmp_path / "own")
    assert match(LEDUC, ["uniform", f"{own}:Mine"], hands=8, resume=tmp_path / "own").hands == 8


def means_in(folder: Path, players: int) -> Floats:
    """Mean payoff and mean luck-adjusted payoff of each agent, by the file of hands alone; float64 [2, N]."""
    won = [np.zeros((2, players)) for _ in played(folder)]
    for row, hand in zip(won, played(folder), strict=True):
        row[:, hand["agents"]] = hand["payoffs"], hand.get("aivat", hand["payoffs"])
    return np.asarray(np.mean(won, axis=0))


def test_the_file_of_hands_lists_agents_and_payoffs_by_seat(tmp_path: Path) -> None:
    agents = ["uniform", tp.solve(THREE, iterations=20).policy, "uniform"]
    found = match(THREE, agents, sampled=True, hands=30, seats="all", out=tmp_path / "three")
    assert means_in(tmp_path / "three", 3)[0] == pytest.approx(found.value)
    assert match(THREE, agents, resume=tmp_path / "three").value == found.value
    searching = match(
        LEDUC, ["uniform", "search(depth=1,leaf=zero,iterations=2)"], hands=10, aivat="zero", out=tmp_path / "two"
    )
    assert means_in(tmp_path / "two", 2) == pytest.approx(np.array([searching.scores[0].plain.mean, searching.value]))
    assert match(resume=tmp_path / "two").value == searching.value


def test_fixed_seats_have_no_p_value() -> None:
    """Uniform play against itself loses in the first seat of Kuhn poker, so a test would find a difference of equal agents."""
    fixed, rotating = (
        match("kuhn_poker", ["uniform", "uniform"], sampled=True, hands=2000, seats=how) for how in ("fixed", "rotate")
    )
    assert abs(fixed.value[0]) > 3 * fixed.stderr[0]
    assert (fixed.p_value, fixed.table()[0][fixed.columns.index("p")]) == (None, "-")
    assert rotating.p_value is not None
    assert rotating.p_value[0] > 0.01


def test_an_agent_that_fails_loses_no_match(own: str, tmp_path: Path) -> None:
    agents = ["uniform", f"{own}:Mine(fails=true)"]
    found = match(LEDUC, agents, hands=100, out=tmp_path / "m")
    assert 0 < len(found.failures) < 60
    number, agent, text = found.failures[0]
    assert (agent, text) == (agents[1], "RuntimeError: not this card")
    assert found.hands == 100 - len(found.failures)
    assert "failed and were excluded" in " ".join(found.notes())
    line = played(tmp_path / "m")[number]
    assert line["payoffs"] is None
    assert line["failure"] == [1, text]
    assert match(LEDUC, agents, hands=100, duplicate=True).scores[0].result.samples < 50
    assert match(resume=tmp_path / "m", game=LEDUC, agents=agents).failures == found.failures


def test_an_agent_that_always_fails_ends_the_match(own: str) -> None:
    with pytest.raises(AlgorithmError, match=r"all of the first 1\d* hands failed; .*Mine.*: not this card"):
        match("leduc_poker(players=3,ranks=2)", ["uniform", "uniform", f"{own}:Mine(always=true)"], sampled=True, hands=100)


def test_a_match_of_failed_hands_is_an_error(own: str) -> None:
    call = CliRunner().invoke(app, ["match", "kuhn_poker", "uniform", f"{own}:Mine(always=true)", "--sampled", "-n", "4"])
    assert call.exit_code == 2
    assert "all of the first 4 hands failed; first error, in agent" in call.stderr
    assert "not this card" in call.stderr
    assert "nan" not in call.output


def test_a_class_of_agents_plays_once_made() -> None:
    class Even(UniformAgent):
        pass

    exact = match("kuhn_poker", [Even, "uniform"])
    assert exact.about.agents == ("Even", "uniform")
    assert exact.value == pytest.approx((0.0, 0.0))
    assert tp.judge("kuhn_poker", Even).exploitability == pytest.approx(tp.exploitability("kuhn_poker", "uniform"))


@pytest.mark.parametrize("text", ["deepstack", "search", "libratus(blueprint=uniform)", "modicum(blueprint=uniform)"])
def test_an_agent_for_two_players_sits_at_no_table_of_three(text: str) -> None:
    three = "leduc_poker(players=3,ranks=2)"
    with pytest.raises((GameError, SpecError), match=r"^\S+ with 3 players has no public tree; give a two-player game"):
        match(three, ["uniform", "uniform", text], sampled=True, hands=100)
    with pytest.raises(GameError, match="with 3 players has no public tree; give a two-player game"):
        SearchAgent(three, ZeroLeaf(), PlaythroughSettings())


@pytest.mark.slow
def test_a_search_of_three_players_is_judged_alike_by_hands_and_exactly(tmp_path: Path) -> None:
    policy = tp.solve(THREE, "cfr", iterations=20, out=tmp_path / "k3").policy
    agents = [f"pluribus(blueprint={tmp_path / 'k3'},iterations=20)", policy, "uniform"]
    exact, found = match(THREE, agents), match(THREE, agents, sampled=True, hands=900, aivat=policy)
    assert exact.exact
    assert found.scores[0].result.deviation[0] < 0.2 * found.scores[0].plain.deviation[0]
    assert (abs(np.array(found.value) - exact.value) < 4 * np.array(found.stderr)).all()


@pytest.mark.slow
def test_workers_change_no_number(own: str) -> None:
    agents = ["uniform", f"{own}:Mine"]
    assert match(LEDUC, agents, hands=60, workers=2).plain() == match(LEDUC, agents, hands=60).plain()


@pytest.mark.parametrize(("game", "chips"), [("kuhn_poker", 1), ("no_limit_leduc", 100), ("holdem", 2), ("liars_dice", None)])
def test_poker_is_counted_in_big_blinds(game: str, chips: int | None) -> None:
    assert load(game).big_blind == chips


def test_agents_have_names_of_ones_own(policies: list[Policy]) -> None:
    assert match(LEDUC, {"fine": policies[0], "rough": policies[1]}).about.agents == ("fine", "rough")


def test_objects_play_too(own: str) -> None:
    game = load(LEDUC)
    table = TableAgent(game.public, Policy.uniform(compile_game(game)))
    assert match(game, [table, "uniform"]).exact
    assert match(game, [tp.agent("uniform", game), f"{own}:Mine"], hands=20).hands == 20
    assert match(LEDUC, ["uniform", "uniform"], sampled=True, hands=20, aivat=f"{own}:Cheap").about.values == f"{own}:Cheap"
    with pytest.raises(SpecError, match="workers do not support agents or values given as objects"):
        match(game, [table, "uniform"], workers=2)
    with pytest.raises(GameError, match="the agents play different games"):
        match(LEDUC, [TableAgent(public_tree(LEDUC), table.table), f"{own}:Mine"])
    assert isinstance(table, BaseAgent)


@pytest.mark.parametrize(
    ("game", "agents", "options", "text"),
    [
        (LEDUC, ["uniform"], {}, "1 agent is given, but the game has 2 seats"),
        (THREE, ["uniform", "uniform"], {}, "2 agents are given, but the game has 3 seats.*--table"),
        (LEDUC, ["uniform", "nobody"], {}, "nobody"),
        (LEDUC, ["uniform", "uniform"], {"think": 0.0}, "thinking time is"),
        (LEDUC, ["uniform", "uniform"], {"think": 1.0}, "searches"),
        (LEDUC, ["uniform", "uniform"], {"hands": 0}, "hands must be"),
        (LEDUC, ["uniform", "uniform"], {"seats": "none"}, "seats must be"),
        (LEDUC, ["uniform"], {"table": True}, "at least two"),
        (LEDUC, ["uniform", tp.solve("kuhn_poker", iterations=1).policy], {}, "kuhn_poker"),
        ("oshi_zumo_2", ["uniform", "uniform"], {}, "oshi_zumo_2"),
        (None, None, {}, "needs a game"),
    ],
)
def test_what_fits_is_said_in_a_line(game: Any, agents: Any, options: dict[str, Any], text: str) -> None:
    with pytest.raises(TreeplexError, match=text) as raised:
        match(game, agents, **options)
    assert isinstance(raised.value, SpecError | PolicyError | GameError)
    assert "\n" not in str(raised.value)


def test_an_interrupted_match_says_what_it_has(policies: list[Policy], tmp_path: Path) -> None:
    with pytest.raises(JobInterrupt) as stopped:
        match(LEDUC, policies, sampled=True, aivat="zero", hands=5000, out=tmp_path / "m", progress=interrupt_after(5))
    assert 5 <= stopped.value.result.hands < 5000
    assert len(played(tmp_path / "m")) == stopped.value.result.hands


@pytest.mark.quick_cases("options0")
@pytest.mark.parametrize("options", [{}, {"sampled": True, "hands": 300}, {"sampled": True, "hands": 40, "aivat": True}])
def test_pictures_and_tables(policies: list[Policy], tmp_path: Path, options: dict[str, Any]) -> None:
    found = match(LEDUC, policies, **options)
    found.plot(tmp_path / "match.png")
    assert (tmp_path / "match.png").stat().st_size > 10_000
    assert all(len(row) == len(found.columns) for row in found.table())
    assert "policy" in found._repr_html_().lower()
    assert LEDUC in repr(found)


@pytest.mark.parametrize("hands", [10, 40])
def test_the_picture_has_a_band_from_thirty_deals_on(policies: list[Policy], hands: int) -> None:
    figure = match(LEDUC, policies, sampled=True, hands=hands).plot()
    assert bool(figure.axes[0].collections) == (hands >= 30)
