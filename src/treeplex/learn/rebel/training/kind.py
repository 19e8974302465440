"""ReBeL as a learner: on public-tree rules, and on turns of hold'em."""

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
from treeplex.learn.train.kind import RECIPE, Options, Training, TrainingKind, count_of
from treeplex.run.job.workers import Work
from treeplex.search.subgames.identity import public_identity

SOURCE = "Brown, Bakhtin, Lerer and Gong 2020, Combining deep reinforcement learning and search (ReBeL)"
ROUNDS = ("leduc_poker", "big_leduc", "small_holdem", "turn_holdem", "rhode_island")
"""Games of several betting rounds."""
CARDS = ("kuhn_poker", *ROUNDS)
"""Games whose place in appendix E is that of turn endgame hold'em."""
STREAMS_PER_WORKER = 2
"""So that a worker has something to do while this process consumes the rows of the other stream."""
STACKS = 2.5, 25.0
"""Pots that a player has at first, at least and at most: the 5,000 to 50,000 chips of turn endgame hold'em's pot of 2,000."""
BIG_BLINDS = 50, 250
"""Big blinds that a player has before a hand, at least and at most (appendix C.1)."""
LOSSES = {"loss": "loss {:.2e}", "policy_loss": "policy loss {:.2e}", "exploitability": "exploitability {:.2e}"}


