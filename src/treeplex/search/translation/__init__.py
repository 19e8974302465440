"""Agents of games with few bets at tables with many: bets heard as others."""
