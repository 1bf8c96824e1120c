package lunar.raid.metadata;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import lunar.block.BlockDevice;
import org.jspecify.annotations.Nullable;

/**
 * The devices of a volume that is being opened; they stay the caller's.
 *
 * @param slots by slot, the members that the composition uses; null where it has none
 * @param spares in the order of {@link Composition#spares}; null where one is away
 * @param journal the device that has the journal; null where the members have it, or none
 */
public record VolumeDevices(List<? extends @Nullable BlockDevice> slots,
        List<? extends @Nullable BlockDevice> spares, @Nullable BlockDevice journal) {
    public VolumeDevices {
        slots = Collections.unmodifiableList(new ArrayList<@Nullable BlockDevice>(slots));
        spares = Collections.unmodifiableList(new ArrayList<@Nullable BlockDevice>(spares));
    }

    /** Members alone. */
    public static VolumeDevices of(List<? extends @Nullable BlockDevice> slots) {
        return new VolumeDevices(slots, List.of(), null);
    }

    @Nullable
    BlockDevice spare(int index) { return index < spares.size() ? spares.get(index) : null; }
}