class RebelKind(TrainingKind):
    """ReBeL on public-tree rules.

    Presets: ``recipe`` reaches the paper's quality on small Liar's Dice in minutes, and for :data:`ROUNDS` ends subgames with
    betting rounds; ``paper`` is appendix E and the released configuration, for :data:`CARDS` that of turn endgame hold'em.
    """

    name, job_kind, source = "rebel", REBEL, SOURCE
    settings: type[Settings] = RebelSettings
    summary = "a value network for search, learned by self-play in which every move is searched"
    takes: tuple[str, ...] = ("workers", "ray", "judge_every")
    line: ClassVar[Mapping[str, str]] = {"rate": "{:,.0f}/s", "rows": "{:,} rows", **LOSSES, "lost": "{} workers lost"}

    def for_game(self, game: Any) -> TrainingKind:
        """Spots and spot files are turns of hold'em, ``holdem`` is whole hold'em."""
        if isinstance(game, Holdem) or (isinstance(game, str) and spec_name(game) == HOLDEM):
            return WholeRebelKind()
        named = isinstance(game, str) and (game.endswith(SPOT_FILES) or game == TURN_ENDGAME)
        return HoldemRebelKind() if isinstance(game, Spot) or named else self

    def presets(self, game: Any) -> Mapping[str, Settings]:
        """``recipe`` and ``paper``."""
        name = spec_name(game) if isinstance(game, str) else ""
        recipe, paper = RECIPE_ROUNDS if name in ROUNDS else RebelSettings(), PAPER_CARDS if name in CARDS else PAPER
        return {RECIPE: recipe, "paper": paper}

    def check_named(self, settings: Any, changes: Mapping[str, Any], place: Path) -> None:
        """Require that a custom network is named again, since it is code."""
        own = getattr(settings, "net", None)
        if own and "net" not in changes:
            raise FileError(
                f"{place} trains a network of one's own, {own}; reading a folder runs no code, so name it as well: "
                f"--set net={own}"
            )

    def context(self) -> AbstractContextManager[None]:
        """One thread: these networks are small, and the cores are for self-play."""
        return one_thread()

    def make(self, game: Any, settings: Any, options: Options) -> RebelJob:
        """A training at its beginning, with its workers."""
        named, played, identity, judge = self.prepared(game, settings, options)
        RebelTrainer(played, settings)  # whether it can be trained on is known before workers are started
        settings, executor = self.streamed(settings, options.work)
        if executor is None:
            trainer = RebelTrainer(played, settings)
        else:
            player = SelfPlayer(played if isinstance(played, Spot) else named, settings)
            trainer, _ = parallel_trainer(played, settings, executor, player, settings.streams)
        return RebelJob(self.job_kind, named, identity, trainer, settings, options.folder, executor=executor, judge=judge)

    def prepared(self, game: Any, settings: Any, options: Options) -> tuple[Any, Any, str, Judge | None]:
        """The game as ``run.json`` has it and as it is played, its identity, and who judges the training.

        Raises:
            SpecError, GameError, FileError: it cannot be trained on.
        """
        rules = load(game, named_in=options.named_in).enumerable_rules()
        spec = game if isinstance(game, str) and named_file(game) else rules.spec
        tree = public_tree(rules)
        return spec, tree, public_identity(tree), RunJudge(spec, tree, settings, options.judge_every)

    def streamed(self, settings: Any, work: Work) -> tuple[Any, Executor | None]:
        """Settings with their streams, and who plays these; None for a training in this process.

        Raises:
            SpecError: no such workers.
        """
        if settings.streams is None:
            settings = replace(settings, streams=streams_for(work))
        if settings.streams > 1:
            return settings, work.executor(settings.streams)
        if work.ray is not None:
            raise SpecError("a training begun with one worker plays in its own process; leave --ray out, or start another")
        return settings, None

    def load(self, folder: Path) -> NetFile:
        """The network's file."""
        return read_net(folder / NET)

    def named_again(self, training: Training) -> str:
        """The game to name again if it is custom; empty if not."""
        return str(training.game) if named_file(training.game) else ""

    def report(self, training: Training) -> tuple[str, dict[str, str]]:
        """Losses, exploitability, speed and files."""
        last, numbers = training.records[-1], training.numbers()
        facts = dict[str, str]()
        if numbers["loss"] is not None:
            facts["loss"] = f"{numbers['loss']:.3e}   mean Huber loss at the end"
        if numbers.get("policy_loss") is not None:
            what = "mean squared error of the policy network's probabilities at the end"
            facts["policy loss"] = f"{numbers['policy_loss']:.3e}   {what}"
        if numbers.get("exploitability") is not None:
            of = f"of {numbers['playthroughs']} playthroughs, T = {numbers['iterations']}; evaluate says more"
            facts["exploitability"] = f"{numbers['exploitability']:.3e}   {of}"
        facts["steps"] = f"{last.steps:,} on {last.rows:,} rows"
        if not last.steps:
            begin = training.settings.burn_in
            facts["beware"] = f"learning begins at burn_in, {begin:,}, so the network has learned nothing yet"
        return f"ReBeL on {training.game}: {count_of(last.done, self.job_kind.unit)}", facts

    def next_steps(self, training: Training) -> list[tuple[str, str]]:
        """Judge it, play against it; a custom network is named again, since reading a folder runs no code."""
        game, folder, net = quoted(training.game), str(training.folder), getattr(training.settings, "net", None)
        player = f"rebel(network={folder},net={net})" if net else folder
        again = f" --set net={quoted(net)}" if net else ""
        return [
            (f"treeplex evaluate {game} {quoted(folder)}{again}", "how exploitable it is"),
            (f"treeplex play {game} --against {quoted(player)}", "play against it"),
        ]


class WholeRebelKind(RebelKind):
    """ReBeL on whole hold'em for two, from the blinds on."""

    job_kind = WHOLE
    settings: type[Settings] = WholeRebelSettings
    summary = "a value network for all streets of hold'em, learned by self-play from the first card"
    line: ClassVar[Mapping[str, str]] = {"rate": "{:,.1f}/s", "rows": "{:,} rows", **LOSSES, "lost": "{} workers lost"}

    def presets(self, game: Any) -> Mapping[str, Settings]:
        """``recipe`` and ``paper``, stacks by the game's big blind."""
        big_blind = whole_game(game)[0].rules.betting.big_blind
        stacks = tuple(count * big_blind for count in BIG_BLINDS)
        return {RECIPE: WholeRebelSettings(), "paper": PAPER_WHOLE.changed({"stacks": stacks})}

    def prepared(self, game: Any, settings: Any, options: Options) -> tuple[Any, Any, str, Judge | None]:
        """Whole hold'em; doubts about what it will learn are notified."""
        rules, public = whole_game(game, options.named_in)
        check_streets(public, settings)
        if doubt := beware(public, settings):
            notify(doubt)
        return rules.spec, public, whole_identity(public), WholeJudge(public, settings, options.judge_every)


