"""A small player of the competition's protocol for tests: the first argument says how it plays."""

import os
import random
import re
import socket
import subprocess
import sys
import time
from pathlib import Path


def said_by(style, seen, held, generator):
    """The answer of a player of this style, given the actions so far and its cards."""
    if style == "random":
        return generator.choice(["f", "c", f"r{generator.randrange(40)}", "r8"])
    if style == "illegal":
        return generator.choice(["r999999999", "r1", "x", "fold me", ""])
    if style == "mixed":  # probabilities, by the player's own cards
        return "f 0.5,c 0.25,r6 0.25" if "2" in held else "c 0.125,r6 0.875"
    if style == "unsure":
        return "c 0.5,r6 0.2"
    if style == "fine":  # bets between two chips of the game
        return "r255" if not seen else "c"
    return "c"


def acts(position, betting):
    """Whether a position is to act after a line of actions, heads-up, with nobody all-in."""
    streets = betting.split("/")
    now = re.findall(r"[fc]|r[0-9]*", streets[-1])
    ended = "f" in betting or (len(streets) == 4 and len(now) >= 2 and now[-1] == "c")
    first = 1 if len(streets) == 1 else 0
    return not ended and (first + len(now)) % 2 == position


def main():
    style, *rest = sys.argv[1:]
    generator = random.Random(5)
    print("the program starts", file=sys.stderr, flush=True)
    if style == "child":
        Path("child").write_text(str(subprocess.Popen(["sleep", "600"]).pid))
    if style == "mute":
        time.sleep(600)
    if style == "early":
        sys.exit(3)
    if style in ("piped", "mixed", "unsure"):
        source, target = sys.stdin, sys.stdout
    else:
        connection = socket.create_connection((rest[-2], int(rest[-1])))
        source, target = connection.makefile("r"), connection.makefile("w", newline="")
    target.write("HELLO\r\n" if style == "stranger" else "VERSION:2.0.0\r\n")
    target.flush()
    log = os.environ.get("ACPC_LOG")
    for line in map(str.strip, source):
        if log:
            with open(log, "a") as file:
                print(line, file=file)
        _, position, hand, betting, cards = line.split(":", 4)
        if not acts(int(position), betting):
            continue
        if style == "hang" and int(hand) == 4:
            time.sleep(600)
        if style == "die" and int(hand) == 4:
            print("out of luck", file=sys.stderr, flush=True)
            sys.exit(7)
        if style == "illegal":
            target.write("; a comment\r\n\r\nnonsense\r\n" + re.sub(":[0-9]+:", ":99999:", line, count=1) + ":c\r\n")
        said = said_by(style, betting, cards.split("/")[0], generator)
        target.write(f"{line}:{said}\r\n")
        target.flush()


main()
