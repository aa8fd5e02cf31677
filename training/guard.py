"""Guard: judges every evaluation of a run by its alarms, and warns, stops the run, or takes it back to its best."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from training.alarms import AlarmsConfig, alarm_text, alarms_of, best_of
from training.checkpoint import restore_weights, save_checkpoint
from training.report import History
from training.selfplay import SelfPlayPPO

BEST_FILE: Final = "best.safetensors"
"""The state at the best evaluation so far, in the format of a checkpoint."""
RATE_AFTER: Final = 0.5
"""Factor of the learning rate for every roll-back."""


class AlarmError(ValueError):
    """Alarms have stopped the run; the message names them and says how to go on."""


class Guard:
    """Alarms of a run. What was done stands in the history, so a resumed run knows all of it.

    An entry of the history gets `alarms`, `alarm_action` (None, warn, stop or roll_back), and `rolled_back_to`, the
    deals of the evaluation whose weights the run went on with.
    """

    def __init__(self, folder: Path, model: SelfPlayPPO, history: History) -> None:
        self._best_path = folder / BEST_FILE
        self._model = model
        self._history = history
        self._bands: AlarmsConfig | None = model.config.alarms
        model.rate_factor = RATE_AFTER ** self._rolled_back()

    def judge(self, entry: dict[str, Any]) -> None:
        """Note the alarms of the last entry of the history, and keep its weights as the best or go back to these."""
        entry |= {"alarms": [], "alarm_action": None, "rolled_back_to": None}
        if self._bands is None:
            return
        best = best_of(self._history[:-1], entry)
        entry["alarms"] = alarms_of(entry, self._bands, best)
        entry["alarm_action"] = self._action(entry, best)
        if best_of(self._history, entry) is entry and self._bands.on_alarm != "warn":
            save_checkpoint(self._best_path, self._model, [])
        if entry["alarm_action"] == "roll_back" and best is not None:
            restore_weights(self._best_path, self._model, best["deals"])
            entry["rolled_back_to"] = best["deals"]
            self._model.rate_factor = RATE_AFTER ** self._rolled_back()
            self._go_on_from_here()

    def resume(self) -> None:
        """Take up a run where it was left: one that alarms had stopped is judged again, by the bands of today."""
        if not self._history or self._history[-1]["deals"] != self._model.num_timesteps:
            return
        entry = self._history[-1]
        if entry.get("rolled_back_to") is not None:
            self._go_on_from_here()
        elif entry.get("alarm_action") == "stop":
            self.judge(entry)
            self.check(entry)

    def check(self, entry: dict[str, Any] | None) -> None:
        """Raise AlarmError if the alarms of `entry` stop the run."""
        if entry is None or entry["alarm_action"] != "stop":
            return
        told = "; ".join(alarm_text(alarm) for alarm in entry["alarms"])
        why = ""
        if self._bands is not None and self._bands.on_alarm == "roll_back":
            times = self._rolled_back()
            why = f", after {times} roll-backs" if times else ", without weights of a good evaluation to go back to"
        raise AlarmError(
            f"alarms have stopped the run after {entry['deals']:,} of {self._model.config.deals:,} deals{why}: {told}; "
            "its checkpoint is kept; to go on: --resume with a wider band in `alarms`, or --set alarms.on_alarm=warn"
        )

    def _action(self, entry: dict[str, Any], best: Any) -> str | None:
        """What comes of the alarms of an entry."""
        bands = self._bands
        if bands is None or not entry["alarms"] or entry["deals"] < bands.after * self._model.config.deals:
            return None
        if bands.on_alarm == "roll_back" and (not self._can_go_back(best) or self._rolled_back() >= bands.roll_backs):
            return "stop"
        return bands.on_alarm

    def _can_go_back(self, best: Any) -> bool:
        """Whether there is a best evaluation, and its weights were kept: a run that only warned kept none."""
        return best is not None and self._best_path.exists()

    def _rolled_back(self) -> int:
        """How often the run went back."""
        return sum(entry.get("rolled_back_to") is not None for entry in self._history)

    def _go_on_from_here(self) -> None:
        """Let the next deals be played with the weights as they now are, not with those of before a roll-back."""
        if self._model.apart is not None:
            self._model.apart.renew(self._model.policy)
