"""What a question wants done: one goal per tool that a part of it calls for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from knime_ext.agent.data import DataLine
from knime_ext.agent.planner.filling import Evidence, Filling, fill
from knime_ext.agent.planner.fitting import fit
from knime_ext.agent.planner.offers import Offer, Offers
from knime_ext.agent.planner.question import Clause, clauses_of, tools_for
from knime_ext.agent.planner.transcript import Transcript
from knime_ext.agent.planner.values import Value, parsed_json, values_in, values_in_json
from knime_ext.agent.planner.words import content_words, similarity

__all__ = ["Goal", "Plan", "evidence_for", "name_fit", "plan", "with_makers"]

CLEAR_FIT = 4.0
"""Score above which a value is plainly meant for an argument."""


@dataclass(frozen=True, slots=True)
class Goal:
    """One call to be made.

    Attributes:
        offer: The tool.
        clauses: The parts of the question that it answers.
    """

    offer: Offer
    clauses: tuple[Clause, ...]

    @property
    def text(self) -> str:
        """The parts of the question, joined."""
        return ". ".join(clause.text for clause in self.clauses)


@dataclass(frozen=True, slots=True)
class Plan:
    """The goals of a question, in its order, and the parts that no tool fits."""

    goals: tuple[Goal, ...]
    clauses: tuple[Clause, ...]
    unmatched: tuple[Clause, ...]


def plan(question: str, offers: Offers) -> Plan:
    """Finds the goals of a question."""
    clauses = clauses_of(question, offers)
    goals: list[Goal] = []
    unmatched: list[Clause] = []
    for clause in clauses:
        tools = tools_for(clause, offers)
        if not tools and goals and _only_values(clause):
            tools = [goals[-1].offer]  # "... and 20 GBP to CHF"
        if not tools and clause.words and not (goals and clause.points_back):
            unmatched.append(clause)
        found = [Goal(tool, (clause,)) for tool in tools]
        for position, goal in enumerate(found):
            if position == 0 or _is_useful(goal, found[0]):
                _add(goals, goal, is_main=position == 0)
    return Plan(tuple(goals), tuple(clauses), tuple(unmatched))


def with_makers(whole: Plan, offers: Offers, data: Sequence[DataLine]) -> Plan:
    """The plan with a goal more for each table that a goal needs, nobody has and a tool makes."""
    goals = list(whole.goals)
    for goal in whole.goals:
        for slot in (slot for slot in goal.offer.slots if slot.is_data_id):
            there = any(name_fit(slot.path[-1], item.name) for item in data)
            planned = [other.offer for other in goals]
            makers = [offer for offer in offers.all if offer not in planned and _makes(offer, slot.path[-1])]
            if makers and not there and not any(_makes(offer, slot.path[-1]) for offer in planned):
                goals.append(Goal(makers[0], goal.clauses))
    return replace(whole, goals=tuple(goals))


def _makes(offer: Offer, wanted: str) -> bool:
    return any(name_fit(wanted, port) >= 1 for port in offer.output_ports)


def name_fit(wanted: str, name: str) -> float:
    """How much the name of a table says that it is the wanted one."""
    first = name.split(":")[0]
    return sum(similarity(a, b) for a in content_words(wanted) for b in content_words(first))


def _only_values(clause: Clause) -> bool:
    said = [word for value in clause.values for word in content_words(str(value.value))]
    return bool(said) and all(word in said or weight < 1 for word, weight in clause.words.items())


def _is_useful(extra: Goal, main: Goal) -> bool:
    """Whether a second tool for the same words helps: it can be called, it goes on from the first, or feeds it."""
    if not _complete(main) or _complete(extra):
        return True
    values = [value for clause in extra.clauses for value in clause.values]
    slots = [slot for slot in extra.offer.slots if slot.required and not slot.is_data_id]
    return any((fit(slot, value) or 0.0) >= CLEAR_FIT for slot in slots for value in values)


def _add(goals: list[Goal], goal: Goal, *, is_main: bool) -> None:
    """Adds a goal, unless it only says more about an earlier one with the same tool."""
    same = next((index for index, other in enumerate(goals) if other.offer is goal.offer), None)
    if same is None:
        goals.append(goal)
        return
    earlier = goals[same]
    if not is_main:
        return
    if _complete(goal) and _complete(earlier) and _arguments(goal) != _arguments(earlier):
        goals.append(goal)
    else:
        goals[same] = replace(earlier, clauses=(*earlier.clauses, *goal.clauses))


def _alone(goal: Goal) -> Filling:
    values = [value for clause in goal.clauses for value in clause.values]
    return fill(goal.offer, Evidence(text=goal.text, values=values, data=()))


def _complete(goal: Goal) -> bool:
    return not [slot for slot in _alone(goal).missing if not slot.is_data_id]


def _arguments(goal: Goal) -> dict[str, Any]:
    return _alone(goal).arguments


def evidence_for(goal: Goal, whole: Plan, transcript: Transcript, reach: int) -> Evidence:
    """What a goal may be filled from.

    Args:
        goal: The goal.
        whole: The plan that it belongs to.
        transcript: What has happened.
        reach: 0 for its own part of the question and everything in the rest that is no number, 1 for the results of
            tools too, 2 for the rest of the question and the earlier conversation too.
    """
    own = [value for clause in goal.clauses for value in clause.values if not _claimed(value, clause, goal, whole)]
    others = [clause for clause in whole.clauses if clause not in goal.clauses]
    rest = [value for clause in others for value in clause.values if reach > 1 or _travels(value, clause, whole)]
    values = own + [replace(value, rank=1) for value in rest]
    if reach > 0:
        values += [replace(value, rank=2) for value in _results(transcript)]
    if reach > 1:
        values += [replace(value, rank=3) for text in reversed(transcript.earlier) for value in _values_of(text)]
    return Evidence(text=goal.text, values=values, data=transcript.data)


def _travels(value: Value, clause: Clause, whole: Plan) -> bool:
    """True for a value that may be meant for the whole question: a date, or a name that its own part has no use for."""
    if value.kind in ("date", "email", "url"):
        return True
    used = [_leaves(_arguments(goal)) for goal in whole.goals if clause in goal.clauses]
    return value.kind in ("quoted", "name") and not any(value.value in leaves for leaves in used)


def _leaves(arguments: Any) -> list[Any]:
    if isinstance(arguments, dict):
        return [leaf for part in cast("dict[str, Any]", arguments).values() for leaf in _leaves(part)]
    return cast("list[Any]", arguments) if isinstance(arguments, list) else [arguments]


def _results(transcript: Transcript) -> Iterator[Value]:
    """The values of results, the newest result first."""
    for attempt in reversed(transcript.attempts):
        if not attempt.failed:
            structured = values_in_json(attempt.structured) if attempt.structured is not None else []
            yield from structured or values_in(attempt.text)


def _values_of(text: str) -> list[Value]:
    data = parsed_json(text)
    return values_in_json(data) if data is not None else values_in(text)


def _claimed(value: Value, clause: Clause, goal: Goal, whole: Plan) -> bool:
    """True for a number that another goal of the same part has the better use for: "the top 3 customers, in EUR"."""
    if value.kind != "number":
        return False
    rivals = [other for other in whole.goals if other is not goal and clause in other.clauses]
    return max((_best_fit(rival, value) for rival in rivals), default=-9.0) > _best_fit(goal, value) + 0.5


def _best_fit(goal: Goal, value: Value) -> float:
    scores = (fit(slot, value) for slot in goal.offer.slots if not slot.is_data_id)
    return max((score for score in scores if score is not None), default=-9.0)
