"""One person among agents: whose turn it is, what is said, taking back, hints, and the record.

The session holds the whole game, but shows the person nothing except what her `View` tells (R30). It knows no
terminal: whoever runs it gives it a `Talk`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from rich.text import Text

from agents.base import Agent
from spades_cli.scores import score_table
from spades_cli.seated.answers import HELP, HINT, QUIT, UNDO, AnswerError, action_words, choices_of, parse_answer
from spades_cli.seated.screen import Screen, help_text
from spades_cli.seated.talk import Question, Talk
from spades_env.actions import DONE, TAKE_NEXT
from spades_env.engine.batch import IllegalActionError
from spades_env.engine.lockstep import decision_keys
from spades_env.envs.players import Player, choose
from spades_env.game import Game, View
from spades_env.record.form import MAX_NAME
from spades_env.render.ansi import seat_name

PERSON: Final = "human"
"""The person's name in records."""

Record = dict[str, Any]


class Session:
    """A person plays a match, or some deals of it.

    Args:
        game: where to begin; played on in place.
        players: the agent on each seat, None on the person's.
        hinter: the agent that is asked for hints.
        talk: how the person is spoken with.
        practice: she may take back.
        deals: so many deals at most; None: the whole match.
        save: gets the record of each deal once it is left, finished or not.
        symbols: suits are ♠♥♣♦, else letters.
    """

    def __init__(
        self,
        game: Game,
        players: Sequence[Player | None],
        hinter: Agent,
        talk: Talk,
        *,
        practice: bool = False,
        deals: int | None = None,
        save: Callable[[Record], None] | None = None,
        symbols: bool = True,
    ) -> None:
        self.game = game
        self._players, self._hinter, self._talk = players, hinter, talk
        self._seat = players.index(None)
        self._practice, self._save = practice, save
        self._last_deal = None if deals is None else game.deal + deals - 1
        self._screen = Screen(["you" if player is None else player.name for player in players], symbols=symbols)
        self._begin_deal()

    def run(self) -> bool:
        """Play until the match or the number of deals is over: True; or until the person quits: False."""
        try:
            while self._play_deal() and self._leave_deal():
                self._keep()
                if self._is_last():
                    return True
                self.game.next_deal()
                self._begin_deal()
            return False
        finally:
            self._keep()  # also after Ctrl-C, or when an agent fails

    # ------------------------------------------------------------ a deal

    def _begin_deal(self) -> None:
        self._past: list[Game] = []
        """Positions in which she decided in this deal."""
        self._hints = self._undone = 0
        self._kept = False

    def _play_deal(self) -> bool:
        """Play to the end of the deal; False if the person quits."""
        while self.game.turn is not None:
            if self.game.turn != self._seat:
                self._let_act(self.game.turn)
            elif not self._decide():
                return False
        return True

    def _let_act(self, seat: int) -> None:
        """Let an agent act, on her view alone."""
        player = self._players[seat]
        assert player is not None
        action = self._choice_of(player, self.game.view(seat))
        try:
            self._apply(action)
        except IllegalActionError as error:
            raise IllegalActionError(f"agent {player.name!r}: {error}") from None

    def _choice_of(self, player: Player, view: View) -> int:
        keys = np.zeros(1, np.uint64)
        decision_keys(self.game.states, keys)
        return int(choose(player, view.views, keys)[0])

    def _apply(self, action: int) -> None:
        """Take an action, and say what the person sees of it."""
        before = self._view()
        self.game.apply(action)
        after = self._view()
        if before.phase not in ("bid", "play"):
            self._say_draft_or_look(before, after)
        if len(after.trick_winners) > len(before.trick_winners):
            self._talk.say(self._screen.trick(after, len(after.trick_winners) - 1))

    def _view(self) -> View:
        return self.game.view(self._seat)

    def _say_draft_or_look(self, before: View, after: View) -> None:
        """What everybody hears of a look, a draw or an exchange, and the cards that came to the person."""
        actor, action = before.turn, after.actions[-1]
        said = "a card" if action < 0 else action_words(after, action)
        if actor != self._seat:
            self._talk.say(Text(f"{seat_name(after.rules, actor or 0)}: {said}", style="dim"))
        came = sorted(set(after.hand) - set(before.hand), reverse=True)
        if actor == self._seat and came and (action in (TAKE_NEXT, DONE) or before.phase == "exchange"):
            self._talk.say(Text("you get ") + self._screen.cards(came))

    # ------------------------------------------------------------ a decision

    def _decide(self) -> bool:
        """Ask until there is a decision or something is taken back; False if the person quits."""
        self._show()
        while (answer := self._ask(self._question())) != QUIT:
            if answer == UNDO:
                if self._take_back():
                    return True
            elif answer == HINT:
                self._hint()
            elif answer == HELP:
                self._talk.say(Text(help_text(practice=self._practice, hinter=self._hinter.name)))
            elif self._took(answer):
                return True
        return False

    def _show(self) -> None:
        """The table before a decision."""
        view, screen = self._view(), self._screen
        self._talk.say(Text(""))
        self._talk.say(screen.headline(view))
        self._talk.say(screen.scores(view))
        self._talk.say(screen.seats(view))
        draft = screen.draft(view)
        if draft:
            self._talk.say(draft)
        self._talk.say(Text("hand: ") + screen.hand(view))

    def _question(self) -> Question:
        view = self._view()
        choices = choices_of(view)
        only = choices[0].value if len(choices) == 1 else None
        return Question(
            prompt=f"{_prompt(view)} ({HELP} for help): ",
            labels=[self._screen.choice(choice, view) for choice in choices],
            values=[choice.value for choice in choices],
            default=only,
        )

    def _ask(self, question: Question) -> str:
        """The answer; the end of input is a wish to quit."""
        answer = self._talk.ask(question)
        if answer is None:
            return QUIT
        return _COMMANDS.get(answer.lower(), answer)

    def _took(self, answer: str) -> bool:
        """Take the action that was answered, or say why it cannot be."""
        try:
            action = parse_answer(self._view(), answer)
        except AnswerError as error:
            self._talk.say(Text(str(error), style="yellow"))
            return False
        self._past.append(self.game.copy())
        self._apply(action)
        return True

    def _hint(self) -> None:
        view = self._view()
        action = self._choice_of(self._hinter, view)
        self._hints += 1
        said = self._screen.card(action) if action < 54 else Text(action_words(view, action), style="bold")
        self._talk.say(Text(f"{self._hinter.name} would choose ") + said)

    def _take_back(self) -> bool:
        """Go back to her last decision of this deal, if she may and there is one."""
        if not self._practice:
            self._talk.say(Text("taking back is for practice: start with --practice", style="yellow"))
        elif not self._past:
            self._talk.say(Text("you have decided nothing in this deal yet", style="yellow"))
        else:
            self.game = self._past.pop()
            self._undone += 1
            self._talk.say(Text("taken back", style="yellow"))
            return True
        return False

    # ------------------------------------------------------------ after a deal

    def _is_last(self) -> bool:
        return self.game.match_over or self.game.deal == self._last_deal

    def _leave_deal(self) -> bool:
        """Show the score and ask how to go on; False if the person quits. Taking back plays the deal on."""
        while True:
            self._talk.say(score_table(self._view()))
            self._talk.say(Text(self._ending(), style="bold"))
            if self._is_last() and not self._practice:
                return True
            answer = self._ask(self._closing_question())
            while answer not in ("", QUIT, UNDO) or (answer == UNDO and not self._take_back()):
                if answer != UNDO:
                    self._talk.say(Text(f"{answer!r} is no answer here: Enter, {UNDO} or {QUIT}", style="yellow"))
                answer = self._ask(self._closing_question())
            if answer != UNDO:
                return answer == ""
            if not self._play_deal():
                return False

    def _closing_question(self) -> Question:
        values = {"": "Enter: " + ("end" if self._is_last() else "next deal")}
        if self._practice:
            values[UNDO] = f"{UNDO}: take back"
        values[QUIT] = f"{QUIT}: quit"
        return Question("go on? ", [Text(label) for label in values.values()], list(values), default="")

    def _ending(self) -> str:
        view = self._view()
        if not view.match_over:
            return "the match goes on"
        if view.winner is None:
            return "the match ends without a winner (max_deals)"
        return "you win the match" if view.winner == self._seat % 2 else "you lose the match"

    def _keep(self) -> None:
        """Save the record of this deal, once, if anything has happened in it."""
        if self._save is None or self._kept or not self.game.actions:
            return
        self._kept = True
        names = [PERSON if player is None else player.name for player in self._players]
        meta = {"practice": self._practice, "taken_back": self._undone, "hints": self._hints}
        self._save(self.game.to_record(players=[name[:MAX_NAME] for name in names], meta=meta))


def _prompt(view: View) -> str:
    if view.phase == "blind":
        return "double nil, or draw?" if view.rules.deal == "draft" else "blind nil, or look?"
    return _PROMPTS[view.phase]


_PROMPTS: Final = {
    "bid": "your bid",
    "play": "your card",
    "draft": "keep it?",
    "exchange": "give up a card",
}
_COMMANDS: Final = {
    **{command: command for command in (HELP, HINT, UNDO, QUIT)},
    "help": HELP,
    "hint": HINT,
    "undo": UNDO,
    "quit": QUIT,
    "exit": QUIT,
}
