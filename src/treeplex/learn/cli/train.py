"""The command ``treeplex train``."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treeplex.base.digits import three_digits
from treeplex.base.spec import quoted, shown
from treeplex.errors import SpecError, TreeplexError
from treeplex.run.cli.shared.arguments import (
    SETTINGS,
    Changes,
    Config,
    Force,
    Json,
    Preset,
    Ray,
    ShowProgress,
    ShowSettings,
    TrainOut,
    TrainResume,
    check_folders,
    options_under,
)
from treeplex.run.cli.shared.commands import GroupedCommand, command, described, with_options, with_wing_options
from treeplex.run.cli.shared.console import print_entries, print_facts, print_json, print_next, say
from treeplex.run.cli.shared.failures import STOPPED, fail
from treeplex.run.cli.shared.live import Live
from treeplex.run.job.progress_line import clock

if TYPE_CHECKING:
    from treeplex.learn.train.kind import TrainingKind, TrainingRun
    from treeplex.run.job.record import Progress

LIMITS = "Limits"
"""Heading of options that limit training."""
EXECUTION = "Execution"
"""Heading of options for seeds, processes and records."""
RUNNING = [
    *options_under(
        LIMITS,
        seconds=Annotated[float | None, typer.Option(metavar="S", help="Time limit in seconds. Use --resume to continue.")],
        nodes=Annotated[
            int | None, typer.Option(metavar="N", help="Limit on histories visited, for learners that count them.")
        ],
        episodes=Annotated[int | None, typer.Option(metavar="N", help="Limit on playthroughs, for learners that count them.")],
    ),
    *options_under(
        EXECUTION,
        seeds=Annotated[int | None, typer.Option(metavar="N", help="Train with N consecutive seeds and plot the spread.")],
        workers=Annotated[
            int | None,
            typer.Option(
                metavar="N", help="Worker processes. Default: all cores for rebel and discount learners, 1 for others."
            ),
        ],
    ),
    *options_under(None, ray=Ray),
    *options_under(
        EXECUTION,
        judge_every=Annotated[
            float | None,
            typer.Option(
                metavar="S",
                help="Seconds between evaluations (0: never). Default: at most 5% of the time in small games, never in others.",
            ),
        ],
        tensorboard=Annotated[bool, typer.Option("--tensorboard", help="Also write TensorBoard events.")],
    ),
]
"""Options named as in :func:`treeplex.learn.train.seeds.train_seeds` and, except ``seeds``, :func:`treeplex.train`."""


class Train(GroupedCommand):
    """``treeplex train``: ``--help`` after a learner's name also lists its settings."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Create the context, and store the learner's name for :meth:`get_help`."""
        self.learner = next((arg for arg in args[:1] if not arg.startswith("-")), None)
        return super().make_context(info_name, args, parent, **extra)

    def get_help(self, ctx: Any) -> str:
        """The help, followed by the named learner's settings."""
        text = super().get_help(ctx)
        if getattr(self, "learner", None) is None:
            return text
        from treeplex.learn.train.registry import learner_named

        try:
            known = learner_named(str(self.learner))
        except TreeplexError:
            return text
        return (
            f"{text}\n\nSettings of {known.name} (--set KEY=VALUE), with their defaults:\n{known.settings.help_text().rstrip()}"
        )


