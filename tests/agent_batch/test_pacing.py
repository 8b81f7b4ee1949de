"""Limits on calls and retries, against a real server that limits the rate."""

from __future__ import annotations

import asyncio
from pathlib import Path
from time import monotonic
from typing import Any

import pyarrow as pa
import pytest
from langchain_core.tools import tool
from pydantic import SecretStr
from starlette.responses import JSONResponse

from knime_ext.agent import ChatModelConfig, create_chat_model
from knime_ext.agent.batch.journal import Journal
from knime_ext.agent.batch.limiter import Limiter
from knime_ext.agent.batch.pacing import Pacing
from knime_ext.agent.batch.prompting import BatchPrompter
from knime_ext.agent.batch.retries import Retries, retry_after, will_pass
from knime_ext.agent.batch.row_source import RowSource
from knime_ext.errors import ConfigurationError
from tests.agent.openai_server import (
    Body,
    Reply,
    Service,
    chosen,
    completion,
    delayed,
    failure,
    openai_service,
    question_in,
    rate_limited,
    results_in,
)

QUICK = Retries(attempts=4, first_seconds=0.01, longest_seconds=0.02)


def answered(service: Service, tmp_path: Path, pacing: Pacing, rows: int = 1, **options: Any) -> pa.Table:
    config = ChatModelConfig(model="tiny", base_url=service.url, api_key=SecretStr("key"), timeout=10, max_retries=5)
    batch = BatchPrompter(
        create_chat_model(config), options.pop("tools", ()), prompt="say {{ n }}", pacing=pacing, **options
    )
    source = RowSource.of_table(pa.table({"n": list(range(rows))}))
    with Journal.open(tmp_path / "journal", fingerprint=batch.fingerprint(source)) as journal:
        asyncio.run(batch.run(source, journal))
        return pa.Table.from_batches(batch.answered(source, journal))


def test_a_rate_limit_is_waited_out_as_long_as_the_service_says(tmp_path: Path) -> None:
    replies = [rate_limited(0.3), failure(503, "busy"), completion("hello")]
    with openai_service(replies) as service:
        began = monotonic()
        table = answered(service, tmp_path, Pacing(retries=QUICK))
    assert table["answer"].to_pylist() == ["hello"]
    assert monotonic() - began >= 0.3
    assert service.count == 3


def test_the_librarys_own_retries_do_not_multiply_ours(tmp_path: Path) -> None:
    with openai_service(rate_limited(0.0)) as service:
        table = answered(service, tmp_path, Pacing(retries=QUICK))
    assert service.count == QUICK.attempts
    assert "limiting the rate" in table["answer__error"][0].as_py()


def quota_used_up(body: Body) -> JSONResponse:
    return JSONResponse({"error": {"message": "pay", "code": "insufficient_quota"}}, status_code=429)


@pytest.mark.parametrize(
    "reply",
    [
        failure(401, "no"),
        failure(400, "bad request"),
        rate_limited(3600),
        quota_used_up,
    ],
    ids=["credentials", "request", "an hour to wait", "quota"],
)
def test_a_failure_that_does_not_pass_is_not_tried_again(tmp_path: Path, reply: Reply) -> None:
    with openai_service(reply) as service:
        table = answered(service, tmp_path, Pacing(retries=QUICK))
    assert service.count == 1
    assert table["answer__stop_reason"].to_pylist() == ["failed"]


def test_when_one_row_is_told_to_wait_all_rows_wait(tmp_path: Path) -> None:
    moments: list[float] = []
    limited = asyncio.Event()

    def choose(body: Body) -> Reply:
        moments.append(monotonic())
        if not limited.is_set():
            limited.set()
            return rate_limited(0.5)
        return completion("ok")

    with openai_service(chosen(choose)) as service:
        answered(service, tmp_path, Pacing(retries=QUICK, model_concurrency=1), rows=5)
    assert len(moments) == 6
    assert moments[1] - moments[0] >= 0.45  # seconds: nobody asked in between


def test_requests_to_the_model_are_limited_over_all_rows(tmp_path: Path) -> None:
    with openai_service(delayed(completion("ok"), 20)) as service:
        table = answered(service, tmp_path, Pacing(model_concurrency=3), rows=12)
    assert table["answer"].to_pylist() == ["ok"] * 12
    assert service.most_at_once == 3


def test_requests_per_minute_are_spread_evenly(tmp_path: Path) -> None:
    with openai_service(completion("ok")) as service:
        began = monotonic()
        answered(service, tmp_path, Pacing(model_per_minute=1200), rows=7)
    assert monotonic() - began >= 6 * 0.05


def test_calls_to_a_server_are_limited_over_all_rows(tmp_path: Path) -> None:
    going_on, most = 0, 0

    @tool
    async def weigh(n: str) -> str:
        """Weighs."""
        nonlocal going_on, most
        going_on += 1
        most = max(most, going_on)
        await asyncio.sleep(0.005)
        going_on -= 1
        return n

    weigh.metadata = {"server": "http://one.example/mcp"}

    def choose(body: Body) -> Reply:
        calls = [("weigh", {"n": question_in(body)}), ("weigh", {"n": "again"})]
        return completion("done") if results_in(body) else completion(calls=calls)

    with openai_service(chosen(choose)) as service:
        table = answered(service, tmp_path, Pacing(server_concurrency=2), rows=8, tools=[weigh])
    assert table["answer"].to_pylist() == ["done"] * 8
    assert table["answer__tool_calls"].to_pylist() == [2] * 8
    assert most == 2


def test_a_limit_of_nothing_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="'per_minute' of a limiter is 0"):
        Limiter(per_minute=0)


class Failing(Exception):
    def __init__(self, **headers: str) -> None:
        self.response = type("Response", (), {"headers": {key.replace("_", "-"): headers[key] for key in headers}})()
        super().__init__()


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry_after": "7"}, 7.0),
        ({"retry_after": "1.5", "retry_after_ms": "250"}, 0.25),
        ({"retry_after": "-3"}, 0.0),
        ({"retry_after": "soon"}, None),
        ({"retry_after": "nan"}, None),
        ({"retry_after": "inf"}, None),
        ({"retry_after_ms": "x"}, None),
        ({"retry_after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
    ],
)
def test_the_wait_that_a_service_asks_for_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(Failing(**headers)) == seconds


def test_only_failures_that_pass_are_tried_again() -> None:
    assert will_pass(ConnectionResetError())
    assert will_pass(TimeoutError())
    assert not will_pass(ConfigurationError("wrong"))
    assert not will_pass(ValueError("wrong"))
