"""An agent for spades_env as a program of its own, with nothing but Python's standard library.

    spades evaluate "process:python docs/examples/agents/by_key.py" random --deals 200

Takes any legal action, chosen by the request's key: the way to be random and still repeatable.
docs/external_agents.md explains the protocol.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def choose(request: dict[str, Any]) -> str:
    """Return one of the legal actions; equal keys choose equally."""
    legal: list[str] = request["legal"]
    return legal[int(request["key"]) % len(legal)]


def main() -> None:
    """Answer every line until the input ends."""
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            reply = {"type": "hello", "protocol": "spades-agent", "version": 1, "name": "by_key.py"}
        else:
            reply = {"id": message["id"], "action": choose(message)}
        # Without the flush the answer would wait in a buffer, and we for the next request.
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
