"""Informational commands: ``games``, ``algorithms``, ``info``."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treeplex.run.cli.shared.arguments import AnyGameArgument, Json, Limit, Refine, ShowProgress
from treeplex.run.cli.shared.commands import GameDescription, command, described, with_wing_options
from treeplex.run.cli.shared.console import print_entries, print_facts, print_json, print_table
from treeplex.run.cli.shared.live import Live

if TYPE_CHECKING:
    from treeplex.forms.compile.compiled_game import CompiledGame
    from treeplex.forms.structure.classes import Structure
    from treeplex.games.parameters import GameInfo
    from treeplex.run.solve.cost import SolvingCost
    from treeplex.run.solve.solvable import Estimate
    from treeplex.solvers import Algorithm

OTHER_GAMES = """Other games: openspiel:NAME (any game of OpenSpiel), game.efg and game.nfg (Gambit), game.game (LiteEFG),
mygame.py:MyGame (your own rules)."""

CLASSES = {
    "perfect_information": "perfect information",
    "perfect_recall": "perfect recall",
    "single_act": "single-act",
    "nested": "nested form",
    "ladder_nested": "ladder-nested form",
    "nested_reordered": "nested game",
    "ladder_nested_reordered": "ladder-nested game",
    "feedback": "feedback game",
    "nested_feedback": "nested feedback game",
    "ladder_nested_feedback": "ladder-nested feedback game",
    "open_loop": "open-loop game",
}
"""Display names of the classes in :class:`treeplex.forms.structure.classes.Structure`."""


@command("List the built-in games.", place=10, example="games")
def games(as_json: Json = False) -> None:
    """List the built-in games and their parameters.

    \b
    Examples:
      treeplex games
      treeplex games --json
    """
    from treeplex.games.registry import games

    if as_json:
        print_json(
            {
                name: {
                    "summary": info.summary,
                    "parameters": {parameter.name: parameter.default for parameter in info.parameters},
                }
                | ({"note": info.note} if info.note else {})
                for name, info in games().items()
            }
        )
        return
    print_entries((name, (info.summary, parameters_of(info), info.note)) for name, info in games().items())
    typer.echo(OTHER_GAMES)


def parameters_of(info: "GameInfo") -> str:
    """Return the parameters of a game with their defaults in spec syntax."""
    parts: list[str] = []
    for parameter in info.parameters:
        value = list(parameter.default) if isinstance(parameter.default, tuple) else parameter.default
        series = parameter.name.rstrip("0123456789")
        if series != parameter.name and parts and parts[-1].startswith(series):
            parts[-1] = f"{parts[-1].split(' to ')[0]} to {parameter.name}"
        else:
            parts.append(parameter.name if value is None else f"{parameter.name}={value}".replace(" ", ""))
    return ", ".join(parts)


@command("List the algorithms.", place=20)
def algorithms(as_json: Json = False) -> None:
    """List the algorithms, their parameters and their papers.

    \b
    Examples:
      treeplex algorithms
      treeplex solve kuhn_poker -a "dcfr(alpha=2,gamma=3)"
    """
    from treeplex.solvers import algorithms
    from treeplex.solvers.base import GROUPS

    if as_json:
        print_json(
            {
                name: {
                    "group": algorithm.group,
                    "summary": algorithm.summary,
                    "reference": algorithm.reference,
                    "parameters": dict(algorithm.parameters),
                }
                for name, algorithm in algorithms().items()
            }
        )
        return
    for group, heading in GROUPS.items():
        typer.secho(heading, bold=True, underline=True)
        members = [(name, algorithm) for name, algorithm in algorithms().items() if algorithm.group == group]
        print_entries((name, (algorithm.summary, settings_of(algorithm), algorithm.reference)) for name, algorithm in members)
        typer.echo()
    typer.echo("ReBeL networks and learned discounting are trained: see treeplex train --help")


def settings_of(algorithm: "Algorithm") -> str:
    """Return the parameters of an algorithm with their defaults in one line."""
    numbers = [f"{key}={value:g}" for key, value in algorithm.parameters.items()]
    return ", ".join(numbers + [f"{key}={what}" for key, what in algorithm.texts.items()])


@command("Show the size of a game and the cost of solving it.", place=30)
@with_wing_options("info")
def info(
    *,
    game: AnyGameArgument = None,
    structure: Annotated[
        bool,
        typer.Option("--structure", help="Also classify the game: perfect information, perfect recall, nested, ..."),
    ] = False,
    inferior_to: Annotated[
        str | None,
        typer.Option(metavar="GAME", help="Also test whether the game is GAME with less information for the players."),
    ] = None,
    as_json: Json = False,
    refine: Refine = False,
    limit: Limit = None,
    progress: ShowProgress = None,
    more: Mapping[str, Any],
) -> None:
    """Show the size of a game (histories, infosets, sequences, depth) and the cost of solving it (memory, time).

    The time per iteration is measured, for hold'em spots on a small spot. --structure classifies the extensive form, with a
    counterexample for each class that the game is not in. It also accepts games of imperfect recall.

    \b
    Examples:
      treeplex info leduc_poker
      treeplex info "goofspiel(num_cards=4,imp_info=True)" --json
      treeplex info mygame.py:MyGame
      treeplex info "goofspiel(num_cards=4)" --structure
      treeplex info poorer.efg --inferior-to richer.efg
      treeplex info examples/spots/turn.yaml
      treeplex info examples/spots/turn.yaml --bets 33%,75%,150%,a --threads 4
      treeplex info examples/spots/flop.yaml --board Ks8s3d --budget 4GB,60s
    """
    from treeplex.errors import ImperfectRecallError

    with Live(progress) as live:
        live.say(f"compiling {game or 'the game'}")
        from treeplex.forms.compile.compile_game import compile_game
        from treeplex.forms.sources.load import load
        from treeplex.run.solve.solve import solvable

        description = described("info", game, more)
        named_game = description.game
        if named_game is None:
            raise typer.BadParameter("name a GAME, or describe a spot with options")
        rules = load(named_game)
        estimate = None if structure else solvable(rules).estimate()
        compiled = classes = less = cost = None
        try:
            if estimate is None:
                compiled = compile_game(rules, refine=refine, limit=limit, watch=live.walked)
        except ImperfectRecallError:
            if not structure:
                raise
        if structure:
            from treeplex.forms.structure.classes import structure as classes_of

            classes = classes_of(compiled or rules, refine=refine, limit=limit, watch=live.walked)
        if inferior_to is not None:
            from treeplex.forms.structure.inferior import informationally_inferior

            less = informationally_inferior(compiled or rules, inferior_to, limit=limit)
        if not (structure or inferior_to):
            from treeplex.run.solve.cost import cost_of

            live.say("measuring an iteration")
            estimate = estimate and estimate.at_pace_here()
            cost = compiled and cost_of(compiled)
    if estimate is not None:
        print_estimate(estimate, description, as_json=as_json)
        return
    if as_json:
        said = {} if less is None else {"inferior_to": {"game": inferior_to, "holds": less.holds, "why": less.why}}
        known = (counts_of(compiled) if compiled else {}) | (structure_of(classes) if classes else {})
        print_json(known | said | (cost_as_json(cost) if cost else {}))
        return
    if compiled:
        print_counts(compiled)
    if cost:
        print_facts(cost.facts(), title="to solve it")
    if classes:
        print_structure(classes, titled=compiled is None)
    if less is not None:
        print_facts({f"inferior to {inferior_to}": "yes" if less else f"no: {less.why}"}, title="what players know")


def print_estimate(estimate: "Estimate", description: GameDescription, *, as_json: bool) -> None:
    """Print the estimated cost of solving."""
    if as_json:
        print_json({**estimate.to_json(), **description.data})
    else:
        if description.facts:
            print_facts(description.facts, title="chosen for the budget")
        print_facts(estimate.facts(), title=estimate.title)


def counts_of(compiled: "CompiledGame") -> dict[str, Any]:
    """Return the size of a compiled game for ``--json``."""
    size = compiled.size
    return {
        "game": compiled.spec,
        "players": compiled.players,
        "histories": size.histories,
        "terminals": size.terminals,
        "depth": size.depth,
        "largest_infoset": size.largest_infoset,
        "infosets": list(compiled.infosets),
        "sequences": list(compiled.sequences),
        "public_states": size.public_states,
    }


def print_counts(compiled: "CompiledGame") -> None:
    """Print the size of a compiled game as a table."""
    size = compiled.size
    facts = {
        "players": str(compiled.players),
        "histories": f"{size.histories:,}   all nodes, including chance and terminals",
        "terminals": f"{size.terminals:,}",
        "depth": f"{size.depth:,}   nodes on the longest path",
        "largest infoset": f"{size.largest_infoset:,}   histories",
        "public states": "not defined by the rules" if size.public_states is None else f"{size.public_states:,}",
        "payoffs": payoffs_of(compiled),
    }
    print_facts(facts, title=str(compiled))
    counts = zip(compiled.infosets, compiled.sequences, strict=True)
    rows = [[str(player), f"{infosets:,}", f"{sequences:,}"] for player, (infosets, sequences) in enumerate(counts)]
    rows.append(["all", f"{sum(compiled.infosets):,}", f"{sum(compiled.sequences):,}"])
    print_table(["player", "infosets", "sequences"], rows, right=(1, 2))


def cost_as_json(cost: "SolvingCost") -> dict[str, Any]:
    """Return the cost of solving for ``--json``."""
    return {
        "memory_mb": {"game": cost.game / 1e6, "run": cost.run / 1e6, "evaluation": cost.evaluation / 1e6},
        "available_mb": None if cost.available is None else cost.available / 1e6,
        "seconds_per_iteration": cost.seconds,
        "threads": cost.threads,
        "algorithm": cost.algorithm,
    }


def structure_of(structure: "Structure") -> dict[str, Any]:
    """Return the classes of a game for ``--json``; ``why`` gives a counterexample, or the order that proves the class."""
    pieces = structure.pieces
    return {
        "game": structure.spec,
        "players": structure.players,
        "histories": structure.histories,
        "structure": {
            **{name: {"holds": verdict.holds, "why": verdict.why} for name, verdict in structure.verdicts().items()},
            "levels": list(structure.levels),
            "sub_forms": structure.sub_forms,
            "pieces": None if pieces is None else vars(pieces),
        },
    }


def print_structure(structure: "Structure", *, titled: bool) -> None:
    """Print the classes of a game, with a counterexample for each class that fails."""
    first: dict[str, str] = {}
    rows = []
    for name, verdict in structure.verdicts().items():
        why = verdict.why
        if why and first.setdefault(why, CLASSES[name]) != CLASSES[name]:
            why = f"as with {first[why]}"
        rows.append([CLASSES[name], "yes" if verdict else "no", why])
    title = f"{structure.spec}: {structure.histories:,} histories, {structure.players} players" if titled else ""
    print_table(["class", "", "counterexample or proof"], rows, title=title)
    facts = {}
    if len(structure.levels) > 0:
        facts["levels of play"] = f"{len(structure.levels):,}   as a feedback game"
    if structure.sub_forms is not None:
        facts["sub-extensive forms"] = f"{structure.sub_forms:,}"
    pieces = structure.pieces
    if pieces is None:
        remedy = "open_loop(game=...) converts it to a static game" if structure.open_loop else "--refine restores it"
        facts["backward recursion"] = f"needs perfect recall; {remedy}"
    elif not pieces.count:
        facts["backward recursion"] = "plain backward induction"
    else:
        facts["backward recursion"] = (
            f"pieces {pieces.count:,}, static {pieces.static:,}; the largest has {pieces.infosets:,} infosets with a choice, "
            f"of {pieces.players} player{'s' if pieces.players != 1 else ''}"
        )
    print_facts(facts, title="to solve it")


def payoffs_of(game: "CompiledGame") -> str:
    """Describe the sum of payoffs."""
    if game.constant is None:
        return "general sums"
    return "zero-sum" if game.zero_sum else f"sum to {game.constant:g}"
