package lunar.target.unit;

import lunar.block.BlockDevice;

/**
 * Describes a logical unit: its device, how it presents itself, and where its small state is kept. Immutable.
 *
 * @param device the blocks; the caller closes it, after the server
 * @param removable whether the medium can be taken out (RMB), by START STOP UNIT with LOEJ
 * @param rotational whether it reports a rotating medium, rather than solid state
 * @param readOnly whether initiators may not write, though the device can be written
 * @param thick whether it presents itself as fully provisioned, though the device can deallocate blocks
 * @param state reservations, saved mode pages and the like
 */
public record UnitSpec(BlockDevice device, boolean removable, boolean rotational,
        boolean readOnly, boolean thick, StateStore state) {
    /** Returns a fixed solid-state disk; its state is lost when the process ends. */
    public static UnitSpec of(BlockDevice device) {
        return new UnitSpec(device, false, false, false, false, StateStore.inMemory());
    }

    /** Returns a copy with a removable medium, or a fixed one. */
    public UnitSpec withRemovable(boolean value) {
        return new UnitSpec(device, value, rotational, readOnly, thick, state);
    }

    /** Returns a copy that reports a rotating medium, or solid state. */
    public UnitSpec withRotational(boolean value) {
        return new UnitSpec(device, removable, value, readOnly, thick, state);
    }

    /** Returns a copy that is read-only, or not. */
    public UnitSpec withReadOnly(boolean value) {
        return new UnitSpec(device, removable, rotational, value, thick, state);
    }

    /** Returns a copy that presents itself as fully provisioned, or not. */
    public UnitSpec withThick(boolean value) {
        return new UnitSpec(device, removable, rotational, readOnly, value, state);
    }

    /** Returns a copy with its state in another store. */
    public UnitSpec withState(StateStore value) {
        return new UnitSpec(device, removable, rotational, readOnly, thick, value);
    }
}
