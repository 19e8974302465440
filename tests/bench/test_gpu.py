"""The benchmark on a GPU: rows are stored one by one, and its page shows the records of machines with and without a GPU."""

import argparse

import pytest

pytest.importorskip("torch")

from bench import gpu
from bench.common import record

RUN = {"iterations": 110, "seconds": 1.5, "solving": 1.2, "percent": 0.41, "ms": 13.9}
ON_CARD = {"spot": "flop", "numbers": 75_520_210, "device": {**RUN, "judged": 0.42, "reserved": 5.5e9}, "kernels": RUN}
OFF_CARD = {
    "spot": "turn",
    "numbers": 405_741,
    "device": {**RUN, "judged": 0.43, "reserved": None},
    "kernels": {"iterations": 5, "seconds": None, "percent": None, "ms": 8.0},
}
GAME = {"game": "kuhn_poker", "sequences": 26, "seconds": {"kernels": 1e-6, "double": 2e-6, "single": 3e-6}}
GAME |= {"apart": {"double": 0.0, "single": 1e-9}}


def options(**given):
    return argparse.Namespace(**{"quick": True, "device": "torch-cpu", "part": None, "resume": False} | given)


@pytest.mark.parametrize("device", ["NVIDIA H200", "processor"])
def test_records_of_both_machines_are_shown(device):
    on_card = device != "processor"
    text = gpu.tables({"device": device, "spots": [ON_CARD if on_card else OFF_CARD], "games": [GAME]})
    assert ("This machine has no GPU" in text) != on_card
    row = next(line for line in text.splitlines() if line.startswith("| flop" if on_card else "| turn"))
    cells = [cell.strip() for cell in row.split("|")[1:-1]]
    assert cells[2:7] == ["13.9", "110", "1.5", "0.410", "0.420" if on_card else "0.430"]
    assert cells[7:] == (["5.5", "13.9", "110", "1.5", "0.410"] if on_card else ["", "8", "", "", ""])
    assert "| `kuhn_poker` | 26 |" in text
    assert "| game |" not in gpu.tables({"device": device, "spots": []})


def test_every_row_is_stored_and_kept_on_request(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "BENCH", tmp_path)
    monkeypatch.setattr(record, "commit", lambda: "one")
    measured = []

    def rows(device, quick):
        for number in range(3):

            def row(number=number):
                measured.append(number)
                if len(measured) == 3:
                    raise KeyboardInterrupt
                return {"number": number}

            yield row

    monkeypatch.setattr(gpu, "PARTS", {"spots": rows})
    with pytest.raises(KeyboardInterrupt):
        gpu.measure(options())
    assert record.load("gpu", quick=True)["spots"] == [{"number": 0}, {"number": 1}]
    assert gpu.measure(options(resume=True))["spots"] == [{"number": 0}, {"number": 1}, {"number": 2}]
    assert measured == [0, 1, 2, 2]
    monkeypatch.setattr(record, "commit", lambda: "another")
    gpu.measure(options(resume=True))
    assert measured[4:] == [0, 1, 2]


@pytest.mark.slow
def test_a_spot_is_measured_without_a_gpu():
    first = next(gpu.spots("torch-cpu", True))()
    assert first["device"]["judged"] == pytest.approx(first["device"]["percent"], rel=1e-4)
    assert first["device"]["iterations"] == first["kernels"]["iterations"] == 2
