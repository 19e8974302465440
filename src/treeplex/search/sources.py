"""Agents as sources of policies: their policy at every infoset of a small game."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from treeplex.base.digits import three_digits
from treeplex.base.settings import pairs
from treeplex.base.storage.reading import read_json
from treeplex.base.wings import provided_by_name
from treeplex.errors import SpecError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.sources.user_module import is_user_spec
from treeplex.run.job.folder import RUN, kind_of
from treeplex.run.policy_source import AskedPolicy, Evaluation, PolicySource


class Agents(PolicySource):
    """Agents: objects, ``file.py:NAME``, training folders with an agent, and, in commands, names."""

    plays: ClassVar[bool] = True

    def reads(self, source: Any) -> bool:
        """Whether it is an agent, a file with one, or a training folder with an agent."""
        if not isinstance(source, str | os.PathLike):
            from treeplex.search.agents.of_users import is_agent

            return is_agent(source)
        if is_user_spec(os.fspath(source)):
            return True
        return kind_of(source) in provided_by_name("played_folders")

    def named_by(self, text: str) -> bool:
        """Whether the text names an agent."""
        from treeplex.search.named_agents.registry import names_agent

        return names_agent(text)

    def game(self, source: Any) -> str:
        """The game named in a training folder."""
        if kind_of(source) is None:
            raise SpecError(f"{source} is an agent; name its game too (--game)")
        return str(read_json(Path(source) / RUN).get("game", ""))

    def policy(self, source: Any, game: Any = None) -> Policy:
        """The agent's policy at every infoset."""
        from treeplex.search.agents.agent import agent_policy
        from treeplex.search.agents.of_users import policy_of_user_agent
        from treeplex.search.match.agent_policy import policy_of_agent

        if not isinstance(source, str | os.PathLike):
            return agent_policy(source, game)
        text, played = os.fspath(source), self.compiled(source) if game is None else game
        if is_user_spec(text) and isinstance(played, CompiledGame):
            return policy_of_user_agent(text, played)
        return policy_of_agent(played, text).policy

    def ask(self, text: str, game: Any, asked: Evaluation, say: Callable[[str], object]) -> AskedPolicy:
        """The agent's policy, and the cost of reading it."""
        from treeplex.search.match.agent_policy import policy_of_agent

        if asked.complete or asked.refine or asked.ray is not None or asked.workers is not None:
            raise SpecError(
                f"--complete and --refine need a policy, --workers and --ray a ReBeL network, not {text}; leave them out"
            )

        def watch(done: int, total: int, subgames: int) -> None:
            say(f"reading {text}  {done:,}/{total:,} public histories  {subgames:,} subgames solved")

        settings = {"iterations": asked.iterations, **pairs(asked.changes or [])}
        found = policy_of_agent(
            game, text, plays=asked.playthroughs, seed=asked.seed, think=asked.think, watch=watch, **settings
        )
        origin = {
            "algorithm": text,
            "iterations": None,
            "seconds": found.seconds,
            "playthroughs": found.plays,
            "subgames": found.subgames,
        }
        plays = "" if found.plays is None else f"the mean of {found.plays:,} playthroughs, "
        cost = f"{plays}{found.subgames:,} subgame{'s' * (found.subgames != 1)} solved, {three_digits(found.seconds)} s"
        return AskedPolicy(found.policy, origin, cost)
