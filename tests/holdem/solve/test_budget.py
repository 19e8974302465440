"""Budgets: the choice fits, lists what it left out, grows with the budget, and limits the solve."""

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from typer.testing import CliRunner

from treeplex.errors import SpecError
from treeplex.games.betting.size_grammar import parse_sizes, sizes_to_string
from treeplex.holdem.solve.budget import Budget, chosen_sizes, coarse_spot, differences, fit_spot, plans, wished
from treeplex.holdem.solve.estimate import estimate_spot
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.spots.files import request_from_options
from treeplex.holdem.spots.spot import Spot
from treeplex.run.cli.main import app

FLOP = {
    "board": "Ks 7h 2d",
    "oop": "22+,A2s+,KTs+,QTs+,JTs,AJo+,KQo",
    "ip": "22+,A2s+,K7s+,Q9s+,J8s+,ATo+,KJo+",
    "pot": "11",
    "stack": "97",
}
RIVER = {"board": "Td 9d 6h Qc 2s", "oop": "AA, QQ, JTs, 87s", "ip": "KK, QJs, T9s, AQo", "pot": "100", "stack": "200"}


def spot_of(fields: dict[str, str]) -> Spot:
    return wished(request_from_options(fields)).spot()


@pytest.mark.parametrize(
    ("text", "memory", "seconds"),
    [
        ("4GB,60s", 4e9, 60.0),
        ("60 s; 500 MB", 5e8, 60.0),
        ("1.5 gb and 2 min", 1.5e9, 120.0),
        ("2h", None, 7200.0),
        ("8g", 8e9, None),
    ],
)
def test_budgets_are_read(text: str, memory: float | None, seconds: float | None) -> None:
    assert Budget.read(text) == Budget(memory, seconds)


@pytest.mark.parametrize("text", ["", "4", "4GB,5GB", "60s,4 parsecs", "GB", "0s", "-1GB", "4GB 60s"])
def test_other_texts_are_errors_with_an_example(text: str) -> None:
    with pytest.raises(SpecError, match=r"--budget: .*4GB,60s"):
        Budget.read(text, "--budget")


@pytest.mark.parametrize(("locks", "storage"), [([], "int16"), (["x: x 100%"], "float32")])
def test_a_spot_with_locks_gets_a_storage_that_supports_them(locks: list[str], storage: str) -> None:
    """With too little memory for all sizes in float32."""
    spot = wished(request_from_options({**FLOP, "board": "Ks 7h 2d 3c", "locks": locks})).spot()
    memory = fit_spot(spot, Budget.read("1GB"), threads=1).estimate.memory
    fitted = fit_spot(spot, Budget(memory=(memory["float32"] + memory["int16"]) / 2), threads=1)
    assert fitted.storage == storage
    assert bool(fitted.left_out) == bool(locks)


def test_what_is_chosen_fits_and_grows_with_the_budget() -> None:
    spot, stored = spot_of(FLOP), []
    for text in ("1GB,20s", "4GB,60s", "8GB,5min", "100GB,10h"):
        budget = Budget.read(text)
        fitted = fit_spot(spot, budget, threads=2)
        assert fitted.memory <= (budget.memory or 0)
        assert fitted.seconds <= (budget.seconds or 0)
        assert fitted.memory == fitted.estimate.memory[fitted.storage]
        assert fitted.estimate.size.stored == estimate_spot(fitted.spot).size.stored
        assert fitted.spot.settings.threads == 2
        stored.append(fitted.estimate.size.stored)
        assert bool(fitted.left_out) == (fitted.larger is not None) == (fitted.spot.bets != spot.bets)
    assert stored == sorted(stored)
    assert stored[0] < stored[-1]


def test_a_slower_machine_gets_a_smaller_tree() -> None:
    fast, slow = (fit_spot(spot_of(FLOP), Budget.read("4GB,60s"), threads=2, pace=pace) for pace in (1.0, 5.0))
    assert slow.estimate.size.stored < fast.estimate.size.stored
    assert slow.estimate.seconds == pytest.approx(5.0 * estimate_spot(slow.spot, threads=2).seconds)


def test_memory_alone_chooses_smaller_numbers_before_fewer_sizes() -> None:
    spot = spot_of({**FLOP, "bets": "75%", "raises": "none", "donk": "none"})
    size = estimate_spot(spot, threads=1)
    between = (size.memory["int16"] + size.memory["float32"]) / 2
    fitted = fit_spot(spot, Budget(between), threads=1)
    assert (fitted.storage, fitted.left_out) == ("int16", ())
    with pytest.raises(SpecError, match=r"the smallest betting tree needs .* in int16; narrow the ranges"):
        fit_spot(spot, Budget(size.memory["int16"] - 1.0), threads=1)
    with pytest.raises(SpecError, match="in float32"):
        fit_spot(replace(spot, settings=replace(spot.settings, storage="float32")), Budget(between), threads=1)
    with pytest.raises(SpecError, match="in float32"):  # a GPU has no smaller storage
        fit_spot(replace(spot, settings=replace(spot.settings, device="auto")), Budget(between), threads=1)


