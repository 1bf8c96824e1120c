package lunar.raid;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest.Operation;
import lunar.block.Capability;

/** A device in a slot, for as long as it is there. */
final class Member {
    final int slot;
    final BlockDevice device;
    final MemberQueue queue;
    private final long dataOffset;
    private final AtomicInteger inFlight = new AtomicInteger();
    private final AtomicLong repairs = new AtomicLong();
    /** Losses of the device that do not count: before it came, and those the volume goes on with. */
    private volatile long acceptedLosses;

    Member(int slot, BlockDevice device, long dataOffset) {
        this.slot = slot;
        this.device = device;
        this.dataOffset = dataOffset;
        queue = new MemberQueue(device.limits().queueDepth());
        acceptedLosses = device.writeLosses();
    }

    /** Whether the device may have lost acknowledged writes since it came into the slot. */
    boolean hasLostWrites() {
        return device.writeLosses() != acceptedLosses;
    }

    /** Whether the volume goes on in spite of all that the device has lost: what fails because of it is no news. */
    boolean areLossesAccepted() {
        long losses = device.writeLosses();
        return losses > 0 && losses == acceptedLosses;
    }

    /** The device was in the slot already: losses that nothing has been decided about yet still count. */
    void goOnFrom(Member before) {
        acceptedLosses = before.acceptedLosses;
    }

    /** What the device has lost so far is lost. */
    void acceptLosses() {
        acceptedLosses = device.writeLosses();
    }

    /** The device's block of a block of the data area. */
    long deviceBlock(long memberBlock) {
        return dataOffset + memberBlock;
    }

    /**
     * What makes zeroes of blocks where an unmap or zeroes are wanted. Parity, copies and checksums count on them: a
     * device that may leave blocks as they are is not asked to unmap.
     */
    Operation zeroing(Operation wanted) {
        if (wanted == Operation.UNMAP && device.supports(Capability.UNMAP_ZEROES)) {
            return Operation.UNMAP;
        }
        return device.supports(Capability.WRITE_ZEROES) ? Operation.WRITE_ZEROES : Operation.WRITE;
    }

    int inFlight() { return inFlight.get(); }

    void began() { inFlight.incrementAndGet(); }

    void ended() { inFlight.decrementAndGet(); }

    /** One more repair; how many that makes. */
    long repaired() {
        return repairs.incrementAndGet();
    }

    long repairs() { return repairs.get(); }

    @Override
    public String toString() { return "slot " + slot + " (" + device + ")"; }
}
