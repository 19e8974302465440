"""Search with any number of players: subgames against the compiled game, values behind leaves, agents against the judge."""

from functools import cache

import numpy as np
import pytest

import treeplex as tp
from treeplex.errors import AlgorithmError, GameError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import Policy, normalised
from treeplex.forms.sources.load import public_game, public_tree
from treeplex.games.base import CHANCE
from treeplex.games.card_game import CardGame
from treeplex.games.public import State
from treeplex.search.agents.agent import agent_policy, play_game
from treeplex.search.many_players.search import Continuations, EnumeratedRounds, RoundSearchAgent, search_round
from treeplex.search.resolving.continuations import biased_policies
from treeplex.search.subgames.beliefs import Belief
from treeplex.search.subgames.many_players import cut_round
from treeplex.search.subgames.policy_tables import table_at

SMALL = "leduc_poker(players=3,ranks=2,suits=2,raises=1)"


@cache
def game_of(spec: str) -> tuple[CompiledGame, CardGame]:
    found = public_game(spec)
    assert isinstance(found, CardGame)
    return compile_game(spec), found


@cache
def blueprint(spec: str, iterations: int = 5) -> Policy:
    return tp.solve(game_of(spec)[0], "cfr", iterations=iterations).policy


def random_policy(game: CompiledGame, seed: int = 0) -> Policy:
    return Policy(game, normalised(game, np.random.default_rng(seed).random(int(game.tree.sequence_offsets[-1])) + 0.05))


def after_checks(game: CardGame, card: int) -> State:
    """The second round after nobody has bet in the first."""
    state = game.first_state()
    while game.options(state).player != CHANCE:
        state = game.after(state, 1)
    return game.after(state, card)


def in_subgame(policy: Policy, subgame: CompiledGame, picks: dict[int, int] | None = None) -> Policy:
    """A policy of the whole game in a subgame; behind leaves each player picks a continuation, the first if none is said."""
    found = np.ones(int(subgame.tree.sequence_offsets[-1]))
    for (player, text), infoset in subgame.lookup.items():
        sequences = subgame.sequences_at(infoset)
        if text.startswith("continuation"):
            found[sequences] = np.arange(len(sequences)) == (picks or {}).get(player, 0)
        else:
            found[sequences] = policy.probabilities[policy.game.sequences_at(policy.game.lookup[player, text])]
    return Policy(subgame, found)


@pytest.mark.slow
def test_a_game_of_one_round_is_its_own_subgame() -> None:
    """Values and best responses are those of the game compiled by histories."""
    for spec in ("kuhn_poker(players=3)", "kuhn_poker(players=4)"):
        game, rules = game_of(spec)
        policy = random_policy(game)
        subgame = cut_round(rules, rules.first_state(), Continuations(rules, policy)).compiled(Belief.root(rules).ranges)
        assert subgame.infosets == game.infosets
        mine, whole = tp.judge(subgame, in_subgame(policy, subgame)), tp.judge(game, policy)
        assert mine.value == pytest.approx(whole.value)
        assert mine.gains == pytest.approx(whole.gains)


@pytest.mark.slow
def test_behind_leaves_everybody_gets_what_the_policies_say() -> None:
    """Three players who each follow another continuation in the second round, in the subgame and in the whole game."""
    game, rules = game_of(SMALL)
    policy = random_policy(game)
    ways = biased_policies(policy, 5.0)
    subgame = cut_round(rules, rules.first_state(), Continuations(rules, policy)).compiled(Belief.root(rules).ranges)
    second = np.array(["[Round 2]" in text for text in game.infostates])
    for picks in ({}, {0: 1, 1: 2, 2: 3}, {0: 3, 1: 1}):
        played = policy.probabilities.copy()
        for player, pick in picks.items():
            for infoset in range(*game.tree.infoset_offsets[player : player + 2]):
                if second[infoset]:
                    played[game.sequences_at(infoset)] = ways[pick].probabilities[game.sequences_at(infoset)]
        expected = tp.judge(game, Policy(game, played)).value
        assert tp.judge(subgame, in_subgame(policy, subgame, picks)).value == pytest.approx(expected)


