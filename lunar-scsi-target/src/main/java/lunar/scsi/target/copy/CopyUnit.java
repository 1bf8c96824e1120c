package lunar.scsi.target.copy;

import lunar.block.BlockDevice;
import lunar.scsi.Sense;
import lunar.scsi.target.LogicalUnit;
import org.jspecify.annotations.Nullable;

/** Access of third-party copies to a logical unit. Thread-safe. */
public interface CopyUnit {
    /** Returns the logical unit. */
    LogicalUnit unit();

    /** Returns the device that commands use. */
    BlockDevice device();

    /** Returns the medium, which other units may share. Only for comparison: equal media are the same. */
    BlockDevice store();

    /** Returns the writes of copies to this unit. */
    CopyWrites writes();

    /** Returns the copies and tokens of the server. */
    CopyService copies();

    /** Whether writes are refused. */
    boolean writeProtected();

    /** Whether the unit presents no holes, even if the device has some. */
    boolean isThick();

    /**
     * Begins the use of the medium for a piece of a copy: an erasure waits for its end or makes it fail.
     *
     * @return sense data if the medium cannot be used now, in which case {@link #leave} must not be called; otherwise
     *        null
     */
    @Nullable
    Sense enter();

    /** Ends the use of the medium. */
    void leave();

    /** Returns sense data if the medium cannot be used now; otherwise null. */
    @Nullable
    Sense obstacle();

    /** Records that the device has reported lost writes; commands that guarantee stable data then fail. */
    void lostWrites();
}
