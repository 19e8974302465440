"""Reading a file that somebody else made runs no code and reads no other file, whatever its spec says."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

import treeplex as tp
from treeplex.base.workers.executor import Executor
from treeplex.errors import FileError, PolicyError, SpecError
from treeplex.forms.policies.sparse import TablePolicy, save_table_policy
from treeplex.forms.sources.load import load, named_file
from treeplex.games.registry import games
from treeplex.learn.discount.job import DISCOUNT
from treeplex.learn.discount.settings import DiscountSettings
from treeplex.learn.rebel.parallel_self_play import SelfPlayer
from treeplex.learn.rebel.settings import RebelSettings
from treeplex.learn.rebel.training import kind as rebel
from treeplex.learn.rebel.training.job import REBEL
from treeplex.run.cli.main import app
from treeplex.run.job.folder import JobFolder, JobKind
from treeplex.run.sample.settings import SAMPLE
from treeplex.run.solve.settings import SOLVE, SolveSettings

PYTHON = [
    "evil.py:Poker",
    "evil.py",
    "turn_based(game=evil.py:Poker)",
    r'turn_based(game="evil\x2epy:Poker")',
    r'turn_based(game="evil.p\u0079:Poker")',
    r'turn_based(game="evil.p\171:Poker")',
    r'turn_based(game="evil.p\N{LATIN SMALL LETTER Y}:Poker")',
    r'turn_based (game="evil\x2epy:Poker")',
    r'open_loop(game="evil\x2epy:Poker")',
    r'turn_based(game="turn_based(game=\"evil\\x2epy:Poker\")")',
    r'open_loop(game="turn_based(game=\'evil.p\\171:Poker\')")',
]
"""Specs that run ``evil.py``, when a person types them."""
FILES = [
    "matrix(file=secret.csv)",
    "matrix(rows=[[1,2]],second_file=secret.csv)",
    r'turn_based(game="matrix(fi\x6ce=secret.csv)")',
    r'turn_based(game=matrix(file="secret\x2ecsv"))',
    "secret.efg",
    "turn_based(game=secret.efg)",
    "secret.game",
    "secret.openspiel",
    "openspiel:efg_game(filename=secret.efg)",
    "openspiel:misere(game=nfg_game(filename=secret.nfg))",
    "turn_based(game=openspiel:bargaining(instances_file=secret.csv))",
]
"""Specs that read a file."""
EVIL = """
from pathlib import Path
from treeplex.games.builtin.kuhn_poker import KuhnPoker

Path("ran").touch()


class Poker(KuhnPoker):
    def __init__(self):
        super().__init__(2)
"""


@pytest.fixture(autouse=True)
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("evil.py").write_text(EVIL)
    for name in ("secret.csv", "secret.efg", "secret.game", "secret.openspiel", "secret.nfg"):
        Path(name).write_text("hunter2\n")
    return tmp_path


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run."""
    folder = tmp_path_factory.mktemp("solved") / "run"
    tp.solve("kuhn_poker", "cfr-s", iterations=20, out=folder)
    return folder


def policy_file(spec: str) -> Path:
    about = {"format": "treeplex policy", "format_version": 1, "game": spec}
    Path("evil.json").write_text(json.dumps({**about, "policy": {"0": {}, "1": {}}}))
    return Path("evil.json")


def table_file(spec: str) -> Path:
    save_table_policy(TablePolicy.uniform(spec, 2), "table.safetensors")
    return Path("table.safetensors")


def device_file(spec: str) -> Path:
    about = {"format": "treeplex device", "version": 1, "game": spec}
    Path("device.json").write_text(json.dumps({**about, "joint_plans": [{"probability": 1.0, "plans": [{}, {}]}]}))
    return Path("device.json")


def describe(kind: JobKind, path: Path, **changes: object) -> None:
    """Change what ``run.json`` says, its checksum included."""
    folder = JobFolder(kind, path)
    folder.describe({**folder.about(), **changes}, status="finished", records=folder.records())


