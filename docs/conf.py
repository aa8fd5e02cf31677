"""How Sphinx makes a site of the pages in this folder (`make docs`).

The pages are plain Markdown that a forge shows too. What differs on the site is done here: links that leave this
folder, and docstrings, whose single backticks are code as in Markdown.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Final

from docutils import nodes
from sphinx.application import Sphinx

import spades_env

project = "spades_env"
author = "The spades_env authors"
copyright = "The spades_env authors, MIT licence"
version = release = spades_env.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["examples", "leaderboard"]
nitpicky = True

myst_heading_anchors = 4
highlight_language = "text"
smartquotes_action = "De"  # dashes and dots only: quotation marks in docstrings are those of code

default_role = "code"
napoleon_custom_sections = [("Attributes", "params_style")]  # several names in a line, as in the sections of arguments
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
python_display_short_literal_types = True
python_maximum_signature_line_length = 100
nitpick_ignore_regex = [
    # Other people's types, which could be looked up in the network only.
    (r"py:.*", r"(numpy|collections|pathlib|os|gymnasium|pettingzoo)\..*"),
    # Types that come up in signatures and that no program needs to make.
    (r"py:.*", r"spades_env\.envs\.players\.Player"),
    (r"py:.*", r"evaluation\.(play\.Tally|variance\.\w+\.\w+)"),
]

html_theme = "furo"
html_title = f"spades_env {release}"
html_show_sphinx = False
html_copy_source = False

OUTSIDE: Final = {"../README.md": "overview.md"}
"""Links out of this folder, as the pages write them for the forge, and the pages that hold the same text here."""


def lead_inside(app: Sphinx, page: str, source: list[str]) -> None:
    """Let a page's links to files of `OUTSIDE` lead to their pages; `source` holds its text, changed in place."""
    for target, inside in OUTSIDE.items():
        source[0] = source[0].replace(f"]({target}", f"]({inside}")


def name_pages(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Let links whose text is a file's name, such as "docs/env.md", show the page's title up to a colon or comma."""
    for link in doctree.findall(nodes.reference):
        name = PurePosixPath(link.astext())
        if name.suffix == ".md" and name.stem in app.env.titles:
            title = re.split("[:,]", app.env.titles[name.stem].astext())[0]
            link.children = []
            link += nodes.inline("", title)


def ready_for_napoleon(app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Change a docstring's lines in place so that napoleon does not misread them.

    It takes a property's first line up to its colon for a type unless a comment comes before, and knows no heading
    with a remark in it, such as "Attributes (n = number of games):"; the remark becomes a paragraph.
    """
    if what in {"attribute", "data", "property"}:
        lines[:0] = ["..", ""]
    for k, line in enumerate(lines):
        if heading := re.fullmatch(r"(Args|Attributes) \((.+)\):", line):
            lines[k : k + 1] = [f"{heading[2]}.", "", f"{heading[1]}:"]


def setup(app: Sphinx) -> None:
    """Connect what this file adds to Sphinx."""
    app.connect("source-read", lead_inside)
    app.connect("doctree-resolved", name_pages)
    app.connect("autodoc-process-docstring", ready_for_napoleon, priority=400)  # before napoleon's, which have 500
