"""`spades play`: answers and their refusals, a session with a scripted person, keys, what stays hidden, records."""

from __future__ import annotations

import io
import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from random_rules import random_rules
from record_games import SUITED
from rich.console import Console, RenderableType
from rich.text import Text
from test_leak import CASES, collect, scrambled

from agents.registry import load_agent
from spades_cli.main import main
from spades_cli.seated.answers import AnswerError, choices_of, parse_answer
from spades_cli.seated.screen import Screen
from spades_cli.seated.session import PERSON, Session
from spades_cli.seated.talk import KeyTalk, LineTalk, Question
from spades_env.actions import NUM_ACTIONS, action_text, parse_action
from spades_env.engine.batch import IllegalActionError
from spades_env.engine.lockstep import decision_keys
from spades_env.engine.state import PHASE_DEAL_OVER
from spades_env.game import Game, View
from spades_env.game.reasons import why_not
from spades_env.record import read_records
from spades_env.rules import PRESETS, Rules
from spades_env.view import empty_views, view_of

BIDS = ("bid 7", "nil", "bid 3", "bid 2")
MIXED = [
    "AS 2S KH QH JH TH 9H 8H AC 2C AD KD QD",
    "KS QS JS TS 9S 8S 7S 6S 5S 4S 3S AH 7H",
    "KC QC JC TC 9C 8C 7C 6C 5C 4C 3C 6H 5H",
    "JD TD 9D 8D 7D 6D 5D 4D 3D 2D 4H 3H 2H",
]
"""South holds every suit, West long spades, and the dealer is East, so that South bids and leads first."""

NORMAL = load_agent("normal")

Answer = Callable[[Question], str | None]


class Person:
    """Answers one after the other, then what `then` says (no more, unless given); `heard` is all she was shown."""

    def __init__(self, answers: Iterable[str | None] = (), then: Answer = lambda question: None) -> None:
        self._answers, self._then = list(answers), then
        self._console = Console(file=io.StringIO(), width=100, highlight=False)
        self.asked: list[Question] = []

    @property
    def heard(self) -> str:
        file = self._console.file
        assert isinstance(file, io.StringIO)
        return file.getvalue()

    def say(self, thing: RenderableType) -> None:
        self._console.print(thing)

    def ask(self, question: Question) -> str | None:
        self.asked.append(question)
        self._console.print(question.line())
        return self._answers.pop(0) if self._answers else self._then(question)


def first(question: Question) -> str:
    """Always the first choice, which after a deal is to go on."""
    return question.values[0]


def session(person: Person, game: Game, seat: int = 0, agents: str = "normal", **options: Any) -> Session:
    agent = load_agent(agents)
    players = [None if place == seat else agent for place in range(game.players)]
    return Session(game, players, NORMAL, person, **options)


# ---------------------------------------------------------------- answers


def position(*actions: str, rules: Any = "classic", seat: int = 0, hands: list[str] = MIXED) -> View:
    return Game.from_position(rules, dealer=3, hands=hands, actions=actions).view(seat)


@pytest.mark.parametrize(
    ("text", "action"),
    [
        *((text, "TH") for text in ("TH", "ht", "10h", "H10", " 10H ", "♥10", "10♥", "th", "5")),
        *((text, "KH") for text in ("kh", "HK", "2")),
        ("ac", "AC"),
        ("1", "KH"),
    ],
)
def test_a_card_is_understood_in_every_form(text: str, action: str) -> None:
    view = position(*BIDS)  # spades are not broken, so the list begins with the hearts
    numbers = {choice.value: choice.action for choice in choices_of(view)}
    expected = numbers[text] if text.isdecimal() else parse_action(action)
    assert parse_answer(view, text) == expected


def test_numbers_are_the_choices_shown() -> None:
    view = position(*BIDS)
    assert [choice.label for choice in choices_of(view)][:3] == ["KH", "QH", "JH"]
    assert [parse_answer(view, str(k)) for k in (1, 2, 3)] == [parse_action(card) for card in ("KH", "QH", "JH")]


