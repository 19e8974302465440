"""Many hands reviewed into one file: reasons, resuming, damaged files, leaks and exports."""

import csv
import io
import json
import math
import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pokerkit")

from scipy.stats import t as student
from typer.testing import CliRunner

from tests.holdem.study.report.site_hands import ACPC, PARTY
from tests.holdem.study.review import many
from tests.holdem.study.review.hands import STARS
from treeplex.errors import FileError, SpecError
from treeplex.holdem.cli.main import group as holdem
from treeplex.holdem.solve.budget import Budget
from treeplex.holdem.study.report.hand_texts import split_hands
from treeplex.holdem.study.review import bulk as module
from treeplex.holdem.study.review.bulk import BulkReview, HandSource, review_many, sources_of
from treeplex.holdem.study.review.leaks import counts, csv_text, hands_of, leaks, phh_export, skipped_hands, values_of
from treeplex.holdem.study.review.review import ReviewSettings
from treeplex.holdem.study.review.review_file import ReviewFile

HOW = ReviewSettings(ranges=("QQ,TT", "KK"), first="river", bets="none", raises="none", threads=1, budget=Budget(None, 5))


@pytest.fixture
def never(monkeypatch):
    monkeypatch.setattr(module, "judged", lambda *_: pytest.fail("reviewed again"))


def test_every_hand_is_reviewed_or_counted_with_the_reason(tmp_path):
    evening, out = tmp_path / "evening", tmp_path / "review.sqlite"
    (evening / "older").mkdir(parents=True)
    texts = [STARS, many.PREFLOP, many.MULTIWAY, many.ALL_IN, many.OMAHA, many.UNKNOWN, many.FOLDED, many.ANTES, many.CUT_OFF]
    (evening / "table 1.txt").write_text("\ufeff" + "\n\n\n".join(texts), "utf-8")
    (evening / "older" / "table 2.txt").write_text("\r\n".join(STARS.splitlines()), "utf-16")  # the first hand once more
    (evening / "older" / "party.txt").write_text(PARTY)
    (evening / "notes.txt").write_text("Ann folds too much\n")
    (evening / "match.log").write_text(ACPC)
    (evening / "picture.png").write_bytes(b"\x89PNG")
    seen = []
    with review_many(evening, out, settings=HOW, progress=seen.append) as file:
        total = counts(file)
        assert (total.found, total.duplicates, total.reviewed, total.waiting) == (14, 1, 3, 0)
        assert total.skipped == {
            "ended before the flop": 2,
            "all-in before a heads-up street": 1,
            "both players' cards are known and no player is named": 1,
            "not no-limit hold'em": 1,
            "the file has no known format": 1,
            "the player folded before": 1,
            "the player's cards are unknown": 1,
            "the text is cut off": 1,
            "three or more players on every street": 1,
        }
        assert {row["reason"]: row["detail"] for row in skipped_hands(file)}["the player folded before"].startswith(
            "Alice folded"
        )
        assert len(skipped_hands(file, "ended before the flop")) == 2
        assert total.decisions == 3  # not the check that has no alternative
        by_cards = {(row["title"][:10], row["cards"], row["position"]) for row in hands_of(file)}
        assert by_cards == {("PokerStars", "AsQd", "BTN"), ("***** Hand", "AhKd", "SB")}
        stored = file.hand(hands_of(file)[0]["id"])
        assert stored["review"]["streets"][0]["choices"][-1]["actions"] == ["fold", "call"]
    assert (seen[0].new, seen[-1].done, str(seen[0])[:12]) == (3, 3, "hand 1 of 3 ")
    assert not list(tmp_path.glob("review.sqlite-*"))  # the log of the database is merged into it


def test_straddles_and_players_who_are_not_there(tmp_path):
    how = replace(HOW, ranges=(None, None))
    with review_many([], settings=how) as file:
        for number, (text, hero) in enumerate(((many.STRADDLE, None), (STARS, "Zoe"), (STARS, "Alice"), (many.PREFLOP, "Zoe"))):
            BulkReview([HandSource(f"{number}", text)], file, hero=hero, how=how).run()
        found = list(file.rows("SELECT reason FROM hands ORDER BY id"))
        assert [row["reason"] for row in found] == [
            "a straddle, for which there are no built-in ranges",
            "the player is not in the hand",
            "the player folded before",
            "ended before the flop",
        ]
        BulkReview([HandSource("given", many.STRADDLE)], file, how=HOW).run()
        assert counts(file).reviewed == 1


