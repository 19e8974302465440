"""The shipped network for full-game hold'em against rule agents, a blueprint, earlier versions of itself, and a local best
response.

Hands are played over public states, each with the expected payoff over all hands of both players; against opponents who call,
variance from the turn on is reduced with values without further betting. ``python papers/run.py rebel/whole_52 --times 4``
plays four times as many hands; stored results of the same network and number of hands are not repeated. ``--snapshots DIR``
evaluates copies of ``net.safetensors`` saved during a training run: all by their errors, some by a local best response and by
matches with the blueprint. Training runs are identified by their seeds, 0 for the shipped network; results of other seeds, and
all without ``--snapshots``, remain as stored. The blueprint is that of ``holdem/own_blueprint``, trained first if missing.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from papers.common.drawing import dress, line_style, panels, plain_labels, save
from papers.common.kept import code, kept
from papers.common.results import Picture, Result, Table, published, stored, stored_with
from papers.common.study import study
from papers.holdem.own_blueprint import FOLDER, own_blueprint
from papers.holdem.own_blueprint import GAME as BLUEPRINT_GAME
from papers.rebel.whole_52_errors import FINE, errors, unseen_rows
from treeplex import agent, load
from treeplex.arena import local_best_response
from treeplex.learn.common.device import one_thread
from treeplex.learn.rebel.files import NetFile, read_net
from treeplex.learn.rebel.shipped_nets import shipped_whole_nets
from treeplex.learn.rebel.training.whole import whole_game
from treeplex.search.agents.by_rules import STYLES
from treeplex.search.evaluate.winnings import CheckedDown, sampled_winnings

NAME = "holdem-50bb"
HANDS = {"folder": 1_000, "caller": 500, "maniac": 1_000, "shover": 2_000, "rock": 500, "regular": 500, "station": 500}
PLAIN = ("folder",)
"""Opponents who do not call; values that assume calls would increase their variance."""
LBR_HANDS = {"fc": 1_000, "fcpa": 500}
"""Actions of the local best response: fold, check and call; or also the pot and all-in."""
AGENT_HANDS = 1_000
TRAINED = ("the network that ships", "another training")
CURVE_POINTS, CURVE_HANDS = 4, 500
"""Networks during training that play matches, and their hands against a local best response (``fc``) and the blueprint."""
ITERATIONS = 24
STATES = 32
"""Ends of the turn's betting at which networks are compared with exact values."""
SHOWDOWN = "showdown"
MILLI = 1000 / 2
"""mbb per chip."""


def table_game() -> str:
    """The game that the network was trained on."""
    return shipped_whole_nets()[NAME].game


def agent_of(network: str) -> str:
    """The agent that searches with a network, from its command-line name."""
    return f"rebel(network={network},iterations={ITERATIONS})"


def against(table: str, opponent: str, hands: int, *, plain: bool = False, network: str = NAME) -> dict[str, float]:
    """The agent's winnings against another one, in mbb/hand."""
    game, began = load(table), process_time()
    assert game.public is not None
    with one_thread():
        player, other = agent(agent_of(network), game, seed=0), agent(opponent, game, seed=1)
        values = None if plain else CheckedDown(player.game.exactly_shared)  # type: ignore[attr-defined]
        found = sampled_winnings(player, other, hands, seed=2, values=values)
    return {"won": MILLI * found.value, "interval": MILLI * found.interval, "hands": hands, "seconds": process_time() - began}


def put_aside(folder: Path) -> list[NetFile]:
    """The networks of a folder in order of training."""
    return sorted((read_net(path) for path in folder.glob("*.safetensors")), key=lambda net: net.card["solved"])


def over(hands: int, earlier: Mapping[str, float] | None, key: Mapping[str, Any], play: Callable[[], Any]) -> dict[str, float]:
    """Winnings over a number of hands: stored, cached or played now."""
    found = earlier if earlier and earlier["hands"] == hands else kept({**key, "hands": hands}, play)
    print(key, found, flush=True)
    return dict(found)


def against_agents(times: float, earlier: Mapping[str, Any], about: Mapping[str, Any]) -> dict[str, Any]:
    """Winnings by opponent: the blueprint, and from stored results earlier networks."""
    hands, blueprint = round(AGENT_HANDS * times), own_blueprint()
    who, key = f"a blueprint of {blueprint.card['boards']:,} boards", {**about, "blueprint": dict(blueprint.card)}
    won = over(hands, earlier.get(who), key, lambda: against(BLUEPRINT_GAME, str(FOLDER), hands))
    return {who: won, **{name: own for name, own in earlier.items() if "streets" in name}}


def bound(actions: str, hands: int, network: str = NAME) -> dict[str, float]:
    """Winnings of a local best response with these actions against the network."""
    began = process_time()
    with one_thread():
        found = local_best_response(table_game(), agent_of(network), hands=hands, actions=actions, seed=1)
    return {"won": MILLI * found.value, "interval": MILLI * found.interval, "hands": hands, "seconds": process_time() - began}


