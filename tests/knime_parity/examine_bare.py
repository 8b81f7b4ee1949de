"""KNIME without the Java side of the tools and without its AI extension: what the nodes say, as JSON."""

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent


def main() -> None:
    """Prints the messages of the nodes that need a column type which KNIME does not have."""
    from tests.knime_parity.knime_code import harness

    code = harness()
    runtime = code.Runtime()
    extension = runtime.load_extension(knime_yml=str(ROOT / "knime.yml"))
    from knime.types.tool import WorkflowTool
    from knime_ext.nodes.chat_model_port import ChatModelPortObject, ChatModelPortObjectSpec
    from tests.knime_parity.cells import older_tools, table

    older = table({"Old": older_tools(WorkflowTool("rank", "", {}, -1, [], [], "v1:a:0:b:-1"))})
    model = ChatModelPortObject(ChatModelPortObjectSpec(provider="offline"))
    attempts: dict[str, tuple[dict[str, Any], list[Any]]] = {
        "MCPToolProvider": ({"server_url": "http://localhost:1/mcp"}, []),
        "ConvertTools": ({}, [older]),
        "AgentPrompter": ({"user_message": "Hi."}, [model, older, None, []]),
    }
    said: dict[str, str] = {}
    for node, (settings, inputs) in attempts.items():
        try:
            extension.node(node, settings).configure(inputs)
        except code.NodeFailure as failure:
            said[node] = failure.message
    json.dump(said, sys.stdout)


if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "types")]  # this folder, whatever is installed
    main()