def test_a_second_run_reviews_only_new_hands(tmp_path, never, monkeypatch):
    folder, out = tmp_path / "hands", tmp_path / "review.sqlite"
    folder.mkdir()
    (folder / "a.txt").write_text(STARS)
    monkeypatch.undo()
    review_many(folder, out, settings=HOW).close()
    reviewed = []
    usual = module.judged
    monkeypatch.setattr(module, "judged", lambda hand, how, watch: reviewed.append(hand.title) or usual(hand, how, watch))
    (folder / "a.txt").write_text("\n\n".join([STARS, many.numbered(STARS, 2)]))
    with review_many(folder, out, settings=HOW) as file:
        assert (len(reviewed), counts(file).reviewed) == (1, 2)
    with review_many(folder, out, settings=replace(HOW, budget=Budget(None, 6))) as file:  # another budget
        assert (len(reviewed), counts(file).reviewed) == (3, 2)
    with review_many(folder, out, settings=HOW) as file:
        assert len(reviewed) == 3
        assert len(list(file.rows("SELECT id FROM hands"))) == 4
        assert file.last_settings() == 1  # those of this run, although hands with others are newer
    with ReviewFile(out) as file:
        assert file.last_settings() == 2


def test_hands_that_left_their_source_count_nowhere(tmp_path):
    source, out = tmp_path / "hands.txt", tmp_path / "review.sqlite"
    source.write_text("\n\n".join([*(many.numbered(STARS, number) for number in range(3)), many.numbered(many.PREFLOP, 8)]))
    review_many(source, out, settings=HOW).close()
    source.write_text(many.numbered(STARS, 1))
    with review_many(source, out, settings=HOW) as file:
        total = counts(file)
        assert (total.found, total.reviewed, total.decisions, total.skipped) == (1, 1, 1, {})
        (leak,) = leaks(file, ("street",))
        assert (leak.hands, leak.per_100) == (1, pytest.approx(100 * leak.lost_bb))
        assert len(hands_of(file)) == len(csv_text(file).splitlines()) - 1 == len(list(phh_export(file))) == 1
        assert skipped_hands(file) == []
        assert values_of(file)["street"] == ["river"]


def test_a_hand_that_fails_does_not_end_the_review(tmp_path, monkeypatch):
    (tmp_path / "hands.txt").write_text("\n\n".join(many.numbered(STARS, number) for number in range(4)))
    judged, readable = module.judged, module.readable

    def failing(usual, number, error):
        def fail(hand, *rest):
            if f"#{240_000_000_000 + number}" in hand.title:
                raise error
            return usual(hand, *rest)

        return fail

    monkeypatch.setattr(module, "judged", failing(judged, 1, ZeroDivisionError("division by zero")))
    monkeypatch.setattr(module, "readable", failing(readable, 2, KeyError("x")))
    with review_many(tmp_path / "hands.txt", settings=HOW) as file:
        total = counts(file)
        assert (total.found, total.reviewed, total.skipped) == (4, 2, {"cannot be judged because of an error": 2})
        details = {row["detail"] for row in skipped_hands(file)}
        assert details == {"ZeroDivisionError: division by zero", "KeyError: 'x'"}
    monkeypatch.setattr(module, "judged", failing(judged, 1, FileError("the disk is full; free some space")))
    with pytest.raises(FileError, match="the disk is full"):
        review_many(tmp_path / "hands.txt", settings=HOW)


def test_files_with_the_same_name_in_several_folders(tmp_path):
    for number in (1, 2):
        (tmp_path / f"{number}").mkdir()
        (tmp_path / f"{number}" / "table.txt").write_text(many.numbered(STARS, number))
    with review_many([tmp_path / "1", tmp_path / "2"], settings=HOW) as file:
        assert (counts(file).found, counts(file).reviewed, counts(file).duplicates) == (2, 2, 0)


