"""``treeplex train rebel``, ``evaluate`` of what it made, and ``play``."""

import json
import shutil
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

pytest.importorskip("torch")

import torch

import treeplex as tp
from tests.commands import call, complaint
from tests.processes import spawned
from treeplex.forms.policies.files import read_policy_header
from treeplex.learn.cli.train import training_line
from treeplex.learn.rebel.settings import RebelSettings
from treeplex.learn.rebel.training.job import NET, REBEL
from treeplex.learn.train.registry import learner_named
from treeplex.run.cli.shared.failures import Commands
from treeplex.run.job.checkpoint import position_of
from treeplex.run.job.folder import METRICS, JobFolder
from treeplex.run.job.record import Progress
from treeplex.search.cli import play as cli_play

torch.set_num_threads(1)

DICE = "liars_dice(dice_sides=2)"
SMALL = {"iterations": 3, "episodes": 8, "width": 8, "solves": 64, "burn_in": 16, "batch": 16, "reuse": 2, "depth": 1}
TINY = [part for name, value in SMALL.items() for part in ("--set", f"{name}={value}")] + [
    "--workers",
    "1",
    "--judge-every",
    "0",
]

LATE = """
from treeplex.games.builtin.tic_tac_toe import TicTacToe


class Late(TicTacToe):
    spec = "late"

    def new_initial_state(self):
        state = super().new_initial_state()
        for cell in (4, 1, 0, 8):
            state = state.child(cell)
        return state
"""

table = typer.Typer(cls=Commands, pretty_exceptions_enable=False)
table.command()(cli_play.play)


@table.callback()
def options() -> None:
    """So that the command keeps its name."""


def play(*arguments: object, typed: str = "", code: int = 0) -> str:
    """Run ``treeplex play`` with what a person types."""
    result = CliRunner().invoke(table, ["play", *map(str, arguments)], input=typed)
    assert result.exit_code == code, (arguments, result.output, result.exception)
    return result.output


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli") / "run"
    out, _ = call("train", "rebel", DICE, *TINY, "--out", folder)
    assert f"ReBeL on {DICE}: 64 subgames" in out
    assert f'treeplex play "{DICE}" --against {folder}' in out
    return folder


def test_json_of_a_training(tmp_path: Path) -> None:
    printed = json.loads(call("train", "rebel", DICE, *TINY, "--out", tmp_path / "run", "--json")[0])
    last = JobFolder(REBEL, tmp_path / "run").records()[-1]
    assert (printed["learner"], printed["status"], printed["subgames"]) == ("rebel", "finished", 64)
    assert printed["loss"] == last.loss
    assert printed["lost"] == 0


def test_settings_are_shown_read_and_changed(tmp_path: Path, trained: Path) -> None:
    shown = call("train", "rebel", "--show", "--preset", "paper", "--set", "width=64")[0]
    assert "method: lcfr " in shown
    assert "width: 64 " in shown
    (tmp_path / "settings.yaml").write_text(shown)
    assert call("train", "rebel", "--show", "--config", tmp_path / "settings.yaml")[0] == shown
    own = call("train", "--resume", trained, "--show", "--set", "solves=70")[0]
    assert "iterations: 3 " in own
    assert "solves: 70 " in own
    settings = RebelSettings.from_json(JobFolder(REBEL, trained).about()["settings"], "here")
    assert {name: getattr(settings, name) for name in SMALL} == SMALL


def test_resuming_goes_on(tmp_path: Path) -> None:
    call("train", "rebel", DICE, *TINY, "--out", tmp_path / "run")
    options = ["--set", "solves=96", "--judge-every", "0"]
    printed = json.loads(call("train", "--resume", tmp_path / "run", *options, "--json")[0])
    assert printed["subgames"] == 96


def test_help_of_a_learner_lists_its_settings() -> None:
    shown = call("train", "rebel", "--help")[0]
    assert "--judge-every" in shown
    assert "Settings of rebel" in shown
    assert "solves " in shown


