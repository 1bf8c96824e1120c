package lunar.raid.simulation;

/**
 * The faults of a simulation, besides requests that must be sent again.
 *
 * @param losses members that are gone, stall, tear or cannot read a range, within what the level promises
 * @param crashes of all at once, at any moment
 * @param metadata whether the volume has superblocks, bitmap and journal; else its state is kept by the simulation
 * @param checksums whether members have checksums; then bits change by themselves, too
 * @param bitmap whether volumes of copies have an intent bitmap
 * @param caches members that lose their volatile cache and stay, and that are cut off with writes under way
 * @param excess unreadable ranges beyond what the level promises: reads of what is lost fail, until it is written
 * @param unreadable crashes of volumes with parity while blocks of their members are unreadable
 */
record Faults(boolean losses, boolean crashes, boolean metadata, boolean checksums,
        boolean bitmap, boolean caches, boolean excess, boolean unreadable) {
    Faults(boolean losses, boolean crashes, boolean metadata, boolean checksums, boolean bitmap) {
        this(losses, crashes, metadata, checksums, bitmap, false, false, false);
    }

    Faults(boolean losses, boolean crashes, boolean metadata, boolean checksums) {
        this(losses, crashes, metadata, checksums, true);
    }

    Faults(boolean losses, boolean crashes, boolean metadata) {
        this(losses, crashes, metadata, false);
    }

    /** Returns these faults, and losses of members' caches. */
    Faults withCaches(boolean has) {
        return new Faults(losses, crashes, metadata, checksums, bitmap, has, excess, unreadable);
    }

    /** Returns these faults, and losses of more than the level survives. */
    Faults withExcess() {
        return new Faults(losses, crashes, metadata, checksums, bitmap, caches, true,
                unreadable);
    }

    /** Returns these faults, and crashes while blocks are unreadable. */
    Faults withUnreadable(boolean has) {
        return new Faults(losses, crashes, metadata, checksums, bitmap, caches, excess, has);
    }
}