def test_an_interrupted_review_resumes(tmp_path, monkeypatch):
    file = tmp_path / "hands.txt"
    file.write_text("\n\n".join(many.numbered(STARS, number) for number in range(5)))
    usual, done = module.judged, []

    def stop_at_the_third(hand, how, watch):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(hand)
        return usual(hand, how, watch)

    monkeypatch.setattr(module, "judged", stop_at_the_third)
    with pytest.raises(KeyboardInterrupt):
        review_many(file, tmp_path / "review.sqlite", settings=HOW)
    with ReviewFile(tmp_path / "review.sqlite", create=False) as data:
        assert (counts(data).reviewed, counts(data).waiting) == (2, 3)
    monkeypatch.setattr(module, "judged", lambda hand, how, watch: done.append(hand) or usual(hand, how, watch))
    with review_many(file, tmp_path / "review.sqlite", settings=HOW) as data:
        assert (counts(data).reviewed, counts(data).waiting, len(done)) == (5, 0, 5)


@pytest.fixture
def thousand(tmp_path, monkeypatch):
    """A thousand hands whose only decision loses 0 to 4 big blinds, on two boards; every tenth ends before the flop."""
    how = ReviewSettings(ranges=HOW.ranges, first="river", bets="none", raises="none", threads=1)
    hand = module.readable(split_hands(STARS)[0], None, how)
    made = module.judged(hand, how, None)
    (street,) = made.streets

    def quick(hand, how, watch):
        lost = int(hand.title.split("#")[1][:12]) % 5
        choice = replace(street.choices[0], lost=float(lost), verdict="mistake" if lost else "best")
        return replace(made, hand=hand, streets=(replace(street, hand=hand.streets[-1], choices=(choice,)),))

    monkeypatch.setattr(module, "judged", quick)
    other = STARS.replace("Qc] [2s]", "Qc] [Th]").replace("Qc 2s]", "Qc Th]")
    texts = [many.numbered(STARS if n % 3 else other, n) if n % 10 else many.numbered(many.PREFLOP, n) for n in range(1000)]
    (tmp_path / "thousand.txt").write_text("\n\n".join(texts))
    return tmp_path / "thousand.txt", how


def test_leaks_of_a_thousand_hands(thousand, tmp_path, monkeypatch):
    source, how = thousand
    review_many(source, tmp_path / "review.sqlite", settings=how).close()
    monkeypatch.setattr(module, "judged", lambda *_: pytest.fail("reviewed again"))
    with review_many(source, tmp_path / "review.sqlite", settings=how) as file:
        total = counts(file)
        assert (total.found, total.reviewed, total.skipped) == (1000, 900, {"ended before the flop": 100})
        lost = np.array([n % 5 for n in range(1000) if n % 10], float)
        half = student.ppf(0.975, 899) * lost.std(ddof=1) / math.sqrt(900)
        assert total.total.per_100 == pytest.approx(100 * lost.mean())
        assert (total.total.low, total.total.high) == pytest.approx((100 * (lost.mean() - half), 100 * (lost.mean() + half)))
        assert total.total.mistakes == (lost > 0).sum()
        paired = {leak.group: leak for leak in leaks(file, ("pairing", "street"))}
        assert set(paired) == {("unpaired", "river"), ("paired", "river")}
        part = np.where([n % 3 == 0 for n in range(1000) if n % 10], lost, 0.0)
        half = student.ppf(0.975, 899) * part.std(ddof=1) / math.sqrt(900)
        leak = paired["paired", "river"]
        assert (leak.per_100, leak.high) == pytest.approx((100 * part.mean(), 100 * (part.mean() + half)))
        assert sum(each.per_100 for each in paired.values()) == pytest.approx(total.total.per_100)
        assert leaks(file, ("street",), {"pairing": "paired"})[0].lost_bb == pytest.approx(part.sum())
        assert leaks(file, ("street",), {"pairing": "trips"}) == ()
        assert values_of(file)["pairing"] == ["paired", "unpaired"]
        worst = hands_of(file, {"pairing": "paired"}, most=5)
        assert [row["lost_bb"] for row in worst] == [4.0] * 5
        rows = list(csv.DictReader(io.StringIO(csv_text(file))))
        assert (len(rows), sum(float(row["lost_bb"]) for row in rows)) == (900, pytest.approx(lost.sum()))
        assert len(list(csv.DictReader(io.StringIO(csv_text(file, {"pairing": "paired"}))))) == leak.decisions
        with pytest.raises(SpecError, match="cannot be grouped by 'luck'; write street, position"):
            leaks(file, ("luck",))


