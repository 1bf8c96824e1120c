package lunar.raid.metadata.record;

import java.util.UUID;
import java.util.regex.Pattern;
import lunar.raid.layout.Level;
import org.jspecify.annotations.Nullable;

/**
 * Describes a volume; the same on all members, and changed only by growing it.
 *
 * @param uuid which volume
 * @param name its name, 1 to 63 letters, digits and "._:-"
 * @param createdMs when it was made, in milliseconds since 1970
 * @param level how data lie on the members
 * @param blockSize bytes of a block, of volume and members
 * @param chunkBlocks blocks that lie one after the other on a member
 * @param slots members that the level needs, 1 to {@link Superblock#MAX_MEMBERS}
 * @param volumeBlocks blocks of the volume
 * @param consistency what is done against crashes
 * @param regionStripes stripes of a bit of the intent bitmap, 0 where there is none
 * @param journalKey random: marks the journal's entries, so that nothing else is taken for one; zero where there is
 *        none
 * @param journalDevice the device that has the journal; null where the members have it, or none
 * @param layout where all is on a member
 */
public record VolumeDescription(UUID uuid, String name, long createdMs, Level level, int blockSize,
        int chunkBlocks, int slots, long volumeBlocks, Consistency consistency, long regionStripes,
        UUID journalKey, @Nullable UUID journalDevice, MetadataLayout layout) {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._:-]{1,63}");

    public VolumeDescription {
        require(!uuid.equals(MemberRecord.NIL_UUID), "the volume has no UUID");
        require(NAME.matcher(name).matches(), "a volume's name has 1 to 63 letters, digits and "
                + "\"._:-\"");
        require(createdMs >= 0, "made before 1970");
        require(blockSize == 512 || blockSize == 4096, "blocks of " + blockSize + " bytes");
        require(slots > 0 && slots <= Superblock.MAX_MEMBERS, slots + " members");
        require(volumeBlocks > 0 && volumeBlocks <= Long.MAX_VALUE / blockSize,
                "a volume of " + volumeBlocks + " blocks");
        require(switch (consistency) {
            case NONE -> true;
            case BITMAP -> level.isRedundant();
            case JOURNAL -> level.hasParity();
        }, level + " with " + consistency);
        boolean bitmap = consistency != Consistency.NONE;
        require(bitmap == layout.bitmapBytes() > 0 && bitmap == regionStripes > 0
                && regionStripes >= 0,
                consistency + " with a bitmap at byte " + layout.bitmapBytes() + " of "
                        + regionStripes + " stripes a bit");
        require(bitmap || !layout.hasChecksums(),
                level + " with " + consistency + " and checksums");
        boolean journal = consistency == Consistency.JOURNAL;
        require(journal == layout.journalLengthBytes() > 0,
                consistency + " with a journal of " + layout.journalLengthBytes() + " bytes");
        require(journal == !journalKey.equals(MemberRecord.NIL_UUID),
                consistency + " with the journal key " + journalKey);
        require(journalDevice == null
                ? journal == layout.journalBytes() > 0
                : journal && layout.journalBytes() == 0
                        && !journalDevice.equals(MemberRecord.NIL_UUID),
                "a journal here and there");
    }

    private static void require(boolean condition, String otherwise) {
        if (!condition) {
            throw new IllegalArgumentException(otherwise);
        }
    }

    /** Returns this description with more members, or more blocks. */
    public VolumeDescription grown(int moreSlots, long moreBlocks) {
        return new VolumeDescription(uuid, name, createdMs, level, blockSize, chunkBlocks,
                moreSlots, moreBlocks, consistency, regionStripes, journalKey, journalDevice,
                layout);
    }

    /** Returns this description with so many stripes of a bit of the intent bitmap. */
    public VolumeDescription withRegionStripes(long changed) {
        return new VolumeDescription(uuid, name, createdMs, level, blockSize, chunkBlocks, slots,
                volumeBlocks, consistency, changed, journalKey, journalDevice, layout);
    }

    /** Returns the name of the volume for messages. */
    public String title() {
        return "'" + name + "' (" + uuid + ")";
    }
}