def trainings(folder: Path | None, times: float) -> dict[str, dict[str, Any]]:
    """Networks during training by seed: stored ones, and those of the training run saved in a folder.

    ``points`` has streets, CPU seconds and error of each network on states of the last one's play; ``showdown`` the error of
    showdown values; ``shipped`` that of the shipped network; ``there`` that of the last network on states of the shipped one's
    play; ``playing`` match results of some networks.
    """
    found: dict[str, dict[str, Any]] = dict(stored("rebel/whole_52").get("trainings", {}))
    if folder is not None:
        nets, shipped = put_aside(folder), shipped_whole_nets()[NAME]
        own, there = learning_curve([*nets, shipped], nets[-1]), learning_curve(nets, shipped)
        *points, (*_, beside) = own["points"]
        errors_here = {"points": points, SHOWDOWN: own[SHOWDOWN], "shipped": beside, "there": there["points"][-1][-1]}
        found[str(nets[0].settings["seed"])] = {**errors_here, "playing": playing_curve(nets, times)}
    return dict(sorted(found.items()))


def learning_curve(nets: Sequence[NetFile], player: NetFile) -> dict[str, Any]:
    """Errors of networks on states of a player's self-play, with the number of streets each had solved."""
    game = whole_game(table_game())[1]
    key = {"study": "whole_52 errors", "network": player.checksum, "nets": [net.checksum for net in nets], "count": STATES}

    def make() -> dict[str, Any]:
        with one_thread():
            found = errors(game, {net.checksum: net for net in nets}, unseen_rows(game, player, STATES))
        points = [[net.card["solved"], net.card["cpu_seconds"], found[net.checksum]] for net in nets]
        return {"points": points, SHOWDOWN: found[SHOWDOWN]}

    return dict(kept(key, make))


def playing_curve(nets: Sequence[NetFile], times: float) -> list[dict[str, Any]]:
    """Match results of some networks during training, including the first and the last.

    Each has its ``streets``, its ``cpu_seconds``, the winnings of a local best response against it (``lbr``) and its winnings
    against the blueprint (``blueprint``).
    """
    places = sorted({round(part * (len(nets) - 1) / (CURVE_POINTS - 1)) for part in range(CURVE_POINTS)})
    found, hands = list[dict[str, Any]](), round(CURVE_HANDS * times)
    key = {"study": "whole_52 playing", "hands": hands, "blueprint": dict(own_blueprint().card)}
    for net in (nets[place] for place in places):
        won = {
            "lbr": kept({**key, "network": net.checksum, "lbr": "fc"}, partial(bound, "fc", hands, str(net.path))),
            "blueprint": kept(
                {**key, "network": net.checksum},
                partial(against, BLUEPRINT_GAME, str(FOLDER), hands, network=str(net.path)),
            ),
        }
        found.append({"streets": net.card["solved"], "cpu_seconds": net.card["cpu_seconds"], **won})
        print(found[-1], flush=True)
    return found


def playing_table(training: Mapping[str, Any]) -> Table:
    """Match results of networks during training."""
    playing, off = training["playing"], {point[0]: point[2] for point in training["points"]}
    rows = [
        [
            f"{point['streets']:,}",
            f"{point['cpu_seconds'] / 60:.0f}",
            f"{100 * off[point['streets']]:.1f}",
            *(f"{point[what]['won']:+,.0f} ± {point[what]['interval']:,.0f}" for what in ("lbr", "blueprint")),
        ]
        for point in playing
    ]
    return Table(
        f"Networks during another training, over {playing[0]['lbr']['hands']:,} hands: error of a bin's mean value, "
        "winnings of a local best response (`fc`) from each, and winnings from the blueprint, mbb/hand with 95% "
        "intervals",
        ["streets", "CPU minutes", "% of the pot", "local best response", "from the blueprint"],
        rows,
    )


def draw(found: Mapping[str, Mapping[str, Any]]) -> Picture:
    """Errors against solved streets, for each training run."""
    figure, (axes,) = panels(1, 1, size=(7.6, 4.2))
    streets = [point[0] for each in found.values() for point in each["points"]]
    for number, each in enumerate(found.values()):
        solved, _, off = zip(*each["points"], strict=True)
        (line,) = axes.plot(solved, 100.0 * np.array(off), label=TRAINED[number], **line_style(number))
        height, look = 100.0 * each[SHOWDOWN], {"color": line.get_color()}
        axes.axhline(height, linewidth=1.2, linestyle=":", **look)
        axes.text(0.99, height + 0.2, "showdown alone", transform=axes.get_yaxis_transform(), ha="right", fontsize=9, **look)
    dress(axes, "Values before the river, 52 cards")
    plain_labels(axes)
    axes.set(xlabel="streets solved in training")
    axes.set_ylabel("error of a bin's mean value, % of the pot")
    axes.set_yscale("linear")
    axes.set_ylim(0, None)
    ticks = [mark * 1_000 for mark in (1, 2, 5, 10, 20, 50, 100) if min(streets) <= mark * 1_000 <= max(streets)]
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.minorticks_off()
    axes.legend(frameon=False, fontsize=9.5, handlelength=3.2, loc="lower left")
    return save(
        figure,
        "rebel-whole-52.png",
        "Root mean square error of values before the river on states that no training has seen, against the streets "
        "solved in two trainings, with that of showdown values alone; each on the states of its own play",
    )


