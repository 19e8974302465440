"""ReBeL on full-game hold'em as a learner type, and its evaluation on small decks."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from treeplex.base.spec import nearest
from treeplex.errors import PolicyError, SpecError, TreeplexError
from treeplex.forms.sources.load import load
from treeplex.holdem.forms.compile_spot import CompiledSpot
from treeplex.holdem.forms.spot_size import spot_size
from treeplex.holdem.street_search.agent import unlimited
from treeplex.holdem.street_search.exact import compiled_whole, judge_whole, searched_strategy, whole_spot
from treeplex.holdem.whole.game import Holdem
from treeplex.holdem.whole.public import PublicHoldem
from treeplex.learn.rebel.files import NetFile, read_net
from treeplex.learn.rebel.settings import WholeRebelSettings
from treeplex.learn.rebel.shipped_nets import shipped_whole_nets
from treeplex.learn.rebel.trainer import RebelTrainer
from treeplex.learn.rebel.training.job import NET, REBEL
from treeplex.learn.rebel.training.live_evaluation import Judge
from treeplex.learn.rebel.whole.nets import whole_identity
from treeplex.run.job.folder import kind_of
from treeplex.search.settings import PlaythroughSettings

WHOLE = replace(REBEL, name="rebel on whole hold'em")
"""Training runs on full-game hold'em. A subgame is one street after its cards are dealt, with all its boards. Records are as
for other ReBeL runs."""
LARGEST = 4_000_000
"""Maximum size (number of probabilities in a policy) of games that are evaluated by default."""
JUDGED_ROWS = 512


class WholeJudge(Judge):
    """Evaluates the average policy of searches on small decks."""

    first_seconds, share = 60.0, 0.1

    def __init__(self, game: PublicHoldem, settings: WholeRebelSettings, every: float | None) -> None:
        self.game = game
        self._compiled = None if every == 0.0 else judged_form(game, requested=every is not None)
        searching = PlaythroughSettings(
            method=settings.method, iterations=settings.iterations, playthroughs=1, batch=JUDGED_ROWS
        )
        super().__init__(searching, 0.0 if self._compiled is None else every)

    def exploitability(self, trainer: RebelTrainer) -> float:
        compiled, generator = self._compiled, np.random.default_rng(0)
        assert compiled is not None
        leaf, settings = trainer.leaf, self.settings
        searched = searched_strategy(self.game, leaf, settings, generator, compiled, drawn=False, watch=self.watch)
        return judge_whole(compiled, searched).exploitability


def judged_form(game: PublicHoldem, *, requested: bool) -> CompiledSpot | None:
    """The game compiled for evaluation; None if it is too large, or if it is large and evaluation is not requested.

    Raises:
        GameError, SpecError: evaluation is requested, but the game is too large.
    """
    try:
        spot = whole_spot(game)
        if not requested and spot_size(spot).stored > LARGEST:
            return None
        return compiled_whole(game)
    except TreeplexError:
        if requested:
            raise
        return None


def is_whole_folder(path: str | os.PathLike[str]) -> bool:
    """Whether a folder contains ReBeL training on full-game hold'em."""
    return kind_of(path) == WHOLE.name


def whole_game(game: Any, named_in: str | os.PathLike[str] | None = None) -> tuple[Holdem, PublicHoldem]:
    """Rules and public states of full-game hold'em.

    Raises:
        SpecError: the game is not full-game hold'em.
    """
    rules = load(game, named_in=named_in).enumerable_rules()
    if not isinstance(rules, Holdem):
        raise SpecError(f"{rules} is not full-game hold'em; give holdem(...)")
    return rules, rules.public


def whole_net(source: str | os.PathLike[str], game: PublicHoldem | None) -> NetFile:
    """The full-game hold'em network in a training folder, checked against a game if one is given.

    Raises:
        FileError: the network cannot be read.
        PolicyError: the network is for other cards or blinds.
    """
    net = read_net(Path(source) / NET if is_whole_folder(source) else source)
    if game is not None and net.identity != whole_identity(game):
        raise PolicyError(
            f"{source} has a network for {net.game}, not for {game.rules.stakes}; give the game that it was trained on"
        )
    return net


def trained_game(net: NetFile, game: PublicHoldem) -> PublicHoldem:
    """The game that a network was trained on, with the table's stacks if they are equal and training covered them."""
    network_game = whole_game(net.game)[1]
    stacks, (low, high) = game.rules.betting.stacks, net.settings.get("stacks") or (0, 0)
    if low <= min(stacks) == max(stacks) <= high:
        return PublicHoldem(replace(network_game.rules, betting=replace(network_game.rules.betting, stacks=stacks)))
    return network_game


def shipped_whole_net(game: PublicHoldem, name: str | None = None) -> NetFile:
    """The shipped network for full-game hold'em with a table's cards, blinds and stacks.

    Args:
        game: the table's game; its raises may differ.
        name: file name without suffix; None for the first that fits.

    Raises:
        SpecError: no network is shipped for the game, or the name is unknown.
    """
    known = shipped_whole_nets()
    if name is not None:
        if name not in known:
            what = "no training folder or shipped network for full-game hold'em is called"
            raise SpecError(f"{what} {name!r}{nearest(name, known)}")
        return known[name]
    for net in known.values():
        network_game = trained_game(net, game)
        if (network_game.rules.format, unlimited(network_game)) == (game.rules.format, unlimited(game)):
            return net
    raise SpecError(
        f"no network for full-game hold'em with {game.rules.stakes} is shipped; {of(known)}; or "
        "name a training folder: rebel(network=runs/whole)"
    )


def of(known: Mapping[str, NetFile]) -> str:
    """A description of the shipped networks."""
    return "known: " + (", ".join(f"{stem} for {net.game}" for stem, net in known.items()) or "none")
