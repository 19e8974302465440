"""ReBeL, Figure 2 on turn endgame hold'em as published: networks for single hands, with and without a policy network.

All bet sizes of the paper, random boards, stacks and sizes in training. Training runs are short; networks and evaluations are
cached in ``runs/papers`` one by one, and interrupted training runs are resumed. ``--games N`` trains longer. Kinds of networks
as arguments also evaluate searches with them, which takes minutes for each.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

from papers.common.drawing import dress, line_style, panels, plain_labels, save
from papers.common.kept import code, effort, kept, kept_file
from papers.common.results import Picture, Result, Table, published, stored
from papers.common.study import study
from papers.rebel.turn_endgame import thousandths
from papers.rebel.turn_networks import SEARCHING, TRAINING, averages
from treeplex.holdem import turn_endgame_holdem
from treeplex.holdem.search.leaves.binned_rivers import SINGLE, BinnedRivers, RiverBins
from treeplex.holdem.search.play_distribution import Player
from treeplex.holdem.search.subgames.subgame import cut_spot
from treeplex.learn import HoldemRebelSettings, RebelTrainer, read_turn_leaf, save_rivers
from treeplex.learn.common.device import one_thread
from treeplex.learn.rebel.files import read_net
from treeplex.learn.rebel.shipped_nets import RIVERS
from treeplex.learn.rebel.turns.river_net import RiverNet
from treeplex.learn.rebel.turns.river_targets import River
from treeplex.learn.rebel.turns.self_play import HoldemSelfPlay

GAMES, LOOKS = 40, 4
"""Games per training run, and number of error measurements on unseen rivers: at its end, at half of it, and so on."""
SAVED = 50
"""Games between saves of a training run."""
RECIPE = HoldemRebelSettings(games=GAMES, iterations=24, reuse=48.0, burn_in=128)
KINDS: Mapping[str, HoldemRebelSettings] = {
    "64 bins of strength": RECIPE,
    "single hands": replace(RECIPE, hands=True),
    "single hands, this turn only": replace(RECIPE, hands=True, boards=False),
    "single hands, this turn only, policy network": replace(RECIPE, hands=True, boards=False, policy_net=True, iterations=32),
}
"""Network inputs and training boards: any, as in the paper, or the turn of the evaluation."""
SEARCHED = 64
"""Iterations of the evaluated searches."""
RIVER, FINE = 64, 128
"""Iterations of Discounted CFR per river solve: in evaluations, and for measuring errors."""


def looks(games: int) -> list[int]:
    """Games after which errors are measured."""
    return [games >> k for k in range(LOOKS)][::-1]


def path_of(settings: HoldemRebelSettings) -> Path:
    """File of a network, by everything that determines it."""
    return kept_file({"settings": asdict(settings), "code": code(*TRAINING)}, "rebel-turn-hands", ".safetensors")


def network(kind: str, games: int) -> tuple[BinnedRivers, Mapping[str, Any]]:
    """A network and its card, by kind."""
    return trained(replace(KINDS[kind], games=games))


def trained(settings: HoldemRebelSettings) -> tuple[BinnedRivers, Mapping[str, Any]]:
    """A trained network and its card, with errors during training; from the cache if present."""
    path = path_of(settings)
    if not path.is_file():
        with one_thread():
            train(settings, path)
    found = read_net(path)
    return read_turn_leaf(path), {**found.card, "checksum": found.checksum}


def train(settings: HoldemRebelSettings, path: Path) -> None:
    """Train a network; its training state is saved at every measurement of errors and periodically."""
    trainer, seconds, errors = RebelTrainer(turn_endgame_holdem(), settings), 0.0, dict[str, float]()
    state, notes = path.with_suffix(".state"), path.with_suffix(".json")
    if state.is_file() and notes.is_file():
        trainer.restore(load_file(state))
        seconds, errors = json.loads(notes.read_text())
    while not trainer.finished:
        began = process_time()
        loss = trainer.round().loss
        seconds += process_time() - began
        if trainer.done in looks(settings.games):
            errors[str(trainer.done)] = error_of(trainer.leaf.function)
        if trainer.done in looks(settings.games) or trainer.done % SAVED == 0:
            save_file(trainer.state(), state)
            notes.write_text(json.dumps([seconds, errors]))
    save_rivers(trainer, path, seconds=seconds, errors=errors, loss=loss)
    for each in (state, notes):
        each.unlink(missing_ok=True)


@cache
def unseen() -> list[River]:
    """Rivers of turn endgame hold'em, undrawn, that searches with the library's network lead to, solved finely."""
    settings = replace(RECIPE, boards=False, perturbed=0.0, stacks=(20_000.0, 20_000.0), river_iterations=FINE, seed=99)
    play = HoldemSelfPlay(turn_endgame_holdem(), settings, read_turn_leaf(RIVERS), np.random.default_rng(settings.seed))
    return [*play.rivers(), *play.rivers()]


def error_of(net: RiverNet) -> float:
    """Root mean square error of hand values on unseen rivers, as a share of the pot, weighted by range."""
    squares, weights = 0.0, 0.0
    for river in unseen():
        board = RiverBins.of(river.spot.format, river.bins.boards, SINGLE if net.single else net.bins)
        outputs = net(replace(river, bins=board).row()[0][None])[0]
        low, share = board.low[0].astype(np.int64), board.share[0]
        for player, (values, worth) in enumerate(zip(np.split(outputs, 2), river.worth, strict=True)):
            mass, edge = board.showdown(0, river.ranges[1 - player])
            found = (1.0 - share) * values[low] + share * values[low + 1]
            if not net.shown:
                found = found - np.divide(0.5 * edge, mass, out=np.zeros_like(mass), where=mass > 0)
            held = np.where(np.isfinite(worth), river.ranges[player][board.order[0]] * mass, 0.0)
            squares += float(held @ np.nan_to_num(found - worth) ** 2)
            weights += float(held.sum())
    return math.sqrt(squares / weights)


def showdown_alone() -> float:
    """Root mean square error of showdown values on unseen rivers, without a network."""
    squares, weights = 0.0, 0.0
    for river in unseen():
        for player, worth in enumerate(river.worth):
            mass, _ = river.bins.showdown(0, river.ranges[1 - player])
            held = np.where(np.isfinite(worth), river.ranges[player][river.bins.order[0]] * mass, 0.0)
            squares, weights = squares + float(held @ np.nan_to_num(worth) ** 2), weights + float(held.sum())
    return math.sqrt(squares / weights)


def judged(kind: str, games: int) -> float:
    """Exploitability in chips of the average policy of a search of the published turn, rivers solved for its beliefs."""
    leaf, card = network(kind, games)

    def make() -> float:
        player = Player(cut_spot(turn_endgame_holdem()), RIVER, storage="float32")
        with one_thread():
            return averages(player, player.search("lcfr", SEARCHED, leaf), [SEARCHED])[0]

    key = {"what": "rebel/turn_hands", "net": card["checksum"], "searched": SEARCHED, "river": RIVER, "code": code(*SEARCHING)}
    return float(kept(key, make))


def slope(errors: Mapping[str, float]) -> float:
    """The power of the number of games with which errors fall, by least squares."""
    late = [(math.log(int(games)), math.log(error)) for games, error in errors.items()]
    return float(np.polyfit(*zip(*late, strict=True), 1)[0])


def draw(cards: Mapping[str, Mapping[str, Any]]) -> Picture:
    """Errors against games."""
    figure, (axes,) = panels(1, 1, size=(7.6, 4.6))
    for number, (kind, card) in enumerate(cards.items()):
        games = [int(each) for each in card["errors"]]
        axes.plot(games, [100.0 * each for each in card["errors"].values()], label=kind, **line_style(number))
    dress(axes, "Networks for rivers of turn endgame hold'em, all bet sizes")
    plain_labels(axes)
    axes.set(xlabel="games of training (32 rivers each)")
    axes.set_ylabel("error of a hand's value on unseen rivers, % of the pot")
    axes.set_xticks(games, [str(each) for each in games])
    axes.legend(frameon=False, fontsize=9.5, handlelength=3.2)
    return save(
        figure,
        "rebel-turn-hands.png",
        "Root mean square error of values of hands on unseen rivers against games of training, both axes logarithmic, for "
        "networks over bins of strength and over single hands",
    )


@study(
    title="ReBeL, Figure 2: turn endgame hold'em as published, single hands",
    place=14,
    minutes=8,
    needs=("torch",),
)
def reproduce(*judge: str, games: int = GAMES) -> Result:
    if unknown := {*judge} - {*KINDS}:
        raise SystemExit(f"no networks called {', '.join(sorted(unknown))}; there are {', '.join(KINDS)}")
    cards = {kind: network(kind, games)[1] for kind in KINDS}
    chips = {kind: judged(kind, games) for kind in judge}
    paper = published("rebel")
    return Result(
        source=f"{paper['source']}; {paper['turn_endgame']['source']}, appendices C.2 and E.",
        findings=findings(cards, chips),
        tables=[table(cards, chips)],
        pictures=[draw(cards)],
        notes=notes(games),
        numbers={"cards": {kind: dict(card) for kind, card in cards.items()}, "exploitability": chips},
    )


def table(cards: Mapping[str, Mapping[str, Any]], chips: Mapping[str, float]) -> Table:
    """Cost and results of training runs."""
    rows = []
    for kind, card in cards.items():
        errors = [f"{100.0 * error:.1f}" for error in card["errors"].values()]
        found = f"{thousandths(chips[kind]):,.0f}" if kind in chips else "not judged"
        rows.append([kind, *errors, f"{card['seconds'] / 60.0:.1f}", found])
    columns = ["", *(f"{look} games" for look in card["errors"]), "CPU minutes", f"exploitability, {SEARCHED} iterations"]
    return Table(
        "Error of a hand's value on unseen rivers, % of the pot, by number of games; exploitability of a search with the "
        "last network, average policy, in mbb/hand",
        columns,
        rows,
    )


def findings(cards: Mapping[str, Mapping[str, Any]], chips: Mapping[str, float]) -> Sequence[str]:
    """The findings, and an extrapolation of errors to longer training."""
    claim, whole = published("rebel")["turn_endgame"], stored("rebel/turn_endgame")
    level = whole["chips"]["19,000 behind"]["lcfr"][whole["iterations"].index(claim["iterations"])]
    found = [
        f'Published: "{claim["claims"][0]}". That level is {thousandths(level):,.0f} mbb/hand here.',
        f"Showdown values alone, which every network includes, err by {100.0 * showdown_alone():.1f}% of the pot.",
    ]
    worse = [kind for kind, card in cards.items() if list(card["errors"].values())[-1] > showdown_alone()]
    if worse:
        found.append(
            f"Not better than that after these few games: {'; '.join(worse)}. Networks for single hands have to learn hand "
            f"strength from the cards, on every board. On one board they learn it."
        )
    if chips:
        best = min(chips, key=lambda kind: chips[kind])
        found.append(f"Training runs of minutes reach {thousandths(chips[best]):,.0f} mbb/hand ({best}).")
    for kind, card in cards.items():
        last, error = list(card["errors"].items())[-1]
        falls, rate = slope(card["errors"]), card["seconds"] / int(last)
        games = 6 * 3600 * 2 / rate
        then = error * (games / int(last)) ** falls
        found.append(
            f"{kind}: {card['seconds'] / 60.0:.1f} CPU minutes. Errors fall as the number of games to the power "
            f"{falls:.2f}. Six hours on two cores are {games:,.0f} games, after which the error would be "
            f"{100.0 * then:.1f}% of the "
            "pot by extrapolation."
        )
    return found


def notes(games: int) -> list[str]:
    """How it was measured."""
    return [
        "Games as published (appendix C.2): first bets of half the pot, the pot or all-in; raises of three quarters "
        "or all-in; sizes changed by up to 0.1 of the pot; 5,000 to 50,000 chips per player; any board; beliefs over "
        "1,326 hands; board cards embedded; and a policy network that starts searches as if with 15 iterations.",
        f"Not as published: three layers of 256 instead of six of 1,536, {games} games; 32 rivers from each search; turns "
        f"by linear CFR-D of {RECIPE.iterations} iterations (32 with a policy network), rivers by {RECIPE.river_iterations} of "
        "DCFR.",
        "Values are relative to the showdown, which is added exactly. The paper's network predicts the whole value. "
        "`This turn only`: trained on the evaluation board, which the paper's network sees in training only by "
        "chance.",
        "Unseen rivers: 64 of the published turn (3s7hTdKs, 19,000 behind), beliefs from searches with the library's "
        f"network, solved by {FINE} iterations. Hands are weighted by their probability. {effort()}",
    ]
