package lunar.raid.run;

import java.util.LinkedHashMap;
import java.util.Map;
import lunar.block.StorageException;
import lunar.raid.RaidVolume;
import lunar.raid.meta.MemberSet;
import org.jspecify.annotations.Nullable;

/** Tells the volume of members that do not take metadata; what comes before there is one is kept for it. */
final class MemberFaults implements MemberSet.Faults {
    /** Guarded by this, as the next. */
    private final Map<Integer, StorageException> early = new LinkedHashMap<>();
    private @Nullable RaidVolume volume;

    @Override
    public void failed(int slot, StorageException why) {
        RaidVolume there;
        synchronized (this) {
            there = volume;
            if (there == null) {
                early.putIfAbsent(slot, why);
                return;
            }
        }
        boolean _ = there.fail(slot, why);
    }

    /** The volume is there. */
    void connect(RaidVolume there) {
        Map<Integer, StorageException> before;
        synchronized (this) {
            volume = there;
            before = Map.copyOf(early);
            early.clear();
        }
        before.forEach((slot, why) -> {
            boolean _ = there.fail(slot, why);
        });
    }

    /** Slots that have failed so far, and why; forgotten by that. */
    synchronized Map<Integer, StorageException> take() {
        Map<Integer, StorageException> taken = Map.copyOf(early);
        early.clear();
        return taken;
    }
}
