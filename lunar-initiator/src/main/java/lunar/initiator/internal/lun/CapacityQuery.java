package lunar.initiator.internal.lun;

import java.lang.foreign.MemorySegment;
import lunar.initiator.internal.session.SessionEngine;
import lunar.scsi.Cdb;
import lunar.scsi.Lun;
import lunar.scsi.MalformedDataException;
import lunar.scsi.block.CapacityData16;
import lunar.scsi.block.ReadCapacity16;

/** Queries the capacity of a unit, which may have changed, without blocking. Thread-safe. */
public final class CapacityQuery {
    private static final System.Logger LOG = System.getLogger("lunar.initiator");
    private static final int CAPACITY_BYTES = 32;

    /** The device whose capacity it is. */
    public interface Device {
        int blockSize();

        long blockCount();

        void resize(long blockCount);

        boolean isClosed();
    }

    private final BackgroundQuery query;

    public CapacityQuery(SessionEngine session, Lun lun, Device device) {
        query = new BackgroundQuery(session, lun, CAPACITY_BYTES, new BackgroundQuery.Subject() {
            @Override
            public Cdb begin() { return new ReadCapacity16(CAPACITY_BYTES); }

            @Override
            public void adopt(MemorySegment response) throws MalformedDataException {
                CapacityData16 capacity = CapacityData16.decode(response);
                if (capacity.blockSize() == device.blockSize()) {
                    device.resize(capacity.lastLba() + 1);
                    LOG.log(System.Logger.Level.INFO, "{0}/{1} has {2} blocks now",
                            session.targetName(), lun, device.blockCount());
                }
            }

            @Override
            public String withoutResponse() {
                return "keeping the capacity of " + device.blockCount() + " blocks";
            }

            @Override
            public boolean isClosed() { return device.isClosed(); }
        });
    }

    /** Sends a query, and makes the device adopt the response. */
    public void ask() { query.ask(); }
}
