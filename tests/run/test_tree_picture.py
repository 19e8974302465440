"""Pictures of game trees: what is drawn, and what is too large."""

from pathlib import Path

import numpy as np
import pytest

import treeplex as tp
from treeplex.errors import GameError
from treeplex.forms.compile.views.histories import grow
from treeplex.forms.sources.load import load
from treeplex.run.tree_picture import places_of


def test_everything_is_drawn(tmp_path: Path) -> None:
    figure = tp.draw("kuhn_poker", tmp_path / "tree.png")
    assert (tmp_path / "tree.png").read_bytes().startswith(b"\x89PNG")
    assert figure._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]
    axes = figure.axes[0]
    assert len([line for line in axes.lines if line.get_gid() == "infoset"]) == 12
    assert len(axes.lines) == 12 + 57  # an edge to every history but the root
    texts = [text.get_text() for text in axes.texts]
    assert len(texts) == 57 + 30
    assert texts.count("Bet") == texts.count("Pass") == 24
    assert texts.count("0\n0.333") == 1
    assert sorted(text.get_text() for text in axes.get_legend().get_texts()) == ["chance", "player 0", "player 1"]  # type: ignore[union-attr]


def test_no_two_histories_are_drawn_at_one_place() -> None:
    for game in ("kuhn_poker", "rock_paper_scissors", "goofspiel(num_cards=3,imp_info=true)"):
        tree = grow(load(game))
        places = places_of(tree)
        assert len(np.unique(places, axis=0)) == len(tree)
        assert places[0, 1] == 0
        assert -places[:, 1].min() == tp.compile(game).size.depth - 1


def test_matrices_and_files_are_drawn(tmp_path: Path) -> None:
    tp.formats.write_efg("kuhn_poker", tmp_path / "kuhn.efg")
    for game in ([[1, -1], [-1, 1]], str(tmp_path / "kuhn.efg"), tp.compile("kuhn_poker")):
        assert tp.draw(game).axes


def test_large_trees_are_refused() -> None:
    with pytest.raises(GameError, match="leduc_poker has more than 300 histories, too many to draw; choose smaller parameters"):
        tp.draw("leduc_poker")


def test_html_of_games_and_judgements() -> None:
    assert "histories</th><td style='text-align:left'>58</td>" in tp.compile("kuhn_poker")._repr_html_()
    found = tp.judge("kuhn_poker", "uniform")
    html = found._repr_html_()
    assert f"exploitability {found.exploitability:.4g}" in html
    assert html.count("<tr>") == 3


def test_games_too_large_by_default_say_so() -> None:
    assert "too large" in tp.known_games()["battleship"].note
    small = tp.known_games()["battleship"].note.split("try ")[1].rstrip(".")
    assert tp.compile(small).size.histories < 100_000


def test_leduc_poker_has_no_magic_number_of_ranks() -> None:
    assert tp.load("leduc_poker(ranks=3)").spec == "leduc_poker"
    assert tp.load("leduc_poker(players=3)").parameters()["ranks"] == 4
    with pytest.raises(tp.errors.SpecError, match="ranks must be an integer from 1"):
        tp.load("leduc_poker(ranks=-1)")
