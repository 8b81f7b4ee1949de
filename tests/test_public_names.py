"""Every public name is a promise: a room's names change only together with this file."""

import importlib
import json
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden" / "public_names.json"
ROOMS: dict[str, list[str]] = json.loads(GOLDEN.read_text(encoding="utf-8"))


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_offers_exactly_the_names_that_are_pinned(room: str) -> None:
    module = importlib.import_module(room)
    assert sorted(module.__all__) == ROOMS[room]
    assert all(getattr(module, name) is not None for name in module.__all__)
