"""What sort of action a name means, for its colour."""


def kind_of(name: str) -> str:
    """Fold, check, call, bet, raise, allin or other."""
    word = name.lower().replace("-", "").partition(" ")[0]
    return word if word in ("fold", "check", "call", "bet", "raise", "allin", "pass") else "other"
