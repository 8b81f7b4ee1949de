"""The bridge: one background loop, callable from everywhere, gone when nobody needs it."""

import asyncio
import contextvars
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor

import pytest

from knime_ext.bridge import Bridge, shared_bridge


def bridge_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "knime-mcp-bridge"]


def until(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    """Waits until the condition holds, bounded."""
    tick, deadline = threading.Event(), time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true in time"
        tick.wait(0.005)


async def name_of_thread() -> str:
    return threading.current_thread().name


def test_a_coroutine_runs_on_the_background_thread_and_gives_its_value_back():
    with Bridge() as bridge:
        assert bridge.run(name_of_thread()) == "knime-mcp-bridge"


def test_an_error_of_the_coroutine_comes_through_as_the_same_object():
    error = LookupError("as it was")

    async def fail() -> None:
        raise error

    with Bridge() as bridge, pytest.raises(LookupError) as caught:
        bridge.run(fail())
    assert caught.value is error


def test_run_works_in_a_thread_that_has_a_running_loop_of_its_own():
    with Bridge() as bridge:

        async def inside() -> str:
            return bridge.run(name_of_thread())

        assert asyncio.run(inside()) == "knime-mcp-bridge"


def test_arun_works_from_another_loop_and_from_the_bridge_itself():
    with Bridge() as bridge:

        async def nested() -> str:
            return await bridge.arun(name_of_thread())

        assert asyncio.run(nested()) == "knime-mcp-bridge"
        assert bridge.run(nested()) == "knime-mcp-bridge"


def test_run_from_the_bridge_itself_is_refused_instead_of_blocking_for_ever():
    with Bridge() as bridge:

        async def wrong() -> None:
            bridge.run(name_of_thread())

        with pytest.raises(RuntimeError, match="await the coroutine instead"):
            bridge.run(wrong(), timeout=5)


def test_a_timeout_cancels_the_coroutine_and_lets_it_tidy_up_first():
    tidied = threading.Event()

    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            tidied.set()

    with Bridge() as bridge:
        with pytest.raises(TimeoutError):
            bridge.run(hang(), timeout=0.05)
        assert tidied.is_set()


def test_a_timeout_error_of_the_coroutine_is_its_own_and_needs_no_time_limit():
    async def fail() -> None:
        raise TimeoutError("mine")

    with Bridge() as bridge, pytest.raises(TimeoutError, match="mine"):
        bridge.run(fail(), timeout=5)


def test_cancelling_the_caller_of_arun_cancels_the_coroutine():
    started, cancelled = threading.Event(), threading.Event()

    async def hang() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async def caller(bridge: Bridge) -> None:
        task = asyncio.create_task(bridge.arun(hang()))
        await asyncio.to_thread(started.wait, 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with Bridge() as bridge:
        asyncio.run(caller(bridge))
        assert cancelled.is_set()


def test_nested_and_concurrent_use_shares_one_thread_that_ends_with_the_last_user():
    assert bridge_threads() == []
    with shared_bridge() as outer:
        with shared_bridge() as inner:
            assert inner is outer
        assert outer.run(name_of_thread()) == "knime-mcp-bridge"
        with ThreadPoolExecutor(8) as threads:
            calls = [threads.submit(outer.run, name_of_thread()) for _ in range(50)]
            assert {call.result(5) for call in calls} == {"knime-mcp-bridge"}
        assert len(bridge_threads()) == 1
    assert bridge_threads() == []


def test_a_bridge_can_be_opened_again_after_it_was_closed():
    bridge = Bridge()
    for _ in range(3):
        with bridge:
            assert bridge.run(name_of_thread()) == "knime-mcp-bridge"
    assert bridge_threads() == []


def test_a_closed_bridge_refuses_coroutines_without_leaking_them():
    with pytest.raises(RuntimeError, match="the bridge is closed"):
        Bridge().run(name_of_thread())


def test_leaving_the_bridge_cancels_what_other_threads_still_run_on_it():
    started = threading.Event()

    async def hang() -> None:
        started.set()
        await asyncio.Event().wait()

    with ThreadPoolExecutor(1) as threads:
        with Bridge() as bridge:
            waiting = threads.submit(bridge.run, hang())
            assert started.wait(5)
        with pytest.raises(CancelledError):
            waiting.result(5)
    until(lambda: bridge_threads() == [])


def test_context_variables_of_the_caller_are_seen_by_the_coroutine():
    colour: contextvars.ContextVar[str] = contextvars.ContextVar("colour", default="none")

    async def read() -> str:
        return colour.get()

    token = colour.set("green")
    with Bridge() as bridge:
        assert bridge.run(read()) == "green"
    colour.reset(token)


def test_async_generators_left_open_are_closed_with_the_bridge():
    closed = threading.Event()

    async def numbers():
        try:
            yield 1
        finally:
            closed.set()

    async def take_one() -> int:
        generator = numbers()
        kept.append(generator)
        return await anext(generator)

    kept: list[object] = []
    with Bridge() as bridge:
        assert bridge.run(take_one()) == 1
        assert not closed.is_set()
    assert closed.is_set()
