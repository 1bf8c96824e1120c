package lunar.raid.meta;

import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.WeakHashMap;
import lunar.block.BlockDevice;
import lunar.block.StorageException;
import lunar.raid.StripeSet;
import org.jspecify.annotations.Nullable;

/** The members of a volume with checksums, each as it is to be used; of a volume without they are as they are. */
final class Sums {
    private final @Nullable SumArea area;
    private final boolean verifies;
    /** By device, as long as it is in use. Guarded by this. */
    private final Map<BlockDevice, WeakReference<SummedMember>> members = new WeakHashMap<>();

    Sums(VolumeRecord volume, OpenOptions options) {
        area = volume.description().layout().hasSums() ? SumArea.of(volume) : null;
        verifies = options.verifies();
    }

    /** What the volume uses for a device that is a member, or comes; the same for the same device. */
    synchronized BlockDevice over(BlockDevice device) {
        if (area == null) {
            return device;
        }
        if (device instanceof SummedMember already) {
            members.put(already.below(), new WeakReference<>(already));
            return already;
        }
        WeakReference<SummedMember> known = members.get(device);
        SummedMember member = known == null ? null : known.get();
        if (member == null) {
            member = new SummedMember(device, area, SumCache.CAPACITY, verifies);
            members.put(device, new WeakReference<>(member));
        }
        return member;
    }

    /** A device as it was given. */
    static BlockDevice bare(BlockDevice device) {
        return device instanceof SummedMember member ? member.below() : device;
    }

    /** After a crash: of these stripes no checksums are known any more; before anything is read or written. Blocks. */
    void lose(VolumeRecord volume, MemberSet of, StripeSet stripes) throws StorageException {
        if (area != null) {
            new SumLoss(area, volume, of).lose(stripes);
        }
    }
}
