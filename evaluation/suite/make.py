"""Make the suite's frozen positions: `python -m evaluation.suite.make [NAME...]` writes evaluation/suite/data/NAME.npz.

A file depends on the seeds in its module and on `normal` and the solver of the time: to make one again with others
gives other positions, and its task a new version. It takes minutes.
"""

from __future__ import annotations

import argparse
import importlib
import time
from pathlib import Path
from typing import Final

from evaluation.suite.positions import FOLDER, save

MADE: Final = ("nil_decision", "nil_cover", "nil_attack", "endgames")
"""Files, by the name of the task."""
MODULES: Final = {"nil_cover": "nil_play", "nil_attack": "nil_play"}


def main() -> None:
    """Write the files asked for."""
    parser = argparse.ArgumentParser(prog="python -m evaluation.suite.make", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(MADE)}; default: all")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder to write to (default: the shipped one)")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in MADE]
    if unknown:
        parser.error(f"NAME is {unknown[0]!r}; allowed: {', '.join(MADE)}")
    for name in options.names or MADE:
        begun = time.perf_counter()
        module = importlib.import_module(f"evaluation.suite.{MODULES.get(name, name)}")
        columns = module.make(name) if name in MODULES else module.make()
        path = options.out / f"{name}.npz"
        save(path, columns)
        seconds = time.perf_counter() - begun
        print(
            f"{path.name}: {len(columns['dealer'])} positions, {path.stat().st_size:,} bytes, {seconds:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
