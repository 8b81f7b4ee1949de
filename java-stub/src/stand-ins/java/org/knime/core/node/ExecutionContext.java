/*
 * STAND-IN, never shipped: the name and the signatures are those of KNIME's public API, so that our classes compile and
 * run in tests where KNIME is not installed. What it does is our own, and only as much as the tests need.
 */
package org.knime.core.node;

/** What a node has while it executes. */
public class ExecutionContext extends ExecutionMonitor {

    /**
     * @param progMon who watches
     * @param node the node
     */
    public ExecutionContext(final NodeProgressMonitor progMon, final Node node) {
        super(progMon);
    }
}
