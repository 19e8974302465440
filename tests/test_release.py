"""The release scripts: what they check is true of the repository, and they see what is wrong."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "packaging"))
import lower_bounds  # noqa: E402
import release_check  # noqa: E402


@pytest.mark.parametrize("check", [release_check.links, release_check.tracked_sizes, release_check.licences])
def test_the_repository_can_be_released(check: object) -> None:
    assert list(check()) == []  # type: ignore[operator]


def test_placeholders_and_a_wrong_tag_are_reported() -> None:
    assert any("placeholder" in line for line in release_check.placeholders())
    assert any("v9.9" in line for line in release_check.versions("v9.9"))


def test_links_that_lead_nowhere_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "PAGE.md").write_text("[there](there.md) and [here](PAGE.md)")
    monkeypatch.setattr(release_check, "ROOT", tmp_path)
    assert list(release_check.links()) == ["PAGE.md links to there.md, which does not exist"]


def test_lowest_versions() -> None:
    assert lower_bounds.lowest(["numpy>=1.26", "typer>=0.15,<1"]) == ["numpy==1.26", "typer==0.15"]
