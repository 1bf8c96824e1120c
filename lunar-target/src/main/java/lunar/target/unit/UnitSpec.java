package lunar.target.unit;

import lunar.block.BlockDevice;

/**
 * A logical unit to serve: a device, how it presents itself, and where its small state is kept. Immutable.
 *
 * @param device the blocks; whoever made it closes it, after the server
 * @param removable whether the medium can be taken out (RMB), by START STOP UNIT with LOEJ
 * @param rotational whether it tells of a medium that turns, rather than of solid state
 * @param readOnly whether initiators may not write, though the device can be written
 * @param thick whether it presents itself as fully provisioned, though the device can deallocate blocks
 * @param state reservations, saved mode pages and the like
 */
public record UnitSpec(BlockDevice device, boolean removable, boolean rotational,
        boolean readOnly, boolean thick, StateStore state) {
    /** A fixed solid-state disk whose state ends with the process. */
    public static UnitSpec of(BlockDevice device) {
        return new UnitSpec(device, false, false, false, false, StateStore.inMemory());
    }

    /** The same as a removable medium, or not. */
    public UnitSpec withRemovable(boolean value) {
        return new UnitSpec(device, value, rotational, readOnly, thick, state);
    }

    /** The same as a turning disk, or not. */
    public UnitSpec withRotational(boolean value) {
        return new UnitSpec(device, removable, value, readOnly, thick, state);
    }

    /** The same for reading only, or not. */
    public UnitSpec withReadOnly(boolean value) {
        return new UnitSpec(device, removable, rotational, value, thick, state);
    }

    /** The same fully provisioned, or not. */
    public UnitSpec withThick(boolean value) {
        return new UnitSpec(device, removable, rotational, readOnly, value, state);
    }

    /** The same with its state kept elsewhere. */
    public UnitSpec withState(StateStore value) {
        return new UnitSpec(device, removable, rotational, readOnly, thick, value);
    }
}
