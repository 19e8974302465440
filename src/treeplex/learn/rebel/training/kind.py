"""ReBeL as a learner type: on public-tree rules, on full-game hold'em, and on hold'em turns."""

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from math import comb
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from treeplex.base.notices import notify
from treeplex.base.settings import Settings
from treeplex.base.spec import quoted, spec_name
from treeplex.base.workers.executor import Executor
from treeplex.errors import FileError, SpecError
from treeplex.forms.sources.load import load, named_file, public_tree
from treeplex.holdem.spots.files import is_turn_endgame, spot_request
from treeplex.holdem.spots.known import all_hands, turn_endgame_holdem
from treeplex.holdem.spots.spot import Spot, spot_from_json
from treeplex.holdem.spots.spot_table import SPOT_FILES, TURN_ENDGAME
from treeplex.holdem.whole.game import Holdem
from treeplex.holdem.whole.named import NAME as HOLDEM
from treeplex.learn.common.device import one_thread
from treeplex.learn.rebel.files import NetFile, read_net
from treeplex.learn.rebel.parallel_self_play import SelfPlayer, parallel_trainer
from treeplex.learn.rebel.settings import (
    PAPER,
    PAPER_CARDS,
    PAPER_TURNS,
    PAPER_WHOLE,
    RECIPE_ROUNDS,
    HoldemRebelSettings,
    RebelSettings,
    WholeRebelSettings,
)
from treeplex.learn.rebel.trainer import RebelTrainer
from treeplex.learn.rebel.training.job import NET, REBEL, TURNS, RebelJob
from treeplex.learn.rebel.training.live_evaluation import Judge, RunJudge
from treeplex.learn.rebel.training.whole import WHOLE, WholeJudge, whole_game
from treeplex.learn.rebel.turns.nets import check_turn
from treeplex.learn.rebel.whole.nets import whole_identity
from treeplex.learn.rebel.whole.streets import beware, check_streets
from treeplex.learn.train.kind import RECIPE, Options, TrainingKind, TrainingRun, count_of
from treeplex.run.job.workers import Work
from treeplex.search.subgames.identity import public_identity

SOURCE = "Brown, Bakhtin, Lerer and Gong 2020, Combining deep reinforcement learning and search (ReBeL)"
ROUNDS = ("leduc_poker", "big_leduc", "small_holdem", "turn_holdem", "rhode_island")
"""Games of several betting rounds."""
CARDS = ("kuhn_poker", *ROUNDS)
"""Games whose paper preset is that of turn endgame hold'em in appendix E."""
STREAMS_PER_WORKER = 2
"""Number of streams per worker; with two, workers stay busy while this process consumes the rows of one stream."""
STACKS = 2.5, 25.0
"""Smallest and largest initial stack in pots: the 5,000 to 50,000 chips of turn endgame hold'em's pot of 2,000."""
BIG_BLINDS = 50, 250
"""Smallest and largest stack before a hand in big blinds (appendix C.1)."""
LOSSES = {"loss": "loss {:.2e}", "policy_loss": "policy loss {:.2e}", "exploitability": "exploitability {:.2e}"}