@pytest.mark.slow_cases(
    "train rebel --out {0}-name the game: treeplex train rebel GAME --out DIR",
    "evaluate liars_dice(dice_sides=2) {1} --exact-do not apply to a network that searches",
    "evaluate liars_dice(dice_sides=2) {1} --set depth=-1-depth must be an integer of at least 0, not -1",
    "evaluate liars_dice(dice_sides=2) {1} --set depth-key=value",
    "evaluate liars_dice(dice_sides=2) {1} --set rounds=perhaps-true or false",
)
@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ("train rebel", "--out DIR"),
        ("train rebel liars_dice", "--out DIR"),
        ("train rebel goofspiel(num_cards=3) --out {0}", "goofspiel(num_cards=3) has private information"),
        ("train rebel --out {0}", "name the game: treeplex train rebel GAME --out DIR"),
        ("train rebel liars_dice --out {0} --resume {0}", "give only one of --out and --resume"),
        ("train rebel liars_dic --out {0}", "did you mean 'liars_dice'"),
        ("train rebel liars_dice --set widht=3 --out {0}", "did you mean 'width'"),
        ("train rebel liars_dice --set width --out {0}", "key=value"),
        ("train rebel liars_dice --preset papr --out {0}", "did you mean 'paper'"),
        ("train rebel liars_dice --seconds 0 --out {0}", "seconds"),
        ("train rebel liars_dice --workers 0 --out {0}", "workers"),
        ("train rebel modified_rps --workers 1 --out {0}", "no features"),
        ("train rebel liars_dice --config {0} --out {0}", "cannot read"),
        ("train rebel liars_dice --epochs 3 --out {0}", "see treeplex train --help"),
        ("train rebel --resume {0}", "contains no training of treeplex train"),
        ("train rebel --resume {0} --preset paper", "--set"),
        ("train ddcfr --resume {1}", "is a training run of rebel, not of ddcfr; resume it without naming a learner"),
        ("evaluate liars_dice {1}", "a network for liars_dice(dice_sides=2)"),
        ("evaluate liars_dice(dice_sides=2) {1} --exact", "do not apply to a network that searches"),
        ("evaluate liars_dice(dice_sides=2) {1} --playthroughs 0", "playthroughs must be"),
        ("evaluate liars_dice(dice_sides=2) {1} --set endgme=3", "did you mean 'endgame'"),
        ("evaluate liars_dice(dice_sides=2) {1} --set depth=-1", "depth must be an integer of at least 0, not -1"),
        ("evaluate liars_dice(dice_sides=2) {1} --set depth", "key=value"),
        ("evaluate liars_dice(dice_sides=2) {1} --set rounds=perhaps", "true or false"),
        ("evaluate liars_dice(dice_sides=2) uniform --set depth=1", "apply to agents, not to uniform"),
        ("evaluate liars_dice(dice_sides=2) uniform --playthroughs 3", "apply to agents, not to uniform"),
    ],
)
def test_wrong_use_is_one_line(tmp_path: Path, trained: Path, arguments: str, part: str) -> None:
    assert part in complaint(*arguments.format(tmp_path / "run", trained).split())
    assert not (tmp_path / "run").exists()


def test_evaluate_states_n_and_t(trained: Path) -> None:
    asked = ["evaluate", DICE, trained, "--playthroughs", 8, "--iterations", 3, "--workers", 1]
    printed = json.loads(call(*asked, "--json")[0])
    assert (printed["playthroughs"], printed["iterations"]) == (8, 3)
    assert printed["exploitability"] > 0
    assert printed["seconds"] > 0
    out = call(*asked)[0]
    assert "8 playthroughs averaged by reach, T = 3 iterations of dcfr per search" in out
    assert f"{printed['exploitability']:.6e}" in out
    assert "more playthroughs" in out
    assert json.loads(call(*asked[:2], trained / NET, *asked[3:], "--json")[0])["exploitability"] == printed["exploitability"]


def test_evaluate_searches_otherwise_where_it_is_asked_to(trained: Path) -> None:
    asked = ["evaluate", DICE, trained, "--playthroughs", 4, "--iterations", 3, "--workers", 1]
    usual = json.loads(call(*asked, "--json")[0])
    assert [usual[name] for name in ("method", "depth", "rounds", "endgame", "warm")] == ["dcfr", 1, False, 0, None]
    changed = [part for pair in ("method=lcfr", "depth=2", "rounds=true", "endgame=3", "warm=0") for part in ("--set", pair)]
    other = json.loads(call(*asked, *changed, "--json")[0])
    assert [other[name] for name in ("method", "depth", "rounds", "endgame", "warm")] == ["lcfr", 2, True, 3, 0]
    assert other["exploitability"] != usual["exploitability"]
    words = "depth 2, to the end of betting rounds, endgames of up to 3 public nodes not cut off"
    assert words in call(*asked, *changed)[0]
    # nothing is cut off: search alone, as good as it is
    whole = ["evaluate", DICE, trained, "--playthroughs", 16, "--iterations", 60, "--workers", 1, "--set", "depth=0"]
    assert json.loads(call(*whole, "--json")[0])["exploitability"] < 0.02