def test_no_interval_below_thirty_hands_and_none_of_inaccurate_solutions(thousand, tmp_path):
    source, how = thousand
    few = source.with_name("few.txt")
    few.write_text("\n\n".join(hand.text for hand in split_hands(source.read_text())[:32]))
    with review_many(few, settings=how) as file:
        total = counts(file)
        assert (total.reviewed, total.total.low) == (28, None)
        with file.writing() as data:
            data.execute("UPDATE decisions SET accuracy = 0.05, lost_bb = 1000 WHERE hand = (SELECT MAX(hand) FROM decisions)")
            data.execute("UPDATE decisions SET noise_bb = 10 WHERE hand = (SELECT MIN(hand) FROM decisions)")
        after = counts(file)
        assert (after.decisions, after.unclear) == (27, 1)
        assert after.total.lost_bb < total.total.lost_bb


def test_phh_export_is_read_again(tmp_path):
    (tmp_path / "hands.txt").write_text("\n\n".join([STARS, many.numbered(STARS, 2)]))
    with review_many(tmp_path / "hands.txt", settings=HOW) as file:
        text = "".join(phh_export(file))
        assert "_verdicts = 'best'" in text
        assert "".join(phh_export(file, {"verdict": "mistake"})) == ""
    first, second = split_hands(text)
    assert (first.format, second.format) == ("PHH", "PHH")
    again = module.readable(second, None, HOW)
    assert (again.cards, again.hero, again.streets[-1].line) == (("", "AsQd"), 1, "a,f")


def test_files_that_are_no_reviews(tmp_path):
    (tmp_path / "hands.txt").write_text(STARS)
    with pytest.raises(FileError, match=r"hands\.txt is not a review file; choose another name"):
        review_many(tmp_path / "hands.txt", tmp_path / "hands.txt", settings=HOW)
    assert (tmp_path / "hands.txt").read_text() == STARS
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as data:
        data.execute("CREATE TABLE places (source TEXT)")
    data.close()
    with pytest.raises(FileError, match="is not a review file"):
        ReviewFile(other)
    with pytest.raises(FileError, match="start the review with --out"):
        ReviewFile(tmp_path / "none.sqlite", create=False)
    good = tmp_path / "review.sqlite"
    review_many(tmp_path / "hands.txt", good, settings=HOW).close()
    whole = good.read_bytes()
    good.write_bytes(whole[:4096] + bytes(4096) + whole[8192:])
    with pytest.raises(FileError, match=r"review\.sqlite.*(damaged|malformed|does not have the tables)"):
        ReviewFile(good)
    good.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileError, match=r"review\.sqlite"):
        ReviewFile(good)
    good.write_bytes(whole)
    with sqlite3.connect(good) as data:
        data.execute("CREATE TRIGGER t AFTER INSERT ON hands BEGIN DELETE FROM hands; END")
    data.close()
    with pytest.raises(FileError, match="does not have the tables of a review"):
        ReviewFile(good)
    good.write_bytes(whole)
    with sqlite3.connect(good) as data:
        data.execute("PRAGMA user_version = 7")
    data.close()
    with pytest.raises(FileError, match="version 7, and this Treeplex reads version 1"):
        ReviewFile(good)


def test_folders_without_hands(tmp_path):
    with pytest.raises(FileError, match=r"has no hand histories \(\.txt, \.phh"):
        list(sources_of(tmp_path))
    with pytest.raises(FileError, match="cannot read"):
        list(sources_of(tmp_path / "missing"))


WORDS = ["--street", "river", "--oop", "QQ,TT", "--ip", "KK", "--bets", "none", "--raises", "none"]


