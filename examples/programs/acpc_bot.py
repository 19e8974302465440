"""A player for the ACPC protocol on standard input and output; replace ``choose`` to connect another library."""

import re

STACK, BLINDS = 20_000, (100, 50)
"""Chips per hand, and the blinds by position: position 0 is the big blind, position 1 the small blind and the button."""


def choose(cards, board, history, to_call):
    """Return ``f``, ``c`` or ``r`` with the player's total chips in the hand; this one raises pairs and calls otherwise.

    Args:
        cards: the player's cards, such as ``["As", "Kd"]``.
        board: the board cards.
        history: pairs of position and action, such as ``(1, "r300")``.
        to_call: chips to call; 0 if checking is possible.
    """
    pair = cards[0][0] == cards[1][0] or {card[0] for card in cards} & {card[0] for card in board}
    raises = sum(action[0] == "r" for _, action in history)
    return f"r{300 * 3**raises}" if pair and raises < 3 else "c"


def read_betting(betting):
    """Return the history, each position's chips and the position to act (None if nobody acts) of ``r300c/cr600``."""
    history, paid, streets = [], list(BLINDS), betting.split("/")
    for number, street in enumerate(streets):
        to_act, actions = int(number == 0), re.findall(r"[fc]|r[0-9]+", street)
        for action in actions:
            history.append((to_act, action))
            if action != "f":
                paid[to_act] = int(action[1:]) if action[0] == "r" else max(paid)
            to_act = 1 - to_act
    showdown = len(streets) == 4 and len(actions) > 1 and actions[-1] == "c"
    over = "f" in betting or showdown or min(paid) == STACK
    return history, paid, None if over else to_act


def main():
    """Answer every line in which the player is to act."""
    print("VERSION:2.0.0", flush=True)
    while True:
        try:
            line = input().strip()
        except EOFError:
            return
        _, position, _, betting, dealt = line.split(":")
        history, paid, to_act = read_betting(betting)
        if to_act == int(position):
            hole, *board = dealt.split("/")
            cards = re.findall("..", hole.split("|")[to_act])
            action = choose(cards, re.findall("..", "".join(board)), history, max(paid) - paid[to_act])
            print(f"{line}:{action}", flush=True)


if __name__ == "__main__":
    main()