BETTING = [*TINY, "--set", "rounds=true", "--set", "depth=0", "--set", "solves=32"]


@pytest.mark.slow
def test_subgames_of_betting_rounds_are_trained_judged_and_played(tmp_path: Path) -> None:
    call("train", "rebel", "leduc_poker", *BETTING, "--out", tmp_path / "run")
    asked = ["evaluate", "leduc_poker", tmp_path / "run", "--playthroughs", 2, "--iterations", 3, "--workers", 1]
    printed = json.loads(call(*asked, "--json")[0])
    assert (printed["depth"], printed["rounds"]) == (0, True)
    assert 0 < printed["exploitability"] < 5
    assert "per search, to the end of betting rounds, seed 0" in call(*asked)[0]
    own = [each for each in asked if each not in ("--iterations", 3)]
    assert json.loads(call(*own, "--json")[0])["iterations"] == 3, "as in training, not 256"
    out = play("leduc_poker", "--against", tmp_path / "run", "--games", 3, "--seed", 0, "--iterations", 3, typed="call\n" * 20)
    assert "round 2: " in out
    assert "after 3 games: " in out


@pytest.mark.filterwarnings("ignore:.* was not trained for")
def test_a_training_with_whole_endgames_is_searched_so(tmp_path: Path) -> None:
    """With as many public nodes as are left after a move, every subgame is the rest of the game: the network is not asked."""
    call("train", "rebel", DICE, *TINY, "--set", "endgame=16", "--out", tmp_path / "run")
    asked = ["evaluate", DICE, tmp_path / "run", "--playthroughs", 16, "--iterations", 60, "--workers", 1]
    assert json.loads(call(*asked, "--json")[0])["exploitability"] < 0.02
    assert "depth 1, endgames of up to 16 public nodes not cut off" in call(*asked)[0]
    assert json.loads(call(*asked, "--set", "endgame=0", "--json")[0])["exploitability"] > 0.05
    out = play(
        DICE, "--against", tmp_path / "run", "--seat", 1, "--games", 2, "--seed", 0, "--iterations", 9, typed="liar\n" * 4
    )
    assert "after 2 games: " in out


@pytest.mark.slow
def test_a_policy_network_is_trained_judged_and_played(tmp_path: Path) -> None:
    guided = [*TINY, "--set", "policy_net=true", "--set", "warm=1"]
    out, _ = call("train", "rebel", DICE, *guided, "--out", tmp_path / "run")
    loss = JobFolder(REBEL, tmp_path / "run").records()[-1].policy_loss
    assert f"policy loss  {loss:.3e}" in out
    asked = ["evaluate", DICE, tmp_path / "run", "--playthroughs", 4, "--iterations", 4, "--workers", 1, "--json"]
    warm, cold = (json.loads(call(*asked, *more)[0]) for more in ((), ("--set", "warm=0")))
    assert warm["exploitability"] != cold["exploitability"]
    assert "after 1 game" in play(DICE, "--against", tmp_path / "run", "--seat", 1, "--games", 1, typed="liar\n4\n" * 4)


FOUR = "liars_dice(dice=1,faces=4)"


def test_a_network_that_comes_with_the_library_is_judged_and_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    asked = ["--playthroughs", 4, "--iterations", 8, "--workers", 1]
    printed = json.loads(call("evaluate", FOUR, "rebel", *asked, "--json")[0])
    name, judged = printed["network"], printed["trained"]["judged"]
    assert name.startswith("rebel:liars_dice-1x4f")
    again = json.loads(call("evaluate", FOUR, name, *asked, "--json")[0])
    assert again | {"seconds": 0} == printed | {"seconds": 0}
    out = call("evaluate", FOUR, "rebel", *asked)[0]
    assert f"{name} on liars_dice(dice_sides=4)" in out
    counts = f"{judged['playthroughs']:,} playthroughs, T = {judged['iterations']} of {judged['method']}"
    assert f"{judged['exploitability']:.6e}   {counts}" in out
    assert f", on {judged['date']}" in out
    out = play(FOUR, "--against", "rebel", "--seat", 0, "--games", 1, "--seed", 1, "--iterations", 8, typed="2-4\n")
    assert f"against {name}: trained on {printed['trained']['solved']:,} subgames, 8 iterations per search" in out
    assert "player 1   Liar" in out
    assert list(tmp_path.iterdir()) == []  # nothing is kept of judging it
    assert "only for " in complaint("evaluate", "tic_tac_toe", "rebel")
    assert "unknown network rebel:liars_dice-1x" in complaint("evaluate", FOUR, "rebel:liars_dice-1x")
    assert "only for " in play("tic_tac_toe", "--against", "rebel", code=2)


