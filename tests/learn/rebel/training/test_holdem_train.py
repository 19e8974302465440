"""Trainings on turns of hold'em: folders, resuming, Ctrl-C, damage; and searches with what they made."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from papers.rebel.small_turn_search import Turn  # noqa: E402
from tests.trainings import copied, stop_after, weights  # noqa: E402
from treeplex.base.settings import from_yaml  # noqa: E402
from treeplex.errors import AlgorithmError, FileError, GameError, SpecError  # noqa: E402
from treeplex.holdem.betting.bet_plan import BetPlan, FixedLimit  # noqa: E402
from treeplex.holdem.cards.cards import parse_cards  # noqa: E402
from treeplex.holdem.cards.format import royal, small  # noqa: E402
from treeplex.holdem.solve.solution import load_solution  # noqa: E402
from treeplex.holdem.spots.known import all_hands, holdem, rhode_island_holdem, turn_endgame_holdem  # noqa: E402
from treeplex.holdem.spots.spot import Rake, Spot, spot_from_json  # noqa: E402
from treeplex.learn.common.trainer import Round  # noqa: E402
from treeplex.learn.first_street import search as turn_search  # noqa: E402
from treeplex.learn.first_street.search import search_spot  # noqa: E402
from treeplex.learn.rebel.files import read_net, save_net  # noqa: E402
from treeplex.learn.rebel.settings import PAPER_TURNS, HoldemRebelSettings  # noqa: E402
from treeplex.learn.rebel.shipped_nets import RIVERS  # noqa: E402
from treeplex.learn.rebel.trainer import RebelTrainer  # noqa: E402
from treeplex.learn.rebel.training import kind as turn_rebel  # noqa: E402
from treeplex.learn.rebel.training.job import NET, TURNS, is_turn_folder, rebel_figure  # noqa: E402
from treeplex.learn.rebel.training.kind import HoldemRebelKind, spot_of_record  # noqa: E402
from treeplex.learn.train.train import train  # noqa: E402
from treeplex.run.job.folder import STATE, JobFolder  # noqa: E402
from treeplex.search.subgames.horizon import Horizon  # noqa: E402

torch.set_num_threads(1)

DECK = small(ranks=3, suits=4, hole=2)
SPOT = holdem("3s7hTdKs", "QQ,AKs,JTs", "99,KQs,T9s", pot=20.0, stack=40.0, bets=BetPlan.same("100%", ""))
FREE = Spot((), 0.0, 9.0, all_hands(DECK), BetPlan.same("a", "", streets=2), format=DECK, blinds=(1.0, 2.0))
FULL = spot_from_json(SPOT.to_json(), all_hands(SPOT.format))
TINY = replace(
    HoldemRebelKind().settings_for(SPOT, None),
    iterations=2,
    rivers=4,
    river_iterations=8,
    games=6,
    bins=8,
    width=8,
    layers=1,
    burn_in=8,
    batch=8,
    reuse=8.0,
)


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training that was never stopped."""
    folder = tmp_path_factory.mktemp("turn") / "whole"
    train(SPOT, settings=TINY, out=folder)
    return folder


def test_a_folder_says_everything(unbroken: Path) -> None:
    folder = JobFolder(TURNS, unbroken)
    about, records = folder.about(), folder.records()
    assert (about["status"], about["last"]["done"]) == ("finished", 6)
    assert HoldemRebelSettings.from_json(about["settings"], "here") == replace(TINY, streams=1)
    spot = spot_of_record(about["game"], unbroken)
    assert spot.identity == FULL.identity == about["identity"]
    assert (spot.ranges[0] > 0).sum() == 48 * 47 / 2  # every hand, whatever the spot's ranges
    assert (records[0].done, records[-1].done, records[-1].rows) == (0, 6, 24)
    assert records[0].loss is None
    assert 0 < records[-1].loss < 1.0
    assert records[-1].cpu_seconds > 0
    games, seconds = records[-1].done - records[-2].done, records[-1].seconds - records[-2].seconds
    assert records[-1].rate == pytest.approx(games / seconds)
    card = read_net(unbroken / NET).card
    assert (card["games"], card["steps"], card["spot"]) == (6, records[-1].steps, spot.to_json())
    assert (unbroken / "learning-curve.png").read_bytes().startswith(b"\x89PNG")
    assert is_turn_folder(unbroken)
    assert not is_turn_folder(unbroken / NET)


