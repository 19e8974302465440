"""The estimate of a game's size: unbiased, never above the truth by more than chance allows, and quick."""

from random import Random
from time import perf_counter, process_time

import pytest

import treeplex as tp
from treeplex.errors import GameError
from treeplex.forms.compile import public_tree as public_compile
from treeplex.forms.compile import walk
from treeplex.forms.compile.views import histories
from treeplex.forms.sources.load import load
from treeplex.games import size_estimate
from treeplex.games.builtin.battleship import battleship
from treeplex.games.size_estimate import count_text, history_playout, markov_bound, memory_text, summary_of, time_text


@pytest.mark.quick_cases("kuhn_poker-58", "leduc_poker-9457")
@pytest.mark.parametrize(
    ("spec", "counted"), [("kuhn_poker", 58), ("leduc_poker", 9457), ("goofspiel(num_cards=4,imp_info=true)", None)]
)
def test_the_mean_of_playouts_is_the_number_of_histories(spec: str, counted: int | None) -> None:
    size = tp.compile(spec).size.histories
    assert counted in (None, size)
    random, play = Random(1), history_playout(load(spec))
    found = summary_of([play(random, perf_counter() + 60) for _ in range(4000)])
    assert abs(found.mean - size) <= 5 * found.error * size
    assert found.error < 0.05
    assert 0.5 * size < found.least <= size


def test_the_playouts_of_public_trees_count_sequences() -> None:
    game = load("leduc_poker")
    tree = game.public_tree()
    size = sum(tp.compile("leduc_poker").sequences) - 2  # without the empty ones
    random, play = Random(1), public_compile.sequence_playout(tree, tree.prior)
    found = summary_of([play(random, perf_counter() + 60) for _ in range(4000)])
    assert abs(found.mean - size) <= 5 * found.error * size
    assert 0.5 * size < found.least <= size


@pytest.mark.parametrize("spec", ["liars_dice(dice_sides=4)", "leduc_poker(ranks=5)", "small_holdem"])
def test_public_trees_are_counted(spec: str) -> None:
    game = load(spec)
    tree, size = game.public_tree(), sum(tp.compile(spec).sequences) - 2
    counted = public_compile.sequence_count(tree, tree.prior)(perf_counter() + 60)
    assert counted is not None
    assert counted == size if spec.startswith("liars") else size <= counted < 2 * size


def test_the_lower_bound_holds_for_heavy_tails() -> None:
    """Sizes 4**k with probability 2**-k/(1-2**-20), k = 1 to 20: a sample of 50 usually misses most of the mean."""
    mean = sum(4**k * 2.0**-k for k in range(1, 21)) / (1 - 2.0**-20)
    random = Random(3)
    for _ in range(300):
        sizes = [4 ** min(next(k for k in range(1, 99) if random.random() < 0.5), 20) for _ in range(50)]
        assert markov_bound(sizes) <= mean
    assert markov_bound([1000] * 1000) > 950


@pytest.mark.slow_cases("battleship")
@pytest.mark.parametrize("spec", ["battleship", "tic_tac_toe", "goofspiel(num_cards=8,imp_info=true)"])
def test_games_too_large_are_refused_within_two_seconds(spec: str) -> None:
    game = load(spec)
    begun = process_time()
    with pytest.raises(
        GameError, match=rf"has about [0-9.,e]+ histories.*limit of 200,000.*{'years' * (spec == 'battleship')}"
    ):
        tp.compile(game, limit=200_000)
    assert process_time() - begun < 2.0


def test_the_message_says_what_to_do() -> None:
    with pytest.raises(GameError) as caught:
        tp.solve("battleship")
    for text in ("Knuth", "standard error", "more than 1,000 years", "more than 1,000 TB", "treeplex sample", "--limit"):
        assert text in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.quick_cases("phantom_ttt")
@pytest.mark.parametrize("name", ["phantom_ttt", "chess", "battleship"])
def test_games_of_openspiel_are_refused_within_two_seconds(name: str) -> None:
    pytest.importorskip("pyspiel")
    game = load(f"openspiel:{name}")
    begun = process_time()
    with pytest.raises(GameError, match=rf"openspiel:{name}.* has about .*e[0-9]+ histories"):
        tp.compile(game)
    assert process_time() - begun < 2.0


@pytest.mark.slow
def test_every_walk_stops_in_time(tmp_path) -> None:  # type: ignore[no-untyped-def]
    begun = process_time()
    for walked in (
        lambda: tp.structure("battleship"),
        lambda: tp.formats.write_efg(load("battleship"), tmp_path / "large.efg"),
        lambda: histories.grow(load("battleship")),
        lambda: tp.compile("leduc_poker(ranks=20,raises=8)", limit=200_000),
    ):
        with pytest.raises(GameError, match=r"has (about|more than) .*(histories|sequences)"):
            walked()
    assert process_time() - begun < 8.0
    assert not list(tmp_path.iterdir())


def test_small_games_are_not_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_estimate(game: object) -> size_estimate.Playout:
        def play(random: Random, deadline: float) -> int:
            raise SystemExit("estimated")

        return play

    monkeypatch.setattr(walk, "history_playout", no_estimate)
    monkeypatch.setattr(size_estimate, "EARLY_SECONDS", 60.0)
    small = battleship(board_width=2, board_height=1, ship_sizes=[1], ship_values=[1], num_shots=2)
    assert walk.compile_rules(small).size.histories > 20
    with pytest.raises(GameError, match="estimated"):
        walk.compile_rules(load("tic_tac_toe"))


def test_rules_that_fail_in_the_estimate_are_blamed_by_the_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(size_estimate, "EARLY_STEPS", 1)
    game = load("kuhn_poker")

    def broken(random: Random, deadline: float) -> int:
        raise IndexError("no action")

    monkeypatch.setattr(walk, "history_playout", lambda game: broken)
    assert walk.compile_rules(game).size.histories == 58


def test_numbers_in_words() -> None:
    assert [count_text(n) for n in (7, 123_456_789, 10**12, 30**9999)] == ["7", "123,000,000", "1.0e12", "5.4e14769"]
    assert count_text(9_960_000_000) == "1.0e10"
    assert time_text(10**6, 1e-5) == "about 10 seconds"
    assert time_text(10**9, 1e-5) == "about 3 hours"
    assert memory_text(2 * 10**8) == "about 20 GB"
