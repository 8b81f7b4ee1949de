/*
 * STAND-IN, never shipped: the name and the signatures are those of KNIME's public API, so that our classes compile and
 * run in tests where KNIME is not installed. What it does is our own, and only as much as the tests need.
 */
package org.knime.core.data;

import java.util.UUID;

import org.knime.core.data.filestore.internal.IFileStoreHandler;
import org.knime.core.data.filestore.internal.IWriteFileStoreHandler;

/** Knows the file store handlers of a workflow. */
public interface IDataRepository {

    /** @param handler a handler to know from now on */
    void addFileStoreHandler(IWriteFileStoreHandler handler);

    /**
     * @param storeHandlerUUID the id of a handler
     * @return the handler
     * @throws IllegalStateException if it is not known
     */
    IFileStoreHandler getHandlerNotNull(UUID storeHandlerUUID);
}
