"""Commands that play with programs elsewhere, each against a local program made for the test."""

import json
import socket
import threading

from typer.testing import CliRunner

from treeplex.play.cli.main import app


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
        with connection, connection.makefile("rw", newline="\r\n") as lines:
            try:
                lines.write("VERSION:2.0.0\r\n")
                lines.flush()
                for line in lines:
                    if said := answer(line.strip()):
                        lines.write(f"{said}\r\n")
                        lines.flush()
            except OSError:
                pass

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
