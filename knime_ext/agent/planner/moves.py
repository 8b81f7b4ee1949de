"""The next move of a planner: calls to make, or the answer."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage

from knime_ext.agent.planner.answer import compose, describe
from knime_ext.agent.planner.filling import Filling, Place, best_data, data_fit, fill
from knime_ext.agent.planner.goals import Goal, Plan, evidence_for, name_fit, plan, with_makers
from knime_ext.agent.planner.offers import Offers
from knime_ext.agent.planner.transcript import Attempt, Transcript, read_transcript

__all__ = ["Move", "PlannedCall", "next_move"]

MAX_ATTEMPTS = 3

_CALL_ID = re.compile(r"^offline_\d+_goal_(\d+)$")
_QUOTED = re.compile(r"['\"`]([A-Za-z_][\w.]*)['\"`]")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCall:
    """A call to make."""

    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """What to say, and the calls to make; no calls means that the text is the answer."""

    text: str
    calls: tuple[PlannedCall, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Position:
    """A plan and how far it has come."""

    whole: Plan
    transcript: Transcript

    def attempts(self, index: int) -> list[Attempt]:
        """The calls made for a goal."""
        return [attempt for attempt in self.transcript.attempts if self._goal_of(attempt) == index]

    def _goal_of(self, attempt: Attempt) -> int:
        found = _CALL_ID.match(attempt.call_id)
        if found:
            return int(found.group(1))
        names = [goal.offer.name for goal in self.whole.goals]
        return names.index(attempt.tool) if attempt.tool in names else -1

    def is_open(self, index: int) -> bool:
        """True if a goal is neither reached nor given up."""
        mine = self.attempts(index)
        return len(mine) < MAX_ATTEMPTS and all(attempt.failed for attempt in mine)

    def filling(self, index: int, reach: int) -> Filling | None:
        """Arguments for a goal that have not been tried yet, or None."""
        goal = self.whole.goals[index]
        evidence = evidence_for(goal, self.whole, self.transcript, reach)
        tried = [_key(attempt.arguments) for attempt in self.transcript.attempts if attempt.tool == goal.offer.name]
        insist = _asked_for(self.attempts(index))
        banned: list[Place] = []
        for _ in range(8):
            found = fill(goal.offer, evidence, banned=banned, insist=insist)
            if found.missing or _key(found.arguments) not in tried:
                return found
            if not found.places:
                return None
            banned.append(next((place for place in found.places if place not in banned), found.places[0]))
        return None


def _key(arguments: Mapping[str, Any]) -> str:
    return json.dumps(arguments, sort_keys=True, default=str)


def _asked_for(attempts: Sequence[Attempt]) -> set[str]:
    """Names that the tool's errors put in quotes: arguments that it wants after all."""
    return {name.split(".")[-1] for attempt in attempts for name in _QUOTED.findall(attempt.text)}


def next_move(messages: Sequence[BaseMessage], tools: Sequence[Mapping[str, Any]]) -> Move:
    """Plans the next step of a conversation. The same conversation with the same tools gives the same step.

    Args:
        messages: The conversation so far.
        tools: The offered tools in OpenAI's form; without any, the move is always an answer.
    """
    offers = Offers(tools)
    transcript = read_transcript(messages)
    whole = with_makers(plan(transcript.question, offers), offers, transcript.data)
    position = _Position(whole=whole, transcript=transcript)
    ready = _ready(position)
    if not ready:
        return Move(text=compose(position.whole, transcript, offers, _given_up(position)))
    calls = tuple(
        PlannedCall(
            id=f"offline_{transcript.calls + number}_goal_{index}",
            name=position.whole.goals[index].offer.name,
            arguments=filling.arguments,
        )
        for number, (index, filling) in enumerate(ready, start=1)
    )
    waiting = [goal for index, goal in enumerate(position.whole.goals) if position.is_open(index)]
    waiting = [goal for goal in waiting if goal.offer.name not in [call.name for call in calls]]
    return Move(text=describe([(call.name, call.arguments) for call in calls], waiting), calls=calls)


def _ready(position: _Position) -> list[tuple[int, Filling]]:
    """The goals that can be called now: all that need no results, or else the first that can use them."""
    open_goals = [index for index in range(len(position.whole.goals)) if position.is_open(index)]
    for reach in (0, 1, 2):
        able = [
            (index, filling)
            for index in open_goals
            if (filling := position.filling(index, reach)) is not None
            and not filling.missing
            and not _pointless(filling)
            and not _waits_for_data(index, open_goals, position)
        ]
        if able:
            return _distinct(able, position) if reach == 0 else able[:1]
    return []


def _distinct(able: Sequence[tuple[int, Filling]], position: _Position) -> list[tuple[int, Filling]]:
    seen: set[str] = set()
    kept: list[tuple[int, Filling]] = []
    for index, filling in able:
        key = position.whole.goals[index].offer.name + _key(filling.arguments)
        if key not in seen:
            seen.add(key)
            kept.append((index, filling))
    return kept


def _pointless(filling: Filling) -> bool:
    """True for a call from something to the same thing."""
    begin = [json.loads(value) for path, value in filling.places if path[-1].lower().startswith(("from", "source"))]
    end = [json.loads(value) for path, value in filling.places if path[-1].lower().startswith(("to", "target"))]
    return bool(begin) and begin == end and isinstance(begin[0], str)


def _waits_for_data(index: int, open_goals: Sequence[int], position: _Position) -> bool:
    """True if another open goal gives a table that fits an input better than any that is there."""
    goal = position.whole.goals[index]
    others = [position.whole.goals[other] for other in open_goals if other != index]
    for slot in (slot for slot in goal.offer.slots if slot.is_data_id):
        evidence = evidence_for(goal, position.whole, position.transcript, 0)
        best = best_data(slot, evidence)
        there = name_fit(slot.path[-1], best.name) if best and data_fit(slot, best, goal.text) else 0.0
        coming = max(
            (name_fit(slot.path[-1], port) for other in others for port in other.offer.output_ports), default=0.0
        )
        if coming > there:
            return True
    return False


def _given_up(position: _Position) -> list[tuple[Goal, Filling | None]]:
    """Goals that were never called, with what is missing."""
    never = [
        index for index in range(len(position.whole.goals)) if not position.attempts(index) and position.is_open(index)
    ]
    found = [(position.whole.goals[index], position.filling(index, 2)) for index in never]
    return [(goal, filling) for goal, filling in found if filling is not None and filling.missing]
