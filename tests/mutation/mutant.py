"""What a mutant is: one rule, broken by replacing one text in one source file."""

from __future__ import annotations

from dataclasses import dataclass

ENGINE = "spades_env/engine/"
BATCH, BIDDING, DEAL, DRAFT = (f"{ENGINE}{name}.py" for name in ("batch", "bidding", "deal", "draft"))
PLAY, SCORING, STATE, STEP = (f"{ENGINE}{name}.py" for name in ("play", "scoring", "state", "step"))
AEC = "spades_env/envs/aec.py"
CARDS = "spades_env/cards.py"
POSITION = "spades_env/game/position.py"
RULES = "spades_env/rules.py"
VIEW = "spades_env/view.py"


@dataclass(frozen=True)
class Mutant:
    """One broken rule.

    id: unique, begins with the paragraph ("r14-...") or with "option-", "preset-" or "refusal-".
    breaks: what the rule text says otherwise: paragraphs ("R14") and fields of `Rules`, separated by blanks.
    file, old, new: `old` stands exactly once in `file` (relative to the root) and becomes `new`.
    means: the broken rule in words.
    first: the test file that runs before the others, the likely killer.
    """

    id: str
    breaks: str
    file: str
    old: str
    new: str
    means: str
    first: str = "tests/test_golden_engine.py"

    def applied(self, text: str) -> str:
        """Return the source `text` of the mutant's file with the rule broken; an `old` not there once is refused."""
        found = text.count(self.old)
        if found != 1:
            raise ValueError(f"mutant {self.id}: {self.old!r} stands {found} times in {self.file}; allowed: once")
        if self.old == self.new:
            raise ValueError(f"mutant {self.id}: new is {self.new!r}; allowed: something other than old")
        return text.replace(self.old, self.new)
