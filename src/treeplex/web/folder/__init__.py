"""The served folder: its contents, the names that requests may use, downloads and uploads."""
