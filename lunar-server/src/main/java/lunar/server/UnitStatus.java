package lunar.server;

import java.util.Optional;
import java.util.UUID;
import lunar.block.BlockDevice;
import lunar.block.DeviceUri;
import lunar.block.Usage;
import lunar.target.IoLimit;
import lunar.target.status.CommandCounts;

/**
 * A logical unit of a running server, and what initiators have done with it.
 *
 * @param unit the unit, with its size now
 * @param identity the identity of its device
 * @param readOnly whether no initiator may write
 * @param limit limits the commands of all initiators to it together
 * @param usage how full its store is; empty if unknown
 * @param device the device of a disk, which the server owns; empty for a unit of another type
 * @param commands counts of the commands since the unit is served
 * @param temporary whether it was changed while the server runs, and the next start will forget that
 */
public record UnitStatus(ServedUnit unit, UUID identity, boolean readOnly, Optional<IoLimit> limit,
        Optional<Usage> usage, Optional<BlockDevice> device, CommandCounts commands,
        boolean temporary) {
    /** Returns the URI of the device without a secret. */
    public String uri() {
        return DeviceUri.withoutSecret(unit.uri());
    }

    /** Whether writes that need space fail, because the store behind the unit is full. */
    public boolean isOutOfSpace() {
        return !readOnly && usage.filter(space -> space.availableBytes() == 0
                && space.usedBytes() < unit.sizeBytes()).isPresent();
    }

    /** Returns the unit without the secret that its URI may hold. */
    @Override
    public String toString() { return unit.toString(); }
}
