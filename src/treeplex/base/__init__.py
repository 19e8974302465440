"""Game-independent foundations: settings, specs, files, workers and the registry of wings."""
