"""Game-independent foundations: settings, specs, files, workers, and the list of wings."""
