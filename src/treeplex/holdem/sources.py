"""Solved spots and full-game hold'em blueprints as policy sources."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from treeplex.base.spec import quoted
from treeplex.errors import GameSizeError, PolicyError, SpecError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.sources.load import load
from treeplex.holdem.spots.solved import is_solved_spot
from treeplex.holdem.spots.spot_table import SOLVED_FILE, SPOTS
from treeplex.run.policy_source import PolicySource, ShowOptions


class SolvedSpots(PolicySource):
    """Files of solved spots."""

    solvable: ClassVar[str] = SPOTS
    suffix: ClassVar[str] = SOLVED_FILE

    def reads(self, source: Any) -> bool:
        """Whether the source is the file of a solved spot."""
        return isinstance(source, str | os.PathLike) and is_solved_spot(source)

    def game(self, source: Any) -> Any:
        """The compiled spot."""
        from treeplex.holdem.solve.solution import load_solution

        return load_solution(source).game

    def policy(self, source: Any, game: Any = None) -> Any:
        """The average strategy."""
        from treeplex.holdem.solve.solution import load_solution

        if game is not None:
            raise PolicyError(f"{source} is a solved hold'em spot, not a policy for {game}; name one for this game")
        return load_solution(source).policy

    def origin(self, source: str) -> dict[str, Any]:
        """Algorithm, iterations and seconds from the file."""
        from treeplex.holdem.solve.solution import load_solution

        solved = load_solution(source)
        return {"algorithm": solved.algorithm, "iterations": solved.iterations, "seconds": solved.seconds}

    def show(self, text: str, asked: ShowOptions) -> bool:
        """Show the spot at one decision, with EVs and equities."""
        from treeplex.holdem.cli.shared.node import show_node

        if asked.game is not None or asked.complete or asked.infostate is not None:
            raise SpecError("a solved spot has its own game and lines (--line); leave --game, --complete and --infostate out")
        show_node(Path(text), asked.player, asked.more, as_json=asked.as_json)
        return True

    def compare(self, first: str, second: str, options: Mapping[str, Any], *, as_json: bool) -> None:
        """Compare two spots at one decision, hand by hand."""
        from treeplex.holdem.cli.shared.comparison import compare_solutions

        compare_solutions((Path(first), Path(second)), options, as_json=as_json)


class Blueprints(PolicySource):
    """Blueprint files and training folders with a blueprint, for decks small enough to enumerate the infosets."""

    def reads(self, source: Any) -> bool:
        """Whether the source is a blueprint."""
        from treeplex.holdem.blueprint.policy import is_holdem_blueprint

        return isinstance(source, str | os.PathLike) and is_holdem_blueprint(source)

    def game(self, source: Any) -> str:
        """The game named in the file."""
        from treeplex.holdem.blueprint.policy import game_of_blueprint

        return game_of_blueprint(source)

    def compiled(self, source: Any) -> CompiledGame:
        """The blueprint's game, compiled.

        Raises:
            SpecError: it has too many infosets; the message names a command that shows the blueprint.
        """
        from treeplex.holdem.cards.format import HOLDEM
        from treeplex.holdem.whole.game import Holdem

        spec, path = self.game(source), os.fspath(source)
        rules = load(spec, named_in=source).enumerable_rules()
        many = f"{path} is a blueprint of {spec}, whose infosets are too many to list"
        if isinstance(rules, Holdem) and rules.rules.format is HOLDEM:
            raise SpecError(f"{many}; treeplex holdem preflop {quoted(path)} shows its preflop policy")
        try:
            return compile_game(rules)
        except GameSizeError:
            raise SpecError(f"{many}; treeplex play {quoted(spec)} --against {quoted(path)} plays against it") from None

    def policy(self, source: Any, game: Any = None) -> Policy:
        """The blueprint's policy at every infoset."""
        from treeplex.search.match.agent_policy import policy_of_agent

        return policy_of_agent(self.compiled(source) if game is None else game, f"blueprint(file={source})").policy
