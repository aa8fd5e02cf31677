"""An agent's program that does one thing wrong: `python faulty_client.py HOW [N]`, at its N-th request from 0.

Everything else it answers with the first legal action. Standard library only, so that it starts fast.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

HELLO = {"type": "hello", "protocol": "spades-agent", "version": 1, "name": "faulty"}
BAD_HELLOS: dict[str, Any] = {
    "other protocol": HELLO | {"protocol": "chess"},
    "version 2": HELLO | {"version": 2},
    "version true": HELLO | {"version": True},
    "no name": {name: value for name, value in HELLO.items() if name != "name"},
    "long name": HELLO | {"name": "x" * 61},
    "bell in name": HELLO | {"name": "a\abell"},
    "a list": [HELLO],
}


def say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def answer(request: dict[str, Any], **changed: Any) -> None:
    say(json.dumps({"id": request["id"], "action": request["legal"][0]} | changed) + "\n")


def go_wrong(how: str, request: dict[str, Any]) -> None:
    """Do what `how` says instead of answering."""
    if how == "hang":
        time.sleep(60)
    elif how == "exit":
        sys.stderr.write("\x1b[31mTraceback:\n  it is broken")
        sys.exit(3)
    elif how == "half a line":
        say('{"id":')
        sys.exit(0)
    elif how == "close":
        os.close(1)
        time.sleep(60)
    elif how == "endless line":
        while True:
            say("x" * 1000)
    elif how == "endless lines":
        while True:
            answer(request)
    elif how == "twice":
        answer(request)
        answer(request)
    elif how == "bytes":
        sys.stdout.buffer.write(b"\xff\xfe\n")
        sys.stdout.flush()
    elif how == "illegal":
        answer(request, action="AS" if request["phase"] == "bid" else "bid 3")
    elif how == "nonsense":
        answer(request, action="resign")
    elif how == "lower case":
        answer(request, action=request["legal"][0].lower(), comment="sure of it")
    elif how == "other id":
        answer(request, id=request["id"] + 1)
    elif how == "id as text":
        answer(request, id=str(request["id"]))
    elif how == "no text":
        answer(request, action=58)
    else:
        say({"not JSON": "let me see", "deep": "[" * 4000, "list": "[1]", "blank": ""}[how] + "\n")


def main(how: str, at: int = 0, place: str = "") -> None:
    """Answer until the input ends; "stay" stays then.

    `place`: a file; the fault happens only if it does not exist, and writes the process's number there.
    """
    if how == "silent":
        time.sleep(60)
    if how == "banner":
        say("Welcome to my bot\n")
    for count, line in enumerate(sys.stdin, start=-1):
        message = json.loads(line)
        if message["type"] == "hello":
            say(json.dumps(BAD_HELLOS.get(how, HELLO)) + "\n")
            if how == "deaf":
                time.sleep(60)
        elif how not in ("nothing", "stay") and count == at and not (place and Path(place).exists()):
            if place:
                Path(place).write_text(str(os.getpid()))
            go_wrong(how, message)
        else:
            answer(message)
    if how == "stay":
        time.sleep(60)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:3]), *sys.argv[3:])