def test_a_later_round_begins_with_beliefs() -> None:
    """What a policy is worth after its first round, by summing over deals."""
    game, rules = game_of(SMALL)
    policy = random_policy(game)
    belief = Belief.root(rules)
    while rules.options(belief.state).player != CHANCE:
        belief = belief.after(1, table_at(policy, rules, belief.state))
    belief = belief.after(2)
    subgame = cut_round(rules, belief.state, Continuations(rules, policy))
    assert (subgame.deals != 2).all()
    compiled = subgame.compiled(belief.ranges)
    worth = Continuations(rules, policy, 1)(belief.state, subgame.deals)[0, 0, 0]
    weights = belief.joint[tuple(subgame.deals.T)]
    assert tp.judge(compiled, in_subgame(policy, compiled)).value == pytest.approx(weights @ worth)
    with pytest.raises(GameError, match="no deal of these ranges"):
        subgame.compiled((np.eye(4)[0],) * 3)


@pytest.mark.slow
def test_what_is_frozen_stays() -> None:
    game, rules = game_of(SMALL)
    root = rules.first_state()
    table = table_at(random_policy(game), rules, root)
    subgame = cut_round(rules, root, Continuations(rules, blueprint(SMALL)))
    found = search_round(subgame, Belief.root(rules).ranges, {root: table}, iterations=50)
    free = search_round(subgame, Belief.root(rules).ranges, {}, iterations=50)
    for policy in (found.last, found.average):
        np.testing.assert_allclose(subgame.table(policy, root), table, atol=1e-9)
    after = rules.after(root, 1)
    assert abs(subgame.table(found.last, after) - subgame.table(free.last, after)).max() > 0.1


def gains(policy: Policy, whole: Policy) -> list[float]:
    """What each seat gains, exactly, by a policy while the others follow another."""
    game = policy.game
    before, found = tp.judge(game, whole).value, []
    for seat in range(game.players):
        own = slice(*game.tree.sequence_offsets[seat : seat + 2])
        played = whole.probabilities.copy()
        played[own] = policy.probabilities[own]
        found.append(tp.judge(game, Policy(game, played)).value[seat] - before[seat])
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "count", "average"), [("kuhn_poker(players=3)", 4, False), (SMALL, 4, False), (SMALL, 1, True)]
)
def test_search_gains_in_every_seat(spec: str, count: int, average: bool) -> None:
    game, rules = game_of(spec)
    agent = RoundSearchAgent(EnumeratedRounds(Continuations(rules, blueprint(spec), count), iterations=50), average=average)
    assert min(gains(agent_policy(agent, game), blueprint(spec))) > 0.02


@pytest.mark.slow
def test_first_rounds_may_be_played_by_the_blueprint() -> None:
    """The second round alone is searched, and a blueprint that is not so rough becomes better."""
    game, rules = game_of(SMALL)
    plan = blueprint(SMALL, 20)
    rounds = EnumeratedRounds(Continuations(rules, plan), iterations=100)
    agent = RoundSearchAgent(rounds, average=True, search_after=1)
    first = np.array(["[Round 1]" in text for text in game.infostates])
    policy = agent_policy(agent, game)
    for infoset in np.flatnonzero(first).tolist():
        assert policy.at(infoset) == pytest.approx(plan.at(infoset))
    found = gains(policy, plan)
    assert sum(found) > 0.1
    assert tp.nash_conv(game, policy) < 0.7 * tp.nash_conv(game, plan)


def test_of_one_round_the_average_is_near_the_best() -> None:
    """In Kuhn poker a search knows the whole game: many iterations are an equilibrium nearly, whatever the blueprint."""
    game, rules = game_of("kuhn_poker(players=3)")
    agent = RoundSearchAgent(EnumeratedRounds(Continuations(rules, Policy.uniform(game)), iterations=1000), average=True)
    assert tp.nash_conv(game, agent_policy(agent, game)) < 0.01


