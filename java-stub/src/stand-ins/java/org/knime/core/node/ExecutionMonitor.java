/*
 * STAND-IN, never shipped: the name and the signatures are those of KNIME's public API, so that our classes compile and
 * run in tests where KNIME is not installed. What it does is our own, and only as much as the tests need.
 */
package org.knime.core.node;

/** Progress of a node, and whether it is canceled. */
public class ExecutionMonitor {

    private final NodeProgressMonitor m_progress;

    /** @param progress who watches */
    public ExecutionMonitor(final NodeProgressMonitor progress) {
        m_progress = progress;
    }

    /** @throws CanceledExecutionException if somebody canceled the node */
    public void checkCanceled() throws CanceledExecutionException {
        m_progress.checkCanceled();
    }
}
