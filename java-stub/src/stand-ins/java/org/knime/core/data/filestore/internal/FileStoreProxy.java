/*
 * STAND-IN, never shipped: the name and the signatures are those of KNIME's public API, so that our classes compile and
 * run in tests where KNIME is not installed. What it does is our own, and only as much as the tests need.
 */
package org.knime.core.data.filestore.internal;

/** Holds the marker of what can be flushed. */
public final class FileStoreProxy {

    private FileStoreProxy() {
    }

    /** A cell or port object with files. */
    public interface FlushCallback {
    }
}
