"""Browser interface: a local server and the page that it serves. The only importer of FastAPI."""