@pytest.mark.parametrize(
    ("text", "action"), [("0", "nil"), ("nil", "nil"), ("bid 4", "bid 4"), ("4", "bid 4"), ("13", "bid 13")]
)
def test_a_bid_is_chosen_by_its_own_number(text: str, action: str) -> None:
    assert action_text(parse_answer(position(), text)) == action


def test_words_are_understood_by_their_beginning() -> None:
    blind = Game("modern", hands=SUITED, dealer=3, scores=(0, 100)).view(0)
    assert [action_text(parse_answer(blind, word)) for word in ("bl", "look", "l", "1")] == [
        "blind nil",
        "look",
        "look",
        "blind nil",
    ]
    draft = Game("two_player", seed=5, dealer=0)
    assert [action_text(parse_answer(draft.view(0), word)) for word in ("double nil", "dr")] == ["blind nil", "look"]
    with pytest.raises(AnswerError, match="'d' is no answer here: 1 to 2, or its word"):
        parse_answer(draft.view(0), "d")
    draft.apply("draw")
    assert [action_text(parse_answer(draft.view(0), word)) for word in ("k", "take", "2")] == [
        "keep",
        "take next",
        "take next",
    ]


NEVER_SPADES = "spades are led only when you hold nothing else (R13)"
LEAD_OTHERS = "spades are not broken yet, and you hold another suit to lead (R13)"


@pytest.mark.parametrize(
    ("rules", "actions", "seat", "text", "reason"),
    [
        ({}, BIDS, 0, "AS", f"AS: {LEAD_OTHERS}"),
        ({"lead_spades": "only_spades_left"}, BIDS, 0, "AS", f"AS: {NEVER_SPADES}"),
        ({}, (*BIDS, "AC"), 1, "KC", "KC: you do not hold it"),
        ({}, (*BIDS, "KH"), 1, "KS", "KS: hearts were led, and you hold some (R11)"),
        ({}, BIDS, 0, "bid 3", "bid 3: now you play a card"),
        ({}, (), 0, "AS", "AS: now you bid: a number of tricks, or nil (R7)"),
        ({}, (), 0, "14", "14 is not on the list: a number of tricks, or nil"),
        ({}, (), 0, "ace", "'ace' is no answer here: a number of tricks, or nil"),
        ({"nil_allowed": False}, (), 0, "0", "nil: nil is not allowed under these rules (R8)"),
        ({"min_bid": 3}, (), 0, "2", "bid 2: the lowest bid is 3 (R8)"),
        (
            {"max_team_bid": 8},
            ("bid 5", "nil"),
            2,
            "4",
            "bid 4: your team may bid 8 together at most, 1 each at least (R8)",
        ),
        (
            {"first_trick_spades": "forbid"},
            (*BIDS, "AC"),
            1,
            "KS",
            "KS: no spade in the first trick while you hold another suit (first_trick_spades)",
        ),
        (
            {"opening_lead": "low_club"},
            BIDS,
            0,
            "AC",
            "AC: every seat plays its lowest club to the first trick (low_club)",
        ),
        (
            {"opening_lead": "low_club"},
            (*BIDS, "2C"),
            1,
            "KS",
            "KS: without a club you play no spade to the first trick while you hold another suit (low_club)",
        ),
    ],
)
def test_an_illegal_answer_is_told_why(
    rules: dict[str, Any], actions: tuple[str, ...], seat: int, text: str, reason: str
) -> None:
    with pytest.raises(AnswerError) as caught:
        parse_answer(position(*actions, rules=rules, seat=seat), text)
    assert str(caught.value) == reason


def random_views(seed: int, deals: int) -> Iterator[View]:
    """The view of the seat to act at every decision of random play under random rules and the presets."""
    rng = random.Random(seed)
    for k in range(deals):
        rules = random_rules(np.random.default_rng(seed + k)) if k % 2 else rng.choice(list(PRESETS.values()))
        game = Game(rules, seed=seed + k)
        while game.turn is not None:
            yield game.view(game.turn)
            game.apply(rng.choice(game.legal_actions()))


