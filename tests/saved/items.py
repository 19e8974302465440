"""What the product writes, one small instance of each: how it is made, and what reading it gives.

This is the only file here that knows where things are in the library. Numbers are arrays or floats by name, as in
:mod:`tests.fence.doors`.
"""

import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from typer.testing import CliRunner

import treeplex as tp
from tests.fence.cases import EXACT, SINGLE, STEERED
from tests.fence.doors import Numbers, policy_array
from tests.processes import interrupt_after
from treeplex.forms.policies.tabular import normalised
from treeplex.forms.sources.load import load
from treeplex.holdem.engine.showdowns.hand_features import INPUTS
from treeplex.holdem.whole.phh import hand_from
from treeplex.learn.train.registry import NEURAL, learner_of
from treeplex.run.cli.main import app

NETWORKS = 1e-4
"""What networks in single precision may be off on another machine."""
LEARNED = 0.02
"""The network after some steps of learning."""


@dataclass(frozen=True)
class Item:
    """Something that is written once and read later.

    Attributes:
        make: writes it into an empty folder.
        look: reads it there.
        rtol: how far numbers may be off on another machine, relative to their size.
        torch: needs PyTorch.
        web: needs the packages of the page.
    """

    make: Callable[[Path], None]
    look: Callable[[Path], Numbers]
    rtol: float = EXACT
    torch: bool = False
    web: bool = False


@dataclass(frozen=True)
class Job:
    """A job that can be resumed: it is kept once finished, and once as it was when it was interrupted.

    Attributes:
        new: runs it; takes ``out`` and ``progress``.
        resume: resumes the one at a place until it is finished.
        look: reads the one at a place.
        stop: units after which it is interrupted.
        suffix: of the place, a folder unless it is a file.
        kind: of the job, as ``run.json`` names it.
        learner: its name, of a training.
        resumed: how far numbers may be off on another machine after resuming; 0: as far as those that are read.
        rtol, torch: as of :class:`Item`.
    """

    kind: str
    new: Callable[..., Any]
    resume: Callable[[Path], Any]
    look: Callable[[Path], Numbers]
    stop: int
    suffix: str = ""
    learner: str = ""
    resumed: float = 0.0
    rtol: float = EXACT
    torch: bool = False

    def make(self, folder: Path) -> None:
        """Run it to its end, and again until it is interrupted."""
        self.new(out=folder / f"finished{self.suffix}", progress=None)
        try:
            self.new(out=folder / f"interrupted{self.suffix}", progress=interrupt_after(self.stop))
        except tp.errors.JobInterrupt:
            return
        raise AssertionError("the job was over before it was interrupted")


def command(*arguments: object) -> Any:
    """What a command prints as JSON."""
    ran = CliRunner().invoke(app, [*map(str, arguments), "--json"])
    assert ran.exit_code == 0, ran.output
    return json.loads(ran.stdout)


@dataclass(frozen=True)
class CountingSettings(tp.learn.Settings):
    """How long, and the seed."""

    steps: int = tp.learn.setting(30, "steps", low=1)
    seed: int = tp.learn.setting(0, "seed", low=0)


class Counting(tp.learn.Learner):
    """A learner of one's own, which plays as often as it drew."""

    settings_class = CountingSettings

    def __init__(self, game: tp.Game, settings: CountingSettings) -> None:
        super().__init__(game, settings)
        self.seen = np.ones(len(self.compiled.tree.sequence_infoset))

    def step(self) -> dict[str, float]:
        drawn = self.generator.integers(len(self.seen))
        self.seen[drawn] += 1.0
        return {"drawn": float(drawn)}

    def policy(self) -> tp.Policy:
        return tp.Policy(self.compiled, normalised(self.compiled, self.seen))

    def state(self) -> dict[str, Any]:
        return {"seen": self.seen}

    def restore(self, arrays: Any) -> None:
        self.seen = np.array(arrays["seen"])


# Readers


def last_record(folder: Path) -> Numbers:
    """The numbers of the last record of a run folder that any version has to give."""
    about = json.loads((folder / "run.json").read_text())
    assert about["treeplex"]
    return numbers_of({name: value for name, value in (about["last"] or {}).items() if name not in UNSTEADY})


UNSTEADY = ("seconds", "cpu_seconds", "rate", "loss", "policy_loss", "interval", "intervals")
"""Numbers that depend on the clock, as losses do, which are means since the record before; and widths of intervals, for which
versions have other formulas."""


def numbers_of(values: Mapping[str, Any]) -> Numbers:
    """Plain data as numbers by name; None is left out."""
    found: Numbers = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            found |= {f"{name}: {inner}": number for inner, number in numbers_of(value).items()}
        elif isinstance(value, list):
            array = np.array(value, np.float64)
            found |= {} if np.isnan(array).any() else {name: array}
        elif value is not None:
            found[name] = value
    return found