class RebelKind(TrainingKind):
    """ReBeL on public-tree rules.

    Presets: ``recipe`` reaches the paper's quality on small Liar's Dice in minutes, and for :data:`ROUNDS` ends subgames with
    betting rounds; ``paper`` is appendix E with the released configuration, for :data:`CARDS` that of turn endgame hold'em.
    """

    name, job_kind, source = "rebel", REBEL, SOURCE
    settings: type[Settings] = RebelSettings
    summary = "a value network for search, learned by self-play with search"
    takes: tuple[str, ...] = ("workers", "ray", "judge_every")
    line: ClassVar[Mapping[str, str]] = {"rate": "{:,.0f}/s", "rows": "{:,} rows", **LOSSES, "lost": "{} workers lost"}

    def for_game(self, game: Any) -> TrainingKind:
        """The learner type for a game: spots and spot files are hold'em turns, and ``holdem`` is full-game hold'em."""
        if isinstance(game, Holdem) or (isinstance(game, str) and spec_name(game) == HOLDEM):
            return WholeRebelKind()
        named = isinstance(game, str) and (game.endswith(SPOT_FILES) or game == TURN_ENDGAME)
        return HoldemRebelKind() if isinstance(game, Spot) or named else self

    def presets(self, game: Any) -> Mapping[str, Settings]:
        """The presets ``recipe`` and ``paper``."""
        name = spec_name(game) if isinstance(game, str) else ""
        recipe, paper = RECIPE_ROUNDS if name in ROUNDS else RebelSettings(), PAPER_CARDS if name in CARDS else PAPER
        return {RECIPE: recipe, "paper": paper}

    def check_named(self, settings: Any, changes: Mapping[str, Any], place: Path) -> None:
        """On resuming, require that the user names a custom network again, since it is code."""
        net = getattr(settings, "net", None)
        if net and "net" not in changes:
            raise FileError(
                f"{place} trains a custom network, and loading a folder never runs code; "
                f"name the network again: --set net={net}"
            )

    def context(self) -> AbstractContextManager[None]:
        """Limit PyTorch to one thread: the networks are small, and self-play uses the cores."""
        return one_thread()

    def make(self, game: Any, settings: Any, options: Options) -> RebelJob:
        """Create a training run and its workers."""
        named, played, identity, judge = self.prepared(game, settings, options)
        RebelTrainer(played, settings)  # errors about the game appear before workers start
        settings, executor = self.streamed(settings, options.work)
        if executor is None:
            trainer = RebelTrainer(played, settings)
        else:
            player = SelfPlayer(played if isinstance(played, Spot) else named, settings)
            trainer, _ = parallel_trainer(played, settings, executor, player, settings.streams)
        return RebelJob(self.job_kind, named, identity, trainer, settings, options.folder, executor=executor, judge=judge)

    def prepared(self, game: Any, settings: Any, options: Options) -> tuple[Any, Any, str, Judge | None]:
        """The game as stored in ``run.json``, the game for self-play, its identity, and the evaluation during training.

        Raises:
            SpecError, GameError, FileError: the learner does not support the game.
        """
        rules = load(game, named_in=options.named_in).enumerable_rules()
        spec = game if isinstance(game, str) and named_file(game) else rules.spec
        tree = public_tree(rules)
        return spec, tree, public_identity(tree), RunJudge(spec, tree, settings, options.judge_every)

    def streamed(self, settings: Any, work: Work) -> tuple[Any, Executor | None]:
        """The settings with the number of streams, and the workers for them; None for self-play in this process.

        Raises:
            SpecError: the requested workers are not available.
        """
        if settings.streams is None:
            settings = replace(settings, streams=streams_for(work))
        if settings.streams > 1:
            return settings, work.executor(settings.streams)
        if work.ray is not None:
            raise SpecError(
                "this run was started with one worker, so it plays in its own process; leave --ray out, or start a new run"
            )
        return settings, None

    def load(self, folder: Path) -> NetFile:
        """Load the network's file."""
        return read_net(folder / NET)

    def named_again(self, training: TrainingRun) -> str:
        """The custom game's file, which a resume command must repeat; empty for built-in games."""
        return str(training.game) if named_file(training.game) else ""

    def report(self, training: TrainingRun) -> tuple[str, dict[str, str]]:
        """Report losses, exploitability, speed and files."""
        last, numbers = training.records[-1], training.numbers()
        facts = dict[str, str]()
        if numbers["loss"] is not None:
            facts["loss"] = f"{numbers['loss']:.3e}   final mean Huber loss"
        if numbers.get("policy_loss") is not None:
            what = "final mean squared error of the policy network's probabilities"
            facts["policy loss"] = f"{numbers['policy_loss']:.3e}   {what}"
        if numbers.get("exploitability") is not None:
            of = f"of {numbers['playthroughs']} playthroughs, T = {numbers['iterations']}; see also treeplex evaluate"
            facts["exploitability"] = f"{numbers['exploitability']:.3e}   {of}"
        facts["steps"] = f"{last.steps:,} on {last.rows:,} rows"
        if not last.steps:
            begin = training.settings.burn_in
            facts["beware"] = f"learning starts at burn_in, {begin:,}, so the network is still untrained"
        return f"ReBeL on {training.game}: {count_of(last.done, self.job_kind.unit)}", facts

    def next_steps(self, training: TrainingRun) -> list[tuple[str, str]]:
        """Suggest evaluating and playing the network; commands name a custom network again, because a folder is read without
        running code."""
        game, folder, net = quoted(training.game), str(training.folder), getattr(training.settings, "net", None)
        player = f"rebel(network={folder},net={net})" if net else folder
        again = f" --set net={quoted(net)}" if net else ""
        return [
            (f"treeplex evaluate {game} {quoted(folder)}{again}", "evaluate its exploitability"),
            (f"treeplex play {game} --against {quoted(player)}", "play against it"),
        ]


class WholeRebelKind(RebelKind):
    """ReBeL on heads-up full-game hold'em."""

    job_kind = WHOLE
    settings: type[Settings] = WholeRebelSettings
    summary = "a value network for all streets of hold'em, learned by self-play over full hands"
    line: ClassVar[Mapping[str, str]] = {"rate": "{:,.1f}/s", "rows": "{:,} rows", **LOSSES, "lost": "{} workers lost"}

    def presets(self, game: Any) -> Mapping[str, Settings]:
        """The presets ``recipe`` and ``paper``, with stacks as multiples of the game's big blind."""
        big_blind = whole_game(game)[0].rules.betting.big_blind
        stacks = tuple(count * big_blind for count in BIG_BLINDS)
        return {RECIPE: WholeRebelSettings(), "paper": PAPER_WHOLE.changed({"stacks": stacks})}

    def prepared(self, game: Any, settings: Any, options: Options) -> tuple[Any, Any, str, Judge | None]:
        """Prepare full-game hold'em; warns if training will learn little."""
        rules, public = whole_game(game, options.named_in)
        check_streets(public, settings)
        if doubt := beware(public, settings):
            notify(doubt)
        return rules.spec, public, whole_identity(public), WholeJudge(public, settings, options.judge_every)


