"""What agents are worth: hands between them, AIVAT, local best response, exact winnings and statistics."""
