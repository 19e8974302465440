"""Loads a blueprint from a file as a policy of the current game, which may have more bet sizes."""

import numpy as np

from treeplex.errors import FileError, GameError, PolicyError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.policies.files import load_policy
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.sources.load import public_tree
from treeplex.games.base import Game
from treeplex.games.public import PublicTree
from treeplex.run.judge import as_policy
from treeplex.run.solve.tree_game import policy_file
from treeplex.search.translation.exact import translated_policy
from treeplex.search.translation.mapping import first_deal


def blueprint_policy(game: Game, file: str) -> Policy:
    """Load the policy from a file or run folder; if its bet sizes differ, randomised action translation is used.

    Raises:
        PolicyError, FileError, SpecError: the file belongs to another game, or cannot be read.
    """
    coarse = coarse_policy(game, file)
    if coarse is None:
        return as_policy(compile_game(game), file)
    policy, rules = coarse
    return translated_policy(compile_game(game), policy, rules, rules=public_tree(game.public))


def coarse_policy(game: Game, file: str) -> tuple[Policy, PublicTree] | None:
    """Load a policy and its game's rules if that is the same poker game with different bet sizes; otherwise None."""
    path = policy_file(file)
    if not path.is_file() or not isinstance(game.public, PublicTree) or game.public.bets(game.public.first_state()) is None:
        return None
    try:
        policy = load_policy(path)
        if policy.game.rules is None or policy.game.identity == compile_game(game).identity:
            return None
        rules = public_tree(policy.game.rules)
    except (FileError, GameError, PolicyError):  # the file specifies no game, or one without public states
        return None
    same = rules.prior.shape == game.public.prior.shape and np.array_equal(rules.prior, game.public.prior)
    bets = rules.bets(rules.first_state()) is not None
    return (policy, rules) if same and bets and first_deal(rules) == first_deal(game.public) else None
