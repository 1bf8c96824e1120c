package lunar.raid;

/**
 * What may go wrong in a simulation, beside requests that must be sent again.
 *
 * @param losses members that are gone, stall, tear or cannot read a range, within what the level promises
 * @param crashes of all at once, at any moment
 * @param metadata whether the volume has superblocks, bitmap and journal; else its state is kept by the simulation
 * @param checksums whether members have checksums; then bits change by themselves, too
 * @param bitmap whether volumes of copies have an intent bitmap
 */
record Faults(boolean losses, boolean crashes, boolean metadata, boolean checksums,
        boolean bitmap) {
    Faults(boolean losses, boolean crashes, boolean metadata, boolean checksums) {
        this(losses, crashes, metadata, checksums, true);
    }

    Faults(boolean losses, boolean crashes, boolean metadata) {
        this(losses, crashes, metadata, false);
    }
}
