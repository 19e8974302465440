"""ReBeL networks as policy sources: each stands for the policy that search with the network plays."""

import os
from typing import Any

from treeplex.errors import SpecError
from treeplex.run.job.folder import kind_of
from treeplex.run.policy_source import Evaluation
from treeplex.search.sources import Agents


class RebelNetworks(Agents):
    """ReBeL training folders, network files, and the shipped networks ``rebel`` and ``rebel:NAME``."""

    def reads(self, source: Any) -> bool:
        """Whether a source is a ReBeL training folder for public-tree rules."""
        if not isinstance(source, str | os.PathLike) or kind_of(source) is None:
            return False
        from treeplex.learn.rebel.training.job import is_rebel_folder

        return is_rebel_folder(source)

    def named_by(self, text: str) -> bool:
        """Whether a text names a ReBeL network."""
        from treeplex.learn.rebel.training.named_agents import names_rebel

        return names_rebel(text)

    def game(self, source: Any) -> str:
        """The game of a training folder."""
        from treeplex.learn.rebel.training.job import is_turn_folder

        if is_turn_folder(source):
            raise SpecError(
                f"{source} is a network for turn endgames of hold'em, whose infosets are not enumerated; "
                "see its play with treeplex holdem search"
            )
        return super().game(source)

    def origin(self, source: str) -> dict[str, Any]:
        """The ReBeL agent's spec, as the origin of a policy."""
        from treeplex.search.named_agents.registry import spec_of

        return super().origin(str(spec_of(source)))

    def evaluate(self, text: str, game: str, asked: Evaluation) -> bool:
        """Evaluate a network by averaging playthroughs, or exactly in games of perfect information."""
        from treeplex.learn.cli.rebel import evaluate_rebel
        from treeplex.learn.rebel.training.judge import is_rebel
        from treeplex.learn.rebel.training.whole import is_whole_folder

        if is_rebel(text) or is_whole_folder(text):
            if asked.worst or asked.exact or asked.refine:
                raise SpecError("--worst, --exact and --refine do not apply to a network that searches; leave them out")
            if asked.think is not None:
                raise SpecError(
                    "a ReBeL network is evaluated with a fixed number of iterations per search; use "
                    "--iterations instead of --think"
                )
            evaluate_rebel(
                game,
                text,
                playthroughs=asked.playthroughs,
                changes=asked.changes,
                iterations=asked.iterations,
                seed=asked.seed,
                workers=asked.workers,
                ray=asked.ray,
                as_json=asked.as_json,
                progress=asked.progress,
            )
            return True
        return False
