/*
 * STAND-IN, never shipped: the name and the signatures are those of KNIME's public API, so that our classes compile and
 * run in tests where KNIME is not installed. What it does is our own, and only as much as the tests need.
 */
package org.knime.core.data.v2;

import org.knime.core.data.IDataRepository;
import org.knime.core.data.filestore.internal.IWriteFileStoreHandler;

/** A value factory whose cells have files. */
public interface FileStoreAwareValueFactory {

    /** @param repository who knows the files */
    void initializeForReading(IDataRepository repository);

    /** @param fileStoreHandler makes the files */
    void initializeForWriting(IWriteFileStoreHandler fileStoreHandler);
}
