"""Settings for every test."""

import os

from hypothesis import settings

# Servers of tests run on this computer, and tests make rows by hand, which the egress policy would stop.
os.environ["KNIME_MCP_ALLOW"] = "loopback"
os.environ.pop("KNIME_MCP_POLICY", None)

# No deadline: two cores shared with servers and browsers make single examples slow now and then.
settings.register_profile("project", deadline=None, max_examples=60)
settings.load_profile("project")
