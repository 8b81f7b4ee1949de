package org.knime.core.node.agentic.tool.mcp;

import java.time.Duration;

/** How long something may take, counted from the moment it is first asked. Belongs to one thread. */
final class Deadline {

    private final Duration m_limit;

    private Long m_end;

    private Deadline(final Duration limit) {
        m_limit = limit;
    }

    static Deadline in(final Duration limit) {
        return new Deadline(limit);
    }

    /** The one that is over first. */
    Deadline orEarlier(final Deadline other) {
        return left() <= other.left() ? this : other;
    }

    /** Nanoseconds that are left, not above zero when it is over. */
    long left() {
        if (m_end == null) {
            m_end = System.nanoTime() + m_limit.toNanos();
        }
        return m_end - System.nanoTime();
    }

    @Override
    public String toString() {
        return m_limit.toMillis() % 1000 == 0 ? (m_limit.toSeconds() + " s") : (m_limit.toMillis() + " ms");
    }
}
