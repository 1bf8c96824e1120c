package lunar.scsi.target.block;

import java.io.IOException;
import lunar.block.BlockDevice;
import lunar.scsi.target.CommandSet;
import lunar.scsi.target.LogicalUnit;
import lunar.scsi.target.PeripheralDevice;
import lunar.scsi.target.StateStore;
import lunar.scsi.target.UnitContext;
import lunar.scsi.target.UnitSpec;

/**
 * Describes a disk: its blocks, its presentation to initiators, and where its small state is stored. Immutable.
 *
 * @param device device with the blocks; the caller closes it after the server
 * @param removable whether the medium can be taken out (RMB), by START STOP UNIT with LOEJ
 * @param rotational whether it reports a rotating medium, rather than solid state
 * @param readOnly whether initiators may not write, though the device can be written
 * @param thick whether it presents itself as fully provisioned, though the device can deallocate blocks
 * @param state store of reservations, saved mode pages and similar state; shared if several servers serve the disk,
 *        which then cannot be removable
 */
public record DiskSpec(BlockDevice device, boolean removable, boolean rotational,
        boolean readOnly, boolean thick, StateStore state) implements UnitSpec {
    public DiskSpec {
        if (removable && state.isShared()) { // a server knows of its own nexuses alone that prevent it
            throw new IllegalArgumentException(
                    "a disk that several servers share cannot be removable");
        }
    }

    /** Returns a fixed solid-state disk; its state is lost when the process ends. */
    public static DiskSpec of(BlockDevice device) {
        return new DiskSpec(device, false, false, false, false, StateStore.inMemory());
    }

    /** Returns a copy with a removable medium, or a fixed one. */
    public DiskSpec withRemovable(boolean value) {
        return new DiskSpec(device, value, rotational, readOnly, thick, state);
    }

    /** Returns a copy that reports a rotating medium, or solid state. */
    public DiskSpec withRotational(boolean value) {
        return new DiskSpec(device, removable, value, readOnly, thick, state);
    }

    /** Returns a copy that is read-only, or not. */
    public DiskSpec withReadOnly(boolean value) {
        return new DiskSpec(device, removable, rotational, value, thick, state);
    }

    /** Returns a copy that presents itself as fully provisioned, or not. */
    public DiskSpec withThick(boolean value) {
        return new DiskSpec(device, removable, rotational, readOnly, value, state);
    }

    /** Returns a copy with its state in another store. */
    public DiskSpec withState(StateStore value) {
        return new DiskSpec(device, removable, rotational, readOnly, thick, value);
    }

    /** Returns the device: a disk with the same blocks is the same disk. */
    @Override
    public Object key() { return device; }

    @Override
    public PeripheralDevice open(LogicalUnit unit, CommandSet commands, UnitContext context)
            throws IOException {
        var disk = new Disk(new DiskUnit(unit, device, profile(), state, context), context);
        disk.register(commands);
        return disk;
    }

    private DiskProfile profile() {
        return new DiskProfile(removable, rotational, readOnly, thick);
    }

    @Override
    public boolean presentsLike(UnitSpec other) {
        return other instanceof DiskSpec disk && profile().equals(disk.profile());
    }

    @Override
    public void present(LogicalUnit unit) { ((Disk) unit.device()).present(profile()); }
}
