/*
 * STAND-IN, never shipped: the name and the signatures are those of KNIME's public API, so that our classes compile and
 * run in tests where KNIME is not installed. What it does is our own, and only as much as the tests need.
 */
package org.knime.core.data.filestore;

import java.util.Arrays;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The name of a file store: which handler, which file, and from which turn of which loops. */
public final class FileStoreKey {

    private static final String VERSION = "v1";

    private final UUID m_storeUUID;

    private final int m_index;

    private final int[] m_nestedLoopPath;

    private final int m_iterationIndex;

    private final String m_name;

    /**
     * @param storeUUID the id of the handler
     * @param index the number of the file
     * @param nestedLoopPath the turns of the outer loops, null outside loops
     * @param iterationIndex the turn of the loop, negative outside loops
     * @param name the name of the file
     */
    public FileStoreKey(final UUID storeUUID, final int index, final int[] nestedLoopPath, final int iterationIndex,
        final String name) {
        if (iterationIndex < 0 != (nestedLoopPath == null)) {
            throw new IllegalArgumentException("a loop path belongs to keys from loops only");
        }
        m_storeUUID = storeUUID;
        m_index = index;
        m_nestedLoopPath = nestedLoopPath == null ? null : nestedLoopPath.clone();
        m_iterationIndex = iterationIndex;
        m_name = name;
    }

    /** @return the id of the handler */
    public UUID getStoreUUID() {
        return m_storeUUID;
    }

    /** @return the number of the file */
    public int getIndex() {
        return m_index;
    }

    /** @return the name of the file */
    public String getName() {
        return m_name;
    }

    /** @return the key as text: version, handler, number, name, turn and outer turns with colons between */
    public String saveToString() {
        final var loops = m_nestedLoopPath == null ? IntStream.empty() : Arrays.stream(m_nestedLoopPath);
        return loops.mapToObj(turn -> ":" + turn).collect(Collectors.joining("",
            String.join(":", VERSION, m_storeUUID.toString(), "" + m_index, m_name, "" + m_iterationIndex), ""));
    }

    /**
     * @param stringRepresentation a key as text
     * @return the key
     * @throws IllegalArgumentException if the text is no key
     */
    public static FileStoreKey load(final String stringRepresentation) {
        final var parts = stringRepresentation.split(":");
        if (parts.length < 5 || !VERSION.equals(parts[0])) {
            throw new IllegalArgumentException("no key of a file store: " + stringRepresentation);
        }
        final var turn = Integer.parseInt(parts[4]);
        final var loops = Arrays.stream(parts).skip(5).mapToInt(Integer::parseInt).toArray();
        return new FileStoreKey(UUID.fromString(parts[1]), Integer.parseInt(parts[2]), turn < 0 ? null : loops, turn,
            parts[3]);
    }

    @Override
    public boolean equals(final Object obj) {
        return obj instanceof FileStoreKey other && saveToString().equals(other.saveToString());
    }

    @Override
    public int hashCode() {
        return saveToString().hashCode();
    }

    @Override
    public String toString() {
        return saveToString();
    }
}
