"""Errors of this project as a host shows them: one sentence, without a traceback."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import knime.extension as knext

from knime_ext.errors import KnimeExtError

__all__ = ["shown_to_the_user"]


@contextmanager
def shown_to_the_user() -> Generator[None]:
    """Turns an error that explains itself into the one that KNIME shows as plain text on the node.

    Raises:
        knext.InvalidParametersError: The block raised an error of this project; the sentence is kept.
    """
    try:
        yield
    except KnimeExtError as error:
        raise knext.InvalidParametersError(str(error)) from error
