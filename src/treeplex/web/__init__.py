"""The table in the browser: a server on this machine and the page that it serves. The only importer of FastAPI."""