def test_every_choice_can_be_typed_and_every_refusal_has_a_reason() -> None:
    """Under any rules: numbers, texts and labels lead to their actions, and nothing illegal is let pass."""
    for view in random_views(1, 24):
        legal = view.legal_actions()
        choices = choices_of(view)
        assert sorted(choice.action or 0 for choice in choices) == legal
        for choice in choices:
            assert choice.action is not None
            answers = (choice.value, choice.label, action_text(choice.action))
            assert {parse_answer(view, answer) for answer in answers} == {choice.action}
        for action in set(range(NUM_ACTIONS)) - set(legal):
            assert why_not(view, action).text
            with pytest.raises(AnswerError):
                parse_answer(view, action_text(action))


# ---------------------------------------------------------------- a session


@pytest.mark.parametrize("preset", PRESETS)
def test_a_match_is_played_and_scored(preset: str) -> None:
    """All presets, two deals: scores of the table are the game's, and every deal has its record."""
    records: list[dict[str, Any]] = []
    person = Person(then=first)
    game = Game(preset, seed=11)
    assert session(person, game, seat=1, deals=2, save=records.append).run()
    assert [record["deal"] for record in records] == [0, 1]
    for record in records:
        end = Game.from_record(record)
        assert end.deal_over
        assert record["players"][1] == PERSON
        assert end.result is not None
        for team, part in enumerate(end.result):
            rows = [line for line in person.heard.splitlines() if f"│ {team} (" in line]
            assert any(f"{part.points:+d} │" in row and f" {end.scores[team]} │" in row for row in rows)
    assert person.heard.count("takes it") + person.heard.count("you take it") == 26


def test_a_match_ends_with_its_winner() -> None:
    person = Person(then=first)
    play_on = session(person, Game(Rules(target=50), seed=3))
    assert play_on.run()
    assert play_on.game.match_over
    assert ("you win the match" in person.heard) == (play_on.game.winner == 0)


def test_the_same_answers_are_the_same_evening() -> None:
    heard = []
    for _ in range(2):
        person = Person(then=first)
        session(person, Game("modern", seed=4), deals=1).run()
        heard.append(person.heard)
    assert heard[0] == heard[1]


def test_an_illegal_card_is_refused_and_asked_again() -> None:
    person = Person(["3", "AS", "nonsense", "KH"])
    game = Game(hands=MIXED, dealer=3)
    played = session(person, game)
    assert not played.run()
    assert f"AS: {LEAD_OTHERS}" in person.heard
    assert "'nonsense' is no answer here" in person.heard
    assert (0, parse_action("KH")) in played.game.plays


def test_one_legal_card_is_played_by_enter() -> None:
    """With one legal choice left, and with no other, Enter alone takes it."""
    person = Person(then=first)
    session(person, Game("classic", seed=2), deals=1).run()
    for question in person.asked:
        if question.prompt.startswith("your card"):
            assert (question.default is not None) == (len(question.values) == 1)


def following_hints(person: Person) -> Callable[[Question], str]:
    """Ask for a hint, then do what it says."""

    def answer(question: Question) -> str:
        last = person.heard.rstrip().splitlines()
        hints = [line for line in last[-2:] if line.startswith("normal would choose ")]
        return hints[-1].removeprefix("normal would choose ") if hints else "h"

    return answer


@pytest.mark.parametrize("preset", ["modern", "two_player"])
def test_who_follows_every_hint_plays_like_the_hinter(preset: str) -> None:
    """The hint is the agent's own choice for that view and key: the deal is the one that four of her play."""
    person = Person()
    person._then = following_hints(person)
    played = session(person, Game(preset, seed=8), deals=1)
    played.run()
    alone = Game(preset, seed=8)
    keys = np.zeros(1, np.uint64)
    while alone.turn is not None:
        decision_keys(alone.states, keys)
        alone.apply(int(NORMAL.act(alone.view(alone.turn).views, keys)[0]))
    assert played.game == alone


