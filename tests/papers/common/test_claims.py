"""Every item of the documents is shown by something that exists, with numbers that are stored."""

import pytest

from papers.common import claims
from papers.common.claims import VERDICTS, Claim, documents, exists, filled, number_at

CLAIMS = [(document, claim) for document, claims in documents() for claim in claims]


@pytest.mark.parametrize(("document", "claim"), CLAIMS, ids=lambda each: each.item if isinstance(each, Claim) else "")
def test_items(document: str, claim: Claim) -> None:
    assert claim.as_published in VERDICTS
    assert all(exists(part.strip()) for part in claim.shown.split(";") if part.strip()), claim.shown
    assert claim.shown
    assert claim.why or claim.as_published == "yes"
    assert "|" not in "".join(claim.cells())
    assert "[[" not in "".join(claim.cells())


def test_a_factor_changes_the_unit() -> None:
    place = "rebel/table2/lcfr/1x4f/exploitability"
    assert filled(f"[[{place}*1000:.3f]] thousandths") == f"{1000 * number_at(place):.3f} thousandths"


def test_all_documents_have_items() -> None:
    assert len({document for document, _ in CLAIMS}) == 5


def test_a_number_that_is_not_stored() -> None:
    with pytest.raises(KeyError, match="no number at rebel/table2/lcfr/1x9f: '1x9f' is not there"):
        number_at("rebel/table2/lcfr/1x9f")


def test_a_place_without_a_form() -> None:
    with pytest.raises(ValueError, match="malformed reference; write"):
        filled("[[rebel/table2/lcfr/1x4f/exploitability]]")


def test_numbers_from_a_modified_tree_are_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    place = "[[rebel/table2/lcfr/1x4f/exploitability:.3f]]"
    assert not filled(place).endswith("†")
    monkeypatch.setattr(claims, "modified_runs", lambda _: [("lcfr", "1x4f")])
    assert filled(place).endswith("†")