def judged(game: str, path: Path) -> Numbers:
    """What the judge says of a policy, and the policy."""
    policy, found = tp.load_policy(path), tp.judge(game, path)
    return {"exploitability": found.exploitability, "value": np.array(found.value), "policy": policy_array(policy)}


def judged_run(game: str, folder: Path) -> Numbers:
    """The last record of a folder, and what the judge says of its policy."""
    return {**{f"recorded {name}": number for name, number in last_record(folder).items()}, **judged(game, folder)}


def played(game: str, folder: Path, text: str = "{}", **settings: Any) -> Numbers:
    """The policy of the agent in a folder at its first decision, and the last record."""
    agent = tp.agent(text.format(folder), load(game), seed=0, **settings)
    agent.begin(0)
    return {**last_record(folder), "policy": np.asarray(agent.policy(), np.float64)}


# Solving and sampling

LEDUC = "leduc_poker(ranks=2)"


def run(game: str, algorithm: str, iterations: int, **options: Any) -> Callable[..., Any]:
    """Solves a game into a folder."""
    return partial(tp.solve, game, algorithm, iterations=iterations, **options)


def solve_job(game: str, algorithm: str, iterations: int = 40, stop: int = 17, **options: Any) -> Job:
    """A run on a compiled game."""
    given = {name: options.pop(name) for name in ("rtol", "torch") if name in options}
    new = run(game, algorithm, iterations, **options)
    return Job("solve", new, resume_solve, partial(judged_run, game), stop, **given)


def resume_solve(folder: Path) -> None:
    """Go on with a run."""
    tp.solve(resume=folder)


def look_at_device(folder: Path) -> Numbers:
    """What the correlation device of a run is worth, beside its policy."""
    device = tp.correlation.load(folder)
    return {**last_record(folder), "payoffs": np.array(device.payoffs), "gap": tp.correlation.cce_gap(device)}


def look_at_sample(game: str, folder: Path) -> Numbers:
    """A sampled run: its table, judged where the game can be compiled."""
    table = tp.policies.load_table(folder / "policy.safetensors")
    found = tp.judge(game, folder)
    return {**last_record(folder), "policy": policy_array(table), "judged": found.exploitability}