def test_a_tree_that_takes_too_long_is_the_smallest_and_says_so() -> None:
    fitted = fit_spot(spot_of(FLOP), Budget(seconds=3.0), threads=1, pace=50.0)
    assert fitted.late
    assert "stops when the time is up" in fitted.facts()["expected"]
    bets = fitted.spot.bets
    assert all(len(side.bets) == 1 and not side.raises for street in bets.streets[1:] for side in street)  # type: ignore[union-attr]


def test_sizes_are_removed_from_those_of_the_spot() -> None:
    spot = spot_of({**FLOP, "bets": "20%, 60%, 130%", "raises": "3x"})
    fitted = fit_spot(spot, Budget(seconds=60.0), threads=1)
    lists = [side.bets for street in fitted.spot.bets.streets[1:] for side in street]  # type: ignore[union-attr]
    assert {size for sizes in lists for size in sizes} <= set(parse_sizes("20%,60%,130%", False))
    assert any("130%" in text for text in fitted.left_out)


def test_the_fields_make_the_same_spot() -> None:
    fitted = fit_spot(spot_of(FLOP), Budget.read("4GB,60s"), threads=2)
    again = request_from_options({**FLOP, **fitted.fields()}).spot()
    assert again.identity == fitted.spot.identity
    assert again.settings == fitted.spot.settings


@pytest.mark.parametrize(
    ("sizes", "count", "kept"),
    [
        ("33%,75%,150%,a", 4, "33%,75%,150%,a"),
        ("33%,75%,150%,a", 3, "33%,75%,a"),
        ("33%,75%,150%,a", 2, "33%,75%"),
        ("33%,75%,150%,a", 1, "75%"),
        ("75%,100%,a", 2, "75%,100%"),
        ("50%,a", 1, "50%"),
        ("a", 1, "a"),
        ("33%", 0, ""),
    ],
)
def test_which_sizes_remain(sizes: str, count: int, kept: str) -> None:
    assert sizes_to_string(chosen_sizes(parse_sizes(sizes, False), count)) == kept


def test_each_step_of_the_ladder_removes_something_and_lists_it() -> None:
    spot = spot_of(FLOP)
    ladder = list(plans(spot.bets, spot.street, 4))  # type: ignore[arg-type]
    counts = [estimate_spot(replace(spot, bets=plan), threads=1).size.stored for plan in ladder]
    assert counts == sorted(counts, reverse=True)
    assert len(set(counts)) == len(counts)
    removed = [list(differences(spot.bets, plan, spot)) for plan in ladder]  # type: ignore[arg-type]
    assert removed[0] == []
    assert removed[1] == ["turn leads", "river leads"]
    assert all(len(" ".join(more)) > len(" ".join(fewer)) for fewer, more in pairwise(removed))


def test_fixed_limits_and_first_streets_have_no_budget() -> None:
    with pytest.raises(SpecError, match="fixed-limit spots have no sizes"):
        fit_spot(request_from_options({**RIVER, "limit": "{bets: [2, 2, 4, 4], most: [4, 4, 4, 4]}"}).spot(), Budget(seconds=1))
    with pytest.raises(SpecError, match=r"leave out either 'until' \(turn\) or the budget"):
        fit_spot(request_from_options({**FLOP, "until": "turn"}).spot(), Budget(seconds=1))


def test_a_coarse_spot_has_the_same_first_decision() -> None:
    spot = spot_of(FLOP)
    coarse = coarse_spot(spot)
    assert coarse is not None
    assert estimate_spot(coarse, threads=1).size.stored < 3_000_000 < estimate_spot(spot, threads=1).size.stored
    solution = solve_spot(coarse, iterations=3, threads=1)
    view = solution.at("")
    assert len(view.actions) == 5  # check, three sizes and all-in
    np.testing.assert_allclose(view.strategy.sum(axis=0), 1.0, atol=1e-6)
    assert coarse_spot(spot_of(RIVER)) is None


def test_in_the_terminal() -> None:
    options = [word for name, value in RIVER.items() for word in (f"--{name}", value)]
    result = CliRunner().invoke(app, ["solve", *options, "--budget", "1GB,20s", "--threads", "1", "--json"])
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert data["budget"]["fields"]["bets"] == {"river": "33%,75%,150%,a"}
    assert data["budget"]["left_out"] == []
    assert data["exploitability"] <= 0.005 * 100
    shown = CliRunner().invoke(app, ["info", *options, "--budget", "1GB,20s"])
    assert "left out  nothing" in shown.output
    for wrong, words in (
        (["leduc_poker", "--budget", "1GB"], "--budget applies to hold'em spots, not to leduc_poker"),
        ([*options, "--budget", "1"], "--budget: cannot read '1'"),
        (["--resume", "x.spot", "--budget", "1GB"], "--budget cannot be combined with --resume"),
    ):
        refused = CliRunner().invoke(app, ["solve", *wrong])
        assert refused.exit_code == 2
        assert words in refused.output
