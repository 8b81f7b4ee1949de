/*
 * STAND-IN, never shipped: the name and the signatures are those of KNIME's public API, so that our classes compile and
 * run in tests where KNIME is not installed. What it does is our own, and only as much as the tests need.
 */
package org.knime.core.node.workflow.capture;

import org.knime.core.node.workflow.NodeID.NodeIDSuffix;

/** Executes several workflow segments in one workflow. */
public final class CombinedExecutor {

    private CombinedExecutor() {
    }

    /**
     * Names an output in that workflow.
     *
     * @param nodeIDSuffix the node
     * @param portIndex the number of its port
     */
    public record PortId(NodeIDSuffix nodeIDSuffix, int portIndex) {
    }
}
