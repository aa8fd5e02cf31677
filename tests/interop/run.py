"""`make interop`: test the environment with each library in a virtual environment of its own, and sum up.

Their pins contradict each other, so no one environment can hold them. Standard library only. The environments lie in
.interop/, and are made anew when what they hold changes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).resolve().parent
ROOT: Final = HERE.parent.parent
HOME: Final = ROOT / ".interop"
PAGE: Final = ROOT / "docs" / "interop.md"
BEGIN, END = "<!-- table of make interop -->", "<!-- end of the table -->"
TESTERS: Final = ("pytest>=8.0", "pytest-timeout>=2.3")
BESIDE: Final = ("gymnasium", "pettingzoo", "numpy", "torch")
"""Packages whose versions are told beside the library's own."""
HEADINGS: Final = ("library", "version", *BESIDE, "passed", "failed", "install", "tests", "tested")

Result = dict[str, Any]


def libraries() -> dict[str, dict[str, Any]]:
    """What libraries.toml says of each library."""
    return tomllib.loads((HERE / "libraries.toml").read_text(encoding="utf-8"))


def requirements(library: dict[str, Any]) -> list[str]:
    """The library and pytest, and this package's dependencies but those that the library overrules."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    overruled = set(library.get("overruled", ()))
    own = [line for line in project["dependencies"] if re.split(r"[^\w-]", line, maxsplit=1)[0] not in overruled]
    # What is overruled is still needed, in the version that the library likes.
    return [*library["requirements"], *own, *sorted(overruled), *TESTERS]


def install(name: str, library: dict[str, Any]) -> tuple[float, str]:
    """Make the environment of a library, unless it is there; seconds that took, and why it failed, or ""."""
    folder, wanted = HOME / name, requirements(library)
    constraints = ROOT / "constraints.txt"
    text = json.dumps([wanted, constraints.read_text(encoding="utf-8"), sys.version])
    digest, stamp = hashlib.sha256(text.encode()).hexdigest(), folder / "installed.json"
    if stamp.exists():
        installed = json.loads(stamp.read_text(encoding="utf-8"))
        if installed["digest"] == digest:
            return float(installed["seconds"]), ""
    shutil.rmtree(folder, ignore_errors=True)
    began = time.monotonic()
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    steps = ([*pip, "-c", str(constraints), *wanted], [*pip, "--no-deps", "-e", str(ROOT)])
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True, env=os.environ | library.get("env", {}))
        if done.returncode:
            (HOME / f"{name}.pip.log").write_text(done.stdout + done.stderr, encoding="utf-8")
            return time.monotonic() - began, _reason(done.stderr)
    seconds = time.monotonic() - began
    stamp.write_text(json.dumps({"digest": digest, "seconds": seconds}), encoding="utf-8")
    return seconds, ""


def _reason(errors: str) -> str:
    """The line of pip's errors that says most: the exception of a build that failed, else pip's last."""
    lines = [line.strip() for line in errors.splitlines()]
    raised = [line for line in lines if re.match(r"[\w.]*(Error|Exception): ", line)]
    told = [line for line in lines if line.startswith("ERROR: ")]
    return (raised or told or ["pip failed"])[-1].removeprefix("ERROR: ")


def versions(name: str, packages: Sequence[str]) -> dict[str, str]:
    """Versions of packages in the environment of a library, "" for one that is not there."""
    program = (
        "import importlib.metadata as m, json, sys\n"
        "there = {d.metadata['Name'].lower(): d.version for d in m.distributions()}\n"
        "print(json.dumps({p: there.get(p, '') for p in sys.argv[1:]}))"
    )
    python = HOME / name / "bin" / "python"
    found = subprocess.run([str(python), "-c", program, *packages], capture_output=True, text=True, check=True)
    return dict(json.loads(found.stdout))


def run_tests(name: str, library: dict[str, Any], extra: Sequence[str]) -> tuple[float, dict[str, int]]:
    """Run the tests of a library in its environment; seconds and how many passed, failed and were skipped."""
    report = HOME / f"{name}.xml"
    report.unlink(missing_ok=True)
    env = (
        os.environ
        | library.get("env", {})
        | {"NUMBA_CACHE_DIR": str(HOME / "numba"), "PYTHONPATH": "", "PYTHONNOUSERSITE": "1"}
    )
    command = [str(HOME / name / "bin" / "python"), "-m", "pytest", "-q", "-c", str(HERE / "pytest.ini")]
    command += [f"--junitxml={report}", str(HERE / f"test_{name}.py"), *extra]
    began = time.monotonic()
    subprocess.run(command, cwd=ROOT, env=env)
    seconds = time.monotonic() - began
    if not report.exists():
        return seconds, {"passed": 0, "failed": 1, "skipped": 0}
    suite = ElementTree.parse(report).getroot().find("testsuite")
    assert suite is not None
    total, skipped = int(suite.attrib["tests"]), int(suite.attrib["skipped"])
    failed = int(suite.attrib["failures"]) + int(suite.attrib["errors"])
    return seconds, {"passed": total - failed - skipped, "failed": failed, "skipped": skipped}


def check(name: str, library: dict[str, Any], extra: Sequence[str]) -> Result:
    """Install and test one library, and keep the result in .interop/NAME.json."""
    print(f"== {name}, in {(HOME / name).relative_to(ROOT)}", file=sys.stderr)
    seconds, reason = install(name, library)
    result: Result = {"library": name, "tested": time.strftime("%Y-%m-%d"), "reason": reason, "install": seconds}
    if not reason:
        beside = versions(name, (library["package"], *BESIDE))
        result |= beside | {"version": beside[library["package"]]}
        took, counts = run_tests(name, library, extra)
        result |= counts | {"tests": took}
    (HOME / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return result


def cells(result: Result) -> list[str]:
    """The line of the table for one library."""
    if result["reason"]:
        unknown = [""] * (len(HEADINGS) - 4)
        return [result["library"], "not installable", *unknown, f"{result['install']:.0f} s", result["tested"]]
    shown = {key: str(result.get(key, "")) for key in HEADINGS}
    shown["install"] = f"{result['install']:.0f} s"
    shown["tests"] = f"{result['tests']:.0f} s"
    return [shown[key] for key in HEADINGS]


def table(results: Sequence[Result]) -> str:
    """All results as a Markdown table, and the reasons of those that could not be installed below it."""
    lines = ["| " + " | ".join(HEADINGS) + " |", "| " + " | ".join(["---"] * len(HEADINGS)) + " |"]
    lines += ["| " + " | ".join(cells(result)) + " |" for result in results]
    lines += [f"\n{result['library']}: {result['reason']}" for result in results if result["reason"]]
    return "\n".join(lines)


def write_page(results: Sequence[Result]) -> None:
    """Put the table between its two marks in docs/interop.md."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n\n{table(results)}\n\n{END}{after}", encoding="utf-8")


def main(arguments: Sequence[str]) -> int:
    """Test the libraries named and print the table; 1 if a test failed or a library could not be installed."""
    known = libraries()
    parser = argparse.ArgumentParser(description="Test the environment with other libraries, each in its own venv.")
    parser.add_argument("names", nargs="*", metavar="LIBRARY", help=f"which; all if none: {', '.join(known)}")
    parser.add_argument("--write", action="store_true", help="put the table of all kept results into docs/interop.md")
    parser.add_argument("--pytest", default="", metavar="OPTIONS", help="more options for pytest, as one text")
    given = parser.parse_args(arguments)
    unknown = sorted(set(given.names) - set(known))
    if unknown:
        parser.error(f"library is {unknown[0]!r}; allowed: {', '.join(known)}")
    HOME.mkdir(exist_ok=True)
    names = given.names or list(known)
    results = [check(name, known[name], given.pytest.split()) for name in names]
    print(table(results))
    if given.write:
        kept = [HOME / f"{name}.json" for name in known]
        write_page([json.loads(path.read_text(encoding="utf-8")) for path in kept if path.exists()])
    return int(any(result["reason"] or result["failed"] for result in results))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
