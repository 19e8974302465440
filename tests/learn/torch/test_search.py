"""Searches with tensors against those of compiled kernels, and trainings that use them. A card is used where there is one."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.learn.torch.devices import DEVICE, NAME, NAMES  # noqa: E402
from treeplex.errors import AlgorithmError, SpecError  # noqa: E402
from treeplex.evaluate import judge  # noqa: E402
from treeplex.forms.compile.compile_game import compile_game  # noqa: E402
from treeplex.forms.sources.load import public_tree  # noqa: E402
from treeplex.games.public import (  # noqa: E402
    PublicState,
    PublicTree,
    Terminal,
)
from treeplex.learn.common.device import torch_device  # noqa: E402
from treeplex.learn.common.encoding import Encoding  # noqa: E402
from treeplex.learn.common.value_net import value_net  # noqa: E402
from treeplex.learn.rebel.files import read_net  # noqa: E402
from treeplex.learn.rebel.network_leaf import NetworkLeaf  # noqa: E402
from treeplex.learn.rebel.settings import RebelSettings  # noqa: E402
from treeplex.learn.rebel.trainer import RebelTrainer  # noqa: E402
from treeplex.learn.rebel.training.job import NET, REBEL  # noqa: E402
from treeplex.learn.torch.kernels import stacking  # noqa: E402
from treeplex.learn.torch.search import TorchSearch  # noqa: E402
from treeplex.learn.train.train import train  # noqa: E402
from treeplex.run.job.folder import JobFolder  # noqa: E402
from treeplex.search import METHODS, Belief, ExactLeaf, NoLeaf, SubgameSearch, ZeroLeaf  # noqa: E402
from treeplex.search.leaf import LeafValue  # noqa: E402
from treeplex.search.play_distribution import playthrough_policy  # noqa: E402
from treeplex.search.settings import PlaythroughSettings  # noqa: E402
from treeplex.search.stopping import Replicas, policies_at  # noqa: E402
from treeplex.search.subgames.batch import PairPlaces, Subgames, cut_states  # noqa: E402
from treeplex.search.subgames.gadgets import Resolve  # noqa: E402
from treeplex.search.subgames.horizon import TO_THE_END, Horizon  # noqa: E402
from treeplex.search.subgames.subgame import Ranges  # noqa: E402
from treeplex.search.warm_start.begin import begin_search  # noqa: E402

torch.set_num_threads(1)

DICE = "liars_dice(dice_sides=2)"
SPECS = ("kuhn_poker", "leduc_poker", "liars_dice(dice_sides=3)")
TINY = RebelSettings(iterations=8, episodes=16, width=16, solves=640, burn_in=64, batch=32, reuse=8.0, seed=3, device=NAME)


def batch(spec: str, horizon: Horizon, count: int = 6, *, unlike: bool = False) -> tuple[Subgames, Ranges]:
    """Subgames at public states that random play comes to, with random ranges, some hands of probability 0.

    If ``unlike``, pairs of hands are dealt with random weights; those of the games are symmetric. Only for subgames with a
    network: where hands lose whatever they do, actions tie, and with such weights rounding alone says which is played.
    """
    rules, generator = public_tree(spec), np.random.default_rng(5)
    root = rules.first_state()
    states = [PublicState(root.node, root.weight * generator.uniform(0.5, 2.0, root.weight.shape)) if unlike else root]
    while len(states) < count:
        state = states[int(generator.integers(len(states)))]
        below = [each for each in state.successors(rules)[1] if not isinstance(rules.visit(each.node), Terminal)]
        below = [each for each in below if each.weight.any()]
        states += [below[int(generator.integers(len(below)))]] if below else []
    ranges = []
    for player in (0, 1):
        drawn = generator.dirichlet(np.ones(max(state.weight.shape[player] for state in states)), size=count)
        ranges.append(np.where(generator.random(drawn.shape) < 0.2, 0.0, drawn))
    return cut_states(rules, states, horizon), (ranges[0], ranges[1])


def fresh_leaf(rules: PublicTree, kind: object = torch.float64) -> NetworkLeaf:
    """A network whose values are far from 0, as those of a fresh one are not."""
    encoding = Encoding(rules)
    net = value_net(encoding.inputs, encoding.outputs, width=16, layers=2, seed=1).to(kind)
    with torch.no_grad():
        net[-1].weight.mul_(50.0)
    return NetworkLeaf(encoding, net)


class Plainly:
    """What a :class:`NetworkLeaf` says, place by place and in double precision."""

    def __init__(self, leaf: NetworkLeaf) -> None:
        self.encoding, self.net = leaf.encoding, leaf.net

    def __call__(self, places: PairPlaces, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        hands = self.encoding.hands
        found = np.zeros_like(believed[0]), np.zeros_like(believed[1])
        for k, state in enumerate(places.states):
            actor, features = self.encoding.seen(state)
            beliefs = [np.zeros(hands), np.zeros(hands)]
            for each in (0, 1):
                dealt = state.weight.sum(axis=1 - each)
                joint = dealt * believed[each][k, : len(dealt)]
                beliefs[each][: len(dealt)] = joint / joint.sum() if joint.sum() > 0 else dealt / dealt.sum()
            row = np.concatenate((features.astype(np.float32), beliefs[actor], beliefs[1 - actor]))
            with torch.no_grad():
                outputs = self.net(torch.from_numpy(row)[None])[0].numpy()
            for each in (0, 1):
                own = outputs[:hands] if each == actor else outputs[hands:]
                found[each][k] = own[: found[each].shape[1]]
        return found


def compared(expected: SubgameSearch, found: SubgameSearch, within: float) -> None:
    """Everything that a search holds is the same in both."""
    assert found.iteration == expected.iteration
    assert found.sum_weights == pytest.approx(expected.sum_weights)
    for name in ("policy", "strategy", "average", "faced", "regrets"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), abs=within), name
    assert found.average_policy() == pytest.approx(expected.average_policy(), abs=within)
    for player in (0, 1):
        assert found.root_values()[player] == pytest.approx(expected.root_values()[player], abs=within)
        assert found.last_leaf[player] == pytest.approx(expected.last_leaf[player], abs=within)


@pytest.mark.slow_cases(
    "leduc_poker-cfr",
    "leduc_poker-lcfr",
    "leduc_poker-dcfr",
    "leduc_poker-cfr+",
    "leduc_poker-pdcfr",
    "leduc_poker-pdcfr+",
    "leduc_poker-sapcfr+",
    "tic_tac_toe-pdcfr+",
    "tic_tac_toe-sapcfr+",
)
@pytest.mark.parametrize("method", ["cfr", "lcfr", "dcfr", "cfr+", "pdcfr", "pdcfr+", "sapcfr+", "hs-dcfr"])
@pytest.mark.parametrize("spec", [*SPECS, "modified_rps", "tic_tac_toe"])
def test_a_search_with_tensors_is_the_search(spec: str, method: str) -> None:
    subgames, ranges = batch(spec, Horizon(3 if spec == "tic_tac_toe" else None), count=1 if spec == "modified_rps" else 6)
    leaf = ZeroLeaf() if len(subgames.leaves) else NoLeaf()
    expected, begun = (SubgameSearch(subgames, METHODS[method], leaf, ranges, horizon=16) for _ in range(2))
    expected.run(16)
    search = TorchSearch(begun, device=DEVICE, dtype=torch.float64)
    search.run(9), search.run(7)
    compared(expected, search.finish(), 1e-9)


def test_both_payoff_operators_occur() -> None:
    kinds = {}
    for spec, horizon in [("leduc_poker", Horizon(None)), ("modified_rps", Horizon(None))]:
        payoff = batch(spec, horizon, count=1)[0].payoff
        kinds[spec] = bool(len(payoff.dense.groups)), bool(len(payoff.sparse.values))
    assert kinds == {"leduc_poker": (True, False), "modified_rps": (False, True)}


@pytest.mark.quick_cases(
    "kuhn_poker-horizon0-cfr",
    "kuhn_poker-horizon0-lcfr",
    "kuhn_poker-horizon0-dcfr",
    "kuhn_poker-horizon0-cfr+",
    "kuhn_poker-horizon0-lcfr-avg",
    "kuhn_poker-horizon0-dcfr-avg-modified",
    "kuhn_poker-horizon1-cfr",
    "kuhn_poker-horizon1-lcfr",
    "kuhn_poker-horizon1-dcfr",
    "kuhn_poker-horizon1-cfr+",
    "kuhn_poker-horizon1-lcfr-avg",
    "kuhn_poker-horizon1-dcfr-avg-modified",
    "kuhn_poker-horizon2-cfr",
    "kuhn_poker-horizon2-lcfr",
    "kuhn_poker-horizon2-dcfr",
    "kuhn_poker-horizon2-cfr+",
    "kuhn_poker-horizon2-lcfr-avg",
    "kuhn_poker-horizon2-dcfr-avg-modified",
    "kuhn_poker-horizon3-cfr",
    "kuhn_poker-horizon3-lcfr",
    "kuhn_poker-horizon3-dcfr",
    "kuhn_poker-horizon3-cfr+",
    "kuhn_poker-horizon3-lcfr-avg",
    "kuhn_poker-horizon3-dcfr-avg-modified",
    "kuhn_poker-horizon4-cfr",
    "kuhn_poker-horizon4-lcfr",
    "kuhn_poker-horizon4-dcfr",
    "kuhn_poker-horizon4-cfr+",
    "kuhn_poker-horizon4-lcfr-avg",
    "kuhn_poker-horizon4-dcfr-avg-modified",
    "leduc_poker-horizon0-dcfr",
    "liars_dice(dice_sides=3)-horizon0-lcfr-avg",
    "liars_dice(dice_sides=3)-horizon4-cfr",
    "liars_dice(dice_sides=3)-horizon4-lcfr",
    "liars_dice(dice_sides=3)-horizon4-dcfr",
    "liars_dice(dice_sides=3)-horizon4-cfr+",
    "liars_dice(dice_sides=3)-horizon4-lcfr-avg",
    "liars_dice(dice_sides=3)-horizon4-dcfr-avg-modified",
)
@pytest.mark.parametrize("method", ["cfr", "lcfr", "dcfr", "cfr+", "lcfr-avg", "dcfr-avg-modified"])
@pytest.mark.parametrize("horizon", [Horizon(1), Horizon(2), Horizon(3), Horizon(2, endgame=6), Horizon(None, rounds=True)])
@pytest.mark.parametrize("spec", SPECS)
def test_a_network_at_the_leaves(spec: str, horizon: Horizon, method: str) -> None:
    subgames, ranges = batch(spec, horizon)
    leaf = fresh_leaf(subgames.game)
    expected = SubgameSearch(subgames, METHODS[method], Plainly(leaf), ranges)
    search = TorchSearch(SubgameSearch(subgames, METHODS[method], leaf, ranges), device=DEVICE, dtype=torch.float64)
    expected.run(12), search.run(12)
    compared(expected, search.finish(), 1e-9)


@pytest.mark.slow_cases("leduc_poker-horizon1", "liars_dice(dice_sides=3)-horizon1")
@pytest.mark.parametrize("horizon", [Horizon(1), Horizon(2)])
@pytest.mark.parametrize("spec", SPECS)
def test_hands_that_are_dealt_unlike(spec: str, horizon: Horizon) -> None:
    subgames, ranges = batch(spec, horizon, unlike=True)
    leaf = fresh_leaf(subgames.game)
    expected = SubgameSearch(subgames, METHODS["dcfr"], Plainly(leaf), ranges)
    search = TorchSearch(SubgameSearch(subgames, METHODS["dcfr"], leaf, ranges), device=DEVICE, dtype=torch.float64)
    expected.run(12), search.run(12)
    compared(expected, search.finish(), 1e-9)


def test_a_player_who_never_acts() -> None:
    subgames, ranges = batch(SPECS[2], Horizon(1), count=1)
    leaf = fresh_leaf(subgames.game)
    expected = SubgameSearch(subgames, METHODS["dcfr"], Plainly(leaf), ranges)
    search = TorchSearch(SubgameSearch(subgames, METHODS["dcfr"], leaf, ranges), device=DEVICE, dtype=torch.float64)
    expected.run(12), search.run(12)
    assert search.treeplexes[1].shape[0] == 0
    compared(expected, search.finish(), 1e-9)


@pytest.mark.parametrize("spec", SPECS)
def test_single_precision_is_near(spec: str) -> None:
    """Beside the compiled network, which reads and writes float32 as well."""
    subgames, ranges = batch(spec, Horizon(2))
    leaf = fresh_leaf(subgames.game, torch.float32)
    expected, begun = (SubgameSearch(subgames, METHODS["dcfr"], leaf, ranges) for _ in range(2))
    search = TorchSearch(begun, device=DEVICE)
    expected.run(24), search.run(24)
    found = search.finish().root_values()
    for player in (0, 1):
        there = subgames.roots.opposing(expected.ranges, player) > 1e-6
        assert np.abs(found[player] - expected.root_values()[player])[there].max() < 2e-3


@pytest.mark.slow_cases("dcfr", "lcfr-avg")
@pytest.mark.parametrize("method", ["dcfr", "lcfr-avg", "lcfr-avg-modified"])
def test_a_search_goes_on_from_where_it_was(method: str) -> None:
    subgames, ranges = batch("leduc_poker", Horizon(2))
    leaf = fresh_leaf(subgames.game)
    expected = SubgameSearch(subgames, METHODS[method], Plainly(leaf), ranges)
    begun = SubgameSearch(subgames, METHODS[method], Plainly(leaf), ranges)
    expected.run(12), begun.run(5)
    begun.leaf = leaf
    search = TorchSearch(begun, device=DEVICE, dtype=torch.float64)
    search.run(7)
    compared(expected, search.finish(), 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("policy_net", [False, True])
def test_policies_are_drawn_as_from_the_search(policy_net: bool) -> None:
    rules, horizon = public_tree(DICE), Horizon(2)
    leaf = RebelTrainer(rules, replace(TINY, policy_net=policy_net, warm=3, device="cpu")).leaf
    root = Belief.root(rules)
    beliefs = [root, root.after(1, np.full((4, 2), 0.25))]
    which = np.array([0, 1, 1, 0, 0, 1, 0])
    searched = cut_states(rules, [belief.state for belief in beliefs], horizon)
    copies = Replicas.of(cut_states(rules, [beliefs[k].state for k in which], horizon), searched, which)
    ranges = tuple(np.stack([belief.ranges[player] for belief in beliefs]) for player in (0, 1))
    searches = [begin_search(searched, METHODS["dcfr"], leaf, (ranges[0], ranges[1]), 8) for _ in range(2)]
    stops = np.array([3, 4, 8, 8, 5, 3, 6])
    expected, mean = policies_at(searches[0], 8, stops, average=True, copies=copies)
    found, average = TorchSearch(searches[1], device=DEVICE, dtype=torch.float64).policies_at(8, stops, copies, average=True)
    assert searches[1].iteration == 8
    assert found == pytest.approx(expected, abs=1e-4)  # the network is in single precision
    for one, other in zip(copies.subgames.leaves.reach_at(average), copies.subgames.leaves.reach_at(mean), strict=True):
        both = [own / own.sum(axis=1, keepdims=True) for own in (one, other)]
        assert both[0] == pytest.approx(both[1], abs=1e-4)
    assert len({found[copies.subgames.owners == k].tobytes() for k in (0, 3, 4, 6)}) == 4


@pytest.mark.parametrize("method", ["dcfr", "pdcfr+", "lcfr", "dcfr-avg", "lcfr-avg-modified"])
def test_no_iteration_looks_at_numbers_or_leaves_the_device(method: str) -> None:
    """Tensors of the ``meta`` device have no numbers: whatever needs them, or mixes devices, raises."""
    subgames, ranges = batch("leduc_poker", Horizon(2))
    leaf = fresh_leaf(subgames.game, torch.float32)
    search = TorchSearch(SubgameSearch(subgames, METHODS[method], leaf, ranges), device=torch.device("meta"))
    search.run(3)
    assert search.strategies[0].device.type == "meta"
    with pytest.raises(NotImplementedError):
        search.finish()


@pytest.mark.parametrize("sizes", [[7], [1, 1, 1], [64, 64], [5, 1, 9, 30], [1, 100], [3, 4, 5, 6, 7]])
def test_stacking_holds_every_row_once(sizes: list[int]) -> None:
    rows, group = stacking(np.array(sizes))
    assert sorted(rows[rows >= 0]) == list(range(sum(sizes)))
    assert rows.size <= 1.25 * sum(sizes)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    assert all((owner[row[row >= 0]] == own).all() and (row >= 0).any() for row, own in zip(rows, group, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("device", NAMES)
def test_a_training_learns_and_goes_on_bit_for_bit(device: str) -> None:
    """On a card sums have no fixed order, so that there it is asked to learn only."""
    rules, game = public_tree(DICE), compile_game(DICE)
    settings = PlaythroughSettings(iterations=32, playthroughs=32, depth=1)
    whole, first, second = (RebelTrainer(rules, replace(TINY, device=device)) for _ in range(3))

    def exploitability() -> float:
        return judge(game, playthrough_policy(game, rules, whole.leaf, settings, np.random.default_rng(0))).exploitability

    before = exploitability()
    while not whole.finished:
        whole.round()
    assert exploitability() < 0.5 * before
    for _ in range(12):
        first.round()
    second.restore(first.state())
    while not second.finished:
        second.round()
    if device == "torch-cpu":
        for name, array in whole.state().items():
            assert np.array_equal(array, second.state()[name]), name


def test_a_training_with_a_policy_network_is_nearly_that_on_the_processor() -> None:
    """For a few rounds; then rounding decides which leaves episodes come to."""
    rules = public_tree(DICE)
    settings = replace(TINY, policy_net=True, warm=3, burn_in=16)
    kernels, tensors = (RebelTrainer(rules, replace(settings, device=name)) for name in ("cpu", NAME))
    for _ in range(3):
        expected, found = kernels.round(), tensors.round()
        assert (found.done, found.steps) == (expected.done, expected.steps)
        assert (found.loss, found.policy_loss) == pytest.approx((expected.loss, expected.policy_loss), rel=0.02, nan_ok=True)
    for own, other in ((kernels.leaf.net, tensors.leaf.net), (kernels.leaf.guess.net, tensors.leaf.guess.net)):
        for one, two in zip(own.parameters(), other.parameters(), strict=True):
            assert torch.allclose(one, two, atol=2e-3)


def test_a_training_may_move_to_another_device(tmp_path: Path) -> None:
    settings = replace(TINY, solves=160, device="cpu", streams=1)
    train(DICE, settings=settings, out=tmp_path / "run", judge_every=0)
    ended = train(resume=tmp_path / "run", settings={"device": NAME, "solves": "320"}, judge_every=0)
    assert ended.status == "finished"
    assert ended.records[-1].done == 320
    assert JobFolder(REBEL, tmp_path / "run").about()["settings"]["device"] == NAME
    assert all(np.isfinite(array).all() for array in read_net(tmp_path / "run" / NET).weights.values())


def test_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert torch_device("cpu") is torch_device("auto") is None
    assert torch_device("torch-cpu") == torch.device("cpu")
    with pytest.raises(SpecError, match="no CUDA GPU here; use cpu, or auto"):
        RebelTrainer(public_tree(DICE), replace(TINY, device="cuda"))
    with pytest.raises(SpecError, match="device must be one of cpu, cuda"):
        replace(TINY, device="gpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert torch_device("auto") == torch_device("cuda") == torch.device("cuda")


@pytest.mark.parametrize("method", ["fp", "cfr-avg-simultaneous", "lcfr-avg-modified-simultaneous"])
def test_other_methods_stay_on_the_processor(method: str) -> None:
    with pytest.raises(SpecError, match=f"method {method} runs on device cpu only; use device cpu, or one of cfr"):
        RebelTrainer(public_tree(DICE), replace(TINY, method=method))


@pytest.mark.parametrize(
    ("leaf", "error", "why"),
    [
        (NoLeaf, AlgorithmError, "leaves need values"),
        (lambda: ExactLeaf(), SpecError, "by ExactLeaf run on device cpu only"),
    ],
)
def test_leaves_need_values_on_the_device(leaf: Callable[[], LeafValue], error: type[Exception], why: str) -> None:
    subgames, ranges = batch(DICE, Horizon(1), count=1)
    with pytest.raises(error, match=why):
        TorchSearch(SubgameSearch(subgames, METHODS["cfr"], leaf(), ranges), device=DEVICE)


def test_gadgets_stay_on_the_processor() -> None:
    subgames, ranges = batch(DICE, TO_THE_END, count=1)
    gadget = Resolve(0, np.zeros((1, subgames.roots.widths[1])))
    search = SubgameSearch(replace(subgames, gadget=gadget), METHODS["dcfr"], NoLeaf(), ranges)
    with pytest.raises(AlgorithmError, match="a search by tensors supports neither gadgets"):
        TorchSearch(search, device=DEVICE)
