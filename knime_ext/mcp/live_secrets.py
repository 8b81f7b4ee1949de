"""Secrets that came into being while the program ran, such as access tokens, so that no message repeats one.

A server may quote the token it was given in the text of an error.
"""

from __future__ import annotations

from collections import OrderedDict

__all__ = ["keep_secret", "live_secrets", "without_live_secrets"]

MAX_SECRETS = 200
"""Every text of a server is searched for each of them: 200 take most of a second in 10 MB."""
_secrets: OrderedDict[str, None] = OrderedDict()


def keep_secret(*texts: str | None) -> None:
    """From now on these texts are secret; of very many, the latest are remembered."""
    for text in texts:
        if text:
            _secrets[text] = None
            _secrets.move_to_end(text)
    while len(_secrets) > MAX_SECRETS:
        _secrets.popitem(last=False)


def live_secrets() -> tuple[str, ...]:
    """The texts that became secret so far."""
    return tuple(_secrets)


def without_live_secrets(text: str) -> str:
    """A text with stars in place of secrets."""
    for secret in _secrets:
        text = text.replace(secret, "***")
    return text
