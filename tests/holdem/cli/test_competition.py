"""``treeplex holdem dealer`` and ``acpc``, each against a local program made for the test."""

import json
import signal
import socket
import threading
from contextlib import suppress

from typer.testing import CliRunner

from treeplex.holdem.protocols.acpc import chips_of
from treeplex.holdem.protocols.lines import LeftError, Lines
from treeplex.run.cli.main import app


def ran(*words, code=0):
    """What a command printed on stdout, and on stderr."""
    found = CliRunner().invoke(app, ["holdem", *words])
    assert found.exit_code == code, found.output
    return found.stdout, found.stderr


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def sits_down(port, answer):
    """Connect to a dealer as soon as there is one, and answer every line; nothing where ``answer`` says nothing."""

    def play():
        while True:
            try:
                connection = socket.create_connection(("127.0.0.1", port))
                break
            except ConnectionRefusedError:
                continue
        lines = Lines(connection, "the dealer")
        with connection, suppress(LeftError):
            lines.send("VERSION:2.0.0", 10)
            while True:
                if said := answer(lines.read(10)):
                    lines.send(said, 10)

    thread = threading.Thread(target=play, daemon=True)
    thread.start()
    return thread


def test_the_dealer_says_what_it_changed():
    port = free_port()
    players = [sits_down(port, lambda line: f"{line}:r1") for _ in range(2)]
    words = ["dealer", "--port", str(port), "-n", "20", "--stack", "1000"]
    printed, notes = ran(*words, "--json")
    found = json.loads(printed)
    assert found["hands"] == 20
    assert sum(found["won"]) == 0
    assert min(found["not_allowed"]) > 20
    assert notes.count("; r200 is used") >= 1
    assert notes.count("note:") == 11
    for player in players:
        player.join(10)


def test_players_who_do_not_come_are_one_line():
    _, said = ran("dealer", "--port", str(free_port()), "--start", "0.05", code=2)
    assert said == "error: only 0 of the two players connected within 0.05 s; start both, or allow more time with --start\n"


def test_a_dealer_who_says_nothing_is_one_line():
    with socket.create_server(("127.0.0.1", 0)) as server:
        words = ["acpc", "uniform", "--port", str(server.getsockname()[1]), "--stack", "1000", "--timeout", "0.1"]
        _, said = ran(*words, code=2)
    assert said.startswith("error: the dealer sent nothing for 0.1 s (hand 0)")
    assert said.count("\n") == 1


def test_a_busy_port_is_one_line():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        _, said = ran("dealer", "--port", str(port), code=2)
    assert said == f"error: port {port} is in use by another program; stop it, or give another --port\n"


def test_no_dealer_is_one_line():
    port = free_port()
    _, said = ran("acpc", "uniform", "--port", str(port), "--stack", "1000", code=2)
    assert said == f"error: no dealer on 127.0.0.1, port {port}: connection refused; start one, or give --host and --port\n"


def dealt(port, first, second, *words, code=0):
    """What a match at the dealer's printed."""
    players = [sits_down(port, answer) for answer in (first, second)]
    found = ran("dealer", "--port", str(port), "--stack", "1000", *words, code=code)
    for player in players:
        player.join(10)
    return found


def calls(line):
    return f"{line}:c"


def waits(line):
    """Call in three hands, and say nothing in the fourth."""
    return None if line.split(":")[2] == "3" else calls(line)


def raises(line):
    return f"{line}:r99999"


def test_the_dealer_writes_the_log_of_the_competition(tmp_path):
    log = tmp_path / "match.log"
    printed, _ = dealt(free_port(), raises, raises, "-n", "12", "--log", str(log), "--json")
    lines, found = log.read_text().splitlines(), json.loads(printed)
    assert lines[0] == "# name/game/hands/seed match.log holdem(stack=1000,blinds=50,100) 12 0"
    assert lines[1:4] == ["#--t_response 600000", "#--t_hand 600000", "#--t_per_hand 7000"]
    states = [line.split(":") for line in lines[4:-1]]
    assert [(word, int(number)) for word, number, *_ in states] == [("STATE", number) for number in range(12)]
    totals = [0, 0]
    for *_, betting, cards, results, players in states:
        assert betting == "r1000c///"
        assert len(cards) == len("2c3d|4h5s/6c7d8h/9s/Tc")
        for player, chips in zip(players.split("|"), results.split("|"), strict=True):
            totals[int(player)] += int(chips)
    assert totals == found["won"]
    assert lines[-1] == f"SCORE:{totals[0]}|{totals[1]}:0|1"
    _, said = ran("dealer", "--port", str(free_port()), "--log", str(log), code=2)
    assert said == f"error: {log} already exists; choose another file with --log, or move this one\n"
    assert log.read_text().splitlines() == lines


def test_what_was_dealt_before_a_player_left_is_told_and_kept(tmp_path):
    log = tmp_path / "match.log"
    printed, said = dealt(free_port(), waits, waits, "-n", "12", "--log", str(log), "--timeout", "2", code=2)
    assert printed.startswith("3 hands\n")
    assert "exceeds 2 s for an action" in said
    assert [line.split(":")[0] for line in log.read_text().splitlines()[4:]] == ["STATE"] * 3


def test_chips_of_long_matches_are_whole():
    assert chips_of([1_234_567.0, -1_234_567.0]) == "1234567|-1234567"
    assert chips_of([0.5, -0.0, 1 / 3]) == "0.5|0|0.333333"


def interrupt():
    """Press Ctrl-C."""
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


def test_what_was_dealt_before_ctrl_c_is_told_and_kept(tmp_path):
    log = tmp_path / "match.log"

    def presses(line):
        answer = waits(line)
        if answer is None:
            interrupt()
        return answer

    printed, said = dealt(free_port(), presses, waits, "-n", "12", "--log", str(log), code=130)
    assert printed.startswith("3 hands\n")
    assert said.endswith("error: stopped after 3 hands\n")
    assert len(log.read_text().splitlines()) == 7
