package org.knime.core.node.agentic.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.Test;

/** The stand-ins for KNIME's API are marked, and kept apart from what is shipped. */
class StandInsTest {

    private static final Path SOURCES = Path.of(System.getProperty("basedir"), "src");

    private static List<Path> sources(final String folder) throws IOException {
        final var root = SOURCES.resolve(folder).resolve("java");
        try (var files = Files.walk(root)) {
            return files.filter(Files::isRegularFile).map(root::relativize).toList();
        }
    }

    @Test
    void everyStandInSaysThatItIsNeverShipped() throws IOException {
        final var files = sources("stand-ins");
        assertTrue(files.size() > 30);
        for (final var file : files) {
            final var text = Files.readString(SOURCES.resolve("stand-ins").resolve("java").resolve(file));
            assertTrue(text.startsWith("/*\n * STAND-IN, never shipped:"), file.toString());
        }
    }

    @Test
    void nothingThatIsShippedStandsAmongTheStandIns() throws IOException {
        final var ours = Path.of("org", "knime", "core", "node", "agentic", "tool");
        for (final var file : sources("main")) {
            assertTrue(file.startsWith(ours), file.toString());
        }
        final var ofOurPackage = sources("stand-ins").stream().filter(file -> file.startsWith(ours)).toList();
        assertEquals(List.of(ours.resolve("WorkflowToolCell.java")), ofOurPackage);
    }
}