def test_a_folder_called_rebel_comes_first(trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rebel").mkdir()  # a folder of something else
    asked = ["--playthroughs", 2, "--iterations", 2, "--workers", 1, "--json"]
    assert json.loads(call("evaluate", FOUR, "rebel", *asked)[0])["network"].startswith("rebel:")
    shutil.copytree(trained, tmp_path / "rebel", dirs_exist_ok=True)
    assert json.loads(call("evaluate", DICE, "rebel", *asked)[0])["network"] == "rebel"
    assert "a network for liars_dice(dice_sides=2)" in complaint("evaluate", FOUR, "rebel", *asked[:-1])
    assert json.loads(call("evaluate", FOUR, "rebel:", *asked)[0])["network"].startswith("rebel:liars_dice-1x4f")


@pytest.mark.slow
def test_what_a_training_plays_is_shown_and_exported(trained: Path, tmp_path: Path) -> None:
    shown = json.loads(call("show", trained, "--limit", 0, "--json")[0])
    assert len(shown) == len(tp.compile(DICE).infostates)
    assert all(sum(row["actions"].values()) == pytest.approx(1.0) for row in shown)
    assert shown == json.loads(call("show", f"rebel(network={trained})", "--game", DICE, "--limit", 0, "--json")[0])
    call("export", trained, tmp_path / "table.csv")
    assert json.loads(call("show", tmp_path / "table.csv", "--limit", 0, "--json")[0]) == shown
    assert read_policy_header(tmp_path / "table.csv")["metadata"] == {"algorithm": f"rebel(network={trained})"}
    assert "not for these rules" in complaint("show", trained, "--game", "kuhn_poker")


@pytest.mark.slow
def test_ctrl_c_saves_and_says_how_to_go_on(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with spawned("train", "rebel", DICE, *TINY, "--set", "solves=1000000", "--out", folder) as process:
        deadline = time.monotonic() + 120
        while not (folder / METRICS).exists():
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, (out, err)
    with JobFolder(REBEL, folder).state() as state:
        done = position_of(state).done
    assert f"stopped after {done:,} subgames and saved; resume with treeplex train --resume {folder}" in err
    printed = json.loads(call("train", "--resume", folder, "--set", f"solves={done + 8}", "--judge-every", 0, "--json")[0])
    assert printed["subgames"] == done + 8


def test_a_person_plays_against_a_network(trained: Path) -> None:
    out = play(DICE, "--against", trained, "--seat", 0, "--seed", 1, "--iterations", 4, typed="nonsense\n2-2\nq\n")
    assert "you are player 0" in out
    assert "1 1-1   2 1-2   3 2-1   4 2-2" in out
    assert "'nonsense' is not one of the actions" in out
    assert "player 1   Liar" in out  # nothing is higher
    assert "after 1 game: " in out
    assert "thank you for playing" in out
    assert out.count("(you)") == 1


@pytest.mark.slow
def test_a_game_of_perfect_information_is_judged_exactly_and_shows_its_board(tmp_path: Path) -> None:
    (tmp_path / "late.py").write_text(LATE)
    game, folder = f"{tmp_path / 'late.py'}:Late", tmp_path / "run"
    call("train", "rebel", game, *TINY, "--out", folder)
    out = call("evaluate", game, folder, "--iterations", 8)[0]
    assert "exact evaluation without sampling" in out
    assert "playthroughs" not in out
    found = json.loads(call("evaluate", game, folder, "--iterations", 8, "--json")[0])
    assert (found["exact"], found["playthroughs"], found["halves"], found["settled"]) == (True, None, None, True)
    asked = ["--iterations", 8, "--playthroughs", 64, "--workers", 1, "--json"]
    drawn = json.loads(call("evaluate", game, folder, *asked)[0])
    assert (drawn["exact"], drawn["playthroughs"]) == (False, 64)
    assert drawn["value"] == pytest.approx(found["value"], abs=0.05)
    for against in (folder, "uniform"):
        out = play(game, "--against", against, "--seat", 0, "--games", 1, "--seed", 0, typed="1\n1\n1\n1\n")
        assert "    x o .\n    . x .\n    . . o\n" in out
        assert "you know" in out
        assert "player 1 knew" in out


def test_seats_alternate_and_games_end(trained: Path) -> None:
    out = play(DICE, "--against", trained, "--seed", 2, "--games", 4, "--iterations", 4, typed="liar\n4\nliar\n4\n" * 8)
    assert [f"game {n}: you are player {(n - 1) % 2}" in out for n in (1, 2, 3, 4)] == [True] * 4
    assert "after 4 games: " in out
    assert "game 5" not in out


def test_the_end_of_input_is_the_end(trained: Path) -> None:
    assert "no game was finished; thank you" in play(DICE, "--against", trained, "--seat", 0, typed="")


def test_ctrl_c_is_the_end_too(trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def pressed(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli_play, "asked", pressed)
    out = play(DICE, "--against", "uniform", "--seat", 0, code=130)
    assert "no game was finished; thank you" in out
    assert "error" not in out


def test_a_person_plays_against_policies(tmp_path: Path) -> None:
    from treeplex.forms.compile.compile_game import compile_game
    from treeplex.forms.policies.files import save_policy
    from treeplex.forms.policies.tabular import Policy

    out = play("kuhn_poker", "--against", "uniform", "--games", 2, "--seed", 0, typed="p\nb\n" * 4)
    assert "Pass" in out
    assert "after 2 games: " in out
    game = compile_game("kuhn_poker")
    always = Policy.uniform(game)
    for infoset in range(len(always)):
        always.probabilities[game.sequences_at(infoset)] = [0.0, 1.0]
    save_policy(always, tmp_path / "bets.json")
    out = play("kuhn_poker", "--against", tmp_path / "bets.json", "--seat", 1, "--games", 5, "--seed", 0, typed="Bet\n" * 5)
    assert out.count("player 0   Bet") == 5
    assert out.count("you win 2") + out.count("you lose 2") == 5
    out = play("kuhn_poker(players=3)", "--against", "uniform", "--seat", 2, "--games", 1, typed="1\n" * 3)
    assert "player 1   " in out
    assert "player 2 knew" in out


def test_secret_moves_stay_secret() -> None:
    game = "goofspiel(num_cards=3,imp_info=true)"
    out = play(game, "--against", "uniform", "--seat", 1, "--games", 1, "--seed", 0, typed="1\n" * 6)
    assert "you are player 1" in out
    assert "  player 0   " not in out


def test_play_is_refused_in_one_line(trained: Path) -> None:
    for arguments, part in [
        (["kuhn_poker", "--against", trained], "a network for liars_dice"),
        ([DICE, "--against", trained, "--seat", 2], "write 0 to 1"),
        ([DICE, "--against", "uniform", "--iterations", 5], "apply to agents that search"),
        ([DICE, "--against", "nobody"], "unknown agent or policy file"),
        ([DICE, "--against", "nobody", "--iterations", 5], "unknown agent or policy file"),
    ]:
        assert part in play(*arguments, code=2)


def test_the_live_line() -> None:
    numbers = {"rows": 3200, "steps": 50, "loss": 0.0125, "policy_loss": None, "rate": 640.0, "lost": 0, "exploitability": 0.05}
    known = learner_named("rebel")
    state = Progress("rebel", "subgames", 6400, 60_000, 640.0, 65.0, numbers)
    line = "training rebel  6,400/60,000 subgames  640/s  3,200 rows  loss 1.25e-02  exploitability 5.00e-02  1:05 left"
    assert training_line(known, state) == line
    assert "loss 1.25e-02  policy loss 5.00e-01" in training_line(
        known, replace(state, numbers={**numbers, "policy_loss": 0.5})
    )
    fresh = replace(state, numbers={**numbers, "loss": None, "lost": 2})
    assert "loss" not in training_line(known, fresh)
    assert "2 workers lost" in training_line(known, fresh)
