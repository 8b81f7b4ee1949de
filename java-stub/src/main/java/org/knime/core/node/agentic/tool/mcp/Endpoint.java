package org.knime.core.node.agentic.tool.mcp;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;
import java.util.Set;

/**
 * A URL that may be called.
 *
 * @param uri http or https, with a host, without user and password
 */
record Endpoint(URI uri) {

    /** Checks the address in a row; it comes from a table and is not to be trusted. */
    static Endpoint of(final String address, final Set<String> hosts) throws MCPException {
        if (address != null && address.startsWith("stdio:")) {
            throw new MCPException(("The server '%s' is started by a command that only the Python side knows; call its "
                + "tools from an agent that runs there.").formatted(address));
        }
        final var uri = parse(address);
        final var isWeb = "http".equalsIgnoreCase(uri.getScheme()) || "https".equalsIgnoreCase(uri.getScheme());
        if (uri.getRawUserInfo() != null || uri.getRawAuthority() != null && uri.getRawAuthority().contains("@")) {
            throw new MCPException("The address of the server holds a user or password; remove it from the row and "
                + "register the server as a provider.");
        }
        if (!isWeb || uri.getHost() == null) {
            throw new MCPException("The address of the server is neither an http:// nor an https:// URL; correct it.");
        }
        if (!hosts.isEmpty() && !hosts.contains(uri.getHost().toLowerCase(Locale.ROOT))) {
            throw new MCPException("Calls to the host '%s' are not allowed here; the operator can add it to '%s'."
                .formatted(uri.getHost(), MCPSettings.HOSTS));
        }
        return new Endpoint(uri);
    }

    private static URI parse(final String address) throws MCPException {
        try {
            return new URI(address == null ? "" : address);
        } catch (URISyntaxException e) { // NOSONAR: its message repeats the address, secrets included
            throw new MCPException("The address of the server is not a URL; correct it.");
        }
    }

    /** Where a redirect leads to, if that is the same server. */
    Endpoint redirected(final String location) throws MCPException {
        final var target = uri.resolve(parse(location));
        final var isSame = uri.getScheme().equalsIgnoreCase(target.getScheme())
            && uri.getHost().equalsIgnoreCase(target.getHost()) && port(uri) == port(target)
            && target.getRawUserInfo() == null;
        if (!isSame) {
            throw new MCPException(
                "The server at %s sends callers to another address; if it is the right one, put it in the row."
                    .formatted(this));
        }
        return new Endpoint(target);
    }

    private static int port(final URI uri) {
        if (uri.getPort() >= 0) {
            return uri.getPort();
        }
        return "https".equalsIgnoreCase(uri.getScheme()) ? 443 : 80;
    }

    /** For messages: without the query, which may hold a secret. */
    @Override
    public String toString() {
        return "'%s://%s%s'".formatted(uri.getScheme(), uri.getRawAuthority(), uri.getRawPath());
    }
}
