package lunar.scsi.target;

import java.io.IOException;

/**
 * Describes a logical unit: the object that it serves, how it presents itself, and where its small state is stored.
 * Each device type has its own implementation; {@link lunar.scsi.target.block.DiskSpec} describes disks. Immutable.
 */
public interface UnitSpec {
    /**
     * Returns the object that the unit serves. Specs of one class with the same key (by reference) describe one logical
     * unit, which has one set of reservations and mode pages even if it is at several LUNs, of one target or of
     * several.
     */
    Object key();

    /** Returns the identity of the unit. */
    default UnitKey unitKey() {
        return new UnitKey(getClass(), key());
    }

    /** Returns the store of reservations, saved mode pages and similar state. */
    StateStore state();

    /**
     * Creates the device of a new logical unit and loads its saved state.
     *
     * @param unit the unit; not complete yet: its reference may only be stored
     * @param commands receives the commands of the device type
     * @throws IOException if the saved state cannot be read, or is damaged
     */
    PeripheralDevice open(LogicalUnit unit, CommandSet commands, UnitContext context)
            throws IOException;

    /** Whether a unit presents itself identically by this spec and by another spec with the same key. */
    default boolean presentsLike(UnitSpec other) {
        return equals(other);
    }

    /**
     * Changes how a unit presents itself. The unit was created from another spec with the same key; its device and
     * state stay. Establishes unit attentions for what has changed.
     */
    default void present(LogicalUnit unit) {}
}