def test_taking_back_goes_to_the_last_own_decision() -> None:
    records: list[dict[str, Any]] = []
    person = Person(["3", "KH", "u", "u", "u", "4", "QH", "q"])
    played = session(person, Game(hands=MIXED, dealer=3), practice=True, save=records.append)
    assert not played.run()
    assert person.heard.count("taken back") == 2
    assert "you have decided nothing in this deal yet" in person.heard
    assert records[0]["actions"][0] == [0, "bid 4"]
    assert records[0]["actions"][4] == [0, "QH"]
    assert records[0]["meta"] == {"practice": True, "taken_back": 2, "hints": 0}


def test_taking_back_needs_practice() -> None:
    person = Person(["3", "u"])
    played = session(person, Game(hands=MIXED, dealer=3))
    played.run()
    assert "start with --practice" in person.heard
    assert played.game.bids[0] == 3


def test_the_last_card_of_a_deal_can_be_taken_back() -> None:
    """The deal is played to its end again, scored again, and recorded once."""
    records: list[dict[str, Any]] = []
    closing = iter(["u", "x", ""])
    person = Person(then=lambda asked: next(closing) if asked.prompt == "go on? " else first(asked))
    assert session(person, Game("classic", seed=6), deals=1, practice=True, save=records.append).run()
    assert person.heard.count("bag count") == 2
    assert "'x' is no answer here: Enter, u or q" in person.heard
    assert [record["meta"]["taken_back"] for record in records] == [1]


def test_quitting_and_the_end_of_input_keep_the_deal() -> None:
    for last in ("q", None):
        records: list[dict[str, Any]] = []
        assert not session(Person(["3", last]), Game(hands=MIXED, dealer=3), save=records.append).run()
        assert records[0]["outcome"] is None
        assert records[0]["actions"][0] == [0, "bid 3"]


def test_nothing_is_kept_before_anything_happened() -> None:
    records: list[dict[str, Any]] = []
    session(Person([None]), Game(hands=MIXED, dealer=3), save=records.append).run()
    assert records == []


def test_an_interrupt_keeps_the_deal() -> None:
    def interrupt(question: Question) -> str:
        raise KeyboardInterrupt

    records: list[dict[str, Any]] = []
    with pytest.raises(KeyboardInterrupt):
        session(Person(["3"], then=interrupt), Game(hands=MIXED, dealer=3), save=records.append).run()
    assert len(records) == 1


class BadAgent:
    name = "bad"

    def act(self, views: Any, keys: Any) -> np.ndarray:
        return np.full(len(keys), 72, np.int16)


def test_an_agent_that_errs_is_named() -> None:
    records: list[dict[str, Any]] = []
    bad = Session(Game(hands=MIXED, dealer=3), [None, BadAgent(), NORMAL, NORMAL], NORMAL, Person(["3"]))
    bad._save = records.append
    with pytest.raises(IllegalActionError, match=r"agent 'bad': seat 1 may not do 72 \(done\)"):
        bad.run()
    assert len(records) == 1


# ---------------------------------------------------------------- what is hidden


def screen_of(states: Any, i: int, seat: int) -> str:
    """Everything the screen can say of a position to a seat."""
    views = empty_views(1)
    view_of(states, i, seat, views, 0)
    return screen_of_view(View(views))


def screen_of_view(view: View) -> str:
    """Everything the screen can say of a view."""
    screen = Screen([f"P{k}" for k in range(view.players)])
    person = Person()
    for thing in (screen.headline(view), screen.scores(view), screen.seats(view), screen.draft(view)):
        person.say(thing)
    person.say(screen.hand(view))
    for number in range(len(view.trick_winners)):
        person.say(screen.trick(view, number))
    if view.turn == view.seat:
        for choice in choices_of(view):
            person.say(screen.choice(choice, view))
    return person.heard


