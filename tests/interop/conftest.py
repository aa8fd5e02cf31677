"""Keeps the other test runs out of this folder: each file needs a library that only its own environment has."""

collect_ignore_glob = ["test_*.py"]
