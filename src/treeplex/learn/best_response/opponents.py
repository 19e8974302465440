"""The fixed agent that a response is trained against, and the game from the learner's view."""

from pathlib import Path

from treeplex.errors import SpecError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.stepping import turn_by_turn
from treeplex.forms.policies.neural import is_neural_policy
from treeplex.forms.policies.sparse import TablePolicy, is_table_policy
from treeplex.games.base import Game
from treeplex.learn.best_response.positions import RulesWorld, TableWorld, World
from treeplex.run.judge import as_policy
from treeplex.run.sample.sample import policy_of
from treeplex.run.solve.tree_game import policy_file
from treeplex.search.named_agents.registry import agent

UNIFORM = "uniform"


def world_against(rules: Game, against: str, *, seed: int = 0) -> World:
    """Create a game in which a named agent plays all seats but one.

    ``uniform`` and policies from run folders support any rules; other agents (:func:`treeplex.agent`) require games with public
    states.

    Args:
        rules: the rules.
        against: ``uniform``, a run folder or policy file, or an agent with its settings.
        seed: seed of the agent's actions.

    Raises:
        SpecError, FileError, PolicyError, GameError: the agent does not exist or does not support this game.
    """
    if against == UNIFORM:
        return RulesWorld(turn_by_turn(rules), TablePolicy.uniform(rules.spec, rules.num_players))
    file = policy_file(against)
    if is_table_policy(file) or is_neural_policy(file):
        playable = turn_by_turn(rules)
        return RulesWorld(playable, policy_of(str(file), playable))
    if file.is_file() and ".py:" not in against:
        playable = turn_by_turn(rules)
        return RulesWorld(playable, as_policy(compile_game(playable), str(file)))
    if Path(against).exists() and "(" not in against and ".py:" not in against:
        raise SpecError(f"{against} contains no policy; name a run folder, a policy file or an agent (treeplex agents)")
    return TableWorld(agent(against, rules, seed=seed), rules.spec)
