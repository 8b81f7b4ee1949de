package org.knime.core.node.agentic.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.knime.core.node.agentic.tool.WorkflowToolValue.WorkflowToolResult;
import org.knime.core.node.agentic.tool.mcp.MCPSettings;
import org.knime.core.node.port.PortObject;

/** Calls the servers that the tests of the Python side call. */
@Timeout(120)
class SharedServersTest {

    private static WorkflowToolResult call(final PythonServer server, final String name, final String parameters) {
        return ToolCell.of(new PlainTool(name, server.url())).execute(parameters, new PortObject[0], null, Map.of());
    }

    @Test
    void theToolboxOfTheOfficialSDKAnswers() throws IOException {
        try (var server = PythonServer.start("toolbox")) {
            assertEquals("42", call(server, "add", "{\"a\": 40, \"b\": 2}").message());
            assertEquals("Hello, Ada.", call(server, "greet", "{\"name\": \"Ada\"}").message());
            assertEquals("[image: image/png, 9 bytes]", call(server, "picture", "{}").message());
            assertEquals("counted to 3", call(server, "count_to", "{\"number\": 3}").message());
            assertEquals("x".repeat(3_000_000), call(server, "flood", "{\"size\": 3000000}").message());
            assertEquals("{\"a\": [1, null]}", call(server, "same", "{\"value\": {\"a\": [1, null]}}").message());
            assertNull(call(server, "fail", "{\"reason\": \"no\"}").outputs());
            assertNull(call(server, "greet", "{}").outputs());
        }
    }

    @Test
    void aServerLearnsThatNobodyWaitsForATool() throws IOException, InterruptedException {
        try (var server = PythonServer.start("toolbox")) {
            System.setProperty(MCPSettings.CALL_SECONDS, "1");
            assertNull(call(server, "wait", "{\"name\": \"for Java\"}").outputs());
            System.clearProperty(MCPSettings.CALL_SECONDS);
            final var end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
            var message = "";
            while (!message.contains("for Java") && System.nanoTime() < end) {
                message = call(server, "cancellations", "{}").message();
            }
            assertTrue(message.contains("for Java"), message);
        } finally {
            System.clearProperty(MCPSettings.CALL_SECONDS);
        }
    }

    @Test
    void theReferenceServerAnswers() throws IOException {
        try (var server = PythonServer.start("everything")) {
            assertEquals("Echo: grüß dich", call(server, "echo", "{\"message\": \"grüß dich\"}").message());
            assertEquals("The sum of 2 and 40.5 is 42.5.", call(server, "get-sum", "{\"a\": 2, \"b\": 40.5}").message());
            assertTrue(call(server, "get-tiny-image", "{}").message().contains("[image: image/png, "));
            final var structured = call(server, "get-structured-content", "{\"location\": \"Chicago\"}");
            assertTrue(structured.message().contains("temperature"), structured.message());
            assertNotNull(structured.outputs());
            assertNull(call(server, "no-such-tool", "{}").outputs());
        }
    }
}