def curve_table(curve: Mapping[str, Any]) -> Table:
    """Errors by training time."""
    rows = [[f"{solved:,}", f"{seconds / 60:.0f}", f"{100 * error:.1f}"] for solved, seconds, error in curve["points"]]
    rows.insert(0, ["showdown alone", "", f"{100 * curve[SHOWDOWN]:.1f}"])
    head = ["streets", "CPU minutes", "% of the pot"]
    return Table(
        "Root mean square error of a bin's mean value before the river, on states that no training has seen", head, rows
    )


@study(title="ReBeL on no-limit hold'em with 52 cards", place=20, minutes=70)
def reproduce(*, times: float = 1.0, snapshots: Path | None = None) -> Result:
    net = shipped_whole_nets()[NAME]
    settings = {"network": net.checksum, "iterations": ITERATIONS}
    earlier, about = stored_with("rebel/whole_52", settings), {"study": "whole_52", **settings}
    known: dict[str, Any] = {}
    for style, count in HANDS.items():
        hands = round(count * times)
        plays = partial(against, table_game(), f"rules(style={style})", hands, plain=style in PLAIN)
        known[style] = over(hands, earlier.get(style), {**about, "style": style, "plain": style in PLAIN}, plays)
    bounds: dict[str, Any] = {}
    for actions, count in LBR_HANDS.items():
        hands = round(count * times)
        key = {**about, "lbr": actions, "code": code("treeplex.search.match.lbr_run")}
        bounds[actions] = over(hands, earlier.get("lbr", {}).get(actions), key, partial(bound, actions, hands))
    agents, found = against_agents(times, earlier.get("agents", {}), about), trainings(snapshots, times)
    rows = [
        [f"`{style}`", STYLES[style].about, f"{found['hands']:,}", f"{found['won']:+,.0f} ± {found['interval']:,.0f}"]
        for style, found in known.items()
    ]
    card = net.card
    return Result(
        source=published("rebel")["source"],
        findings=[
            f"After {card['solved']:,} streets, {card['cpu_seconds'] / 60:.0f} minutes on one core, a local best "
            f"response with actions `{actions}` wins {won['won']:+,.0f} ± {won['interval']:,.0f} mbb/hand over "
            f"{won['hands']:,} hands{', which gives no lower bound on exploitability' if won['won'] < won['interval'] else ''}."
            for actions, won in bounds.items()
        ]
        + [
            (
                f"{own['hands']:,} hands do not decide between it and {who}: {own['won']:+,.0f} ± {own['interval']:,.0f} "
                "mbb/hand."
            )
            for who, own in agents.items()
            if abs(own["won"]) < own["interval"]
        ]
        + [
            "Each network's values are more accurate on its own states. On states of another training run's last network, "
            f"the mean bin values have errors of {100 * each['points'][-1][-1]:.1f}% of the pot for that network and "
            f"{100 * each['shipped']:.1f}% for the shipped network. On states of the shipped one the errors are "
            f"{100 * each['there']:.1f}% and {100 * found['0']['points'][-1][-1]:.1f}%."
            for each in found.values()
            if "there" in each
        ],
        tables=[
            Table(
                f"`rebel:{NAME}` against rule agents, mbb/hand with 95% intervals",
                ["against", "who is", "hands", "won"],
                rows,
            ),
            Table(
                f"`rebel:{NAME}` against other agents, mbb/hand with 95% intervals",
                ["against", "hands", "won"],
                [[who, f"{own['hands']:,}", f"{own['won']:+,.0f} ± {own['interval']:,.0f}"] for who, own in agents.items()],
            ),
            *(curve_table(each) for each in found.values() if "playing" not in each),
            *(playing_table(each) for each in found.values() if "playing" in each),
        ],
        pictures=[draw(found)] if found else [],
        notes=[
            f"`{net.game}`, {ITERATIONS} iterations per street; a network of {net.settings['bins']} bins of strength, "
            f"trained with {net.settings['iterations']} iterations, {net.settings['boards']} board per state and "
            f"{net.settings.get('rivers', 1)} rivers after each turn. A local best response's winnings are a lower "
            "bound of exploitability. `fc`: fold, check and call; `fcpa`: pot and all-in too.",
            f"Errors are those of the network's output, the mean values of strength bins. The error of a single hand also "
            f"includes the spread within its bin. Errors are on {STATES} ends of the turn's betting from self-play with a "
            f"training's last network and other random numbers. All rivers are solved by {FINE} iterations, so the "
            f"reference involves no network. The blueprint plays its own game, {BLUEPRINT_GAME}; bets that the "
            "network's game lacks are solved like others.",
        ],
        numbers={**known, "lbr": bounds, "agents": agents, "trainings": found, "settings": settings},
    )
