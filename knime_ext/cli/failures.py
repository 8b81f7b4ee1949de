"""How a command ends: one sentence and an exit code, a traceback only on request.

0    done
1    it ran and failed: a node, a server, a tool
2    it could not start: wrong usage, a wrong file, a wrong argument
130  stopped by Ctrl-C (143: told to stop by the system)
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

import typer

from knime_ext.errors import (
    ConfigurationError,
    InvalidArguments,
    KnimeExtError,
    NodeFailed,
    UnknownTool,
    WorkflowError,
)

__all__ = ["Terminated", "ends_well"]


class Terminated(KeyboardInterrupt):
    """The system asked the process to stop; handled like Ctrl-C, so that everything is cleaned up."""


def _exit_code(error: KnimeExtError) -> int:
    if isinstance(error, NodeFailed):
        from knime_ext.runtime import RunFailed

        # A node that cannot be configured fails before anything has run.
        return 1 if isinstance(error, RunFailed) else 2
    return 2 if isinstance(error, ConfigurationError | InvalidArguments | UnknownTool | WorkflowError) else 1


def _terminate(signum: int, frame: FrameType | None) -> None:
    raise Terminated


def _say(text: str, heading: str = "") -> None:
    sys.stdout.flush()
    shown = f"{typer.style(f'{heading}:', fg='red', bold=True)} " if heading else ""
    typer.echo(shown + text[:1].upper() + text[1:], err=True)  # without colours where nobody looks


@contextmanager
def ends_well(debug: bool) -> Generator[None]:
    """Ends the command with the right exit code whatever happens in the block.

    Args:
        debug: Whether to print tracebacks too.

    Raises:
        typer.Exit: The block failed or was stopped; what there is to say is printed.
    """
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
        sys.stdout.flush()
    except KeyboardInterrupt as stop:
        _say("Stopped.")
        raise typer.Exit(143 if isinstance(stop, Terminated) else 130) from None
    except BrokenPipeError:
        # Whoever read the output has seen enough, as in `knime-mcp tools list URL | head`. Python would complain
        # when it flushes the rest at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None
    except KnimeExtError as error:
        if debug:
            traceback.print_exc()
        _say(str(error), "Error")
        raise typer.Exit(_exit_code(error)) from None
    except typer.Abort:
        _say("Stopped: the input ended before every question was answered. Nothing more was changed.")
        raise typer.Exit(130) from None
    except typer.Exit:
        raise
    except Exception as error:
        if debug:
            traceback.print_exc()
        hint = "" if debug else " Run it again with --debug in front of the command for details."
        _say(f"{type(error).__name__}: {error}.{hint}", "Unexpected error")
        raise typer.Exit(1) from None
    finally:
        signal.signal(signal.SIGTERM, before)
