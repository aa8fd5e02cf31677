"""The server of `spades table` with quick agents alone and no pause, for tests that kill it; says its port."""

from __future__ import annotations

import sys

from table.limits import Limits
from table.serve import Options, listening_socket, serve

if __name__ == "__main__":
    listening = listening_socket("127.0.0.1", 0)
    limits = Limits(frames_per_second=1e6, frames_burst=10**6)
    options = Options(agents={"easy": "easy", "normal": "normal"}, database=sys.argv[1], pace="instant", limits=limits)
    serve(options, listening, lambda: print("port", listening.getsockname()[1], flush=True))
