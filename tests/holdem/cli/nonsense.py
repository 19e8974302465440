"""What nobody means, for any option."""

NONSENSE = [
    "",
    " ",
    "x",
    "0",
    "-1",
    "1e999",
    "nan",
    "%",
    "a,,b",
    "50",
    "[1]",
    "{",
    "9" * 300,
    "é",
    "\0",
    ":",
    "AA:9",
    "Td",
]
