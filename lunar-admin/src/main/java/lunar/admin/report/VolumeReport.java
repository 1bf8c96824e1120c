package lunar.admin.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import lunar.block.BlockDevice;
import lunar.block.DeviceUri;
import lunar.block.ForwardingDevice;
import lunar.raid.service.RunningVolume;
import lunar.raid.service.ScrubResult;
import lunar.raid.service.VolumeSpec;
import lunar.raid.service.VolumeStatus;
import lunar.server.StorageServer;
import lunar.server.UnitStatus;

/** Converts the status of a volume to a tree of maps and lists for JSON output; docs/iraid.md describes the format. */
public final class VolumeReport {
    private VolumeReport() {}

    /** Returns the volumes that a server serves, each once, in the order of its LUNs. */
    public static List<RunningVolume> running(StorageServer server) {
        return running(server.unitStatuses());
    }

    /** Returns the volumes of units, each once, in the order of the units. */
    public static List<RunningVolume> running(List<UnitStatus> units) {
        var found = new LinkedHashSet<RunningVolume>();
        for (UnitStatus unit : units) {
            BlockDevice device = unit.device().orElse(null);
            while (device instanceof ForwardingDevice above) { // filters, then the volume
                if (device instanceof RunningVolume volume) {
                    found.add(volume);
                }
                device = above.below();
            }
        }
        return List.copyOf(found);
    }

    /**
     * Returns the volumes that a name means.
     *
     * @param name of a volume, such as {@code vol}; or with its level, such as {@code raid5:vol}; or a UUID
     */
    public static List<RunningVolume> named(List<RunningVolume> volumes, String name) {
        return volumes.stream().filter(one -> one.spec().title().equals(name)
                || one.spec().name().equals(name) || one.uuid().toString().equals(name)).toList();
    }

    /** Whether an operator should look at a volume: redundancy is missing, or blocks have lost their content. */
    public static boolean isUnsound(VolumeStatus status) {
        return switch (status.health()) {
            case DEGRADED, REBUILDING, FAILED -> true;
            case CLEAN, RESYNCING, RESHAPING -> status.badBlocks() > 0;
        };
    }

    /** Returns the status of a volume that runs in this process. */
    public static Map<String, Object> of(RunningVolume volume) {
        VolumeStatus status = volume.status();
        var tree = new LinkedHashMap<String, Object>();
        tree.put("volume", status.title());
        tree.put("uuid", status.uuid().toString());
        tree.put("level", VolumeSpec.scheme(status.level()));
        tree.put("state", status.health().toString());
        tree.put("running", true);
        tree.put("pid", ProcessHandle.current().pid());
        tree.put("sizeBytes", status.sizeBytes());
        tree.put("blockSizeBytes", status.blockSize());
        tree.put("chunkBytes", status.chunkBytes());
        tree.put("consistency", word(status.consistency()));
        tree.put("checksums", status.checksums());
        tree.put("slots", status.slots().stream().map(VolumeReport::slot).toList());
        tree.put("walks", status.scans().stream().map(VolumeReport::scan).toList());
        tree.put("lastScrub", status.lastScrub().map(VolumeReport::scrub).orElse(null));
        var spares = new ArrayList<Map<String, Object>>();
        for (VolumeStatus.Spare spare : status.spares()) {
            spares.add(spare(spare.uri(), spare.member(), spare.why()));
        }
        tree.put("spares", spares);
        tree.put("journal", status.journal().map(DeviceUri::withoutSecret).orElse(null));
        tree.put("badBlocks", status.badBlocks());
        tree.put("config", volume.spec().options().configFile().orElse(null));
        var traffic = new LinkedHashMap<String, Object>();
        traffic.put("readBytes", status.traffic().readBytes());
        traffic.put("writtenBytes", status.traffic().writtenBytes());
        traffic.put("readBytesPerSecond", status.traffic().readBytesPerSecond());
        traffic.put("writtenBytesPerSecond", status.traffic().writtenBytesPerSecond());
        tree.put("traffic", traffic);
        return tree;
    }

    /** Returns the name of a constant in lower case. */
    public static String word(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    private static Map<String, Object> slot(VolumeStatus.Slot slot) {
        return slot(slot.slot(), slot.uri(), slot.member().toString(), word(slot.state()),
                slot.why(), slot.repairs(), slot.errors());
    }

    /** Returns the tree of a slot. */
    public static Map<String, Object> slot(int slot, String uri, String uuid, String state,
            String why, long repairs, long errors) {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("slot", slot);
        tree.put("uri", DeviceUri.withoutSecret(uri));
        tree.put("uuid", uuid);
        tree.put("state", state);
        tree.put("why", why);
        tree.put("repairs", repairs);
        tree.put("errors", errors);
        return tree;
    }

    /** Returns the tree of a spare. */
    public static Map<String, Object> spare(String uri, Optional<UUID> member, String why) {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("uri", DeviceUri.withoutSecret(uri));
        tree.put("uuid", member.map(UUID::toString).orElse(null));
        tree.put("why", why);
        return tree;
    }

    /** Returns the tree of a background scan. */
    public static Map<String, Object> scan(VolumeStatus.Scan scan) {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("kind", scan.kind().toString());
        tree.put("slot", scan.slot().isEmpty() ? null : scan.slot().getAsInt());
        tree.put("doneStripes", scan.doneStripes());
        tree.put("stripes", scan.stripes());
        tree.put("percent", Math.floor(scan.percent() * 10) / 10);
        tree.put("bytesPerSecond", scan.bytesPerSecond());
        tree.put("secondsLeft",
                scan.secondsLeft().isPresent() ? scan.secondsLeft().getAsLong() : null);
        return tree;
    }

    /** Returns the tree of the result of a scrub. */
    public static Map<String, Object> scrub(ScrubResult result) {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("clean", result.isClean());
        tree.put("stripes", result.stripes());
        tree.put("mismatches", result.mismatches());
        tree.put("repairs", result.repairs());
        tree.put("skipped", result.skipped());
        tree.put("repairing", result.repairing());
        tree.put("why", result.why());
        return tree;
    }
}
