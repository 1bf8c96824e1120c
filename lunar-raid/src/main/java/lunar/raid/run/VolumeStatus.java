package lunar.raid.run;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import lunar.raid.SlotState;
import lunar.raid.layout.Level;
import lunar.raid.meta.Consistency;

/**
 * A running volume at a moment.
 *
 * @param title its short URI
 * @param chunkBytes bytes of a chunk
 * @param checksums whether members keep checksums
 * @param slots its slots
 * @param scans what goes over it now
 * @param lastScrub what the last scrub since the start found
 * @param spares devices that wait for a slot
 * @param journal the device that has the journal, if one has
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
     * @param uri the device in it, or that should be
     * @param why what a person should know of it; may be empty
     * @param repairs ranges of its member that were repaired since the start
     * @param errors ranges of its member that could not be repaired since the start
     */
    public record Slot(int slot, String uri, UUID member, SlotState state, String why,
            long repairs, long errors) {}

    /**
     * Something that goes over all stripes.
     *
     * @param slot of a rebuild; else -1
     * @param bytesPerSecond of each member, since it began
     * @param secondsLeft as far as that can be told
     */
    public record Scan(ScanKind kind, int slot, long doneStripes, long stripes,
            long bytesPerSecond, OptionalLong secondsLeft) {
        /** How much is done, 0 to 100. */
        public double percent() {
            return stripes == 0 ? 100 : 100.0 * doneStripes / stripes;
        }
    }

    /**
     * A device that waits for a slot.
     *
     * @param uri empty where nobody has said where it is
     * @param member its UUID as a spare; empty where it is none yet
     * @param why why it cannot be used now; empty where it can, as far as is known
     */
    public record Spare(String uri, Optional<UUID> member, String why) {}

    /**
     * What hosts read and write.
     *
     * @param readBytes since the start
     * @param writtenBytes since the start
     * @param readBytesPerSecond in the last seconds
     * @param writtenBytesPerSecond in the last seconds
     */
    public record Traffic(long readBytes, long writtenBytes, long readBytesPerSecond,
            long writtenBytesPerSecond) {}
}
