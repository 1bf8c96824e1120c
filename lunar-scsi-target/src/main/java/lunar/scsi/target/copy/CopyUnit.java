package lunar.scsi.target.copy;

import lunar.block.BlockDevice;
import lunar.scsi.Sense;
import lunar.scsi.target.LogicalUnit;
import org.jspecify.annotations.Nullable;

/** A logical unit whose blocks copies read and write. Thread-safe. */
public interface CopyUnit {
    /** The logical unit. */
    LogicalUnit unit();

    /** The device as commands use it. */
    BlockDevice device();

    /** The medium, which may stand behind other units too: two that are equal are one. Only to compare. */
    BlockDevice store();

    /** Copies that write to it. */
    CopyWrites writes();

    /** The copies and tokens of the server. */
    CopyService copies();

    /** Whether writes are refused. */
    boolean writeProtected();

    /** Whether it has no holes, whatever the device makes of them. */
    boolean isThick();

    /**
     * Begins the use of the medium for a piece of a copy: an erasure waits for its end, or is seen by it.
     *
     * @return why the medium cannot be used now, and then there is nothing to leave; null where it can
     */
    @Nullable
    Sense enter();

    /** Ends the use of the medium. */
    void leave();

    /** Why the medium cannot be used now; null where it can. */
    @Nullable
    Sense obstacle();

    /** Notes that the device has told of lost writes; the commands that vouch for them hear of it. */
    void lostWrites();
}
