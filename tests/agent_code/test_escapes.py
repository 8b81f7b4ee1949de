"""What code might try to get out of its sandbox, or to use up the computer: everything fails, everything goes on.

One process and one pool serve all attempts, some of them side by side, and both work afterwards as before.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool

from knime_ext.agent.code.code_tool import CodeTool, code_tool
from knime_ext.agent.code.limits import CodeLimits
from knime_ext.agent.code.workers import shared_workers
from tests.agent_code.tools import half

LIMITS = CodeLimits(
    seconds=5, total_seconds=30, memory=16 * 1024 * 1024, tool_calls=50, recursion=100, output_bytes=5_000
)
LOG: list[str] = []


@tool
def note(text: str = "") -> str:
    """Writes something down."""
    LOG.append(text[:20])
    return "noted"


@tool
def flood() -> str:
    """Gives far too much."""
    return "x" * 6_000_000


SLEEP = "import time\nfor _ in range(10**9):\n    time.sleep(1)"
DEEP = "x = []\nfor _ in range(100_000):\n    x = [x]\n"
WIDE = "x = []\nfor _ in range(60):\n    x = [x, x]\n"

CAUGHT = "try:\n    1 / 0\nexcept Exception as e:\n    "
FOREVER = "while True:\n    try:\n        {}\n    except BaseException:\n        pass"
MANY = "import asyncio\nawait asyncio.gather(*[note() for _ in range(10_000)])"

# Code, and a word of the error that the model gets.
ATTEMPTS: dict[str, tuple[str, str]] = {
    "import subprocess": ("import subprocess\nsubprocess.run(['id'])", "ImportError"),
    "import socket": ("import socket\nsocket.create_connection(('127.0.0.1', 22))", "ImportError"),
    "import ctypes": ("import ctypes\nctypes.string_at(0)", "ImportError"),
    "import by function": ("__import__('os').system('id')", "__import__"),
    "importlib": ("from importlib import import_module\nimport_module('os')", "ImportError"),
    "os.system": ("import os\nos.system('id')", "AttributeError"),
    "os.fork": ("import os\nos.fork()", "AttributeError"),
    "os.environ": ("import os\nos.environ['PATH']", "not supported"),
    "os.getenv": ("import os\nos.getenv('PATH')", "not supported"),
    "os.listdir": ("import os\nos.listdir('/')", "Error"),
    "read a file": ("open('/etc/passwd').read()", "'open' is not there"),
    "read by another name": ("from pathlib import Path\nPath('/etc/passwd').read_text()", "PermissionError"),
    "write a file": ("from pathlib import Path\nPath('escaped.txt').write_text('x')", "PermissionError"),
    "list a folder": ("from pathlib import Path\nlist(Path('/').iterdir())", "PermissionError"),
    "files of the process": ("from pathlib import Path\nPath('/proc/self/environ').read_bytes()", "PermissionError"),
    "http": ("import urllib.request\nurllib.request.urlopen('http://127.0.0.1')", "ImportError"),
    "dunder walk": ("().__class__.__bases__[0].__subclasses__()", "AttributeError"),
    "globals of a function": ("def f():\n    pass\nf.__globals__['__builtins__']", "AttributeError"),
    "globals of a tool": ("note.__globals__", "AttributeError"),
    "code of a function": ("(lambda: 1).__code__.replace(co_consts=())", "AttributeError"),
    "frame of an exception": (
        CAUGHT + "e.__traceback__.tb_frame",
        "AttributeError",
    ),
    "frame of the caller": ("import sys\nsys._getframe(1).f_globals", "AttributeError"),
    "modules": ("import sys\nsys.modules['os']", "AttributeError"),
    "format string": ("'{0.__class__.__init__.__globals__}'.format(note)", "Error"),
    "eval": ("eval('__import__(\"os\")')", "'eval' is not there"),
    "exec by another name": ("run = exec\nrun('note = 1')", "'exec' is not there"),
    "metaclass": ("class M(type):\n    pass\nclass A(metaclass=M):\n    pass", "NotImplementedError"),
    "generator": ("def g():\n    yield 1\ng().gi_frame.f_back", "NotImplementedError"),
    "tool assigned": ("note = print\nnote('x')", "'note' is a tool"),
    "tool defined": ("def note(text=''):\n    return 'fake'\nnote()", "'note' is a tool"),
    "tool patched": ("note.__call__ = None", "attributes of a tool"),
    "tool set by name": ("setattr(note, 'x', 1)", "'setattr' is not there"),
    "tool in globals": ("globals()['note'] = 1", "'globals' is not there"),
    "builtin module patched": ("import json\njson.dumps = print", "AttributeError"),
    "unknown function": ("system('id')", "NameError"),
    "endless loop": ("while True:\n    pass", "TimeoutError"),
    "endless loop that catches": (
        FOREVER.format("while True: pass"),
        "TimeoutError",
    ),
    "endless loop over sleep": (SLEEP, "TimeoutError"),
    "endless comprehension": ("sum(i for i in range(10**12))", "MemoryError"),
    "recursion": ("def f(n):\n    return f(n + 1)\nf(0)", "RecursionError"),
    "recursion in repr": ("class A:\n    def __repr__(self):\n        return repr(self)\nrepr(A())", "RecursionError"),
    "deeply nested code": ("(" * 5000 + "1" + ")" * 5000, "SyntaxError"),
    "long chain of code": ("1" + "+1" * 30_000, "SyntaxError"),
    "too much code": ("#" * 200_000, "200000 characters"),
    "huge list": ("[0] * 10**10", "MemoryError"),
    "growing list": ("x = [1]\nwhile True:\n    x += x", "MemoryError"),
    "many objects": ("x = {}\nwhile True:\n    x[len(x)] = [len(x)]", "Error"),
    "huge text": ("'ab' * 10**9", "MemoryError"),
    "huge padding": ("f'{1:>1000000000}'", "MemoryError"),
    "huge number": ("9 ** 9 ** 9", "MemoryError"),
    "huge number as text": ("str(10 ** 100_000)", "ValueError"),
    "text as huge number": ("int('9' * 100_000)", "ValueError"),
    "regular expression bomb": ("import re\nre.match(r'(x+x+)+\\1y', 'x' * 5000)", "Error"),
    "huge JSON": ("import json\njson.loads('[' * 1_000_000)", "Error"),
    "huge output": ("print('x' * 100_000)", "printed more than 5000 bytes"),
    "endless output": ("while True:\n    print('x')", "printed more than 5000 bytes"),
    "huge result": ("'x' * 1_000_000", "cannot be shown"),
    "endless result": (WIDE + "x", "cannot be shown"),
    "deep result": (DEEP + "x", "cannot be shown"),
    "huge number as result": ("10 ** 50_000", "cannot be shown"),
    "huge error": ("raise ValueError('x' * 1_000_000)", "[…]"),
    "endless argument": (WIDE + "note(text=x)", "too large"),
    "deep argument": (DEEP + "note(text=x)", "too large"),
    "argument that is no value": ("note(text=print)", "TypeError"),
    "argument of the wrong type": ("note(text={'a': object})", "Error"),
    "flood of calls": ("while True:\n    note()", "more than 50 tool calls"),
    "flood of awaited calls": (
        MANY,
        "50 tool calls",
    ),
    "flood of caught calls": (
        FOREVER.format("note(wrong=1)"),
        "50 tool calls",
    ),
    "flood of unknown names": (FOREVER.format("nothing()"), "Error"),
    "flood from a tool": ("flood()", "6000002 characters"),
    "exit": ("raise SystemExit(0)", "Error"),
    "interrupt": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    "exit by module": ("import sys\nsys.exit(0)", "AttributeError"),
    "threads": ("import threading\nthreading.Thread(target=print).start()", "ImportError"),
    "recursion limit": ("import sys\nsys.setrecursionlimit(10**9)", "AttributeError"),
    "half a character": ("note(text='\\ud800')\n1 / 0", "ZeroDivisionError"),
}
TOOLS = [note, flood, half]
CODE_TOOL = code_tool(TOOLS, LIMITS)
# What does not end is given little time; on a busy computer it would be too little for what ends otherwise.
HURRIED = code_tool(TOOLS, replace(LIMITS, seconds=0.15))


def attempt(code: str, tool: CodeTool = CODE_TOOL) -> ToolMessage:
    python = tool.for_run()
    return python.invoke({"type": "tool_call", "name": python.name, "args": {"code": code}, "id": "1"})


@pytest.fixture(scope="module", autouse=True)
def one_pool() -> Iterator[None]:
    """One pool for all attempts, as if other code were running all the time."""
    files, memory = sorted(os.listdir()), psutil.Process().memory_info().rss
    with shared_workers().pool():
        yield
    assert sorted(os.listdir()) == files
    assert psutil.Process().memory_info().rss - memory < 200_000_000


@pytest.mark.parametrize("name", ATTEMPTS)
def test_an_attempt_fails_with_an_error_and_leaves_everything_usable(name: str) -> None:
    code, word = ATTEMPTS[name]
    message = attempt(code, HURRIED if word == "TimeoutError" else CODE_TOOL)
    assert message.status == "error"
    assert word in message.text
    assert len(message.text) < 12_000
    assert "root:" not in message.text and os.environ["HOME"] not in message.text
    assert attempt("half(n=3)").content == "Result: 1.5"


def test_there_are_at_least_forty_attempts() -> None:
    assert len(ATTEMPTS) >= 40


def test_attempts_side_by_side_do_not_disturb_good_code() -> None:
    names = ("endless loop", "growing list", "flood of calls", "huge output", "recursion")
    hostile = [ATTEMPTS[name][0] for name in names]

    async def all_at_once() -> list[str]:
        good = [CODE_TOOL.for_run().ainvoke({"code": f"half(n={n})"}) for n in range(8)]
        bad = [HURRIED.for_run().ainvoke({"code": code}) for code in hostile]
        return (await asyncio.gather(*good, *bad))[:8]

    assert asyncio.run(all_at_once()) == [f"Result: {n / 2}" for n in range(8)]


def test_a_killed_worker_costs_one_piece_of_code() -> None:
    reached = threading.Event()

    @tool
    def reach() -> str:
        """Says that the code runs."""
        reached.set()
        return "yes"

    python = code_tool([reach], CodeLimits(seconds=30))
    assert python.invoke({"code": "kept = 1"})

    def kill() -> None:
        assert reached.wait(10)
        for child in psutil.Process().children():
            if "monty" in child.name():
                child.kill()

    killer = threading.Thread(target=kill)
    killer.start()
    message = python.invoke(
        {"type": "tool_call", "name": "run_python", "args": {"code": "kept = 2\nreach()\nwhile True: pass"}, "id": "1"}
    )
    killer.join(10)
    assert message.status == "error" and "the sandbox ended by itself" in message.text
    assert python.invoke({"code": "kept"}) == "Result: 1"


def test_code_never_reaches_this_process() -> None:
    text = "import os\n[os.getcwd(), __file__, __name__]"
    assert attempt(text).content == "Result: ['/', '/code.py', '__main__']"
    assert not Path("/code.py").exists()