def run_folder(spec: str) -> Path:
    settings = SolveSettings(20, 20).to_json()
    about = {"game": spec, "identity": "0" * 16, "players": 2, "algorithm": "cfr", "settings": settings, "status": "finished"}
    Path("run").mkdir(exist_ok=True)
    JobFolder(SOLVE, "run").describe(about, status="finished", records=())
    tp.policies.save(tp.Policy.uniform(tp.compile("kuhn_poker")), "run/policy.safetensors")
    return Path("run")


def sample_folder(spec: str) -> Path:
    tp.sample("kuhn_poker", iterations=5, playouts=2, out="sample", force=True)
    describe(SAMPLE, Path("sample"), game=spec)
    return Path("sample")


def train_folder(spec: str) -> Path:
    settings = DiscountSettings(epochs=2, population=2, horizon=10)
    Path("train").mkdir(exist_ok=True)
    about = {"learner": "ddcfr", "game": [spec], "identity": "0" * 16, "settings": settings.to_json()}
    JobFolder(DISCOUNT, "train").describe(about, status="interrupted", records=())
    return Path("train")


def rebel_folder(spec: str, streams: int = 1) -> Path:
    Path("rebel").mkdir(exist_ok=True)
    about = {"learner": "rebel", "game": spec, "identity": "0" * 16, "settings": RebelSettings(streams=streams).to_json()}
    JobFolder(REBEL, "rebel").describe(about, status="interrupted", records=())
    return Path("rebel")


def device_folder(spec: str) -> Path:
    folder = run_folder(spec)
    device_file(spec).rename(folder / "device.json")
    device = tp.correlation.from_policy(tp.solve("kuhn_poker", "cfr", iterations=1).policy)
    tp.correlation.save(device, "device.safetensors")
    Path("device.safetensors").rename(folder / "device.safetensors")
    return folder


PYTHON_DOORS: dict[str, Callable[[str], object]] = {
    "load": lambda spec: load(spec, named_in="somebody's"),
    "compile": lambda spec: tp.compile(spec, named_in="somebody's"),
    "load_policy": lambda spec: tp.load_policy(policy_file(spec)),
    "load_policy of a table": lambda spec: tp.load_policy(table_file(spec)),
    "load_device": lambda spec: tp.correlation.load(device_file(spec)),
    "solve": lambda spec: tp.solve(resume=run_folder(spec)),
    "sample": lambda spec: tp.sample(resume=sample_folder(spec)),
    "train": lambda spec: tp.train(resume=train_folder(spec), workers=1),
    "train_rebel": lambda spec: tp.train(resume=rebel_folder(spec)),
}
COMMANDS: dict[str, Callable[[str], list[str]]] = {
    "show folder": lambda spec: ["show", str(run_folder(spec))],
    "show file": lambda spec: ["show", str(policy_file(spec))],
    "export folder": lambda spec: ["export", str(run_folder(spec)), "out.csv"],
    "export file": lambda spec: ["export", str(policy_file(spec)), "out.csv"],
    "device": lambda spec: ["device", str(device_file(spec))],
    "solve": lambda spec: ["solve", "--resume", str(run_folder(spec))],
    "sample": lambda spec: ["sample", "--resume", str(sample_folder(spec))],
    "train": lambda spec: ["train", "ddcfr", "--resume", str(train_folder(spec))],
    "train rebel": lambda spec: ["train", "rebel", "--resume", str(rebel_folder(spec))],
}


@pytest.mark.parametrize("spec", PYTHON)
def test_a_person_may_name_a_python_file(spec: str) -> None:
    if "open_loop" not in spec:
        assert load(spec).num_players == 2
    else:
        with pytest.raises(tp.errors.GameError, match="not an open-loop game"):
            load(spec)
    assert Path("ran").exists()
    assert named_file(spec) is not None