def sample_job(game: str, algorithm: str, iterations: int = 60) -> Job:
    """A run that samples rules."""
    new = partial(tp.sample, game, algorithm, iterations=iterations, playouts=20, seed=3)
    return Job("sample", new, lambda folder: tp.sample(resume=folder), partial(look_at_sample, game), iterations // 3)


MATRIX = "matrix(rows=[[2,0],[0,1]],second=[[0,1],[3,0]])"


STEERED_BY_NETWORKS = ("ddcfr", "dpcfr+", "pddcfr")


def jobs_of_algorithms() -> dict[str, Job]:
    """A run by every algorithm that can be interrupted, on the smallest game that it is defined for."""
    found = {}
    for name, algorithm in tp.algorithms().items():
        if name in ("lp", "recursive"):  # a single step: nothing is interrupted
            continue
        game = MATRIX if name == "rm" else "kuhn_poker"
        iterations, stop = (400, 90) if algorithm.scheme else (40, 17)
        steered = name in STEERED_BY_NETWORKS
        spec, tolerance = (f"{name}(horizon={iterations})", STEERED) if steered else (name, EXACT)
        found[f"solve {name}"] = solve_job(game, spec, iterations, stop, rtol=tolerance, every=iterations // 2)
    return found


JOBS: dict[str, Job] = {
    **jobs_of_algorithms(),
    "solve three players": solve_job("kuhn_poker(players=3)", "cfr+"),
    "solve with tensors": solve_job("kuhn_poker", "cfr+", device="torch-cpu", torch=True),
    "sample es-mccfr": sample_job("kuhn_poker", "es-mccfr"),
    "sample os-mccfr": sample_job("kuhn_poker", "os-mccfr(variant=lcfr)", 300),
}


# Training

SMALL = {"width": 4, "layers": 1, "steps": 4, "walks": 4, "plays": 4, "fits": 2, "batch": 8, "memory": 64}
SMALL |= {"value_walks": 4, "critic_memory": 64, "critic_fits": 2, "critic_rounds": 1, "average_fits": 4, "passes": 1}
SMALL |= {"reservoir": 64, "refresh": 1, "past": 4, "batches": 2, "simulated": 8, "phase": 2, "auxiliary_passes": 1, "parts": 2}
TEAM = "matrix(rows=[[10,0],[0,3]],second=[[10,0],[0,3]])"
MORE: Mapping[str, Mapping[str, Any]] = {"psro": {"oracle": "learned"}, "armac": {"share": 0.5}}
"""Settings in which learners are not the same as others."""


def trained(game: Any, learner: Any, settings: Mapping[str, Any], **options: Any) -> Callable[..., Any]:
    """Trains into a folder."""

    def new(out: Path, progress: Any) -> None:
        tp.train(game, learner, settings=settings, out=out, progress=progress, **options)

    return new


OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "rebel": {"judge_every": 0, "workers": 1},
    "rebel on whole hold'em": {"judge_every": 0, "workers": 1},
    "discount": {"workers": 1},
}
"""How trainings run, by kind."""


def resume_training(kind: str, folder: Path) -> None:
    """Go on with a training."""
    tp.train(resume=folder, **OPTIONS.get(kind, {}))


def training(kind: str, learner: str, game: Any, look: Callable[[Path], Numbers], stop: int, **given: Any) -> Job:
    """A training by a learner of the library; what is given and is no field of :class:`Job` is a setting."""
    own = {name: given.pop(name) for name in (*Job.__dataclass_fields__,) if name in given}
    usual: dict[str, Any] = {"learner": learner, "rtol": NETWORKS, "resumed": LEARNED, "torch": True}
    new = trained(game, learner, given, **OPTIONS.get(kind, {}))
    return Job(kind, new, partial(resume_training, kind), look, stop, **{**usual, **own})


def neural(name: str) -> Job:
    """A training by a learner with networks on a small game."""
    from treeplex.base.settings import declared
    from treeplex.learn.train.registry import learners

    known = declared(learners()[name].settings)
    settings = {each: value for each, value in {**SMALL, **MORE.get(name, {})}.items() if each in known}
    game = TEAM if name in ("a2c", "coma") else "kuhn_poker"
    return training("learner", name, game, partial(judged_run, game), 2, **settings)


def look_at_discount(folder: Path) -> Numbers:
    """What a run steered by each of both policies comes to."""
    found = last_record(folder)
    for name in ("policy", "best"):
        policy = tp.learn.load_discount_policy(folder / f"{name}.safetensors")
        found[f"{name} solves"] = tp.solve("kuhn_poker", policy, iterations=20).exploitability
    return found


def look_at_rebel(game: str, folder: Path) -> Numbers:
    """A judged search by the network."""
    found = tp.learn.judge_rebel(game, folder, playthroughs=2, iterations=4, workers=1)
    return {**last_record(folder), "judged": found.judgement.exploitability}


def look_at_hand_values(folder: Path) -> Numbers:
    """What the network says of some rows."""
    net = learner_of(folder).load(folder)
    rows = np.linspace(-1.0, 1.0, 4 * INPUTS, dtype=np.float32).reshape(4, INPUTS)
    return {**last_record(folder), "values": net.forward(rows)[:, 0].astype(np.float64)}


SPOT = {"board": "3s7hTdKs", "oop": "QQ,AKs", "ip": "99,KQs", "pot": 20, "stack": 40, "bets": "100%", "raises": "none"}
NINE = "holdem(ranks=3,suits=3,stack=4,sizes=[a])"
TEN_CARDS = "holdem(ranks=5,suits=2,stack=12,preflop=[a],sizes=[100%;a],raises=[2;2;1;1])"
DICE = "liars_dice(dice_sides=2)"
REBEL = {"iterations": 4, "episodes": 16, "width": 8, "solves": 96, "burn_in": 32, "batch": 16, "reuse": 4.0, "rows": 256}
TURNS = {"iterations": 2, "rivers": 4, "river_iterations": 8, "games": 5, "bins": 8, "width": 8, "layers": 1, "burn_in": 8}
TURNS |= {"batch": 8, "reuse": 8.0, "rows": 64}


def spot(**changes: Any) -> Any:
    """A small spot; its fields changed."""
    return tp.holdem.spot(**{**SPOT, **changes})


def look_at_turns(folder: Path) -> Numbers:
    """What an agent plays first that searches turns with the network."""
    agent = tp.agent(str(folder), load(spot()), seed=0, iterations=2)
    agent.begin(0)
    return {**last_record(folder), "policy": np.asarray(agent.policy(), np.float64)}


JOBS |= {f"train {name}": neural(name) for name in NEURAL}
EPOCHS = {"epochs": 4, "population": 4, "horizon": 20, "hidden": (4,), "sigma": 0.5, "learning_rate": 0.1}
for each in STEERED_BY_NETWORKS:
    JOBS[f"train {each}"] = training(
        "discount", each, ("kuhn_poker",), look_at_discount, 2, **EPOCHS, rtol=STEERED, resumed=1e-4, torch=False
    )
JOBS["train ddcfr by PPO"] = training(
    "discount", "ddcfr", ("kuhn_poker",), look_at_discount, 2, **EPOCHS, optimizer="ppo", clipped=False, rtol=STEERED
)
RESPONSE = {
    "approximator": "network",
    "critic_rate": 0.001,
    "rate": 0.001,
    "steps": 8,
    "batch": 64,
    "width": 2,
    "hands": 60,
    "every": 1,
}
JOBS["train best-response"] = training(
    "best response", "best-response", "kuhn_poker", partial(played, "kuhn_poker"), 3, **RESPONSE
)
JOBS["train best-response by the rules"] = training(
    "best response", "best-response", "kuhn_poker", partial(played, "kuhn_poker"), 3, **RESPONSE, rules=True
)
JOBS["train rebel"] = training("rebel", "rebel", DICE, partial(look_at_rebel, DICE), 48, **REBEL, depth=1, seed=3)
JOBS["train rebel with streams and a policy network"] = training(
    "rebel", "rebel", DICE, partial(look_at_rebel, DICE), 48, **REBEL, depth=1, seed=3, streams=2, policy_net=True, warm=2
)
JOBS["train rebel on a turn"] = training("rebel on turns", "rebel", spot(), look_at_turns, 2, **TURNS)
WHOLE = {"solves": 24, "burn_in": 8, "iterations": 4, "episodes": 8, "batch": 8, "width": 4, "boards": 2, "rows": 64}
JOBS["train rebel on whole hold'em"] = training(
    "rebel on whole hold'em", "rebel", NINE, partial(played, "holdem(ranks=3,suits=3,stack=4)", iterations=2), 10, **WHOLE
)
JOBS["train deepstack"] = training(
    "deepstack",
    "deepstack",
    LEDUC,
    partial(played, LEDUC, iterations=4),
    24,
    iterations=4,
    situations=48,
    side=16,
    width=4,
    layers=1,
    burn_in=8,
    batch=8,
    reuse=2.0,
)
JOBS["train alphaholdem"] = training(
    "alphaholdem",
    "alphaholdem",
    "kuhn_poker",
    partial(played, "kuhn_poker"),
    2,
    updates=4,
    hands=16,
    match=8,
    admit=2,
    best=2,
    channels=2,
    width=4,
    checked=30,
    every=2,
)
JOBS["train blueprint"] = training(
    "holdem blueprint",
    "blueprint",
    TEN_CARDS,
    partial(played, "holdem(ranks=5,suits=2,stack=12)"),
    23,
    boards=60,
    deals=2,
    buckets=(3, 2, 2, 2),
    method="kmeans",
    discount_every=20,
    prune_after=10,
    rtol=SINGLE,
    resumed=SINGLE,
    torch=False,
)
JOBS["train hand-values"] = training(
    "hand-values",
    "hand-values",
    None,
    look_at_hand_values,
    3,
    street="river",
    iterations=4,
    situations=6,
    width=4,
    layers=1,
    sampled=8,
    burn_in=16,
    batch=16,
)
JOBS["train a learner of one's own"] = Job(
    "own learner",
    trained("kuhn_poker", Counting, {}),
    lambda folder: tp.train(resume=folder, learner=Counting),
    partial(judged_run, "kuhn_poker"),
    12,
)

# Hold'em

RIVER = {"board": "Td9d6hQc2s", "oop": "AA,QJs", "ip": "KK,T8s", "pot": 20, "stack": 60, "bets": "50%,a", "raises": "a"}
FLOP = {"board": "Ts9s4s", "oop": "AKs", "ip": "QQ", "pot": 20, "stack": 30, "bets": "a", "raises": "none"}


def look_at_spot(lines: tuple[str, ...], file: Path) -> Numbers:
    """A solved spot: what it says of itself, and the strategy and values at some of its lines."""
    solution = tp.holdem.load_solution(file)
    last = solution.records[-1]
    found: Numbers = {"iterations": last.done, "exploitability": last.exploitability, "ev": np.array(solution.ev)}
    for line in lines:
        view = solution.at(line)
        found[f"strategy after {line!r}"] = np.asarray(view.strategy, np.float64)
        found |= {f"EV of {player} after {line!r}": np.nan_to_num(view.ev_of(player)) for player in (0, 1)}
    if solution.judged and solution.streets == len(solution.game.boards) and not solution.settings.until:
        found["judged"] = tp.judge(solution.spot, file).exploitability
    return {name: value for name, value in found.items() if not np.isnan(value).any()}


def spot_job(fields: Mapping[str, Any], lines: tuple[str, ...], iterations: int = 40, **options: Any) -> Job:
    """A spot, one file."""
    rtol = options.pop("rtol", SINGLE)
    how: dict[str, Any] = {"iterations": iterations, "threads": 1}
    how |= {} if "until" in options else {"target": 0.0}

    def new(out: Path, progress: Any) -> None:
        tp.solve(tp.holdem.spot(**fields), out=out, progress=progress, **how, **options)

    def resume(file: Path) -> None:
        tp.solve(resume=file, out=file, force=True, **how)

    return Job("spot", new, resume, partial(look_at_spot, lines), iterations // 3, ".spot", rtol=rtol)


LINES = ("", "x", "b10", "x,b10")
JOBS |= {f"spot in {storage}": spot_job(RIVER, LINES, storage=storage) for storage in ("float32", "int16", "int8")}
JOBS["spot in packed"] = spot_job(SPOT, ("", "x", "x,x,2c"), 30, storage="packed")
JOBS["spot in float64"] = spot_job(RIVER, LINES, storage="float64", rtol=EXACT)
JOBS["spot by cfr+"] = spot_job(RIVER, LINES, algorithm="cfr+")
JOBS["spot by vt-cfr+"] = spot_job(RIVER, LINES, algorithm="vt-cfr+")
JOBS["spot by ddcfr"] = spot_job(RIVER, LINES, algorithm="ddcfr(horizon=40)")
JOBS["spot with locks and rake"] = spot_job(
    {**RIVER, "locks": ["x: b50% 60%, x 40%"], "rake": {"rate": "5%", "cap": "3"}}, LINES
)
JOBS["spot on the turn"] = spot_job(SPOT, ("", "x", "x,x,2c"), 30)
JOBS["spot on the flop"] = spot_job(FLOP, ("", "x"), 6)
JOBS["spot until the turn"] = spot_job({**FLOP, "bets": "50%"}, ("", "x"), 12, until="turn", net="showdown")


def make_batch(folder: Path) -> None:
    """A spot on two boards by the command line, the solved spots kept."""
    (folder / "spot.yaml").write_text("oop: AKs\nip: QQ\npot: 20\nstack: 30\nbets: a\nraises: none\n")
    batch(folder)


def batch(folder: Path) -> Any:
    """Solve two flops into the folder; boards that are finished are kept."""
    options = ("--out", folder / "flops", "--keep", "-n", 6, "--target", "0", "--threads", 1, "--no-progress")
    return command("holdem", "flops", folder / "spot.yaml", "--boards", "Ts9s4s,Kd7c2h", *options)


def look_at_batch(folder: Path) -> Numbers:
    """The report of a finished batch, for which nothing is solved, and a solved spot of it."""
    before = {path: path.stat().st_mtime_ns for path in (folder / "flops" / "boards").iterdir()}
    rows = batch(folder)["rows"]
    assert before == {path: path.stat().st_mtime_ns for path in (folder / "flops" / "boards").iterdir()}
    found = {f"{row['board']}: {name}": value for row in rows for name, value in numbers_of(numbers_alone(row)).items()}
    return {**found, **look_at_spot(("",), folder / "flops" / "boards" / "Kd7c2h.spot")}


def numbers_alone(values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of some values that are numbers."""
    return {name: value for name, value in values.items() if isinstance(value, int | float) and "seconds" not in name}


def make_part_of_batch(folder: Path) -> None:
    """The batch, stopped after its first board."""
    make_batch(folder)
    for path in (folder / "flops" / "boards").glob("Kd7c2h.*"):
        path.unlink()
    for name in ("report.csv", "report.md"):
        (folder / "flops" / name).unlink()


def look_at_part_of_batch(folder: Path) -> Numbers:
    """The report of a batch whose second board is solved now."""
    kept = folder / "flops" / "boards" / "Ts9s4s.json"
    before = kept.stat().st_mtime_ns
    rows = batch(folder)["rows"]
    assert kept.stat().st_mtime_ns == before
    return {f"{row['board']}: {name}": value for row in rows for name, value in numbers_of(numbers_alone(row)).items()}


def make_first_street(folder: Path) -> None:
    """A solution that keeps its first street alone, as preflop charts do."""
    tp.solve(tp.holdem.spot(**SPOT), iterations=20, target=0.0, threads=1).save(folder / "turn.spot", streets="turn")


def make_disk(folder: Path) -> None:
    """A spot solved in parts, its numbers in a folder."""
    tp.solve(tp.holdem.spot(**SPOT), iterations=10, target=0.0, threads=1, storage=f"disk:{folder / 'parts'}", every=5)


def look_at_disk(folder: Path) -> Numbers:
    """A spot solved in parts, some iterations on."""
    storage = f"disk:{folder / 'parts'}"
    solution = tp.solve(tp.holdem.spot(**SPOT), iterations=15, target=0.0, threads=1, storage=storage, every=5)
    found = {f"exploitability at {record.done}": record.exploitability for record in solution.records}
    return {**found, "strategy": np.asarray(solution.at("x").strategy, np.float64)}


# Matches


def match_job() -> Job:
    """A match hand by hand."""
    agents = ["uniform", "search(depth=1,leaf=zero,iterations=2)"]

    def look(folder: Path) -> Numbers:
        hands = [json.loads(line) for line in (folder / "hands.jsonl").read_text().splitlines()]
        return {**last_record(folder), "payoffs": np.array([hand["payoffs"] for hand in hands], np.float64)}

    new = partial(tp.match, "kuhn_poker", agents, hands=40, sampled=True, seed=1, duplicate=True)
    return Job("match", new, lambda folder: tp.match(resume=folder), look, 15)


JOBS["match"] = match_job()

# Policies, devices, networks


def make_policies(folder: Path) -> None:
    """A policy in every format."""
    policy = tp.solve("kuhn_poker", "cfr+", iterations=30).policy
    for suffix in ("safetensors", "npz", "json", "csv"):
        tp.policies.save(policy, folder / f"kuhn.{suffix}", metadata={"note": "kept"})


def look_at_policies(folder: Path) -> Numbers:
    """What each is worth."""
    found: Numbers = {}
    for path in sorted(folder.glob("kuhn.*")):
        assert tp.policies.read_header(path)["metadata"] == {"note": "kept"}
        found |= {f"{name} of {path.suffix}": value for name, value in judged("kuhn_poker", path).items()}
    return found


def make_exported(folder: Path) -> None:
    """Policies that the command line exports: of a run, and the improved one of few bets."""
    tp.solve("kuhn_poker", "cfr", iterations=10, out=folder / "run")
    for suffix in ("json", "csv"):
        ran = CliRunner().invoke(app, ["export", str(folder / "run"), str(folder / f"exported.{suffix}")])
        assert ran.exit_code == 0, ran.output
    few, real = "no_limit_leduc(stack=300)", "no_limit_leduc(sizes=[100%;a],stack=300)"
    improved = folder / "improved.safetensors"
    command("improve", real, tp.solve(few, "cfr+", iterations=20).save(folder / "few"), "--times", 1, "-n", 5, "-o", improved)


def look_at_exported(folder: Path) -> Numbers:
    """What they are worth."""
    found = {
        f"{name} of {suffix}": value
        for suffix in ("json", "csv")
        for name, value in judged("kuhn_poker", folder / f"exported.{suffix}").items()
    }
    real = "no_limit_leduc(sizes=[100%;a],stack=300)"
    return {**found, "improved": tp.exploitability(real, folder / "improved.safetensors")}


def make_table_policy(folder: Path) -> None:
    """A policy of a game that is not compiled."""
    tp.policies.save_table(tp.sample("kuhn_poker", iterations=40, playouts=10).policy, folder / "table.safetensors")


def look_at_table_policy(folder: Path) -> Numbers:
    """Its probabilities."""
    return {"policy": policy_array(tp.policies.load_table(folder / "table.safetensors"))}


def make_devices(folder: Path) -> None:
    """Correlation devices: from a policy, the best one, in both formats."""
    game = tp.compile(MATRIX)
    for name, device in {
        "policy": tp.correlation.from_policy(tp.solve(game, "cfr+", iterations=20).policy),
        "best": tp.correlation.best_cce(game),
    }.items():
        for suffix in ("safetensors", "json"):
            tp.correlation.save(device, folder / f"{name}.{suffix}", metadata={"note": "kept"})


def look_at_devices(folder: Path) -> Numbers:
    """What each is worth."""
    found: Numbers = {}
    for path in sorted(folder.iterdir()):
        device, about = tp.correlation.read(path)
        assert about == {"note": "kept"}
        found |= {f"payoffs of {path.name}": np.array(device.payoffs), f"gap of {path.name}": tp.correlation.cce_gap(device)}
    return found


def make_spot_network(folder: Path) -> None:
    """A network of a learner on a hold'em spot."""
    settings = {"width": 4, "layers": 1, "steps": 1, "walks": 8, "fits": 2}
    tp.train("leduc_holdem", "sd-cfr", settings=settings, out=folder / "run")


def look_at_spot_network(folder: Path) -> Numbers:
    """What its policy is worth."""
    found = tp.judge("leduc_holdem", folder / "run")
    return {"exploitability": found.exploitability, "value": np.array(found.value)}


def make_rules_network(folder: Path) -> None:
    """A network of a learner that walks by the rules."""
    settings = {"width": 4, "layers": 1, "steps": 2, "walks": 8, "fits": 2, "average_fits": 2, "rules": True}
    tp.train("kuhn_poker", "deep-cfr", settings=settings, out=folder / "run")


def make_discount_policy(folder: Path) -> None:
    """A discount policy by itself."""
    tp.learn.save_discount_policy(tp.learn.shipped_discount_policy("ddcfr"), folder / "ddcfr.safetensors")


def look_at_discount_policy(folder: Path) -> Numbers:
    """What it steers a run to."""
    spec = f"ddcfr(policy={folder / 'ddcfr.safetensors'})"
    return {"exploitability": tp.solve("kuhn_poker", spec, iterations=30).exploitability}


def make_seeds(folder: Path) -> None:
    """A training run with two seeds."""
    tp.learn.train_seeds(
        "kuhn_poker", "sd-cfr", settings={"approximator": "table", "steps": 2, "walks": 4}, seeds=2, out=folder / "seeds"
    )


def look_at_seeds(folder: Path) -> Numbers:
    """What both end in, reopened."""
    last = tp.learn.train_seeds(resume=folder / "seeds").bands()[-1]
    return {f"{which} of {name}": value for which in ("mean", "low", "high") for name, value in last[which].items()}


def make_comparison(folder: Path) -> None:
    """Two algorithms compared, each in a run folder."""
    tp.compare("kuhn_poker", ["cfr+", "dcfr"], iterations=20, out=folder / "comparison")


def look_at_comparison(folder: Path) -> Numbers:
    """What both come to."""
    places = sorted(path.parent for path in (folder / "comparison").glob("*/run.json"))
    table = json.loads((folder / "comparison" / "comparison.json").read_text())
    assert len(places) == 2
    assert table
    return {f"{name} of {place.name}": value for place in places for name, value in judged("kuhn_poker", place).items()}


# Games and hands of other systems


def make_games(folder: Path) -> None:
    """Rules as files."""
    game = tp.load("kuhn_poker")
    tp.formats.write_efg(game, folder / "kuhn.efg")
    tp.formats.write_game_file(game, folder / "kuhn.game")


def look_at_games(folder: Path) -> Numbers:
    """What uniform play is worth in each."""
    return {path.suffix: tp.judge(str(path), "uniform").exploitability for path in sorted(folder.iterdir())}


def make_hands(folder: Path) -> None:
    """Hands that a person plays, as text, one by one and in one file."""
    for place in ("hands", "hands.phhs"):
        given = ("play", "holdem(stack=20)", "--against", "rules(style=caller)", "-n", 2, "--seed", 1)
        kept = ("--phh", folder / place, "--log", folder / f"{Path(place).stem}.txt")
        ran = CliRunner().invoke(app, [*map(str, (*given, *kept))], input="c\n" * 40)
        assert ran.exit_code == 0, ran.output


def look_at_hands(folder: Path) -> Numbers:
    """What was won in each."""
    found: Numbers = {}
    for path in sorted((folder / "hands").iterdir()):
        found[path.name] = np.array(tp.formats.read_phh(path).returns())
    for number, hand in tomllib.loads((folder / "hands.phhs").read_text()).items():
        found[f"hand {number} of one file"] = np.array(hand_from(hand).returns())
    return found


def make_server_hands(folder: Path) -> None:
    """Hands that were played at a server."""
    from treeplex.holdem.protocols.served import HandsFile, ServedHand

    with HandsFile(folder / "hands.jsonl", {"server": "slumbot", "agent": "uniform", "seed": 1}) as file:
        file.add(ServedHand(0, 1, "AsKd", "2c3d4h5s6c", "b200c/kk/kk/kk", 200.0, None))
        file.add(ServedHand(1, 0, "7s2d", "", "b200f", -100.0, -98.5))


def look_at_server_hands(folder: Path) -> Numbers:
    """What was won, reopened."""
    from treeplex.holdem.protocols.served import HandsFile

    with HandsFile(folder / "hands.jsonl", {"server": "slumbot", "agent": "uniform", "seed": 1}) as file:
        return {"won": np.array([hand.won for hand in file.hands]), "seats": np.array([hand.seat for hand in file.hands])}


def make_review(folder: Path) -> None:
    """A judged hand whose solved streets stay."""
    (folder / "hand.phh").write_text(HAND)
    review(folder)


HAND = """\
variant = "NT"
ante_trimming_status = true
antes = [0, 0]
blinds_or_straddles = [1, 2]
min_bet = 2
starting_stacks = [40, 40]
players = ["Ann", "Bob"]
actions = ["d dh p1 QsJs", "d dh p2 KhKd", "p2 cbr 6", "p1 cc", "d db Td9d6h", "p1 cc", "p2 cc", "d db Qc", "p1 cc", \
"p2 cc", "d db 2s", "p1 cc", "p2 cbr 8", "p1 cc"]
"""


def review(folder: Path) -> Any:
    """Judge the river of the hand."""
    settings = tp.holdem.ReviewSettings(("AA,QJs", "KK,T8s"), "river", "50%", "a", 0.01, 1, folder / "streets")
    return tp.holdem.review(folder / "hand.phh", hero="Bob", settings=settings)


def look_at_review(folder: Path) -> Numbers:
    """What was lost, by the solved street that was kept."""
    before = (folder / "streets" / "river.spot").read_bytes()
    found = review(folder)
    assert (folder / "streets" / "river.spot").read_bytes() == before
    return {"lost": found.lost, "EV": np.array(found.streets[0].choices[0].ev)}


# The page in the browser


def make_page(folder: Path) -> None:
    """What a server keeps beside the files that it serves: ranges, a job, a table, a saved hand."""
    import time

    from tests.web.conftest import running
    from treeplex.web.served import ServerState

    with running(ServerState(folder, threads=1)) as client:

        def send(address: str, **body: Any) -> Any:
            answer = client.post(address, json=body)
            assert answer.status_code in (200, 201), answer.text
            return answer.json()

        send("/api/presets", name="my range", text="AA,KK,AKs:0.5")
        fields = {**RIVER, "pot": "20", "stack": "60", "iterations": 20, "target": "0", "threads": 1}
        job = send("/api/jobs", fields=fields, name="mine")
        while client.get(f"/api/jobs/{job['id']}").json()["state"] != "finished":
            time.sleep(0.05)
        table = send("/api/tables", game="kuhn_poker", seat=0, against="uniform", seed=4)
        address = f"/api/tables/{table['id']}"
        while not table["over"]:
            table = send(f"{address}/play", action=table["options"][0]["id"])
        send(f"{address}/next")
    for path in (folder / ".web").rglob("*.log"):
        path.unlink()


def look_at_page(folder: Path) -> Numbers:
    """What the next server makes of it, and the table where it stood."""
    from tests.web.conftest import running
    from treeplex.web.playing.session import TableSession
    from treeplex.web.served import ServerState

    with running(ServerState(folder, threads=1)) as client:
        presets = json.dumps(client.get("/api/presets").json())
        (job,) = client.get("/api/jobs").json()["jobs"]
        (kept,) = client.get("/api/tables").json()["tables"]
    assert "AA,KK,AKs:0.5" in presets
    assert (job["name"], job["state"], kept["game"], kept["against"]) == ("mine", "finished", "kuhn_poker", "uniform")
    table = TableSession("kuhn_poker", "uniform", seat=0, seed=4, keep=str(folder / ".web" / "tables" / f"{kept['id']}.jsonl"))
    found: Numbers = {"iterations": job["done"], "exploitability": job["exploitability"], "hands": len(table.hands)}
    payoff = table.hands[0].payoff
    assert payoff is not None
    return {**found, "won": float(np.sum(payoff))}


ITEMS: dict[str, Item] = {
    "lp": Item(
        lambda folder: tp.solve("kuhn_poker", "lp", out=folder / "run"),
        lambda folder: judged_run("kuhn_poker", folder / "run"),
    ),
    "recursive": Item(
        lambda folder: tp.solve("goofspiel(num_cards=2)", "recursive", out=folder / "run"),
        lambda folder: judged_run("goofspiel(num_cards=2)", folder / "run"),
    ),
    "batch": Item(make_batch, look_at_batch, SINGLE),
    "batch, interrupted": Item(make_part_of_batch, look_at_part_of_batch, SINGLE),
    "first street of a spot": Item(make_first_street, lambda folder: look_at_spot(("", "x"), folder / "turn.spot"), SINGLE),
    "spot in parts on disk": Item(make_disk, look_at_disk, SINGLE),
    "policies": Item(make_policies, look_at_policies),
    "exported policies": Item(make_exported, look_at_exported),
    "table policy": Item(make_table_policy, look_at_table_policy),
    "correlation devices": Item(make_devices, look_at_devices),
    "network on a spot": Item(make_spot_network, look_at_spot_network, NETWORKS, torch=True),
    "network by the rules": Item(make_rules_network, lambda folder: judged("kuhn_poker", folder / "run"), NETWORKS, torch=True),
    "discount policy": Item(make_discount_policy, look_at_discount_policy, STEERED),
    "seeds": Item(make_seeds, look_at_seeds),
    "comparison": Item(make_comparison, look_at_comparison),
    "games": Item(make_games, look_at_games),
    "hands": Item(make_hands, look_at_hands),
    "hands at a server": Item(make_server_hands, look_at_server_hands),
    "review": Item(make_review, look_at_review, SINGLE),
    "page": Item(make_page, look_at_page, SINGLE, web=True),
}
