package lunar.raid.service;

import java.util.LinkedHashMap;
import java.util.Map;
import lunar.block.StorageException;
import lunar.raid.engine.VolumeEngine;
import lunar.raid.metadata.FaultListener;
import org.jspecify.annotations.Nullable;

/** Tells the volume of members that do not take metadata; failures before there is a volume are kept for it. */
final class MemberFaults implements FaultListener {
    /** Guarded by this, as is the next. */
    private final Map<Integer, StorageException> early = new LinkedHashMap<>();
    private @Nullable VolumeEngine volume;

    @Override
    public void failed(int slot, StorageException why) {
        VolumeEngine there;
        synchronized (this) {
            there = volume;
            if (there == null) {
                early.putIfAbsent(slot, why);
                return;
            }
        }
        boolean _ = there.fail(slot, why);
    }

    /** Sets the volume, and tells it of the failures so far. */
    void connect(VolumeEngine there) {
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

    /** Returns the slots that have failed so far, and why, and forgets them. */
    synchronized Map<Integer, StorageException> take() {
        Map<Integer, StorageException> taken = Map.copyOf(early);
        early.clear();
        return taken;
    }
}
