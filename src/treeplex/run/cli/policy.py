"""Commands about policies: ``show``, ``export``."""

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treeplex.errors import PolicyError, SpecError, printable
from treeplex.run.cli.shared.arguments import Complete, Json
from treeplex.run.cli.shared.commands import command, refuse_more, with_wing_options
from treeplex.run.cli.shared.console import print_json, print_table

if TYPE_CHECKING:
    from rich.text import Text

    from treeplex.forms.policies.tabular import Policy

HINTS_AMONG = 2000
GAP, STRATEGY_WIDTH = "   ", 44
RULES = (".efg", ".game")
PolicyArgument = Annotated[
    str,
    typer.Argument(
        metavar="POLICY",
        help="A run or training folder, a policy file (.safetensors, .npz, .json, .csv, .spot), or an agent.",
    ),
]
OfGame = Annotated[
    str | None, typer.Option("--game", metavar="GAME", help="The policy's game. Default: the game named in its file or folder.")
]


def origin_of(policy: str) -> dict[str, Any]:
    """Return algorithm, iterations and seconds of a policy, if its file records them."""
    from treeplex.forms.policies.files import read_policy_header
    from treeplex.forms.policies.neural import NeuralPolicy, is_neural_policy
    from treeplex.forms.policies.sparse import is_table_policy, load_table_policy
    from treeplex.run.policy_source import UNIFORM, sources_named_by
    from treeplex.run.solve.tree_game import policy_file

    if sources := sources_named_by(policy):
        return sources[0].origin(policy)
    if policy == UNIFORM:
        return {"algorithm": UNIFORM, "iterations": 0, "seconds": 0.0}
    file = policy_file(policy)
    if is_table_policy(file) or is_neural_policy(file):
        about = load_table_policy(file).about if is_table_policy(file) else NeuralPolicy.load(file).about
        return {"algorithm": about.get("algorithm"), "iterations": whole_of(about.get("iterations")), "seconds": None}
    known = read_policy_header(file).get("metadata", {})
    return {name: known.get(name) for name in ("algorithm", "iterations", "seconds")}


def whole_of(text: str | None) -> int | None:
    """Parse a recorded number of iterations; None if it is missing."""
    return int(text) if text is not None and text.isdecimal() and len(text) < 20 else None


@command("Print a strategy.", place=80, example="show runs/leduc")
@with_wing_options("show")
def show(
    *,
    policy: PolicyArgument,
    infostate: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Only this infostate, or all that contain this text."),
    ] = None,
    player: Annotated[
        str | None,
        typer.Option(metavar="I", help="Only this player, counted from 0 (oop or ip in spots)."),
    ] = None,
    limit: Annotated[int, typer.Option(metavar="ROWS", min=0, help="Maximum number of rows (0: all).")] = 40,
    game: OfGame = None,
    complete: Complete = False,
    as_json: Json = False,
    more: Mapping[str, Any],
) -> None:
    """Print a strategy: action probabilities at every infostate, or one decision of a solved hold'em spot.

    For a solved spot (turn.spot) it shows the range as a grid, actions, EV, equity, hands and the lines that follow. EVs are
    chips and include the pot, so a fold has an EV of 0.

    \b
    Examples:
      treeplex show runs/leduc --player 1 --limit 10
      treeplex show runs/kuhn --infostate 0pb
      treeplex show turn.spot --line x,b50% --hand AKs,QQ
      treeplex show turn.spot --line x --by draw --only "top pair,overpair"
      treeplex show turn.spot --html turn.html --png turn.png
    \f
    EQR is the fraction of its equity that a range realises, EV / (equity x pot). Facing a bet, the pot odds are the equity
    needed
    to call, and MDF is the minimum defence frequency: the fraction of the range that must continue so that a bluff with any two
    cards does not profit. --json --depth prints one line of JSON per node; the first line describes the spot.

    \b
    More examples:
      treeplex show turn.spot --line x,x --runouts
      treeplex show turn.spot --line x,b50%,c --range --player ip
      treeplex show turn.spot --json --depth all > turn.jsonl
    """
    from treeplex.run.policy_source import ShowOptions, sources_named_by

    request = ShowOptions(infostate, player, game, complete, as_json, more)
    if any(source.show(policy, request) for source in sources_named_by(policy)):
        return
    refuse_more("show", more, policy)
    if player is not None and not player.isdecimal():
        raise SpecError(f"no player {player!r}; players are numbered from 0")
    loaded = loaded_policy(policy, game, complete=complete)
    chosen = matching(loaded, infostate, None if player is None else int(player))
    shown = chosen[:limit] if limit else chosen
    if as_json:
        print_json([row_of(loaded, infoset) for infoset in shown])
        return
    compiled = loaded.game
    rows: list[list[str | Text]] = [
        [str(compiled.player_of(infoset)), compiled.infostates[infoset].strip() or "(empty)", strategy_text(loaded, infoset)]
        for infoset in shown
    ]
    several_lines = any("\n" in str(row[1]) for row in rows)
    print_table(["player", "infostate", "strategy"], rows, title=str(compiled), lines=several_lines)
    if len(shown) < len(chosen):
        typer.echo(f"{len(shown)} of {len(chosen):,} infostates; --limit 0 shows all, --infostate and --player choose")


