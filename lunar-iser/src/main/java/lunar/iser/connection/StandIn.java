package lunar.iser.connection;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import lunar.iscsi.spi.Transport.Release;
import lunar.iser.memory.DeviceMemory;
import lunar.rdma.Access;
import lunar.rdma.MemoryRegion;
import lunar.rdma.RdmaException;

/** Registers memory of a target that belongs to no registered pool, for the operations of one PDU. */
final class StandIn {
    private StandIn() {}

    /**
     * Registers data, or a copy of them if they are on the heap.
     *
     * @param isSent whether the data are sent, rather than fetched
     * @param uses number of operations that will use the data
     */
    static SendEntry.LocalData of(DeviceMemory memory, MemorySegment data, boolean isSent,
            Release release, int uses) throws RdmaException {
        if (data.isNative()) {
            MemoryRegion region = memory.register(data,
                    isSent && data.isReadOnly() ? Set.of() : Access.LOCAL);
            return new SendEntry.LocalData(region, 0, region, null, release, uses);
        }
        MemorySegment copy = Arena.ofAuto().allocate(data.byteSize(), 64);
        if (isSent) {
            copy.copyFrom(data);
        }
        MemoryRegion region = memory.register(copy, Access.LOCAL);
        return new SendEntry.LocalData(region, 0, region, null, isSent ? release : () -> {
            data.copyFrom(copy);
            release.release();
        }, uses);
    }
}