@pytest.mark.quick_cases(
    "load-evil.py",
    'compile-turn_based(game="evil\\\\x2epy:Poker")',
    'compile-turn_based (game="evil\\\\x2epy:Poker")',
    "load_policy-open_loop(game=\"turn_based(game=\\\\'evil.p\\\\\\\\171:Poker\\\\')\")",
    "load_policy of a table-turn_based(game=evil.py:Poker)",
    'load_policy of a table-turn_based(game="evil.p\\\\u0079:Poker")',
    "load_device-evil.py:Poker",
    'load_device-turn_based(game="evil.p\\\\N{LATIN SMALL LETTER Y}:Poker")',
    'solve-turn_based(game="evil\\\\x2epy:Poker")',
    'solve-turn_based(game="evil.p\\\\u0079:Poker")',
    'train-turn_based(game="evil\\\\x2epy:Poker")',
    'train-open_loop(game="evil\\\\x2epy:Poker")',
    'train_rebel-turn_based(game="evil.p\\\\u0079:Poker")',
)
@pytest.mark.parametrize("spec", PYTHON)
@pytest.mark.parametrize("door", PYTHON_DOORS)
def test_no_file_runs_a_python_file(door: str, spec: str) -> None:
    with pytest.raises(FileError, match="never loaded automatically; give the game too"):
        PYTHON_DOORS[door](spec)
    assert not Path("ran").exists()


@pytest.mark.quick_cases(
    'show folder-turn_based(game="evil\\\\x2epy:Poker")',
    'show folder-turn_based(game="evil.p\\\\171:Poker")',
    'show folder-turn_based(game="turn_based(game=\\\\"evil\\\\\\\\x2epy:Poker\\\\")")',
    "show file-evil.py:Poker",
    'show file-turn_based(game="turn_based(game=\\\\"evil\\\\\\\\x2epy:Poker\\\\")")',
    'export folder-turn_based(game="evil.p\\\\171:Poker")',
    "export folder-open_loop(game=\"turn_based(game=\\\\'evil.p\\\\\\\\171:Poker\\\\')\")",
    'export file-turn_based(game="evil\\\\x2epy:Poker")',
    'export file-turn_based(game="turn_based(game=\\\\"evil\\\\\\\\x2epy:Poker\\\\")")',
    'device-turn_based(game="turn_based(game=\\\\"evil\\\\\\\\x2epy:Poker\\\\")")',
    'solve-turn_based(game="evil\\\\x2epy:Poker")',
    'solve-turn_based(game="evil.p\\\\u0079:Poker")',
    "train-evil.py:Poker",
    'train-turn_based(game="evil.p\\\\u0079:Poker")',
    'train-turn_based(game="turn_based(game=\\\\"evil\\\\\\\\x2epy:Poker\\\\")")',
    "train rebel-evil.py:Poker",
)
@pytest.mark.parametrize("spec", PYTHON[:1] + PYTHON[3:6] + PYTHON[-2:])
@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_runs_a_python_file_that_a_file_names(command: str, spec: str) -> None:
    result = CliRunner().invoke(app, COMMANDS[command](spec))
    assert result.exit_code == 2, result.output
    assert "never loaded automatically; give the game too (with --game, or as the argument GAME)" in result.stderr
    assert not Path("ran").exists()


