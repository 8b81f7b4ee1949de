"""Dates and times as cells: KNIME's layouts, read into the classes of `datetime`.

In tables of this runtime such columns are Arrow's own date, time, timestamp and duration types; the layouts here
matter for their KNIME types and for files that KNIME wrote.
"""

from __future__ import annotations

import datetime as dt
from typing import Any
from zoneinfo import ZoneInfo

from knime_ext.runtime.knext import ktypes
from knime_ext.runtime.knext.ktypes import KnimeType, LogicalType

__all__ = [
    "DURATION",
    "LOCAL_DATE",
    "LOCAL_DATE_TIME",
    "LOCAL_TIME",
    "ZONED_DATE_TIME",
    "register",
    "time_type",
]

_JAVA = "org.knime.core.data.v2.time."
_EPOCH = dt.date(1970, 1, 1)
_NANOS = 1_000_000_000


def _days(date: dt.date) -> int:
    return date.toordinal() - _EPOCH.toordinal()


def _nanos_of_day(time: dt.time) -> int:
    return (time.hour * 3600 + time.minute * 60 + time.second) * _NANOS + time.microsecond * 1000


def _date(days: int) -> dt.date:
    return dt.date.fromordinal(_EPOCH.toordinal() + days)


def _time(nanos: int) -> dt.time:
    seconds, rest = divmod(nanos, _NANOS)
    return dt.time(seconds // 3600, seconds // 60 % 60, seconds % 60, rest // 1000)


class LocalDateValueFactory:
    """Dates, stored as days since 1970-01-01."""

    compatible_type = dt.date

    def decode(self, storage: int | None) -> dt.date | None:
        """The date in a cell."""
        return None if storage is None else _date(storage)

    def encode(self, value: dt.date | None) -> int | None:
        """What the cell stores."""
        return None if value is None else _days(value)


class LocalTimeValueFactory:
    """Times of day, stored as nanoseconds since midnight; Python keeps microseconds."""

    compatible_type = dt.time

    def decode(self, storage: int | None) -> dt.time | None:
        """The time in a cell."""
        return None if storage is None else _time(storage)

    def encode(self, value: dt.time | None) -> int | None:
        """What the cell stores."""
        return None if value is None else _nanos_of_day(value)


class LocalDateTimeValueFactory:
    """Dates with a time, stored as days and nanoseconds of the day."""

    compatible_type = dt.datetime

    def decode(self, storage: dict[str, Any] | None) -> dt.datetime | None:
        """The date and time in a cell."""
        return None if storage is None else dt.datetime.combine(_date(storage["0"]), _time(storage["1"]))

    def encode(self, value: dt.datetime | None) -> dict[str, Any] | None:
        """What the cell stores."""
        return None if value is None else {"0": _days(value.date()), "1": _nanos_of_day(value.time())}


class DurationValueFactory:
    """Durations, stored as seconds and nanoseconds."""

    compatible_type = dt.timedelta

    def decode(self, storage: dict[str, Any] | None) -> dt.timedelta | None:
        """The duration in a cell."""
        return None if storage is None else dt.timedelta(seconds=storage["0"], microseconds=storage["1"] // 1000)

    def encode(self, value: dt.timedelta | None) -> dict[str, Any] | None:
        """What the cell stores."""
        return None if value is None else {"0": value.days * 86400 + value.seconds, "1": value.microseconds * 1000}


class ZonedDateTimeValueFactory:
    """Dates with a time and a zone, stored as local days, nanoseconds, offset in seconds and name of the zone."""

    compatible_type = dt.datetime

    def decode(self, storage: dict[str, Any] | None) -> dt.datetime | None:
        """The date and time in a cell."""
        if storage is None:
            return None
        local = dt.datetime.combine(_date(storage["0"]), _time(storage["1"]))
        offset = dt.timedelta(seconds=storage["2"])
        fixed = local.replace(tzinfo=dt.timezone(offset))
        zone = storage["3"]
        # Names such as "+02:00" are offsets; a named zone decides by itself, except at its ambiguous hour.
        return fixed if not zone or zone[0] in "+-" or zone == "Z" else fixed.astimezone(ZoneInfo(zone))

    def encode(self, value: dt.datetime | None) -> dict[str, Any] | None:
        """What the cell stores.

        Raises:
            ValueError: The value has no time zone.
        """
        if value is None:
            return None
        offset = value.utcoffset()
        if offset is None:
            raise ValueError(f"{value!r} has no time zone, but the column needs one")
        seconds = offset.days * 86400 + offset.seconds
        zone = getattr(value.tzinfo, "key", None) or _offset_name(seconds)
        return {"0": _days(value.date()), "1": _nanos_of_day(value.time()), "2": seconds, "3": zone}


def _offset_name(seconds: int) -> str:
    if not seconds:
        return "Z"
    minutes = abs(seconds) // 60
    return f"{'-' if seconds < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}"


def _logical(java_name: str, storage: KnimeType) -> LogicalType:
    return LogicalType('{"value_factory_class":"' + _JAVA + java_name + '"}', storage)


LOCAL_DATE = _logical("LocalDateValueFactory", ktypes.int64())
LOCAL_TIME = _logical("LocalTimeValueFactory", ktypes.int64())
LOCAL_DATE_TIME = _logical("LocalDateTimeValueFactory", ktypes.struct(ktypes.int64(), ktypes.int64()))
DURATION = _logical("DurationValueFactory", ktypes.struct(ktypes.int64(), ktypes.int32()))
ZONED_DATE_TIME = _logical(
    "ZonedDateTimeValueFactory2", ktypes.struct(ktypes.int64(), ktypes.int64(), ktypes.int32(), ktypes.string())
)


def time_type(date: bool, time: bool, timezone: bool) -> LogicalType:
    """The type of values with these parts; at least one of date and time, a zone only with both."""
    if date and time:
        return ZONED_DATE_TIME if timezone else LOCAL_DATE_TIME
    return LOCAL_DATE if date else LOCAL_TIME


def register() -> None:
    """Registers the value factories of this module. As in KNIME, `datetime.datetime` means the zoned type."""
    from knime_ext.runtime.knext.value_types import register_value_factory

    entries: list[tuple[type, type, str, LogicalType, str]] = [
        (dt.date, LocalDateValueFactory, "LocalDateValueFactory", LOCAL_DATE, "Local Date"),
        (dt.time, LocalTimeValueFactory, "LocalTimeValueFactory", LOCAL_TIME, "Local Time"),
        (dt.datetime, LocalDateTimeValueFactory, "LocalDateTimeValueFactory", LOCAL_DATE_TIME, "Local Date Time"),
        (dt.datetime, ZonedDateTimeValueFactory, "ZonedDateTimeValueFactory2", ZONED_DATE_TIME, "Zoned Date Time"),
        (dt.timedelta, DurationValueFactory, "DurationValueFactory", DURATION, "Duration"),
    ]
    for python_type, factory, java_name, logical, data_type in entries:
        register_value_factory(python_type, factory, logical.storage_type, _JAVA + java_name, data_type=data_type)