def test_command(tmp_path):
    (tmp_path / "evening").mkdir()
    (tmp_path / "evening" / "table.txt").write_text("\n\n".join([STARS, many.PREFLOP, many.numbered(STARS, 2), STARS]))
    out, csv_file, phh_file = (str(tmp_path / name) for name in ("review.sqlite", "decisions.csv", "hands.phhs"))
    words = ["review", str(tmp_path / "evening"), *WORDS, "--out", out]
    result = CliRunner().invoke(holdem, [*words, "--csv", csv_file, "--phh", phh_file])
    assert result.exit_code == 0, result.output
    assert "1 not reviewed: ended before the flop" in result.stdout
    assert "1 hand repeated; repeated hands count once" in result.stdout
    last = "4 hands: 2 reviewed, 2 decisions; 0.00 bb lost per 100 hands (fewer than 30 hands)"
    assert result.stdout.rstrip().endswith(last)
    assert len(Path(csv_file).read_text().splitlines()) == 3
    assert len(split_hands(Path(phh_file).read_text())) == 2
    data = json.loads(CliRunner().invoke(holdem, [*words, "--by", "street,action", "--json"]).stdout)
    assert (data["reviewed"], data["skipped"], data["duplicates"]) == (2, {"ended before the flop": 1}, 1)
    (leak,) = data["leaks"]["street,action"]
    assert (leak["group"], leak["decisions"]) == (["river", "fold"], 2)
    assert [row["number"] for row in data["worst"]] == [1, 3]
    file = str(tmp_path / "evening" / "table.txt")
    whole = CliRunner().invoke(holdem, ["review", file, *WORDS])  # many hands without a file
    assert whole.stdout.rstrip().endswith(last)
    one = CliRunner().invoke(holdem, ["review", file, *WORDS, "--hand", "3"])
    assert "a: fold" in one.stdout
    for wrong, line in (
        ([file, *WORDS, "--out", str(tmp_path / "folder")], "a review of many hands is saved in one file"),
        ([file, "--hand", "1", "--csv", csv_file], "--hand shows one hand"),
        ([file, *WORDS, "--by", "luck"], "cannot be grouped by 'luck'"),
        ([file, "--budget", "soon"], "--budget: cannot read 'soon'"),
        ([str(tmp_path / "nowhere")], "cannot read"),
        ([str(tmp_path / "evening"), "--out", file], "a review of many hands is saved in one file"),
    ):
        failed = CliRunner().invoke(holdem, ["review", *wrong])
        assert (failed.exit_code, failed.stderr.count("\n")) == (2, 1), failed.output
        assert line in failed.stderr


def test_options_are_checked_before_hands_are_solved(tmp_path, never):
    (tmp_path / "hands.txt").write_text("\n\n".join([STARS, many.numbered(STARS, 2)]))
    for wrong in (["--by", "luck"], ["--csv", str(tmp_path / "nowhere" / "a.csv")], ["--phh", str(tmp_path)]):
        failed = CliRunner().invoke(holdem, ["review", str(tmp_path / "hands.txt"), *WORDS, *wrong])
        assert (failed.exit_code, failed.stderr.count("\n")) == (2, 1), failed.output


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--street", "rivr", "the first street is 'rivr'; choose flop, turn or river"),
        ("--oop", "ZZ+", "oop: range: cannot read 'ZZ+'"),
        ("--ip", "AsAs", "ip: range: cannot read 'AsAs'"),
        ("--bets", "foo", "cannot read the bet size 'foo'"),
        ("--raises", "5", "cannot read the bet size '5'"),
    ],
)
def test_settings_are_checked_once_and_not_by_hand(tmp_path, never, option, value, said):
    (tmp_path / "hands.txt").write_text("\n\n".join([STARS, many.numbered(STARS, 2)]))
    words = ["review", str(tmp_path / "hands.txt"), *WORDS, option, value, "--out", str(tmp_path / "review.sqlite")]
    failed = CliRunner().invoke(holdem, words)
    assert (failed.exit_code, failed.stderr.count("\n")) == (2, 1), failed.output
    assert said in failed.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["hands.txt"]


def test_a_refused_review_removes_only_a_new_file(tmp_path, never):
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty.sqlite").touch()
    ReviewFile(tmp_path / "review.sqlite").close()
    for name in ("empty", "review", "new"):
        with pytest.raises(FileError, match="has no hand histories"):
            review_many(tmp_path / "folder", tmp_path / f"{name}.sqlite", settings=HOW)
    assert sorted(path.name for path in tmp_path.glob("*.sqlite*")) == ["empty.sqlite", "review.sqlite"]


def test_ctrl_c_in_the_terminal(tmp_path, monkeypatch):
    (tmp_path / "hands.txt").write_text("\n\n".join([STARS, many.numbered(STARS, 2)]))

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "judged", stop)
    words = ["review", str(tmp_path / "hands.txt"), *WORDS]
    stopped = CliRunner().invoke(holdem, [*words, "--out", str(tmp_path / "review.sqlite")])
    assert stopped.exit_code != 0
    assert "stopped; the same command resumes" in stopped.stderr
    assert "with --out, the same command resumes" in CliRunner().invoke(holdem, words).stderr
