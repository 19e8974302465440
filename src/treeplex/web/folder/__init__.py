"""The folder that is served: what there is in it, what a page may name, and files in and out."""
