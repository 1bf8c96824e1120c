package lunar.raid.metadata.checksum;

import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.WeakHashMap;
import lunar.block.BlockDevice;
import lunar.block.StorageException;
import lunar.raid.StripeSet;
import lunar.raid.metadata.page.MemberSet;
import lunar.raid.metadata.record.VolumeRecord;
import org.jspecify.annotations.Nullable;

/** Wraps the members of a volume with checksums in {@link ChecksummedMember}; leaves other members as they are. */
public final class MemberChecksums {
    private final @Nullable ChecksumArea area;
    private final boolean verifies;
    /** By device, as long as it is in use. Guarded by this. */
    private final Map<BlockDevice, WeakReference<ChecksummedMember>> members = new WeakHashMap<>();

    /** @param verifies whether reads of the volume's hosts are compared, too */
    public MemberChecksums(VolumeRecord volume, boolean verifies) {
        area = volume.description().layout().hasChecksums() ? ChecksumArea.of(volume) : null;
        this.verifies = verifies;
    }

    /** Returns what the volume uses for a present or future member: always the same for the same device. */
    public synchronized BlockDevice over(BlockDevice device) {
        if (area == null) {
            return device;
        }
        if (device instanceof ChecksummedMember already) {
            members.put(already.below(), new WeakReference<>(already));
            return already;
        }
        WeakReference<ChecksummedMember> known = members.get(device);
        ChecksummedMember member = known == null ? null : known.get();
        if (member == null) {
            member = new ChecksummedMember(device, area, ChecksumCache.CAPACITY, verifies);
            members.put(device, new WeakReference<>(member));
        }
        return member;
    }

    /** A device as it was given. */
    public static BlockDevice bare(BlockDevice device) {
        return device instanceof ChecksummedMember member ? member.below() : device;
    }

    /**
     * Members have lost writes, and the volume goes on with what they have: of blocks that were written since the last
     * flush no checksums are known any more. To be called before such blocks are read or written.
     */
    public synchronized void suspect() {
        for (WeakReference<ChecksummedMember> one : members.values()) {
            ChecksummedMember member = one.get();
            if (member != null) {
                member.suspect();
            }
        }
    }

    /** After a crash: of these stripes no checksums are known any more; before anything is read or written. Blocks. */
    public void lose(VolumeRecord volume, MemberSet of, StripeSet stripes) throws StorageException {
        if (area != null) {
            new ChecksumInvalidation(area, volume, of).lose(stripes);
        }
    }
}
