"""Settings: what one declaration gives."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from treeplex.base.settings import Settings, from_yaml, pairs, setting
from treeplex.errors import FileError, SpecError


@dataclass(frozen=True)
class BakeSettings(Settings):
    minutes: int = setting(5, "how long it bakes", low=1, high=60)
    heat: float = setting(0.5, "part of the oven's heat", above=0, high=1)
    rest: int | None = setting(None, "minutes of rest", low=0)
    layers: tuple[float, ...] = setting((1.0, 2.5), "heights", above=0)
    span: tuple[int, int] = setting((1, 3), "least and most", low=1)
    fillings: tuple[str, ...] = setting(("jam", "cream(fat=1,sugar=2)"), "what is between", fixed=True)
    glazed: bool = setting(True, "whether it is glazed", added=True)
    way: str = setting("oven", "how it is baked", choices=("oven", "fire"))
    seed: int = 0

    def check(self) -> None:
        if self.rest is not None and self.rest > self.minutes:
            raise SpecError(f"rest must be at most minutes, {self.minutes}, not {self.rest}")


OTHER = BakeSettings(minutes=7, rest=3, layers=(), fillings=("a b", "1"), glazed=False)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("minutes", 0, "minutes must be an integer from 1 to 60, not 0"),
        ("minutes", 1.0, "minutes must be an integer from 1 to 60, not 1.0"),
        ("minutes", True, "minutes must be an integer from 1 to 60, not True"),
        ("minutes", "many", "minutes must be an integer from 1 to 60, not 'many'"),
        ("heat", 0, "heat must be a number above 0 and at most 1, not 0"),
        ("heat", float("nan"), "heat must be a number above 0 and at most 1, not nan"),
        ("rest", -1, "rest must be an integer of at least 0, or none, not -1"),
        ("rest", 6, "rest must be at most minutes, 5, not 6"),
        ("layers", (1.0, 0.0), r"layers must be numbers above 0, separated by commas, not \(1.0, 0.0\)"),
        ("layers", 1.0, "layers must be numbers above 0, separated by commas, not 1.0"),
        ("span", (1,), "span must be 2 integers of at least 1, separated by commas"),
        ("glazed", 1, "glazed must be true or false, not 1"),
        ("glazed", "no", "glazed must be true or false, not 'no'"),
        ("way", "fir", r"way must be one of oven, fire, not 'fir'; did you mean 'fire'\?"),
        ("way", 3, "way must be one of oven, fire, not 3"),
        ("minute", 3, r"unknown setting 'minute'; did you mean 'minutes'\?"),
    ],
)
def test_a_wrong_value_is_refused_in_one_kind_of_words(name: str, value: Any, message: str) -> None:
    with pytest.raises(SpecError, match=f"^{message}"):
        _ = BakeSettings(**{name: value}) if hasattr(BakeSettings, name) else BakeSettings().changed({name: value})


def test_choices_may_be_listed_in_other_words() -> None:
    @dataclass(frozen=True)
    class Many(Settings):
        way: str = setting("a", "which", choices=("a", "b", "a-late", "b-late"), listed="a, b, each also with -late")

    assert Many(way="b-late").way == "b-late"
    with pytest.raises(SpecError, match=r"^way must be one of a, b, each also with -late, not 'b-lat'; did you mean"):
        Many(way="b-lat")


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("minutes", "1_0", 10),
        ("minutes", "1e1", 10),
        ("heat", "1", 1.0),
        ("heat", "2e-1", 0.2),
        ("rest", "none", None),
        ("rest", "4", 4),
        ("layers", "1, 2,3.5", (1.0, 2.0, 3.5)),
        ("layers", "", ()),
        ("layers", ["1", "2"], (1.0, 2.0)),
        ("span", "2,4", (2, 4)),
        ("fillings", "jam,cream(fat=1,sugar=2)", ("jam", "cream(fat=1,sugar=2)")),
        ("glazed", "FALSE", False),
        ("way", "fire", "fire"),
        ("seed", "7", 7),
    ],
)
def test_texts_stand_for_values(name: str, text: Any, value: Any) -> None:
    found = getattr(BakeSettings().changed({name: text}), name)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("text", ["1.5", "five", "", "1,2", "inf"])
def test_texts_that_say_no_number_are_refused_as_they_are(text: str) -> None:
    with pytest.raises(SpecError, match=f"not {text!r}"):
        BakeSettings().changed({"minutes": text})


def test_later_changes_come_over_earlier_ones() -> None:
    assert BakeSettings().changed({"minutes": 7, "heat": 1}, {"minutes": "8"}) == BakeSettings(minutes=8, heat=1.0)


def test_what_is_fixed_cannot_change_under_way() -> None:
    assert OTHER.changed_under_way({"minutes": 9, "fillings": ["a b", "1"]}, place="runs/x").minutes == 9
    with pytest.raises(SpecError, match=r'^runs/x: fillings is \["a b", 1\] and cannot change to \[jam\] on resume'):
        OTHER.changed_under_way({"fillings": "jam"}, place="runs/x")


@pytest.mark.parametrize("settings", [BakeSettings(), OTHER])
def test_files_and_json_are_read_as_they_were_written(settings: BakeSettings, tmp_path: Path) -> None:
    (tmp_path / "baking.yaml").write_text(settings.as_yaml())
    assert BakeSettings().changed(from_yaml(tmp_path / "baking.yaml")) == settings
    assert "# how long it bakes" in settings.as_yaml()
    assert BakeSettings.from_json(json.loads(json.dumps(settings.to_json())), "here") == settings


def test_numbers_of_numpy_become_plain() -> None:
    assert type(BakeSettings(minutes=np.int64(3)).minutes) is int  # type: ignore[arg-type]
    assert type(BakeSettings(heat=np.float32(0.5)).heat) is float  # type: ignore[arg-type]


def test_json_that_is_not_whole_is_refused() -> None:
    found = BakeSettings().to_json()
    assert BakeSettings.from_json({name: value for name, value in found.items() if name != "glazed"}, "here") == BakeSettings()
    for wrong, message in (
        ({name: value for name, value in found.items() if name != "heat"}, "heat missing"),
        (found | {"more": 1}, "unknown: more"),
        (found | {"heat": 2.0}, "heat must be"),
        ([1], "not a table of settings"),
    ):
        with pytest.raises(FileError, match=rf"^run.json: cannot read the settings \({message}"):
            BakeSettings.from_json(wrong, "run.json")


def test_help_and_table_say_default_meaning_and_limits() -> None:
    row = next(line for line in BakeSettings.doc_table().splitlines() if "`minutes`" in line)
    assert row == "| `minutes` | `5` | how long it bakes (an integer from 1 to 60) |"
    assert "cream(fat=1,sugar=2)  what is between (names, separated by commas)" in BakeSettings.help_text()


def test_a_file_that_holds_something_else_is_named(tmp_path: Path) -> None:
    (tmp_path / "list.yaml").write_text("- a\n- b\n")
    with pytest.raises(FileError, match="not a table of settings"):
        from_yaml(tmp_path / "list.yaml")
    (tmp_path / "deep.yaml").write_text("minutes: {a: 1}\n")
    with pytest.raises(FileError, match=r"deep.yaml:1: setting must be one value"):
        from_yaml(tmp_path / "deep.yaml")


def test_pairs_of_the_command_line() -> None:
    assert pairs(["minutes=3", " way = fire "]) == {"minutes": "3", "way": "fire"}
    with pytest.raises(SpecError, match="key=value"):
        pairs(["minutes"])


@dataclass(frozen=True)
class FrySettings(BakeSettings):
    minutes: int = 9
    oil: float = setting(1.0, "spoons of oil", low=0)


def test_a_new_default_keeps_meaning_and_limits() -> None:
    assert FrySettings().minutes == 9
    assert "how long it bakes (an integer from 1 to 60)" in FrySettings.help_text()
    with pytest.raises(SpecError, match="minutes must be an integer from 1 to 60"):
        FrySettings(minutes=61)


def test_a_setting_cannot_hide_a_method() -> None:
    @dataclass(frozen=True)
    class Wrong(Settings):
        changed: int = 3  # type: ignore[assignment]

    with pytest.raises(TypeError, match="cannot be named changed"):
        Wrong()
