package org.knime.core.node.agentic.tool;

import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** An MCP server in a process of its own; it ends when this side closes its input. */
final class PythonServer implements AutoCloseable {

    private static final Path BASE = Path.of(System.getProperty("basedir"));

    private final Process m_process;

    private final String m_url;

    private PythonServer(final Process process, final String url) {
        m_process = process;
        m_url = url;
    }

    /** Starts a server; skips the test if what it needs is not installed. */
    static PythonServer start(final String which, final String... options) throws IOException {
        final List<String> command = new ArrayList<>(
            List.of(System.getProperty("knime.mcp.python"), "-m", "tests.cross_language.mcp_server", which));
        command.addAll(List.of(options));
        final var log = BASE.resolve("target").resolve("mcp-server.log").toFile();
        final var process = new ProcessBuilder(command).directory(BASE.getParent().toFile())
            .redirectError(ProcessBuilder.Redirect.appendTo(log)).start();
        final var output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        final var url = output.readLine();
        if (url == null) {
            throw new IOException("the MCP server did not start; see " + log);
        }
        final var server = new PythonServer(process, url);
        if (url.startsWith("skip:")) {
            server.close();
            assumeFalse(true, url);
        }
        return server;
    }

    String url() {
        return m_url;
    }

    @Override
    public void close() throws IOException {
        m_process.getOutputStream().close();
        try {
            if (!m_process.waitFor(20, TimeUnit.SECONDS)) {
                m_process.destroyForcibly();
                throw new IOException("the MCP server did not end");
            }
        } catch (InterruptedException e) {
            m_process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
