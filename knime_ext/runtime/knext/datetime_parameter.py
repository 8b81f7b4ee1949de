"""A parameter for a date, with a time of day if wanted."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any
from zoneinfo import ZoneInfo

from knime_ext.runtime.knext.parameter import Parameter
from knime_ext.runtime.knext.version import Version

__all__ = ["DateTimeParameter"]

Moment = dt.date | str


class DateTimeParameter(Parameter[Any]):
    """A date, or a date with a time; None if empty.

    Args:
        label: Name for people; the name of the attribute if not given.
        description: What it does, in Markdown.
        default_value: Date, or text in ISO format or `date_format`; the largest or smallest value or now if not given.
        validator: Function that raises ValueError for an unusable value; replaces the check of type and range.
        min_value: Earliest value, as for `default_value`.
        max_value: Latest value, as for `default_value`.
        since_version: First version of the extension that has it.
        is_advanced: Whether the dialog hides it among the advanced settings.
        show_date: Whether the dialog shows the date.
        show_time: Whether the value has a time; it is then a `datetime.datetime`, else a `datetime.date`.
        show_seconds: Whether the dialog shows seconds.
        show_milliseconds: Whether the dialog shows milliseconds.
        timezone: Name of the time zone in which times without one are meant.
        date_format: Format (as of `strptime`) of the texts among the other arguments.
    """

    def __init__(
        self,
        label: str | None = None,
        description: str | None = None,
        default_value: Moment | None = None,
        validator: Callable[[Any], None] | None = None,
        min_value: Moment | None = None,
        max_value: Moment | None = None,
        since_version: Version | str | None = None,
        is_advanced: bool = False,
        show_date: bool = True,
        show_time: bool = False,
        show_seconds: bool = False,
        show_milliseconds: bool = False,
        timezone: str | None = None,
        date_format: str | None = None,
    ) -> None:
        self.show_date = show_date
        self.show_time = show_time
        self.show_seconds = show_seconds
        self.show_milliseconds = show_milliseconds
        self.timezone = timezone
        self.date_format = date_format
        self.min_value = self._moment(min_value, date_format)
        self.max_value = self._moment(max_value, date_format)
        default = self._moment(default_value, date_format) or self.max_value or self.min_value or self._now()
        super().__init__(label, description, default, validator, since_version, is_advanced)

    def _now(self) -> dt.date:
        now = dt.datetime.now(ZoneInfo(self.timezone) if self.timezone else None)
        return now if self.show_time else now.date()

    def _moment(self, value: Any, date_format: str | None = None) -> Any:
        if not value:
            return None
        if isinstance(value, dt.date) and not (isinstance(value, dt.datetime) and self.show_time):
            return value
        if not isinstance(value, (str, dt.datetime)):
            raise ValueError(f"{value!r} is neither a date nor a text that holds one")
        parsed = _parsed(value, date_format) if isinstance(value, str) else value
        if not self.show_time:
            return parsed.date()
        if self.timezone is None:
            return parsed
        zone = ZoneInfo(self.timezone)
        return parsed.astimezone(zone) if parsed.tzinfo else parsed.replace(tzinfo=zone)

    def check_builtin(self, value: Any) -> None:
        """Refuses values of another type or outside of the range."""
        if not value:
            return
        moment = self._moment(value)
        if not isinstance(moment, dt.datetime if self.show_time else dt.date):
            raise TypeError(f"{value!r} must be a {'datetime' if self.show_time else 'date'}")
        if self.min_value is not None and moment < self.min_value:
            raise ValueError(f"{moment} is before the earliest value {self.min_value}")
        if self.max_value is not None and moment > self.max_value:
            raise ValueError(f"{moment} is after the latest value {self.max_value}")

    def encoded(self, value: Any) -> str | None:
        """The value in ISO format; times of a parameter with a time zone are written without it."""
        moment = self._moment(value)
        if moment is None:
            return None
        if self.timezone is not None and isinstance(moment, dt.datetime):
            moment = moment.replace(tzinfo=None)
        return moment.isoformat()

    def decoded(self, value: Any) -> Any:
        """The date or time in a text."""
        return self._moment(value)

    def value_schema(self, context: Any) -> dict[str, Any]:
        """JSON Schema of a text with a date and time."""
        return {"type": "string", "format": "date-time"}

    def ui_options(self, context: Any) -> dict[str, Any]:
        """A picker for dates and times."""
        return {
            "format": "date-time",
            "showDate": self.show_date,
            "showTime": self.show_time,
            "showSeconds": self.show_seconds,
            "showMilliseconds": self.show_milliseconds,
            "timezone": self.timezone,
        }


def _parsed(text: str, date_format: str | None) -> dt.datetime:
    try:
        return dt.datetime.strptime(text, date_format) if date_format else dt.datetime.fromisoformat(text)
    except ValueError as error:
        wanted = f"the format {date_format!r}" if date_format else "ISO format, such as '2026-01-31T12:00:00'"
        raise ValueError(f"{text!r} is no date in {wanted}") from error
