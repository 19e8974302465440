"""Hold'em tables for human players."""
