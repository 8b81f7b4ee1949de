/*
 * STAND-IN, never shipped: the name and the signatures are those of KNIME's public API, so that our classes compile and
 * run in tests where KNIME is not installed. What it does is our own, and only as much as the tests need.
 */
package org.knime.core.node;

/** Somebody canceled the node. */
public class CanceledExecutionException extends Exception {

    private static final long serialVersionUID = 1L;

    /** Without a message. */
    public CanceledExecutionException() {
        super();
    }
}
