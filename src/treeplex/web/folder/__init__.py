"""The served folder: its contents, names allowed in requests, downloads and uploads."""
