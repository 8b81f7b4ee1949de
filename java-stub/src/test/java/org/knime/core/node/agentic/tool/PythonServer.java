package org.knime.core.node.agentic.tool;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** An MCP server of the official Python SDK, in a process of its own; it ends when this side closes its input. */
final class PythonServer implements AutoCloseable {

    private static final Path ROOT = Path.of(System.getProperty("basedir")).resolveSibling(".");

    private final Process m_process;

    private final String m_url;

    private PythonServer(final Process process, final String url) {
        m_process = process;
        m_url = url;
    }

    static PythonServer start(final String... options) throws IOException {
        final List<String> command = new ArrayList<>(List.of(System.getProperty("knime.mcp.python"),
            ROOT.resolve("tests/cross_language/mcp_server.py").toString()));
        command.addAll(List.of(options));
        final var log = Path.of(System.getProperty("basedir"), "target", "mcp-server.log").toFile();
        final var process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.appendTo(log)).start();
        final var output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        final var url = output.readLine();
        if (url == null) {
            throw new IOException("the MCP server did not start; see " + log);
        }
        return new PythonServer(process, url);
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