class HoldemRebelKind(RebelKind):
    """ReBeL on hold'em turns, modelled on a spot whose ranges are replaced by all hands.

    Presets: ``recipe`` takes minutes on one core; ``paper`` has the paper's method, network and steps. Stacks scale with the
    pot.
    """

    job_kind = TURNS
    settings: type[Settings] = HoldemRebelSettings
    summary = "a value network for hold'em rivers, learned by self-play on turns"
    takes: tuple[str, ...] = ("workers", "ray")
    line: ClassVar[Mapping[str, str]] = {"rate": "{:.2g}/s", "rows": "{:,} rivers", **LOSSES, "lost": "{} workers lost"}

    def presets(self, game: Any) -> Mapping[str, Settings]:
        """The presets ``recipe`` and ``paper``, with stacks as multiples of the spot's pot."""
        spot = turn_endgame_holdem() if game is None else spot_of(game)
        stacks = {"stacks": tuple(pots * spot.pot for pots in STACKS)} if spot.pot > 0 else {}
        return {RECIPE: HoldemRebelSettings().changed(stacks), "paper": PAPER_TURNS.changed(stacks)}

    def prepared(self, game: Any, settings: Any, options: Options) -> tuple[Any, Any, str, Judge | None]:
        """The spot with every hand in its ranges, without evaluation during training."""
        if isinstance(game, Mapping):
            assert options.folder is not None
            spot = spot_of_record(game, options.folder)
        else:
            spot = spot_of(game)
            check_turn(spot)
            spot = spot_from_json(spot.to_json(), all_hands(spot.format))
        return spot.to_json(), spot, spot.identity, None

    def streamed(self, settings: Any, work: Work) -> tuple[Any, Executor | None]:
        """Keep self-play in this process unless workers are requested."""
        return super().streamed(settings if work.asked else replace(settings, streams=settings.streams or 1), work)

    def named_again(self, training: TrainingRun) -> str:
        """Empty, since a resume command need not repeat the game."""
        return ""

    def report(self, training: TrainingRun) -> tuple[str, dict[str, str]]:
        """Report the number of rivers, and losses as fractions of the pot."""
        _, facts = super().report(training)
        last = training.records[-1]
        facts["steps"] = f"{last.steps:,} on {last.rows:,} rivers"
        if "loss" in facts:
            facts["loss"] += ", values as fractions of the pot"
        return f"ReBeL on turns, pot {training.game['pot']:g}: {count_of(last.done, self.job_kind.unit)}", facts

    def next_steps(self, training: TrainingRun) -> list[tuple[str, str]]:
        """Suggest searching with the network and resuming."""
        games, folder = 2 * training.settings.games, quoted(str(training.folder))
        return [
            (f"treeplex holdem search SPOT {folder}", "search a turn with it; give SPOT the same bet sizes"),
            (f"treeplex train --resume {folder} --set games={games}", "train on"),
        ]


def spot_of(game: Any) -> Spot:
    """The spot that a game names: a spot, a spot file (with every hand in its ranges), or turn endgame hold'em.

    Raises:
        FileError, SpecError: the file cannot be read or does not contain a spot.
    """
    if isinstance(game, Spot):
        return game
    if is_turn_endgame(str(game)):
        return turn_endgame_holdem()
    return spot_request(Path(game), {"oop": "all", "ip": "all"}).spot()


def spot_of_record(record: Mapping[str, Any], folder: str | os.PathLike[str]) -> Spot:
    """Read the spot from ``run.json``.

    Raises:
        FileError: ``run.json`` is incomplete.
    """
    try:
        cards = record["format"]
        ones = np.ones(comb(len(cards["deck"]) // 2, cards["hole"]))
        return spot_from_json(dict(record), (ones, ones))
    except (KeyError, TypeError, ValueError, AttributeError, SpecError) as error:
        raise FileError(f"{folder}: its spot cannot be read ({error}); start the training again") from error


def streams_for(work: Work) -> int:
    """Number of self-play streams of a new training run with the given workers; a single local worker is this process.

    Raises:
        SpecError: Ray is not installed, or the cluster does not exist.
    """
    size = work.size
    return 1 if size == 1 and work.ray is None else STREAMS_PER_WORKER * size
