package lunar.scsi.target.spi;

import java.util.Optional;
import java.util.UUID;
import lunar.block.StorageException;
import lunar.block.Usage;
import lunar.scsi.target.StateStore;
import lunar.scsi.target.UnitSpec;

/** The storage of a logical unit, such as an object store; open until it is closed. Thread-safe. */
public interface UnitSource extends AutoCloseable {
    /** Returns the identity, which stays the same over restarts: it names the saved state of the unit. */
    UUID identity();

    /** Returns the size in bytes, for listings; 0 for a device without a size. Does not block. */
    long sizeBytes();

    /** Returns how full the storage is; empty if unknown. */
    default Optional<Usage> usage() {
        return Optional.empty();
    }

    /**
     * Describes the unit. All specs of a source describe one unit.
     *
     * @param state store of the unit's reservations and saved mode pages
     */
    UnitSpec spec(StateStore state);

    /** Makes everything stable and closes it. The unit no longer exists. */
    @Override
    void close() throws StorageException;
}
