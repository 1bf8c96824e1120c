package lunar.raid;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import lunar.block.BlockDevice;

/** A device in a slot, for as long as it is there. */
final class Member {
    final int slot;
    final BlockDevice device;
    private final long dataOffset;
    private final AtomicInteger inFlight = new AtomicInteger();
    private final AtomicLong repairs = new AtomicLong();

    Member(int slot, BlockDevice device, long dataOffset) {
        this.slot = slot;
        this.device = device;
        this.dataOffset = dataOffset;
    }

    /** The device's block of a block of the data area. */
    long deviceBlock(long memberBlock) {
        return dataOffset + memberBlock;
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