@pytest.mark.slow
def test_plays_are_searched_once() -> None:
    """A play again asks no new searches; a seat that is not asked what it plays searches all the same."""
    game, rules = game_of(SMALL)
    agent = RoundSearchAgent(EnumeratedRounds(Continuations(rules, blueprint(SMALL)), iterations=5))
    policy = agent_policy(agent, game).probabilities
    searches = agent.searches
    np.testing.assert_array_equal(agent_policy(agent, game).probabilities, policy)
    assert agent.searches == searches
    quiet = RoundSearchAgent(EnumeratedRounds(Continuations(rules, blueprint(SMALL)), iterations=5))
    for player in (quiet, agent):
        player.begin(2)
        for label in (1, 1, 2, 1):
            player.see(label)
    assert quiet.searches == 1
    for player in (quiet, agent):
        for label in (1, 0, 1, 1):
            player.see(label)
    np.testing.assert_array_equal(quiet.policy(), agent.policy())
    other = agent.fork()
    other.see(1)
    assert agent.state != other.state
    np.testing.assert_array_equal(agent.policy(), quiet.policy())


def test_an_action_that_was_not_considered_is_added() -> None:
    """Searches without raises; after a raise they are those of a game in which it was there from the start."""
    _, rules = game_of(SMALL)
    leaf, root = Continuations(rules, blueprint(SMALL)), rules.first_state()
    rounds = EnumeratedRounds(leaf, iterations=50, considered=lambda state: [a for a in rules.options(state).labels if a < 2])
    agent = RoundSearchAgent(rounds)
    agent.begin(2)
    agent.see(1)
    agent.see(1)
    assert agent.policy() == pytest.approx(np.array([[1.0] * 4, [0.0] * 4]))  # to check is all that is considered
    agent.begin(2)
    agent.see(1)
    agent.see(2)
    raised = rules.after(root, 1)

    def offered(state: State) -> list[int]:
        return [a for a in rules.options(state).labels if a < 2 or state == raised]

    subgame = cut_round(rules, root, leaf, offered)
    expected = search_round(subgame, Belief.root(rules).ranges, {}, iterations=50)
    np.testing.assert_array_equal(agent.policy(), subgame.table(expected.last, agent.state))
    assert agent.policy().min() >= 0.0
    assert agent.policy().sum(axis=0) == pytest.approx(np.ones(4))
    for label in (1, 0, 3):  # players 2 and 0 play on; a card
        agent.see(label)
    assert agent.game.options(agent.state).player == 1


def test_seats_and_plays() -> None:
    game, rules = game_of(SMALL)
    searching = RoundSearchAgent(EnumeratedRounds(Continuations(rules, blueprint(SMALL)), iterations=5), think=1e-9)
    for seed in range(5):
        assert sum(play_game([searching] * 3, np.random.default_rng(seed))) == pytest.approx(0.0)
    assert searching.thought is not None
    searching.begin(1)
    with pytest.raises(GameError, match="player 0 acts at"):
        searching.policy()
    with pytest.raises(GameError, match="no action 9 at"):
        searching.see(9)
    with pytest.raises(GameError, match="only its own game"):
        searching.begin(at=Belief.root(public_tree("kuhn_poker")))
    five = public_game("leduc_poker(players=5)")
    assert isinstance(five, CardGame)
    with pytest.raises(GameError, match="too many hands"):
        cut_round(five, five.first_state(), Continuations(five, Policy.uniform(game)))
    with pytest.raises(AlgorithmError, match="1 to 4 continuations"):
        Continuations(rules, Policy.uniform(game), 5)
    with pytest.raises(GameError, match="no betting round begins"):
        cut_round(rules, after_checks(rules, 1)._replace(player=CHANCE), Continuations(rules, blueprint(SMALL)))
