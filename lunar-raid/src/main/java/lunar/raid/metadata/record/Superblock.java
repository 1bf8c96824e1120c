package lunar.raid.metadata.record;

import java.util.UUID;
import lunar.raid.metadata.page.Page;

/**
 * Describes a member and its volume. {@code SuperblockCodec} encodes it.
 *
 * @param generation how often this member's superblock was written; the higher one of its two counts
 * @param index the index of this member's entry in the volume's table
 * @param volume the volume
 */
public record Superblock(long generation, int index, VolumeRecord volume) {
    /** Most members of a volume, spares included. */
    public static final int MAX_MEMBERS = 64;

    public Superblock {
        if (generation <= 0 || generation >= Page.MAX_GENERATION) {
            throw new IllegalArgumentException("generation " + generation);
        }
        if (index < 0 || index >= volume.members().size()) {
            throw new IllegalArgumentException("entry " + index + " in a table of "
                    + volume.members().size());
        }
        if (volume.members().get(index).uuid().equals(MemberRecord.NIL_UUID)) {
            throw new IllegalArgumentException("entry " + index + " of the table has no member");
        }
    }

    /** Returns the UUID of this member. */
    public UUID memberUuid() { return member().uuid(); }

    /** Returns this member's entry of the table. */
    public MemberRecord member() {
        return volume.members().get(index);
    }
}
