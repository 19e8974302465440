"""Agents as policy sources, by tabulating their policy at every infoset of a small game."""

import os
from pathlib import Path
from typing import Any, ClassVar

from treeplex.base.digits import three_digits
from treeplex.base.settings import pairs
from treeplex.base.storage.reading import read_json
from treeplex.base.wings import provided_by_name
from treeplex.errors import SpecError
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.sources.user_module import is_user_spec
from treeplex.run.job.folder import RUN, kind_of
from treeplex.run.policy_source import AskedPolicy, Evaluation, PolicySource


class Agents(PolicySource):
    """Policy source for agents, given as objects, classes, names, ``file.py:NAME``, or training folders."""

    plays: ClassVar[bool] = True

    def reads(self, source: Any) -> bool:
        """Whether the source is an agent, an agent class, an agent's name or file, or a training folder with an agent."""
        if not isinstance(source, str | os.PathLike):
            from treeplex.search.agents.of_users import is_agent

            return is_agent(source)
        text = os.fspath(source)
        if is_user_spec(text) or kind_of(text) in provided_by_name("played_folders"):
            return True
        return not os.path.exists(text) and self.named_by(text)

    def named_by(self, text: str) -> bool:
        """Whether a text specifies an agent."""
        from treeplex.search.named_agents.registry import names_agent

        return names_agent(text)

    def game(self, source: Any) -> str:
        """The game recorded in a training folder."""
        if kind_of(source) is None:
            raise SpecError(f"agent {source} can play several games; name one (--game)")
        return str(read_json(Path(source) / RUN).get("game", ""))

    def policy(self, source: Any, game: Any = None) -> Policy:
        """The agent's policy at every infoset."""
        from treeplex.search.match.agent_policy import policy_of_agent

        return policy_of_agent(self.compiled(source) if game is None else game, source).policy

    def ask(self, text: str, game: Any, request: Evaluation) -> AskedPolicy:
        """The agent's policy, and the cost of computing it."""
        from treeplex.search.match.agent_policy import policy_of_agent

        if request.complete or request.refine or request.ray is not None or request.workers is not None:
            raise SpecError(f"agent {text} does not support --complete, --refine, --workers and --ray; leave them out")

        settings: dict[str, Any] = {"iterations": request.iterations, **pairs(request.changes or [])}
        computed = policy_of_agent(game, text, plays=request.playthroughs, seed=request.seed, think=request.think, **settings)
        origin = {
            "algorithm": text,
            "iterations": None,
            "seconds": computed.seconds,
            "playthroughs": computed.plays,
            "subgames": computed.subgames,
        }
        plays = "" if computed.plays is None else f"the mean of {computed.plays:,} playthroughs, "
        cost = (
            f"{plays}{computed.subgames:,} subgame{'s' * (computed.subgames != 1)} solved, {three_digits(computed.seconds)} s"
        )
        return AskedPolicy(computed.policy, origin, cost)
