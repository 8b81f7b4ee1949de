package org.knime.core.node.agentic.tool.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.StreamSupport;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;

class MCPAnswerTest {

    static List<JsonNode> cases() throws IOException {
        final var golden = Path.of(System.getProperty("knime.mcp.golden"), "tool_result_texts.json");
        return StreamSupport.stream(JsonText.read(Files.readString(golden)).spliterator(), false).toList();
    }

    @ParameterizedTest(name = "{index}")
    @MethodSource("cases")
    void theTextOfAResultIsTheGoldenOne(final JsonNode golden) {
        final var answer = MCPAnswer.of(golden.get("result"));
        assertEquals(golden.get("text").textValue(), answer.text());
        assertEquals(golden.get("result").path("isError").asBoolean(), answer.isError());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "{", "{} {}", "nothing", "[NaN]"})
    void onlyOneWholeValueIsJson(final String text) {
        assertThrows(JsonProcessingException.class, () -> JsonText.read(text));
    }

    @Test
    void aTextOfAnyLengthIsRead() throws JsonProcessingException {
        final var text = "ä".repeat(30_000_000);
        assertEquals(text, JsonText.read("\"" + text + "\"").textValue());
    }
}
