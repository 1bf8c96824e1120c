package lunar.raid.simulation;

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

/** How often what has happened in simulations. For one thread. */
final class EventCounts {
    /** The events that are counted. */
    enum Event {
        /** Whole simulations. */
        RUN,
        /** Requests of the host that ended. */
        REQUEST,
        /** Requests to members that ended, of data and metadata. */
        MEMBER_REQUEST,
        /** Blocks that were read by the host and held against what was written. */
        BLOCK_CHECKED,
        /** Stripes of which all units on the members were held against each other. */
        STRIPE_CHECKED,
        /** Member requests that failed and had to be sent again. */
        SENT_AGAIN,
        /** Failed writes that had their effect nevertheless. */
        LATE_WRITE,
        /** Ranges that became unreadable. */
        BAD_RANGE,
        /** Reads that met what was lost, and failed. */
        LOST_READ,
        /** Ranges whose content changed by itself. */
        ROTTEN_RANGE,
        /** Writes that failed after a part of them. */
        TORN_WRITE,
        /** Requests that a member was too busy for. */
        MEMBER_BUSY,
        MEMBER_GONE,
        MEMBER_STALLED,
        /** Members that lost their volatile cache, and stayed. */
        CACHE_LOST,
        /** Writes that had their effect after their member had been given up. */
        LANDED_LATE,
        MEMBER_FAILED_BY_HAND,
        CRASH,
        /** Crashes while a slot was not whole. */
        CRASH_DEGRADED,
        /** Crashes after which a member was not there. */
        CRASH_WITH_LOSS,
        /** Crashes of volumes with parity while blocks of members were unreadable. */
        CRASH_UNREADABLE,
        /** Crashes in the middle of the recovery from another. */
        CRASH_IN_RECOVERY,
        /** More members gone than the level survives, which then came back. */
        COLLAPSE,
        /** Requests that ended with an error since the volume had failed altogether. */
        REFUSED,
        /** Member writes under way in a crash, of which some blocks are new and some are not. */
        TORN_BY_CRASH,
        /** Entries of journals that were written in place. */
        ENTRY_REPLAYED,
        /** Blocks without content after a crash that met a loss. */
        BLOCK_LOST,
        REBUILD,
        REBUILD_CANCELLED,
        REBUILD_CRASHED,
        /** Rebuilds that ended since their member failed. */
        REBUILD_FAILED,
        REBUILD_CONTINUED,
        REBUILD_DONE,
        /** Members that came back, and got what they missed. */
        READMITTED,
        RESYNC,
        /** Crashes while copies were compared in two layouts. */
        RESYNC_CRASHED,
        /** Volumes that got a member more. */
        GROWN,
        /** Of these, RAID 10. */
        GROWN_RAID10,
        RESHAPE_CRASHED,
        RESHAPE_DONE,
        /** Crashes that left rows to be brought in place. */
        ROWS_STAGED,
        SCRUB,
        MISCOMPARE;

        @Override
        public String toString() { return name().toLowerCase(Locale.ROOT).replace('_', ' '); }
    }

    private final long[] counts = new long[Event.values().length];

    void count(Event event) { counts[event.ordinal()]++; }

    void count(Event event, long times) { counts[event.ordinal()] += times; }

    long of(Event event) { return counts[event.ordinal()]; }

    void add(EventCounts other) {
        for (int i = 0; i < counts.length; i++) {
            counts[i] += other.counts[i];
        }
    }

    /** All counts, in the order of the events. */
    Map<Event, Long> all() {
        var all = new EnumMap<Event, Long>(Event.class);
        for (Event event : Event.values()) {
            all.put(event, of(event));
        }
        return all;
    }

    @Override
    public String toString() { return all().toString(); }
}
