package lunar.cli.raid.control;

import java.util.OptionalInt;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import lunar.admin.report.VolumeReport;
import lunar.block.DeviceUri;
import lunar.raid.SlotState;
import lunar.raid.metadata.Assembly;
import lunar.raid.metadata.Candidate;
import lunar.raid.metadata.Composition;
import lunar.raid.metadata.Composition.Use;
import lunar.raid.metadata.DegradedStart;
import lunar.raid.metadata.record.MemberRecord;
import lunar.raid.metadata.record.ReshapeRecord;
import lunar.raid.metadata.record.SuperblockReading;
import lunar.raid.metadata.record.VolumeRecord;
import lunar.raid.service.ScanKind;
import lunar.raid.service.VolumeOwner;
import lunar.raid.service.VolumeSpec;
import lunar.raid.service.VolumeStatus;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Status of a stopped volume, from its superblocks. */
public final class StoppedVolume {
    private StoppedVolume() {}

    /** The state as docs/iraid.md describes it. */
    public static JsonNode status(VolumeSpec spec, List<Candidate> candidates) {
        return status(spec, candidates, Optional.empty());
    }

    /**
     * The state of a volume that this host does not run.
     *
     * @param owner the process that runs it, and is not reached
     */
    public static JsonNode status(VolumeSpec spec, List<Candidate> candidates,
            Optional<VolumeOwner> owner) {
        Map<String, Object> tree = switch (Assembly.of(candidates, DegradedStart.FORCED)) {
            case Assembly.Outcome.Assembled(Composition composition) ->
                of(spec, candidates, composition);
            case Assembly.Outcome.Refused(String why) -> refused(spec, candidates, why);
        };
        owner.ifPresent(one -> {
            tree.put("running", true);
            tree.put("owner", owner(one));
            if ("dirty".equals(tree.get("state"))) { // as any that runs
                tree.put("state", "clean");
            }
        });
        return JsonLines.tree(tree);
    }

    private static Map<String, Object> owner(VolumeOwner owner) {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("host", owner.record().process().host());
        tree.put("pid", owner.record().process().pid());
        tree.put("user", owner.record().process().uid());
        tree.put("title", owner.title());
        return tree;
    }

    private static Map<String, Object> refused(VolumeSpec spec, List<Candidate> candidates,
            String why) {
        var tree = head(spec, null, VolumeSpec.scheme(spec.level()), "failed");
        tree.put("why", why);
        var slots = new ArrayList<Map<String, Object>>();
        for (Candidate candidate : candidates) {
            slots.add(VolumeReport.slot(slots.size(), candidate.uri(), "", "unknown",
                    DeviceContent.describe(candidate), 0, 0));
        }
        tree.put("slots", slots);
        return rest(tree, spec, spec.spares().stream()
                .map(uri -> VolumeReport.spare(uri, Optional.empty(), "")).toList());
    }

    private static Map<String, Object> of(VolumeSpec spec, List<Candidate> candidates,
            Composition composition) {
        VolumeRecord volume = composition.volume();
        var tree = head(spec, volume, VolumeSpec.scheme(volume.description().level()),
                state(composition));
        tree.put("sizeBytes",
                volume.description().volumeBlocks() * volume.description().blockSize());
        tree.put("blockSizeBytes", volume.description().blockSize());
        tree.put("chunkBytes", volume.shape().chunkBytes());
        tree.put("consistency", VolumeReport.word(volume.description().consistency()));
        tree.put("checksums", volume.description().layout().hasChecksums());
        var slots = new ArrayList<Map<String, Object>>();
        for (Composition.Slot slot : composition.slots()) {
            MemberRecord member = volume.members().get(slots.size());
            slots.add(VolumeReport.slot(slots.size(),
                    slot.candidate().isEmpty()
                            ? ""
                            : candidates.get(slot.candidate().getAsInt()).uri(),
                    member.uuid().toString(), VolumeReport.word(switch (slot.use()) {
                        case IN_SYNC -> SlotState.ACTIVE;
                        case REBUILDING -> SlotState.REBUILDING;
                        case STALE_COVERED, STALE, MISSING -> SlotState.FAILED;
                    }), slot.why(), 0, 0));
        }
        tree.put("slots", slots);
        Map<String, Object> all = rest(tree, spec, spares(spec, candidates, composition));
        ReshapeRecord reshape = volume.reshape();
        if (reshape != null) { // continues at the next start
            all.put("walks",
                    List.of(VolumeReport.scan(new VolumeStatus.Scan(ScanKind.RESHAPE,
                            OptionalInt.empty(),
                            reshape.rows(), volume.shape().chunks(0), 0, OptionalLong.empty()))));
        }
        return all;
    }

    /** Spares of the superblocks, then those that are to become some. */
    private static List<Map<String, Object>> spares(VolumeSpec spec, List<Candidate> candidates,
            Composition composition) {
        var spares = new ArrayList<Map<String, Object>>();
        var named = new ArrayList<>(spec.spares());
        composition.slots().forEach(slot -> slot.candidate()
                .ifPresent(index -> named.remove(candidates.get(index).uri())));
        var away = new ArrayList<UUID>();
        for (int i = 0; i < composition.spares().size(); i++) {
            UUID uuid = composition.volume().spares().get(i).uuid();
            OptionalInt index = composition.spares().get(i);
            if (index.isEmpty()) {
                away.add(uuid);
            } else {
                String uri = candidates.get(index.getAsInt()).uri();
                spares.add(VolumeReport.spare(uri, Optional.of(uuid), ""));
                named.remove(uri);
            }
        }
        for (String uri : named) {
            String why = candidates.stream().filter(one -> one.uri().equals(uri)).findFirst()
                    .map(one -> one.reading() instanceof SuperblockReading.Blank
                            ? "becomes one when the volume runs"
                            : DeviceContent.describe(one))
                    .orElse("");
            spares.add(VolumeReport.spare(uri, Optional.empty(), why));
        }
        away.stream().skip(named.size()).forEach(
                uuid -> spares.add(VolumeReport.spare("", Optional.of(uuid), "it is away")));
        return spares;
    }

    private static Map<String, Object> head(VolumeSpec spec,
            @Nullable VolumeRecord volume, String level, String state) {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("volume", volume == null
                ? spec.title()
                : level + ":" + volume.description().name());
        tree.put("uuid", volume == null ? null : volume.description().uuid().toString());
        tree.put("level", level);
        tree.put("state", state);
        tree.put("running", false);
        return tree;
    }

    private static Map<String, Object> rest(Map<String, Object> tree, VolumeSpec spec,
            List<Map<String, Object>> spares) {
        tree.put("walks", List.of());
        tree.put("lastScrub", null);
        tree.put("spares", spares);
        tree.put("journal", spec.journal().map(DeviceUri::withoutSecret).orElse(null));
        return tree;
    }

    /** A word for what it will be when it is started. */
    private static String state(Composition composition) {
        if (composition.slotsOf(Use.REBUILDING) != 0) {
            return "rebuilding";
        }
        if (composition.isDegraded()) {
            return "degraded";
        }
        if (composition.volume().reshape() != null) {
            return "reshaping";
        }
        return composition.resync() == Composition.Resync.NONE
                ? "clean"
                : "dirty";
    }
}
