package lunar.raid;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** What a write does to the members of one stripe. */
public interface StripeChange {
    /** Which stripe. */
    long stripe();

    /**
     * Whether every unit is written and no slot is lost: then parity can be computed anew after a crash, whatever of
     * it is in place.
     */
    boolean isFullStripe();

    /** Whether each write is stable before it is done. */
    boolean fua();

    /** Member writes, each of which has a number from 0. */
    int writes();

    int slot(int write);

    /** First block of the slot's data area. */
    long memberBlock(int write);

    int blocks(int write);

    /** What is written. Belongs to the volume. */
    MemorySegment data(int write);

    /** What the guard has left here, for this change or an earlier one; null at first. */
    @Nullable
    Object attachment();

    /**
     * Leaves something for {@link WriteGuard#end}, and for later changes: there are as many places as stripes are
     * worked on at once, so a guard that keeps its things here makes nothing anew for each write.
     */
    void attach(Object attachment);
}
