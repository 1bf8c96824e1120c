package lunar.raid.engine.member;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest.Operation;
import lunar.block.Capability;
import lunar.block.LostWritesException;

/** A device in a slot, for as long as it is there. */
public final class Member {
    public final int slot;
    public final BlockDevice device;
    public final MemberQueue queue;
    private final long dataOffset;
    private final AtomicInteger inFlight = new AtomicInteger();
    private final AtomicLong repairs = new AtomicLong();
    /**
     * Losses of the device that do not count: from before it came into the slot, and those with which the volume goes
     * on.
     */
    private volatile long acceptedLosses;

    public Member(int slot, BlockDevice device, long dataOffset) {
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

    /** Returns the failure of requests that the member's loss of writes makes fail. */
    LostWritesException lossFailure() {
        return new LostWritesException(this + " has lost acknowledged writes");
    }

    /** Whether the volume goes on despite all that the device has lost: failures because of it need no new decision. */
    boolean areLossesAccepted() {
        long losses = device.writeLosses();
        return losses > 0 && losses == acceptedLosses;
    }

    /** Takes over from a member with the same device: losses that have not been decided about still count. */
    void goOnFrom(Member before) {
        acceptedLosses = before.acceptedLosses;
    }

    /** Accepts this number of losses of the device: the volume goes on with what the device has. */
    void acceptLosses(long losses) {
        acceptedLosses = losses;
    }

    /** The device's block of a block of the data area. */
    public long deviceBlock(long memberBlock) {
        return dataOffset + memberBlock;
    }

    /**
     * Returns the operation that zeroes blocks for an unmap or a request for zeroes. Parity, copies and checksums count
     * on them: a device that may leave blocks as they are is not asked to unmap.
     */
    public Operation zeroing(Operation wanted) {
        if (wanted == Operation.UNMAP && device.supports(Capability.UNMAP_ZEROES)) {
            return Operation.UNMAP;
        }
        return device.supports(Capability.WRITE_ZEROES) ? Operation.WRITE_ZEROES : Operation.WRITE;
    }

    public int inFlight() { return inFlight.get(); }

    void began() { inFlight.incrementAndGet(); }

    void ended() { inFlight.decrementAndGet(); }

    /** Counts a repair; returns the number of repairs so far. */
    public long repaired() {
        return repairs.incrementAndGet();
    }

    public long repairs() { return repairs.get(); }

    @Override
    public String toString() { return "slot " + slot + " (" + device + ")"; }
}
