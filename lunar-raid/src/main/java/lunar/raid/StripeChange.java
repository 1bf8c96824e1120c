package lunar.raid;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** A change of one stripe: the member writes of a request. */
public interface StripeChange {
    /** Returns the stripe. */
    long stripe();

    /**
     * Whether every unit is written and no slot is lost: then parity can be computed anew after a crash, whichever
     * parts are in place.
     */
    boolean isFullStripe();

    /** Whether each write is stable before it is done. */
    boolean fua();

    /**
     * Whether, at the end of the change, its writes have been put back as far as possible, since members had no space
     * for all of them.
     */
    boolean isUndone();

    /** Returns the number of member writes, which are numbered from 0. */
    int writes();

    int slot(int write);

    /** Returns the first block that is written, in the slot's data area. */
    long memberBlock(int write);

    int blocks(int write);

    /** Returns the data of a write; they belong to the volume. */
    MemorySegment data(int write);

    /** Returns the object that the guard attached, for this change or an earlier one; null at first. */
    @Nullable
    Object attachment();

    /**
     * Attaches an object for {@link WriteGuard#end}, and for later changes: there are as many attachments as stripes
     * are worked on at once, so a guard that keeps its state here need not allocate for each write.
     */
    void attach(Object attachment);
}