def loaded_policy(policy: str, game: str | None, *, complete: bool = False) -> "Policy":
    """Load a policy from a folder, a file or an agent, for the given game or the game of the file."""
    from treeplex.run.judge import load_policy
    from treeplex.run.policy_source import UNIFORM, sources_named_by

    if policy == UNIFORM and game is not None and not Path(policy).exists():
        from treeplex.forms.compile.compile_game import compile_game
        from treeplex.forms.policies.tabular import Policy

        return Policy.uniform(compile_game(game))
    sources = sources_named_by(policy)
    loaded: Policy = sources[0].policy(policy, game) if sources else load_policy(policy, game, complete=complete)
    return loaded


def matching(policy: "Policy", text: str | None, player: int | None) -> list[int]:
    """Return the infosets that match exactly, or else contain the text."""
    game = policy.game
    if player is not None and not 0 <= player < game.players:
        raise PolicyError(f"no player {player} in {game}; its players are 0 to {game.players - 1}")
    offsets = game.tree.infoset_offsets
    chosen = range(len(policy)) if player is None else range(int(offsets[player]), int(offsets[player + 1]))
    if text is None:
        return list(chosen)
    wanted = text.replace("\\n", "\n")
    infosets = [infoset for infoset in chosen if game.infostates[infoset] == wanted]
    infosets = infosets or [infoset for infoset in chosen if wanted in game.infostates[infoset]]
    if not infosets:
        raise PolicyError(f"no infostate of {game} contains {text!r}{hint(text, game.infostates)}")
    return infosets


def hint(text: str, infostates: Sequence[str]) -> str:
    """Return a hint: the nearest of the first infostates, or how to list them all."""
    close = difflib.get_close_matches(text, infostates[:HINTS_AMONG], n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else "; leave --infostate out to list all"


def names_of(policy: "Policy", infoset: int) -> list[tuple[str, float]]:
    """Return action names and probabilities at an infoset."""
    names = policy.game.action_names[policy.game.player_of(infoset)]
    return [(names.get(action, str(action)), probability) for action, probability in policy.at(infoset).items()]


def row_of(policy: "Policy", infoset: int) -> dict[str, Any]:
    """Return one infoset for ``--json``."""
    return {
        "player": policy.game.player_of(infoset),
        "infostate": policy.game.infostates[infoset],
        "actions": {str(action): probability for action, probability in policy.at(infoset).items()},
        "names": [name for name, _ in names_of(policy, infoset)],
    }


def strategy_text(policy: "Policy", infoset: int) -> "Text":
    """Format ``Call 0.7500  Raise 0.2500``: the most likely action in bold, zero probabilities in grey, lines wrapped."""
    from rich.text import Text

    pairs = names_of(policy, infoset)
    best = max(probability for _, probability in pairs)
    text, length = Text(), 0
    for name, probability in pairs:
        entry = f"{printable(name)} {probability:.4f}"
        if length:
            fits = length + len(GAP) + len(entry) <= STRATEGY_WIDTH
            text.append(GAP if fits else "\n")
            length = length + len(GAP) if fits else 0
        text.append(entry, style="bold" if probability == best else "dim" if probability < 5e-5 else "")
        length += len(entry)
    return text


@command("Convert a policy file, or export a game as .efg or .game.", place=90)
def export(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE", help="A run or training folder, a policy file or an agent; to write a .efg or .game file, a game."
        ),
    ],
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="The output file. Its suffix selects the format (default: .safetensors).")
    ],
    game: OfGame = None,
    complete: Complete = False,
) -> None:
    """Convert a policy to .safetensors, .npz, .json or .csv, or export a game to .efg or .game.

    \b
    Examples:
      treeplex export runs/leduc leduc.json
      treeplex export policy.npz policy.csv
      treeplex export kuhn_poker kuhn.efg
    """
    if out.suffix.lower() in RULES:
        if out.suffix.lower() == ".efg":
            from treeplex.forms.sources.efg_write import write_efg

            write_efg(source, out)
        else:
            from treeplex.forms.sources.liteefg_write import write_game_file

            write_game_file(source, out)
    else:
        from treeplex.forms.policies.files import WRITERS, by_suffix, save_policy, with_suffix

        out = with_suffix(out)
        by_suffix(out, WRITERS, besides=f"rules: {', '.join(RULES)}")
        known = {name: value for name, value in origin_of(source).items() if value is not None}
        save_policy(loaded_policy(source, game, complete=complete), out, metadata=known)
    typer.echo(f"wrote {out}")
