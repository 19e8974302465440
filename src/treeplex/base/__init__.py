"""Foundations that know no game: settings, specs, files, workers, and the list of wings."""
