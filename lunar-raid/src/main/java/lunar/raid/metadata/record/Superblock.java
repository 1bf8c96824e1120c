package lunar.raid.metadata.record;

import java.util.UUID;
import lunar.raid.metadata.page.Page;

/**
 * Describes a member and its volume. {@link lunar.raid.metadata.superblock.SuperblockCodec} knows the bytes.
 *
 * @param generation how often this member's superblock was written; the higher one of its two counts
 * @param line which line of the volume's table is this member's
 * @param volume the volume
 */
public record Superblock(long generation, int line, VolumeRecord volume) {
    /** Most members of a volume, spares included. */
    public static final int MAX_MEMBERS = 64;

    public Superblock {
        if (generation <= 0 || generation >= Page.MAX_GENERATION) {
            throw new IllegalArgumentException("generation " + generation);
        }
        if (line < 0 || line >= volume.members().size()) {
            throw new IllegalArgumentException("line " + line + " in a table of "
                    + volume.members().size());
        }
        if (volume.members().get(line).uuid().equals(MemberRecord.NOBODY)) {
            throw new IllegalArgumentException("line " + line + " of the table is nobody's");
        }
    }

    /** This member. */
    public UUID memberUuid() { return member().uuid(); }

    /** Returns this member's line of the table. */
    public MemberRecord member() {
        return volume.members().get(line);
    }
}
