"""Runs the nodes of a plan side by side: each as soon as those it depends on are done.

Knows nothing of nodes but their order; what running one means is a function of the caller.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from knime_ext.runtime.plan import Plan

__all__ = ["run_plan"]

_MOST_THREADS = max(8, 2 * (os.cpu_count() or 1))  # nodes often wait for servers rather than compute


def run_plan(
    plan: Plan,
    run: Callable[[str], bool],
    skip: Callable[[str, str], None],
    is_canceled: Callable[[], bool],
    stop: Callable[[], None],
) -> None:
    """Runs every node once, or skips it.

    Args:
        plan: The nodes.
        run: Runs a node, in a thread of its own; tells whether those after it can run. Must not raise, and must do
            nothing once the run was asked to stop.
        skip: Called for a node that does not run, with the identifier of the node before it that did not succeed, or
            "" if the run was canceled before that. Called in the thread of the caller.
        is_canceled: Whether no further node is to start.
        stop: Asks running nodes to end; called when the caller's thread is interrupted.
    """
    waiting: dict[str, set[str]] = {node.id: set(node.variables_from) for node in plan.nodes}
    failed_before: dict[str, str] = {}
    running: dict[Future[bool], str] = {}
    threads = ThreadPoolExecutor(max(1, min(_MOST_THREADS, len(plan.nodes))), "knime-mcp-node")
    busy = _Busy()

    def start_ready() -> None:
        """Starts or skips every node for which all others before it have ended."""
        progress = True
        while progress:
            progress = False
            for node_id in [each for each, before in waiting.items() if not before]:
                del waiting[node_id]
                if node_id in failed_before or is_canceled():
                    culprit = failed_before.get(node_id, "")
                    skip(node_id, culprit)
                    _release(plan, node_id, waiting, failed_before, culprit)
                    progress = True
                else:
                    running[threads.submit(busy.running(run), node_id)] = node_id

    with threads:
        try:
            start_ready()
            while running:
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    node_id = running.pop(future)
                    _release(plan, node_id, waiting, failed_before, None if future.result() else node_id)
                start_ready()
        except BaseException:
            stop()
            busy.wait()
            raise


class _Busy:
    """Knows whether nodes are running.

    The executor alone would do, were it not for an interrupt that hits it just while it starts a thread: it then
    forgets that thread and does not wait for it.
    """

    def __init__(self) -> None:
        self._count = 0
        self._changed = threading.Condition()

    def running(self, run: Callable[[str], bool]) -> Callable[[str], bool]:
        def counted(node_id: str) -> bool:
            self._add(1)
            try:
                return run(node_id)
            finally:
                self._add(-1)

        return counted

    def _add(self, difference: int) -> None:
        with self._changed:
            self._count += difference
            self._changed.notify_all()

    def wait(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: not self._count)


def _release(
    plan: Plan, node_id: str, waiting: Mapping[str, set[str]], failed_before: dict[str, str], culprit: str | None
) -> None:
    """Tells the nodes after one that it has ended, and whose fault it is if they cannot run."""
    for follower in plan.successors(node_id):
        if follower in waiting:
            waiting[follower].discard(node_id)
            if culprit is not None:
                failed_before.setdefault(follower, culprit)
