"""Networks that come with the library: each says what it is, and is found by its rules."""

import re
import warnings
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from treeplex.errors import PolicyError, SpecError  # noqa: E402
from treeplex.forms.sources.load import public_tree  # noqa: E402
from treeplex.learn.rebel import shipped_nets as shipped  # noqa: E402
from treeplex.learn.rebel.files import NetFile, read_net, save_net  # noqa: E402
from treeplex.learn.rebel.shipped_nets import shipped_name, shipped_net, shipped_nets  # noqa: E402
from treeplex.learn.rebel.training.judge import judge_rebel  # noqa: E402
from treeplex.search import METHODS, Belief, Horizon, SearchAgent, SubgameSearch, cut, play_game  # noqa: E402
from treeplex.search.subgames.horizon import subgame_roots  # noqa: E402
from treeplex.search.subgames.identity import public_identity  # noqa: E402

torch.set_num_threads(1)

NETS = shipped_nets()
DICE = "liars_dice(dice=1,faces=4)"
DAYS = 10


@pytest.mark.parametrize("name", NETS)
def test_every_network_fits_its_game_and_was_judged(name: str) -> None:
    net, rules = NETS[name], public_tree(NETS[name].game)
    assert net.identity == public_identity(rules)
    assert shipped_net(rules, name).checksum == net.checksum
    net.leaf(rules)
    judged = net.card["judged"]
    assert judged["playthroughs"] >= 128
    assert judged["iterations"] >= 128
    assert len(judged["date"]) == DAYS
    assert shipped_name(net) == f"rebel:{name}"
    assert net.path.stat().st_size < 1_000_000


def test_networks_for_one_game_were_judged_alike() -> None:
    """Else the lowest exploitability would be that of the most playthroughs."""
    found = defaultdict(set)
    for net in NETS.values():
        found[net.identity].add((net.card["judged"]["playthroughs"], net.card["judged"]["iterations"]))
    assert {len(counts) for counts in found.values()} == {1}


def test_the_one_for_small_dice_is_as_good_as_its_card_says() -> None:
    net = shipped_net(public_tree(DICE))
    card = net.card["judged"]
    found = judge_rebel(DICE, "rebel", playthroughs=64, iterations=128, workers=1)
    assert found.network == shipped_name(net)
    assert found.card["judged"] == card
    assert 0.3 * card["exploitability"] < found.judgement.exploitability < 0.1  # uniform play: 0.655


def copied(net: NetFile, path: Path, exploitability: float) -> None:
    judged = {**net.card["judged"], "exploitability": exploitability}
    card = {**net.card, "judged": judged}
    save_net(path, net.weights, game=net.game, identity=net.identity, settings=net.settings, card=card)


def test_the_best_of_several_and_one_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = public_tree(DICE)
    net = shipped_net(rules)
    for name, exploitability in {"a": 0.03, "b-flop": 0.01, "c": 0.02}.items():
        copied(net, tmp_path / f"{name}.safetensors", exploitability)
    elsewhere = read_net(tmp_path / "a.safetensors")
    assert shipped_name(elsewhere) is None
    monkeypatch.setattr(shipped, "SHIPPED", tmp_path)
    assert shipped_name(shipped_net(rules)) == "rebel:b-flop"
    assert shipped_name(shipped_net(rules, "c")) == "rebel:c"
    assert all(np.array_equal(array, net.weights[name]) for name, array in shipped_net(rules, "c").weights.items())


def test_games_without_a_network_are_told_which_have_one() -> None:
    smaller = public_tree("liars_dice(dice_sides=2)")
    with pytest.raises(PolicyError, match=r"only for .*liars_dice\(dice_sides=4\).*treeplex train rebel"):
        shipped_net(smaller)
    with pytest.raises(SpecError, match=r"unknown network rebel:liars_dice-1x4g; did you mean 'liars_dice-1x4f'"):
        shipped_net(smaller, "liars_dice-1x4g")
    with pytest.raises(PolicyError, match="a network for liars_dice"):
        shipped_net(smaller, "liars_dice-1x4f")


@pytest.mark.quick_cases("kuhn_poker")
@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker"])
def test_poker_is_played_from_the_first_deal(name: str) -> None:
    """With few playthroughs, which only raise the bound."""
    card = NETS[name].card["judged"]
    assert card["exploitability"] < {"kuhn_poker": 0.005, "leduc_poker": 0.02}[name]
    found = judge_rebel(name, "rebel", playthroughs=32, iterations=128, workers=1).judgement.exploitability
    assert found < {"kuhn_poker": 0.05, "leduc_poker": 0.15}[name]  # uniform play: 0.458 and 2.374


def test_the_iterations_of_play_are_the_cards_or_the_trainings() -> None:
    net = NETS["liars_dice-1x4f"]
    assert (net.settings["iterations"], net.card["judged"]["iterations"], net.play_iterations) == (64, 256, 256)
    unjudged = replace(net, card={"solved": 1})
    assert unjudged.play_iterations == 64


def mean_values(net: NetFile, horizon: Horizon) -> tuple[float, float]:
    """Root values of a search with a network."""
    search = SubgameSearch(cut(net.game, [Belief.root(net.game)], horizon), METHODS["dcfr"], net.leaf())
    search.run(64)
    first, second = search.mean_values()
    return float(first[0]), float(second[0])


def test_a_network_warns_where_it_was_not_trained() -> None:
    """That for the smallest dice solved the last 32 nodes to the end, so it knows nothing of the leaves among them."""
    net = shipped_net(DICE)
    assert net.horizon == Horizon(2, endgame=32)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        first, second = mean_values(net, Horizon(2))
    untrained, contradicting = (str(each.message) for each in caught)
    assert re.search(r"was not trained for \d+ of the \d+ public states .* own horizon, Horizon\(depth=2", untrained)
    assert "are inconsistent: the players' values at the root" in contradicting
    assert abs(first + second) > 0.1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first, second = mean_values(net, net.horizon)
    assert abs(first + second) < 0.02
    assert first == pytest.approx(0.0625, abs=0.05)


@pytest.mark.slow_cases("liars_dice-1x6f-rests")
@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker", "liars_dice-1x4f", "liars_dice-1x6f-rests"])
def test_a_network_knows_the_states_of_its_own_horizon(name: str) -> None:
    net = NETS[name]
    agent = SearchAgent(net.game, net.leaf(), generator=np.random.default_rng(0))
    assert agent.settings.horizon == net.horizon
    assert agent.settings.iterations == net.play_iterations
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            play_game([agent, agent], np.random.default_rng(1))


def test_a_network_refuses_other_rules() -> None:
    with pytest.raises(PolicyError, match="is a network for kuhn_poker, not for these rules; give the game it was trained on"):
        NETS["kuhn_poker"].leaf("leduc_poker")
    assert repr(NETS["kuhn_poker"]) == "<value network rebel:kuhn_poker for kuhn_poker>"


def test_where_subgames_begin() -> None:
    rules = public_tree("leduc_poker")
    rounds = subgame_roots(rules, Horizon(rounds=1))
    assert rounds is not None
    kinds = [type(rules.visit(node)).__name__ for node in rounds - {rules.future(rules.root)}]
    assert kinds
    assert set(kinds) == {"Chance"}
    assert subgame_roots(rules, Horizon()) == {rules.future(rules.root)}
    assert subgame_roots(rules, Horizon(1), most=5) is None
