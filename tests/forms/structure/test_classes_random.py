"""Classes of random extensive forms, against the definitions word by word."""

import random
from collections.abc import Sequence
from itertools import combinations, permutations, product

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.forms.structure.test_classes import structure_of
from tests.random_games import SEEDS, STEADY, RandomGame
from tests.tree_games import Moves, TreeForm, everything, feedback_form, ladder_sights, nothing


def random_form(seed: int, depth: int, players: int) -> TreeForm:
    """Any form with a fixed order of play: each depth partitions all histories at random, coarsely or finely."""
    generator = random.Random(seed)
    order = [(place + generator.choice([0, 0, 0, 1])) % players for place in range(depth)]
    actions = [generator.choice([1, 2, 2, 3]) for _ in range(depth)]
    sights = []
    for place in range(depth):
        parts = generator.choice([1, 2, 1000, 1000])
        seen = generator.choice([everything, lambda moves: moves[-1:], lambda moves: moves[:-1], lambda moves: moves[:1]])
        sights.append(
            lambda moves, parts=parts, seen=seen, place=place: random.Random(repr((seed, place, seen(moves)))).randrange(parts)
        )
    return TreeForm(order, sights, actions, players, name=f"random_form({seed},{depth},{players})")


class Words:
    """The definitions, word by word, over all histories of a form without early ends."""

    def __init__(self, form: TreeForm) -> None:
        self.form, self.depths = form, range(len(form.order))
        self.at = [list(product(*(range(count) for count in form.actions[:depth]))) for depth in self.depths]

    def sets(self, depth: int) -> list[list[Moves]]:
        found: dict[object, list[Moves]] = {}
        for moves in self.at[depth]:
            found.setdefault(self.form.sights[depth](moves), []).append(moves)
        return list(found.values())

    def same_set(self, one: Moves, two: Moves) -> bool:
        sight = self.form.sights[len(one)]
        return sight(one) == sight(two)

    def known(self, depth: int) -> bool:
        return all(len(infoset) == 1 for infoset in self.sets(depth))

    def pairs(self, depth: int) -> list[tuple[Moves, Moves]]:
        return [pair for infoset in self.sets(depth) for pair in combinations(infoset, 2)]

    def nested(self, start: int, end: int) -> bool:
        """Who moves in start..end knows what those before in it knew."""
        return all(
            self.same_set(one[:before], two[:before])
            for depth in range(start, end)
            for before in range(start, depth)
            for one, two in self.pairs(depth)
        )

    def ladder(self, start: int, end: int) -> bool:
        """Nested, and who moves next learns nothing more where an infoset has several histories."""
        return self.nested(start, end) and all(
            self.same_set(one, two)
            for depth in range(start + 1, end)
            for one, two in combinations(self.at[depth], 2)
            if self.same_set(one[:-1], two[:-1]) and one[:-1] not in self.alone(depth - 1)
        )

    def alone(self, depth: int) -> set[Moves]:
        return {infoset[0] for infoset in self.sets(depth) if len(infoset) == 1}

    def level(self, start: int, end: int) -> bool:
        """A level of a feedback game: nobody moves twice, its start is known and nobody in it mixes starts up."""
        movers = [self.form.order[depth] for depth in range(start, end)]
        return (
            len(set(movers)) == len(movers)
            and self.known(start)
            and all(one[:start] == two[:start] for depth in range(start, end) for one, two in self.pairs(depth))
        )

    def cuts(self) -> list[list[tuple[int, int]]]:
        last = len(self.form.order)
        inner = range(1, last)
        return [
            list(zip((0, *chosen), (*chosen, last), strict=True))
            for size in range(last)
            for chosen in combinations(inner, size)
        ]

    def recall(self) -> bool:
        def past(moves: Moves) -> list[tuple[object, int, int]]:
            own = [d for d in range(len(moves)) if self.form.order[d] == self.form.order[len(moves)]]
            return [(self.form.sights[d](moves[:d]), d, moves[d]) for d in own]

        return all(past(one) == past(two) for depth in self.depths for one, two in self.pairs(depth))


