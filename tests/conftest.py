"""Settings for every test."""

import atexit
import os
import shutil
import signal
import tempfile
import threading

from hypothesis import settings

# Servers of tests run on this computer, and tests make rows by hand, which the egress policy would stop.
os.environ["KNIME_MCP_ALLOW"] = "loopback"
os.environ.pop("KNIME_MCP_POLICY", None)
os.environ.pop("KNIME_MCP_PRESET", None)

# Nothing is read from the folder of the person who runs the tests, and nothing is written there.
os.environ["KNIME_MCP_HOME"] = tempfile.mkdtemp(prefix="knime-mcp-tests-")
atexit.register(shutil.rmtree, os.environ["KNIME_MCP_HOME"], ignore_errors=True)

# No deadline: two cores shared with servers and browsers make single examples slow now and then.
settings.register_profile("project", deadline=None, max_examples=60)
settings.load_profile("project")

# A shell that starts the tests in the background makes them, and all their children, ignore interrupts.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)