@pytest.mark.quick_cases(
    "load-secret.efg",
    "load_policy-secret.openspiel",
    "load_policy-openspiel:efg_game(filename=secret.efg)",
    "load_device-matrix(rows=[[1,2]],second_file=secret.csv)",
    "load_device-turn_based(game=openspiel:bargaining(instances_file=secret.csv))",
    'solve-turn_based(game="matrix(fi\\\\x6ce=secret.csv)")',
    "solve-openspiel:efg_game(filename=secret.efg)",
    "solve-turn_based(game=openspiel:bargaining(instances_file=secret.csv))",
    'train-turn_based(game="matrix(fi\\\\x6ce=secret.csv)")',
    "train-openspiel:misere(game=nfg_game(filename=secret.nfg))",
    "train-turn_based(game=openspiel:bargaining(instances_file=secret.csv))",
    "train_rebel-secret.efg",
    "train_rebel-turn_based(game=secret.efg)",
    "train_rebel-secret.game",
    "train_rebel-secret.openspiel",
)
@pytest.mark.parametrize("spec", FILES)
@pytest.mark.parametrize("door", [name for name in PYTHON_DOORS if name not in ("compile", "load_policy of a table")])
def test_no_file_makes_another_one_be_read(door: str, spec: str) -> None:
    if "openspiel:" in spec:
        pytest.importorskip("pyspiel")
    with pytest.raises(FileError, match="never loaded automatically; give the game too") as caught:
        PYTHON_DOORS[door](spec)
    assert "hunter2" not in str(caught.value)
    assert named_file(spec) is not None


def test_games_that_name_no_file_are_loaded_from_files() -> None:
    for spec in ("kuhn_poker", "turn_based(game=kuhn_poker(players=3))", "matrix(rows=[[1,2]])"):
        assert load(spec, named_in="run.json").num_players == load(spec).num_players
        assert named_file(spec) is None
    assert {name for name, info in games().items() if info.files} == {"matrix"}
    assert all(set(info.files) <= set(info.meanings) for info in games().values())


def test_openspiel_games_that_name_no_file() -> None:
    pyspiel = pytest.importorskip("pyspiel")
    for spec in ("openspiel:misere(game=kuhn_poker(players=3))", "openspiel:goofspiel(num_cards=3,points_order=descending)"):
        assert load(spec, named_in="run.json").num_players == load(spec).num_players
    parameters = {name for game in pyspiel.registered_games() for name in game.parameter_specification}
    paths = {name for name in parameters if load_names(name)}
    assert (
        {"filename", "instances_file", "boards_file"}
        <= paths
        <= {
            *("filename", "instances_file", "boards_file", "puzzles_root", "word_list_file"),
        }
    )


def load_names(parameter: str) -> bool:
    """Whether a parameter of OpenSpiel counts as a path."""
    from treeplex.forms.sources.openspiel import OF_FILES

    return any(word in parameter for word in OF_FILES)


def test_typing_the_game_is_enough(solved: Path) -> None:
    """A folder of another spec for the same rules: what was typed is loaded, what stands in the folder is not."""
    describe(SOLVE, solved, game=PYTHON[3])
    assert tp.solve("kuhn_poker", resume=solved, iterations=30).iterations == 30
    assert not Path("ran").exists()


def test_workers_load_what_was_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The spec that goes to workers of a resumed training is the one that was typed, not the one in the folder."""
    pytest.importorskip("torch")
    seen: list[str] = []

    class EnoughError(Exception):
        pass

    def parallel_trainer(rules: object, settings: object, executor: Executor, player: SelfPlayer, streams: int) -> None:
        executor.close()
        seen.append(player.game)
        raise EnoughError

    monkeypatch.setattr(rebel, "parallel_trainer", parallel_trainer)
    folder = rebel_folder(PYTHON[3], streams=2)
    describe(REBEL, folder, identity=rebel.public_identity(rebel.public_tree("kuhn_poker")))
    with pytest.raises(EnoughError):
        tp.train("kuhn_poker", resume=folder)
    assert seen == ["kuhn_poker"]
    assert not Path("ran").exists()


def test_a_game_without_a_name_is_named_again(solved: Path) -> None:
    with pytest.raises(PolicyError, match=r"evil\.json does not name its game; give the game"):
        tp.load_policy(policy_file(""))
    with pytest.raises(FileError, match="run is for a game without a name; give the game too"):
        tp.solve(resume=run_folder(" "))


def test_games_in_one_another_have_an_end() -> None:
    spec = "kuhn_poker"
    for _ in range(25):
        spec = f"turn_based(game={spec})"
    with pytest.raises(SpecError, match="more than 20"):
        load(spec)
