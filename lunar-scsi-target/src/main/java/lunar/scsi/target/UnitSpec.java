package lunar.scsi.target;

import java.io.IOException;

/**
 * Describes a logical unit: what it serves, how it presents itself, and where its small state is kept. Each device type
 * has its own kind; {@link lunar.scsi.target.block.DiskSpec} is that of disks. Immutable.
 */
public interface UnitSpec {
    /**
     * Returns what the unit serves. Specs of one class with the same key, by identity, describe one logical unit: at
     * several LUNs, of one target or of several, it has one set of reservations and mode pages.
     */
    Object key();

    /** Tells the unit from those of other specs. */
    default UnitKey unitKey() {
        return new UnitKey(getClass(), key());
    }

    /** Where reservations, saved mode pages and the like are kept. */
    StateStore state();

    /**
     * Makes the device of a new logical unit, with the state that was saved.
     *
     * @param unit the unit; it is not complete yet, and may only be kept
     * @param commands to add the commands of the device type to
     * @throws IOException when the saved state cannot be read, or is damaged
     */
    PeripheralDevice open(LogicalUnit unit, CommandSet commands, UnitContext context)
            throws IOException;

    /** Whether a unit presents itself alike by this spec and by another one with the same key. */
    default boolean presentsLike(UnitSpec other) {
        return equals(other);
    }

    /**
     * Makes a unit present itself by this spec; it was made of another one with the same key, and its device and its
     * state stay. Tells nexuses by unit attentions what has changed.
     */
    default void present(LogicalUnit unit) {}
}