@settings(STEADY, max_examples=250)
@given(SEEDS, st.integers(2, 4), st.integers(2, 4))
def test_random_forms_word_by_word(seed: int, depth: int, players: int) -> None:
    form = random_form(seed, depth, players)
    found, words = structure_of(form), Words(form)
    single = len(set(form.order)) == depth
    levels = [cut for cut in words.cuts() if all(words.level(*level) for level in cut)]
    assert bool(found.perfect_information) == all(map(words.known, words.depths))
    assert bool(found.perfect_recall) == words.recall()
    assert bool(found.single_act) == single
    assert bool(found.nested) == (single and words.nested(0, depth))
    assert bool(found.ladder_nested) == (single and words.ladder(0, depth))
    assert bool(found.open_loop) == all(len(words.sets(d)) == 1 for d in words.depths)
    assert bool(found.feedback) == bool(levels)
    assert bool(found.nested_feedback) == any(all(words.nested(*level) for level in cut) for cut in levels)
    assert bool(found.ladder_nested_feedback) == any(all(words.ladder(*level) for level in cut) for cut in levels)
    for verdict in found.verdicts().values():
        assert verdict.holds or verdict.why


@STEADY
@given(SEEDS, st.lists(st.integers(1, 3), min_size=1, max_size=4))
def test_forms_made_ladder_nested(seed: int, counts: list[int]) -> None:
    form = TreeForm(range(len(counts)), ladder_sights(seed, counts), counts, len(counts))
    assert structure_of(form).ladder_nested


@STEADY
@given(SEEDS, st.sampled_from([((0, 1), (0, 1)), ((1, 0), (0,), (1,)), ((0, 1, 2), (2, 0)), ((2,), (1, 0), (0, 2))]))
def test_forms_made_feedback(seed: int, levels: tuple[tuple[int, ...], ...]) -> None:
    found = structure_of(feedback_form(seed, levels, [2, 2, 2], 3, zero_sum=False))
    assert found.ladder_nested_feedback
    assert sum(map(len, levels)) >= len(found.levels)


def reorderings(form: TreeForm) -> set[str]:
    """What some order of the players of a single-act form can be, over all pairs of plays; depths stand for players."""
    depths = range(len(form.order))
    all_plays = list(product(*(range(count) for count in form.actions)))

    def knows(depth: int, moves: Moves) -> object:
        return form.sights[depth](moves[:depth])

    def same(depths: Sequence[int], one: Moves, two: Moves) -> bool:
        return all(one[depth] == two[depth] for depth in depths)

    found = set()
    for order in permutations(depths):
        pairs = list(product(all_plays, repeat=2))
        if not all(
            knows(depth, one) == knows(depth, two)
            for place, depth in enumerate(order)
            for one, two in pairs
            if same(order[:place], one, two)
        ):
            continue
        told = [[(one, two) for one, two in pairs if knows(depth, one) == knows(depth, two)] for depth in order]
        if not all(knows(i, one) == knows(i, two) for j in depths for i in order[:j] for one, two in told[j]):
            continue
        found.add("nested")
        wide = [{knows(order[j], one) for one, two in told[j] if not same(order[:j], one, two)} for j in depths]
        if all(
            knows(order[j + 1], one) == knows(order[j + 1], two)
            for j in depths[:-1]
            for one, two in told[j]
            if knows(order[j], one) in wide[j]
        ):
            found.add("ladder-nested")
    return found


@settings(STEADY, max_examples=80)
@given(SEEDS, st.integers(2, 4))
def test_random_forms_in_other_orders(seed: int, players: int) -> None:
    generator = random.Random(seed)
    sights = [nothing]
    for depth in range(1, players):
        seen = generator.choice([(), (0,), tuple(range(depth)), (depth - 1,)])
        sights.append(lambda moves, seen=seen: tuple(moves[place] for place in seen))
    actions = [generator.choice([1, 2, 2]) for _ in range(players)]
    form = TreeForm(range(players), sights, actions, players)
    found = structure_of(form)
    assert bool(found.nested_reordered) == ("nested" in reorderings(form))
    assert bool(found.ladder_nested_reordered) == ("ladder-nested" in reorderings(form))


@STEADY
@given(st.builds(RandomGame, seed=SEEDS, players=st.integers(2, 3), depth=st.integers(0, 5)))
def test_any_rules_can_be_classified(game: RandomGame) -> None:
    for recall in (False, True):
        found = structure_of(game, recall=recall)
        assert found.perfect_recall or not recall
        assert found.ladder_nested.holds <= found.nested.holds <= found.single_act.holds
        assert found.nested.holds <= found.nested_reordered.holds
        assert found.ladder_nested_feedback.holds <= found.nested_feedback.holds <= found.feedback.holds