@command(
    "Train a search network, a deep learner, discount policies, or a custom learner.",
    place=130,
    cls=Train,
)
@with_wing_options("train")
@with_options(RUNNING, into="running")
def train(
    *,
    learner: Annotated[
        str | None,
        typer.Argument(
            metavar="LEARNER", help="A learner from --list, such as rebel or sd-cfr, or file.py:NAME. Optional with --resume."
        ),
    ] = None,
    games: Annotated[
        list[str] | None,
        typer.Argument(metavar="GAME", help="The game to train on. Discount learners accept several."),
    ] = None,
    preset: Preset = None,
    config: Config = None,
    changes: Changes = None,
    running: Mapping[str, Any],
    against: Annotated[
        str | None,
        typer.Option(
            metavar="AGENT", help="Opponent for best-response. Same as --set against=AGENT.", rich_help_panel=SETTINGS
        ),
    ] = None,
    show: ShowSettings = False,
    listed: Annotated[bool, typer.Option("--list", help="List the learners and exit.")] = False,
    out: TrainOut = None,
    resume: TrainResume = None,
    force: Force = False,
    as_json: Json = False,
    progress: ShowProgress = None,
    more: Mapping[str, Any],
) -> None:
    """Train a search network, a deep learner, a discount policy, or a custom learner.

    treeplex train --list lists the learners, and treeplex train LEARNER --help lists a learner's settings. Ctrl-C saves the
    run, and --resume continues it with bit-identical results.

    \b
    Examples:
      treeplex train rebel "liars_dice(dice=1,faces=4)" --out runs/dice
      treeplex train sd-cfr leduc_poker --seeds 3 --out runs/sd
      treeplex train best-response leduc_poker --against runs/leduc --out runs/response
      treeplex train --resume runs/dice --seconds 600
    \f
    The folder contains the result, run.json, metrics.jsonl, state.safetensors (saved about every 40 seconds) and
    learning-curve.png.

    \b
    More examples:
      treeplex train rebel "liars_dice(dice=1,faces=4)" --seconds 120 --set width=64 --out runs/quick
      treeplex train rebel turn_endgame --bets 100%,a --raises a --set games=800 --out runs/turn
      treeplex train rebel --show --preset paper > settings.yaml
      treeplex train deepstack leduc_poker --out runs/leduc
      treeplex train deep-cfr flop_holdem --seconds 900 --out runs/flop
      treeplex train vr-deep-pdcfr+ leduc_poker --nodes 4700000 --out runs/vr
      treeplex train ddcfr --out runs/ddcfr
      treeplex train ddcfr kuhn_poker leduc_poker --set epochs=200 --out runs/poker
      treeplex train mylearner.py:MyLearner leduc_poker --out runs/mine
      treeplex train --resume runs/ddcfr --set epochs=2000
    """
    if listed:
        print_learners()
        return
    given = changes_of(config, changes, against=against)
    check_games(games or [])
    first = games[0] if games else None
    game = games if games and len(games) > 1 else described("train", first, {**more, "resume": resume}).game
    if show:
        from treeplex.learn.train.train import shown_settings

        say(shown_settings(learner, game, preset, resume, given).as_yaml(), nl=False)
        return
    check_folders(out, resume)
    if out is not None and learner is None:
        raise SpecError("name a learner: treeplex train LEARNER GAME --out DIR; treeplex train --list lists them")
    options = {**running, "settings": given, "preset": preset, "out": out, "resume": resume, "force": force}
    if running["seeds"] is None and (resume is None or not (resume / "seeds.json").exists()):
        del options["seeds"]
        run_training(game, learner, as_json=as_json, shown=progress, **options)
    else:
        run_seeds(game, learner, as_json=as_json, shown=progress, **options)


def check_games(games: list[str]) -> None:
    """Reject a setting ``key=value`` given in place of a game.

    Raises:
        SpecError: a setting is given; the message says how to write it.
    """
    for text in games:
        if re.match(r"[\w-]+=", text):
            raise SpecError(f"{shown(text)} is not a game; to change a setting, write --set {shown(text)}")


def changes_of(config: Path | None, changes: list[str] | None, **more: object) -> dict[str, Any]:
    """Merge settings: from a file, then from ``--set``, then from options that set the same values (None: not given)."""
    from treeplex.base.settings import from_yaml, pairs

    given = {**(from_yaml(config) if config is not None else {}), **pairs(changes or [])}
    return given | {name: value for name, value in more.items() if value is not None}


def run_training(game: Any, learner: Any, *, as_json: bool, shown: bool | None, **options: Any) -> None:
    """Train and print the result; exits with status 130 if interrupted."""
    with Live(shown) as live:
        live.say("preparing")
        from treeplex.errors import JobInterrupt
        from treeplex.learn.train.registry import kind_for
        from treeplex.learn.train.train import train

        known = kind_for(game, learner, options["resume"], options["preset"])
        try:
            training = train(game, learner, progress=lambda state: live.say(training_line(known, state)), **options)
        except JobInterrupt as stopped:
            training = stopped.result
    if as_json:
        print_json(training.to_json())
    else:
        print_training(training)
    if training.status == "interrupted":
        done = f"{training.records[-1].done:,} {training.kind.job_kind.unit}"
        fail(f"stopped after {done} and saved; resume with {resuming(training)}", STOPPED)