@pytest.mark.parametrize("name", CASES)
def test_nothing_hidden_is_on_the_screen(name: str) -> None:
    """R30: hidden cards are permuted, and not a letter changes."""
    rules, phases = CASES[name]
    states = collect(rules, tuple(phase for phase in phases if phase < PHASE_DEAL_OVER), 8, seed=9)
    rng = np.random.default_rng(9)
    for i in range(len(states)):
        seat = int(rng.integers(rules.players))
        assert screen_of(states, i, seat) == screen_of(scrambled(states, i, seat, rng), 0, seat)


def test_the_course_of_a_deal_tells_nothing_more() -> None:
    """R30: until the others' cards matter, two deals that look alike to South sound alike."""
    heard = []
    for hands in (MIXED, [MIXED[0], MIXED[3], MIXED[1], MIXED[2]]):
        person = Person(["3"])
        session(person, Game(hands=hands, dealer=0), agents="lowest").run()
        before_cards = person.heard.split("trick 1 of 13")[0]
        heard.append(before_cards)
    assert heard[0] == heard[1]
    assert "hand: A♠ 2♠" in heard[0]


def test_cards_not_looked_at_are_not_shown() -> None:
    """R10: and after looking they are."""
    person = Person(["look"])
    session(person, Game("modern", hands=SUITED, dealer=3, scores=(0, 100))).run()
    before, after = person.heard.split("hand: ")[1:]
    assert before.startswith("you have not looked at your cards")
    assert "♠" not in before
    assert after.startswith("A♠ K♠ Q♠ J♠ 10♠")


def test_an_exchange_says_what_is_drawn_to_its_seat_alone() -> None:
    """R28: the other's exchange is heard as so many cards."""
    own = Person(then=first)  # double nil, keep, and three cards given up
    session(own, Game("two_player", seed=5, dealer=0), deals=1).run()
    assert own.heard.count("you get ") == 1
    other = Person(then=first)
    Session(Game("two_player", seed=5, dealer=0), [DoubleNil(), None], NORMAL, other, deals=1).run()
    assert other.heard.count("seat 0: a card") == 3


class DoubleNil:
    """Calls double nil, gives up what it may, and is `normal` in everything else."""

    name = "double nil"

    def act(self, views: Any, keys: Any) -> np.ndarray:
        view = View(views.copy())
        if view.phase in ("blind", "exchange"):
            return np.array([view.legal_actions()[0]], np.int16)
        return NORMAL.act(views, keys)


# ---------------------------------------------------------------- lines and keys


def test_letters_stand_in_for_symbols() -> None:
    screen = Screen(["you"] * 4, symbols=False)
    assert screen.cards([51, 34, 52]).plain == "AS 10H LJ"
    assert Screen(["you"] * 4).cards([51, 34, 0]).plain == "A♠ 10♥ 2♣"


def ask_lines(text: str, question: Question, *, echo: bool = True) -> tuple[list[str | None], str]:
    file = io.StringIO()
    talk = LineTalk(Console(file=file, width=80), io.StringIO(text), echo=echo)
    return [talk.ask(question) for _ in range(2)], file.getvalue()


QUESTION = Question("card? ", [Text("1 A♠"), Text("2 K♠"), Text("3 Q♠")], ["1", "2", "3"])


def test_lines_are_read_and_repeated() -> None:
    answers, shown = ask_lines("  as \n", QUESTION)
    assert answers == ["as", None]
    assert shown.splitlines() == ["1 A♠   2 K♠   3 Q♠", "card? as", "1 A♠   2 K♠   3 Q♠", "card? end of input"]
    assert ask_lines("\n", Question("?", [Text("x")], ["x"], default="x"))[0] == ["x", None]


RIGHT, LEFT = "\x1b[C", "\x1b[D"


