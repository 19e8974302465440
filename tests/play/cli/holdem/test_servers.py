"""Commands that play with programs elsewhere, each against a local program made for the test."""

import json
import socket
import threading
from contextlib import suppress

from typer.testing import CliRunner

from treeplex.play.cli.main import app
from treeplex.play.protocols.lines import LeftError, Lines


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
    assert min(found["changed"]) > 20
    assert notes.count("taken for r200") >= 1
    assert notes.count("note:") == 11
    for player in players:
        player.join(10)


def test_players_who_do_not_come_are_one_line():
    _, said = ran("dealer", "--port", str(free_port()), "--start", "0.05", code=2)
    assert said == "error: 0 of two players came within 0.05 s; start both, or allow more by --start\n"


def test_a_dealer_who_says_nothing_is_one_line():
    with socket.create_server(("127.0.0.1", 0)) as server:
        words = ["acpc", "uniform", "--port", str(server.getsockname()[1]), "--stack", "1000", "--wait", "0.1"]
        _, said = ran(*words, code=2)
    assert said.startswith("error: the dealer says nothing for 0.1 s (hand 0)")
    assert said.count("\n") == 1


def test_a_busy_port_is_one_line():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        _, said = ran("dealer", "--port", str(port), code=2)
    assert said == f"error: port {port} is in use by another program; end that one, or give another --port\n"


def test_no_dealer_is_one_line():
    port = free_port()
    _, said = ran("acpc", "uniform", "--port", str(port), "--stack", "1000", code=2)
    assert said == f"error: no dealer on 127.0.0.1, port {port}: connection refused; start one, or give --host and --port\n"