def test_a_training_is_the_trainer_by_itself(unbroken: Path) -> None:
    trainer = RebelTrainer(FULL, TINY)
    while not trainer.finished:
        trainer.round()
    assert {name: tensor.numpy().tobytes() for name, tensor in trainer.net.state_dict().items()} == weights(unbroken)


@pytest.mark.slow
def test_a_loss_that_is_no_number_keeps_the_last_good_checkpoint(
    unbroken: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copied(unbroken, tmp_path)
    before = (folder / STATE).read_bytes(), (folder / NET).read_bytes()

    class Spoilt(RebelTrainer):
        def round(self) -> Round:
            if self.play.solved >= 7:
                self.values.rows.arrays[1][:] = np.nan
            return super().round()

    monkeypatch.setattr(turn_rebel, "RebelTrainer", Spoilt)
    with pytest.raises(AlgorithmError, match=r"the loss is nan after \d+ steps; .*copy has a checkpoint at 6 games"):
        train(resume=folder, settings={"games": 9})
    assert ((folder / STATE).read_bytes(), (folder / NET).read_bytes()) == before
    assert JobFolder(TURNS, folder).about()["status"] == "failed"
    with pytest.raises(AlgorithmError, match=r"the loss is nan after \d+ steps$"):
        train(SPOT, settings=replace(TINY, games=9), out=tmp_path / "new")
    monkeypatch.undo()
    assert train(resume=folder, settings={"games": 7}).records[-1].done == 7


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"width": 16}, "width is 8 and cannot change to 16 on resume"),
        ({"game": 7}, "unknown setting 'game'; did you mean 'games'"),
        ({"games": "many"}, "games must be an integer of at least 1, not 'many'"),
        ({"stacks": "50"}, "stacks must be 2 numbers above 0, separated by commas"),
        ({"stacks": "50,some"}, "stacks must be 2 numbers above 0, .*'some'"),
        ({"boards": "no"}, "boards must be true or false"),
    ],
)
def test_changes_are_checked(unbroken: Path, changes: dict[str, object], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        train(resume=unbroken, settings=changes)


@pytest.mark.parametrize(
    ("spot", "message"),
    [
        (replace(SPOT, board=SPOT.board[:3]), "3 streets of betting, not 2"),
        (replace(SPOT, rake=Rake(0.05)), "do not support rake; leave the rake out"),
        (FREE, "which is 0; give a pot"),
        (
            replace(rhode_island_holdem(3), board=(51,), pot=4.0, bets=FixedLimit((1.0,) * 3, (1,) * 3)),
            "support two-card hands",
        ),
    ],
)
def test_spots_that_networks_do_not_know(spot: Spot, message: str, unbroken: Path, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=message):
        train(spot, settings=TINY, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()
    with pytest.raises(SpecError, match=message):
        search_spot(spot, unbroken)


def test_settings_have_meanings_and_go_with_the_pot(tmp_path: Path) -> None:
    settings_for = HoldemRebelKind().settings_for
    assert settings_for(turn_endgame_holdem(), None) == HoldemRebelSettings()
    assert settings_for(SPOT, None).stacks == (50.0, 500.0)
    assert settings_for(SPOT, "paper", {"games": 7}) == replace(PAPER_TURNS, stacks=(50.0, 500.0), games=7)
    with pytest.raises(SpecError, match="did you mean 'paper'"):
        settings_for(SPOT, "papr")
    assert settings_for(SPOT, None, {"stacks": "60,70"}, {"boards": "false"}).stacks == (60.0, 70.0)
    (tmp_path / "settings.yaml").write_text(TINY.as_yaml())
    assert HoldemRebelSettings().changed(from_yaml(tmp_path / "settings.yaml")) == TINY


def test_curves_without_any_loss() -> None:
    assert rebel_figure("nothing", []).axes[0].get_yscale() == "linear"


@pytest.mark.slow
def test_a_search_with_exact_values_is_that_over_pairs_of_hands() -> None:
    """Rounding decides ties on the rivers, so that numbers differ by what rivers are short of exact."""
    other = Turn("turn_holdem(ranks=5,stack=4,bets=[50%;a],raises=[])", Horizon(rounds=True, endgame=7), 60)
    expected = other.curve(other.rivers, "lcfr", [4, 40])["average"]
    spot = other.rules.game.spot
    found = [search_spot(spot, None, iterations=count, river=60) for count in (4, 40)]
    assert [each.played.exploitability for each in found if each.played] == pytest.approx(expected, abs=0.02)
    assert expected[0] > 4 * expected[1]
    played = found[1].played
    assert played is not None
    assert found[1].ev == pytest.approx(played.ev, abs=0.05)
    assert sum(found[1].actions.values()) == pytest.approx(1.0)


@pytest.mark.slow
def test_what_is_played_can_be_kept_and_looked_at(unbroken: Path, tmp_path: Path) -> None:
    found = search_spot(SPOT, unbroken, iterations=6, river=8)
    assert found.played is not None
    assert (found.search.iteration, found.status, found.unlike) == (6, "finished", [])
    kept = load_solution(found.played.save(tmp_path / "turn.spot"))
    assert (kept.iterations, kept.exploitability, kept.ev) == (6, found.played.exploitability, found.played.ev)
    view = kept.at("")
    assert [str(action) for action in view.actions] == list(found.actions) == ["check", "bet 20"]
    often = view.strategy @ view.compatible_of(0) / view.compatible_of(0).sum()
    np.testing.assert_allclose(often, list(found.actions.values()), atol=1e-4)


@pytest.mark.slow
def test_numbers_do_not_depend_on_threads_or_judging(unbroken: Path) -> None:
    first, second, third = (
        search_spot(SPOT, unbroken / NET, iterations=3, river=8, threads=threads, judge=judge)
        for threads, judge in ((1, True), (2, None), (1, False))
    )
    assert first.played is not None
    assert second.played is not None
    assert first.played.exploitability == second.played.exploitability
    assert (third.played, third.ev, third.actions) == (None, first.ev, first.actions)


def test_what_the_network_was_not_trained_for_is_noticed(unbroken: Path) -> None:
    def noticed(**changes: Any) -> list[str]:
        return search_spot(replace(SPOT, **changes), unbroken, iterations=1, judge=False).unlike

    only_later = BetPlan((*(BetPlan.same("", "").streets[:2]), *SPOT.bets.streets[2:]))  # type: ignore[union-attr]
    assert noticed(bets=only_later) == []
    sizes = ["other bet sizes (trained with --bets 100% --raises none)"]
    assert noticed(bets=BetPlan.same("50%", "")) == sizes
    assert noticed(bets=replace(SPOT.bets, add_allin=1.5)) == sizes  # type: ignore[type-var]
    assert noticed(bets=replace(SPOT.bets, min_bet=20.0)) == sizes  # type: ignore[type-var]
    assert noticed(stack=1000 * SPOT.pot)[0].startswith("deeper stacks")


def test_sizes_in_chips_belong_to_the_pot_of_the_training(tmp_path: Path) -> None:
    spot = replace(SPOT, bets=BetPlan.same("10c", ""))
    folder = train(spot, settings=replace(TINY, games=1), out=tmp_path / "chips").folder
    assert search_spot(spot, folder, iterations=1, judge=False).unlike == []
    other = search_spot(replace(spot, pot=2 * spot.pot), folder, iterations=1, judge=False).unlike
    assert other == ["other bet sizes (trained with --bets 10c --raises none)"]


def test_a_network_of_one_board_notices_others(tmp_path: Path) -> None:
    folder = train(SPOT, settings=replace(TINY, games=1, boards=False), out=tmp_path / "one").folder
    assert search_spot(SPOT, folder, iterations=1, judge=False).unlike == []
    board = tuple(parse_cards("3s7hTdAc"))
    assert search_spot(replace(SPOT, board=board), folder, iterations=1, judge=False).unlike == ["another board"]


SIZES = "other bet sizes (trained with --bets 100%,a --raises a)"


def test_a_network_of_other_cards_is_noticed() -> None:
    cards = royal()
    board = tuple(parse_cards("AsKhQdJc"))
    spot = Spot(board, 20.0, 40.0, all_hands(cards), BetPlan.same("100%,a", "a"), format=cards)
    found = search_spot(spot, "rebel", iterations=1, judge=False)
    assert (found.values, found.unlike) == ("rebel", ["other cards", SIZES])


@pytest.mark.slow
def test_the_network_of_the_library_is_as_good_as_its_card_says() -> None:
    card = read_net(RIVERS).card
    spot = spot_from_json(card["spot"], turn_endgame_holdem().ranges)
    found = search_spot(spot, "rebel", iterations=card["judged"]["iterations"], river=card["judged"]["river"], judge=True)
    assert found.played is not None
    assert found.played.exploitability == pytest.approx(card["judged"]["exploitability"], rel=1e-2)
    assert found.played.exploitability < 0.01 * spot.pot


def test_donk_sizes_are_refused(tmp_path: Path) -> None:
    assert isinstance(SPOT.bets, BetPlan)
    with pytest.raises(SpecError, match="set donk to default"):
        train(replace(SPOT, bets=SPOT.bets.override("river", 0, donk="50%")), out=tmp_path / "run")


def test_ctrl_c_ends_a_search_early(unbroken: Path) -> None:
    found = search_spot(SPOT, unbroken, iterations=50, river=8, progress=stop_after(3))
    assert (found.search.iteration, found.status) == (3, "interrupted")
    assert found.played is not None
    assert found.played.iterations == 3


def test_memory_is_checked_before_rivers_are_solved(unbroken: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn_search, "available_memory", lambda: 1000)
    assert search_spot(SPOT, unbroken, iterations=1).played is None
    for source, judge in ((unbroken, True), (None, None)):
        with pytest.raises(SpecError, match=r"needs \d.* of memory, but .* are free; offer fewer bet sizes"):
            search_spot(SPOT, source, iterations=1, judge=judge)


def test_wrong_networks_and_settings_of_a_search(unbroken: Path, tmp_path: Path) -> None:
    save_net(tmp_path / "dice.safetensors", {"a": np.zeros(2)}, game="liars_dice", identity="x", settings={"width": 8}, card={})
    with pytest.raises(FileError, match=r"dice.safetensors: a network for liars_dice, not for hold'em rivers; give one"):
        search_spot(SPOT, tmp_path / "dice.safetensors")
    with pytest.raises(FileError, match="contains no training on turns"):
        search_spot(SPOT, tmp_path)
    folder = copied(unbroken, tmp_path)
    (folder / NET).unlink()
    with pytest.raises(FileError, match="has no network yet; resume it"):
        search_spot(SPOT, folder)
    with pytest.raises(FileError, match="check the path"):
        search_spot(SPOT, tmp_path / "nothing.safetensors")
    with pytest.raises(SpecError, match="unknown method 'lcrf'; did you mean 'lcfr'"):
        search_spot(SPOT, unbroken, method="lcrf")
    with pytest.raises(SpecError, match="iterations must be an integer of at least 1, not 0"):
        search_spot(SPOT, unbroken, iterations=0)
    with pytest.raises(GameError, match="one street of betting"):
        search_spot(replace(SPOT, board=(*SPOT.board, 0)), None)
