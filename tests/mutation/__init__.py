"""Mutation testing of the rules: every rule of the engine broken in turn, and a test that notices each.

`python -m tests.mutation` runs them all, docs/reliability.md describes it. The mutants stand in the `table_*` modules.
"""