class HoldemRebelKind(RebelKind):
    """ReBeL on turns of hold'em: the spot on which games are modelled is the game; every hand may be held, whatever its ranges.

    Presets: ``recipe`` takes minutes of one core; ``paper`` has the paper's method, network and steps. Stacks go with the pot.
    """

    job_kind = TURNS
    settings: type[Settings] = HoldemRebelSettings
    summary = "a value network for rivers of hold'em, learned by self-play on turns"
    takes: tuple[str, ...] = ("workers", "ray")
    line: ClassVar[Mapping[str, str]] = {"rate": "{:.2g}/s", "rows": "{:,} rivers", **LOSSES, "lost": "{} workers lost"}

    def presets(self, game: Any) -> Mapping[str, Settings]:
        """``recipe`` and ``paper``, stacks in parts of the spot's pot."""
        spot = turn_endgame_holdem() if game is None else spot_of(game)
        stacks = {"stacks": tuple(pots * spot.pot for pots in STACKS)} if spot.pot > 0 else {}
        return {RECIPE: HoldemRebelSettings().changed(stacks), "paper": PAPER_TURNS.changed(stacks)}

    def prepared(self, game: Any, settings: Any, options: Options) -> tuple[Any, Any, str, Judge | None]:
        """The spot with every hand in its ranges; there is no judge."""
        if isinstance(game, Mapping):
            assert options.folder is not None
            spot = spot_of_record(game, options.folder)
        else:
            spot = spot_of(game)
            check_turn(spot)
            spot = spot_from_json(spot.to_json(), all_hands(spot.format))
        return spot.to_json(), spot, spot.identity, None

    def streamed(self, settings: Any, work: Work) -> tuple[Any, Executor | None]:
        """In this process unless workers are asked for."""
        return super().streamed(settings if work.asked else replace(settings, streams=settings.streams or 1), work)

    def named_again(self, training: Training) -> str:
        """Nothing."""
        return ""

    def report(self, training: Training) -> tuple[str, dict[str, str]]:
        """Facts about rivers, losses in parts of the pot."""
        _, facts = super().report(training)
        last = training.records[-1]
        facts["steps"] = f"{last.steps:,} on {last.rows:,} rivers"
        if "loss" in facts:
            facts["loss"] += ", values in parts of the pot"
        return f"ReBeL on turns, pot {training.game['pot']:g}: {count_of(last.done, self.job_kind.unit)}", facts

    def next_steps(self, training: Training) -> list[tuple[str, str]]:
        """Search with it, resume it."""
        games, folder = 2 * training.settings.games, quoted(str(training.folder))
        return [
            (f"treeplex holdem search SPOT {folder}", "search a turn with it; give SPOT the same bet sizes"),
            (f"treeplex train --resume {folder} --set games={games}", "train on"),
        ]


def spot_of(game: Any) -> Spot:
    """A spot: itself, a spot file with every hand in its ranges, or turn endgame hold'em by name.

    Raises:
        FileError, SpecError: the file cannot be read, or says no spot.
    """
    if isinstance(game, Spot):
        return game
    if is_turn_endgame(str(game)):
        return turn_endgame_holdem()
    return spot_request(Path(game), {"oop": "all", "ip": "all"}).spot()


def spot_of_record(found: Mapping[str, Any], folder: str | os.PathLike[str]) -> Spot:
    """The spot that ``run.json`` has.

    Raises:
        FileError: it is not whole.
    """
    try:
        cards = found["format"]
        ones = np.ones(comb(len(cards["deck"]) // 2, cards["hole"]))
        return spot_from_json(dict(found), (ones, ones))
    except (KeyError, TypeError, ValueError, AttributeError, SpecError) as error:
        raise FileError(f"{folder}: its spot cannot be read ({error}); start it again") from error


def streams_for(work: Work) -> int:
    """Streams of a new training with such workers: one worker here is this process.

    Raises:
        SpecError: Ray is not installed, or there is no such cluster.
    """
    size = work.size
    return 1 if size == 1 and work.ray is None else STREAMS_PER_WORKER * size