@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        ([RIGHT, "\r"], "1"),
        ([RIGHT, RIGHT, "\r"], "2"),
        ([LEFT, "\r"], "3"),
        (["\x1bOC", "\x1b[B", "\x1b[A", LEFT, "\n"], "3"),
        (["\r", "\r", RIGHT, "\r"], "1"),  # a stray Enter chooses nothing
        (["k", "h", "\x7f", "s", "\r"], "ks"),
        (["10h\r"], "10h"),  # pasted
        ([RIGHT + RIGHT + "\r"], "2"),
        (["x", RIGHT, "\r"], "1"),
        ([RIGHT, "q", "\r"], "q"),
        (["abc", "\x1b", "♠A", "\r"], "♠A"),
        (["\xe0M", "\r"], "1"),
        (["a", "\x1b[3~", "\x1b[1;5H", "s", "\r"], "as"),  # keys that mean nothing here
    ],
)
def test_keys_choose_or_type(sent: list[str], answer: str) -> None:
    keys = iter(sent)
    talk = KeyTalk(Console(file=io.StringIO(), width=80, force_terminal=True), lambda: next(keys))
    assert talk.ask(QUESTION) == answer


def test_the_end_of_a_terminal_is_the_end() -> None:
    def read() -> str:
        raise EOFError

    assert KeyTalk(Console(file=io.StringIO(), force_terminal=True), read).ask(QUESTION) is None


def test_enter_takes_the_only_choice() -> None:
    keys = iter("\r")
    talk = KeyTalk(Console(file=io.StringIO(), force_terminal=True), lambda: next(keys))
    assert talk.ask(Question("?", [Text("x")], ["1"], default="1")) == "1"


# ---------------------------------------------------------------- the command


def run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, answers: str, *arguments: str
) -> tuple[int, str, str]:
    monkeypatch.setattr("spades_cli.play.announce_compilation", lambda: None)
    monkeypatch.setattr("sys.stdin", io.StringIO(answers))
    monkeypatch.setenv("COLUMNS", "100")
    status = main(["play", *arguments])
    out, err = capsys.readouterr()
    return status, out, err


def test_the_command_plays_from_a_pipe_and_records(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "mine.jsonl"
    common = ("--seed", "7", "--opponents", "easy,normal", "--partner", "normal", "--record", str(path))
    answers = "3\n" + "1\n" * 13
    status, out, err = run(capsys, monkeypatch, answers, *common, "--deals", "1", "--seat", "2")
    assert (status, err) == (0, "")
    assert "seed 7. You are North." in out
    assert "│ 0 (South & North) │" in out
    assert run(capsys, monkeypatch, "3\nq\n", *common)[0] == 0
    whole, part = read_records(path)
    assert whole["players"] == ["normal", "normal", "human", "easy"]
    assert (whole["seed"], whole["outcome"] is None) == (7, False)
    assert part["players"] == ["human", "easy", "normal", "normal"]
    assert part["outcome"] is None


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("--seat", "4"), 2, "seat is 4; allowed: an int 0..3"),
        (("--seat", "2", "--rules", "two_player"), 2, "seat is 2; allowed: an int 0..1"),
        (("--partner", "easy", "--rules", "two_player"), 2, "partner is 'easy'; allowed: None"),
        (("--opponents", "easy,easy", "--rules", "two_player"), 2, "allowed: one agent"),
        (("--opponents", "easy,easy,easy"), 2, "allowed: one agent, or two: seats 1 and 3"),
        (("--deals", "0"), 2, "deals is 0; allowed: an int 1..1000000"),
        (("--deals", "1", "--match"), 2, "--match and --deals exclude each other"),
        (("--seed", "-1"), 2, "seed is -1"),
        (("--hint", "eazy"), 2, "agent 'eazy' does not exist: did you mean 'easy'?"),
        (("--partner", "cheating"), 2, "sees the hidden cards"),
        (("--rules", "clasic"), 2, "did you mean 'classic'?"),
        (("--record", "none/x.jsonl"), 1, "none/x.jsonl: No such file or directory"),
        (("--record", "cut.jsonl"), 2, "cut.jsonl ends in the middle of a line"),
    ],
)
def test_wrong_input_is_one_line(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    arguments: tuple[str, ...],
    status: int,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cut.jsonl").write_text('{"format"', encoding="utf-8")
    got, out, err = run(capsys, monkeypatch, "", *arguments)
    assert (got, out) == (status, "")
    assert err.startswith("spades: error: ")
    assert err.count("\n") == 1
    assert message in err