def run_seeds(game: Any, learner: Any, *, as_json: bool, shown: bool | None, **options: Any) -> None:
    """Train with several seeds and print the final bands; exits with status 130 if interrupted."""
    with Live(shown) as live:
        live.say("preparing")
        from treeplex.errors import JobInterrupt
        from treeplex.learn.train.registry import kind_for
        from treeplex.learn.train.seeds import BANDS, SEEDS, seeds_of, train_seeds

        folder = Path(options["out"] or options["resume"])
        named = learner or (seeds_of(folder)["learner"] if options["resume"] else None)
        known = kind_for(game, named, None, None)
        try:
            done = train_seeds(game, learner, progress=lambda state: live.say(training_line(known, state)), **options)
        except JobInterrupt:
            done = None
    if done is None:
        fail(f"stopped and saved; resume with treeplex train --resume {quoted(str(folder))}", STOPPED)
    if as_json:
        print_json(done.to_json())
        return
    whole, first = done.bands(), done.trainings[0]
    last: dict[str, Any] = whole[-1] if whole else {"steps": 0, "mean": {}}  # no step at which all seeds were measured
    facts = {
        name.replace("_", " "): f"{mean:.4g}   {last['low'][name]:.4g} to {last['high'][name]:.4g}"
        for name, mean in last["mean"].items()
    }
    files = [BANDS, SEEDS, *(["bands-*.png"] if done.pictures else []), "seed-0", "..."]
    facts["files"] = f"{done.folder}   {', '.join(files)}"
    print_facts(facts, title=f"{first.learner} on {first.game}: {len(done.trainings)} seeds, {last['steps']:,} steps")
    print_next([(f"treeplex evaluate {quoted(str(first.game))} {first.folder}", "evaluate one of them")])


def resuming(training: "TrainingRun") -> str:
    """The command that resumes training; it names custom games and learners again, because a folder is read without running
    code."""
    custom_game = training.kind.named_again(training)
    is_custom_learner = ".py:" in training.learner
    words = [training.learner] if is_custom_learner or custom_game else []
    words += [quoted(custom_game)] if custom_game else []
    again = "".join(f" {word}" for word in words)
    net = getattr(training.settings, "net", None)
    custom = f" --set net={quoted(net)}" if net else ""
    return f"treeplex train{again} --resume {quoted(str(training.folder))}{custom}"


def training_line(kind: "TrainingKind", state: "Progress") -> str:
    """The progress line: the learner, its progress and metrics, and the time left."""
    total = "" if state.total is None else f"/{state.total:,}"
    parts = [f"training {kind.name}  {state.done:,}{total} {state.unit}"]
    numbers: Mapping[str, Any] = {**state.numbers, **state.numbers.get("measures", {})}
    for name, form in kind.line.items():
        value = numbers.get(name)
        if value is not None and (name != "lost" or value):
            parts.append(form.format(value))
    if state.seconds_left is not None:
        parts.append(f"{clock(state.seconds_left)} left")
    return "  ".join(parts)


def print_training(training: "TrainingRun") -> None:
    """Print the results, files and next steps."""
    last, kind = training.records[-1], training.kind
    title, facts = kind.report(training)
    facts["time"] = f"{three_digits(last.seconds)} s, {three_digits(last.cpu_seconds)} s of CPU time"
    if lost := training.to_json().get("lost"):
        facts["workers lost"] = f"{lost}   their jobs were run again"
    files = dict.fromkeys((*kind.job_kind.files, "metrics.jsonl", "run.json", "state.safetensors"))
    facts["files"] = f"{training.folder}   {', '.join(files)}"
    print_facts(facts, title=title)
    print_next(kind.next_steps(training))


def print_learners() -> None:
    """Print the built-in learners."""
    from treeplex.learn.train.registry import learners

    print_entries((kind.name, (kind.summary, kind.source)) for kind in learners().values())
    say("Or a custom class derived from treeplex.learn.learner.Learner: treeplex train file.py:NAME GAME --out DIR.")
