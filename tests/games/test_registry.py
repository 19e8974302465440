import pytest

from treeplex.base.spec import Spec
from treeplex.errors import SpecError
from treeplex.games.registry import games, load


def test_load_takes_parsed_specs() -> None:
    assert load(Spec("kuhn_poker", {"players": 3})).spec == "kuhn_poker(players=3)"


def test_games_keep_their_order() -> None:
    assert next(iter(games())) == "kuhn_poker"
    with pytest.raises(TypeError):
        games()["mine"] = games()["kuhn_poker"]  # type: ignore[index]


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("kuhn_poker(players=2)", "kuhn_poker"),
        ("leduc_poker( suits = 2, ranks=3 )", "leduc_poker"),
        ("leduc_poker(players=3,ranks=4)", "leduc_poker(players=3)"),
        ("leduc_poker(bets=[1,2],raises=3)", "leduc_poker(raises=3,bets=[1;2])"),
        ("liars_dice(faces=4)", "liars_dice(dice_sides=4)"),
        ("liars_dice(dice=2,numdice1=2)", "liars_dice(numdice=2)"),
        ("liars_dice(numdice=2,numdice1=1)", "liars_dice(numdice0=2)"),
        ("goofspiel(num_cards=4,num_turns=4)", "goofspiel(num_cards=4)"),
        ("battleship(ship_values=[1;1;1;1;1],loss_multiplier=1)", "battleship"),
        ("matrix(rows=[[1,2],[3,4]],second=[[-1,-2],[-3,-4]])", "matrix(rows=[[1,2],[3,4]])"),
    ],
)
def test_canonical_spec(written: str, canonical: str) -> None:
    assert load(written).spec == canonical
    assert load(canonical).spec == canonical


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("kuhn_pokr", "did you mean 'kuhn_poker'"),
        ("kuhn_poker(player=3)", "did you mean 'players'"),
        ("kuhn_poker(players=7)", "from 2 to 6, not 7"),
        ("kuhn_poker(players=true)", "must be an integer"),
        ("big_leduc(players=3)", "without parameters"),
        ("leduc_poker(ranks=1)", "too few"),
        ("leduc_poker(ranks=1000000000)", "from 1 to 1,000"),
        ("leduc_poker(ranks=1000,suits=1000)", "1000000 cards exceed the limit of 1000"),
        ("leduc_poker(bets=[2;4;8])", "each of the two rounds"),
        ("leduc_poker(bets=3)", "must be a list"),
        ("leduc_poker(suit_isomorphism=1)", "true or false"),
        ("liars_dice(numdice2=2)", "no parameter 'numdice2'"),
        ("liars_dice(dice=2,numdice=3)", "give only one of each pair"),
        ("liars_dice(dice_sides=0)", "from 1 to 99"),
        ("liars_dice(numdice=100)", "from 1 to 99"),
        ("goofspiel(num_cards=1000000000)", "from 1 to 99"),
        ("goofspiel(points_order=descendin)", "did you mean 'descending'"),
        ("goofspiel(num_cards=3,num_turns=4)", "from 1 to 3"),
        ("battleship(board_width=2,board_height=1)", "do not fit"),
        ("battleship(ship_sizes=[2])", "one value per ship"),
        ("battleship(num_shots=101,allow_repeated_shots=false)", "shots exceed the number of cells"),
        ("battleship(loss_multiplier=much)", "finite number"),
        ("matrix", "needs either"),
        ("matrix(rows=[[1,2],[3]])", "row 1 of rows has 1 entries"),
        ("matrix(rows=[[1,2],[3,x]])", "row 1, column 1 of rows"),
        ("matrix(rows=[1,2])", "row 0 of rows"),
        ("matrix(rows=3)", "must be a list of rows"),
        ("matrix(rows=[[1]],second=[[1,2]])", "same shape"),
    ],
)
def test_errors_name_the_place_and_the_remedy(spec: str, message: str) -> None:
    with pytest.raises(SpecError, match=message.replace("[", r"\[")):
        load(spec)
