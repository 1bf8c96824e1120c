package lunar.raid.service;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.UUID;
import lunar.raid.SlotState;
import lunar.raid.layout.Level;
import lunar.raid.metadata.record.Consistency;

/**
 * A snapshot of a running volume.
 *
 * @param title its short URI
 * @param chunkBytes bytes of a chunk
 * @param checksums whether members keep checksums
 * @param slots its slots
 * @param scans background scans in progress
 * @param lastScrub the result of the last scrub since the start
 * @param spares devices that wait for a slot
 * @param journal the device of the journal, if it has one
 * @param badBlocks blocks that have lost their content
 */
public record VolumeStatus(String title, UUID uuid, Level level, long sizeBytes, int blockSize,
        int chunkBytes, Consistency consistency, boolean checksums, VolumeHealth health,
        List<Slot> slots,
        List<Scan> scans, Optional<ScrubResult> lastScrub, List<Spare> spares,
        Optional<String> journal, long badBlocks, Traffic traffic) {
    public VolumeStatus {
        slots = List.copyOf(slots);
        scans = List.copyOf(scans);
        spares = List.copyOf(spares);
    }

    /**
     * A slot.
     *
     * @param uri the device that is in it or should be
     * @param why what the operator should know of it; may be empty
     * @param repairs ranges of its member that were repaired since the start
     * @param errors ranges of its member that could not be repaired since the start
     */
    public record Slot(int slot, String uri, UUID member, SlotState state, String why,
            long repairs, long errors) {}

    /**
     * A background scan.
     *
     * @param slot of a rebuild; else empty
     * @param bytesPerSecond of each member, since it began
     * @param secondsLeft if it can be estimated
     */
    public record Scan(ScanKind kind, OptionalInt slot, long doneStripes, long stripes,
            long bytesPerSecond, OptionalLong secondsLeft) {
        /** Returns the progress, 0 to 100. */
        public double percent() {
            return stripes == 0 ? 100 : 100.0 * doneStripes / stripes;
        }
    }

    /**
     * A spare.
     *
     * @param uri empty if it is not known where the spare is
     * @param member its UUID as a spare; empty if it is not a spare yet
     * @param why why it cannot be used now; empty if it can, as far as known
     */
    public record Spare(String uri, Optional<UUID> member, String why) {}

    /**
     * The traffic of hosts.
     *
     * @param readBytes since the start
     * @param writtenBytes since the start
     * @param readBytesPerSecond in the last seconds
     * @param writtenBytesPerSecond in the last seconds
     */
    public record Traffic(long readBytes, long writtenBytes, long readBytesPerSecond,
            long writtenBytesPerSecond) {}
}
