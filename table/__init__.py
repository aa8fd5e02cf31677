"""The table: a web server on which people and agents sit down together, `spades table` (docs/table.md).

Rules come from the engine alone, a seat's messages from her view alone. docs/table_protocol.md is the protocol.
"""

__spades_env__ = True
