"""Browser interface: a local server and the page that it serves. Only this package imports FastAPI."""
