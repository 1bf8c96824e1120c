package lunar.raid.metadata;

import java.util.List;
import java.util.OptionalInt;
import lunar.raid.SlotState;
import lunar.raid.metadata.record.VolumeRecord;

/**
 * How a volume is put together from the candidates that were given.
 *
 * @param volume its newest record
 * @param slots what is in each slot
 * @param spares of each spare of the record, in its order, the index of the candidate; empty if it is away
 * @param leftOut candidates that are not used, and why
 * @param resync what is to be compared before the copies and the parity can be relied on
 */
public record Composition(VolumeRecord volume, List<Slot> slots, List<OptionalInt> spares,
        List<LeftOut> leftOut, Resync resync) {
    public Composition {
        slots = List.copyOf(slots);
        spares = List.copyOf(spares);
        leftOut = List.copyOf(leftOut);
    }

    /** The use of a slot. */
    public enum Use {
        /** Its member has all data. */
        IN_SYNC,
        /** Its member has all data up to the checkpoint of its table entry, and goes on being rebuilt. */
        REBUILDING,
        /**
         * Its member has missed writes, all of which the intent bitmap has: when the dirty regions have been copied to
         * it, it is in sync.
         */
        STALE_COVERED,
        /** Its member has missed writes, and it is not known which: all is to be rebuilt. */
        STALE,
        /** No candidate is its member. */
        MISSING
    }

    /**
     * A slot.
     *
     * @param use how it is used
     * @param candidate index of the candidate in it; empty if it is MISSING
     * @param why its state for the operator; empty if it is IN_SYNC
     */
    public record Slot(Use use, OptionalInt candidate, String why) {}

    /**
     * A candidate that is not used.
     *
     * @param candidate its index
     * @param why the reason for the operator
     */
    public record LeftOut(int candidate, String why) {}

    /** The comparison that is due. */
    public enum Resync {
        /** No comparison. */
        NONE,
        /** Stripes that the journal and, where it has no word on them, the intent bitmap name as written. */
        DIRTY,
        /** All, from the record's checkpoint on. */
        WHOLE
    }

    /** Returns the slots that can be read, as bits. */
    public long inSync() {
        return slotsOf(Use.IN_SYNC);
    }

    /** Returns the slots with this use, as bits. */
    public long slotsOf(Use use) {
        long bits = 0;
        for (int slot = 0; slot < slots.size(); slot++) {
            if (slots.get(slot).use() == use) {
                bits |= 1L << slot;
            }
        }
        return bits;
    }

    /** Returns the slots, as bits, of missing members that had all data when the volume was used last. */
    public long away() {
        return volume.slotsThatAre(SlotState.ACTIVE) & slotsOf(Use.MISSING);
    }

    /** Whether a slot is without a member that has all data. */
    public boolean isDegraded() {
        return Long.bitCount(inSync()) < slots.size();
    }
}
