"""The pages as a site: links, images and anchors lead somewhere, the index holds every page, Sphinx does not complain.

Only the last test needs Sphinx (extra `docs`); the others read the Markdown.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]


def prose(text: str) -> str:
    """A page's text without code, in which brackets are no links and `#` begins no heading."""
    return re.sub(r"`[^`\n]+`", "`", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))


def anchors(page: Path) -> set[str]:
    """The anchors that a forge makes of a page's headings: lower case, hyphens for spaces, no punctuation."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    found: set[str] = set()
    for heading in re.findall(r"^#{1,6} +(.+?) *$", text, flags=re.M):
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        repeats = sum(1 for other in found if re.fullmatch(rf"{re.escape(slug)}(-\d+)?", other))
        found.add(f"{slug}-{repeats}" if slug in found else slug)
    return found


def broken_links(page: Path, text: str) -> list[str]:
    """The relative links and images in `text`, which stands in `page`, that lead nowhere."""
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)[^)]*\)", prose(text)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        place = page.parent / name if name else page
        if not place.exists() or (anchor and anchor not in anchors(place)):
            broken.append(target)
    return broken


def in_toctrees() -> list[str]:
    """The pages in the index's tables of contents, in order."""
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```\{toctree\}\n(.*?)^```", text, flags=re.M | re.S)
    return [f"{name}.md" for block in blocks for name in re.findall(r"<(\w+)>$", block, flags=re.M)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_images_and_anchors_lead_somewhere(page: Path) -> None:
    assert broken_links(page, page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("target", ["none.md", "images/none.png", "env.md#none", "#none", "../none/file.py"])
def test_a_broken_link_is_found(target: str) -> None:
    text = f"See [this]({target}), [that](env.md#rewards), [a file](../Makefile) and `code](none)`."
    assert broken_links(DOCS / "env.md", text) == [target]


def test_the_index_holds_every_page_once() -> None:
    pages = sorted(page.name for page in DOCS.glob("*.md") if page.name != "index.md")
    assert sorted(in_toctrees()) == pages


def test_the_index_lists_what_its_tables_of_contents_hold() -> None:
    """The lists are what a forge shows, the tables of contents what stands beside every page of the site."""
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    assert re.findall(r"^- \[[^\]]+\]\((\w+\.md)\)", text, flags=re.M) == in_toctrees()


def test_links_out_of_the_folder_are_known_to_the_site() -> None:
    """A link to a file that is no page of the site is a download there; for a page, conf.py must know where it is."""
    conf = (DOCS / "conf.py").read_text(encoding="utf-8")
    for page in sorted(DOCS.glob("*.md")):
        for target in re.findall(r"\]\((\.\./[^)#]+\.md)", prose(page.read_text(encoding="utf-8"))):
            assert f'"{target}":' in conf, f"{page.name}: {target}"


@pytest.mark.slow
@pytest.mark.skipif(not all(map(importlib.util.find_spec, ("sphinx", "myst_parser", "furo"))), reason="extra docs")
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    site = tmp_path / "site"
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-d", str(tmp_path / "doctrees")]
    done = subprocess.run([*command, str(DOCS), str(site)], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    assert {page.stem for page in DOCS.glob("*.md")} <= {page.stem for page in site.glob("*.html")}
    for name in ("SpadesAECEnv", "Rules.replace", "load_agent", "evaluate"):
        assert f'{name}"' in (site / "api.html").read_text(encoding="utf-8"), name
