package lunar.scsi.target;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import lunar.scsi.primary.TargetPortGroups;
import lunar.scsi.primary.TargetPortGroups.State;
import org.jspecify.annotations.Nullable;

/**
 * The asymmetric access states of a logical unit's target port groups, which servers that share the unit save as
 * follows. Numbers are big-endian. Immutable.
 *
 * <pre>
 * version (1) = 1, groups (2)
 * each: tag (2), relative target port (2), ASYMMETRIC ACCESS STATE (1), STATUS CODE (1), name of the target
 *       (length (2), UTF-8)
 * </pre>
 *
 * @param groups groups whose state was set; all others are active/optimized
 * @param allActive whether every group is active
 */
record PortGroupStates(Map<TargetPort, GroupState> groups, boolean allActive) {
    /** A state, and why it was last changed. */
    record GroupState(State state, int statusCode) {}

    static final PortGroupStates NONE = new PortGroupStates(Map.of());

    private static final GroupState INITIAL = new GroupState(State.ACTIVE_OPTIMIZED, 0);
    private static final int VERSION = 1;

    PortGroupStates {
        groups = Collections.unmodifiableMap(new LinkedHashMap<>(groups));
    }

    private PortGroupStates(Map<TargetPort, GroupState> groups) {
        this(groups, groups.values().stream().allMatch(group -> isActive(group.state())));
    }

    private static boolean isActive(State state) {
        return state == State.ACTIVE_OPTIMIZED || state == State.ACTIVE_NON_OPTIMIZED;
    }

    GroupState of(TargetPort group) { return groups.getOrDefault(group, INITIAL); }

    /** The state of a port through which few commands pass; null where it is active. */
    @Nullable
    State inactive(TargetPort port) {
        if (allActive) {
            return null;
        }
        State state = of(port).state();
        return isActive(state) ? null : state;
    }

    /** Returns these states after a change of some of them. */
    PortGroupStates with(Map<TargetPort, State> wanted, int statusCode) {
        var after = new LinkedHashMap<>(groups);
        wanted.forEach((group, state) -> after.put(group, new GroupState(state, statusCode)));
        return new PortGroupStates(after);
    }

    /** Returns these states without those of some groups, which are active/optimized again. */
    PortGroupStates without(Predicate<TargetPort> which) {
        var after = new LinkedHashMap<>(groups);
        after.keySet().removeIf(which);
        return new PortGroupStates(after);
    }

    /** Returns the names of targets that have a group in another state than in an earlier version. */
    Set<String> targetsChangedSince(PortGroupStates before) {
        var all = new LinkedHashMap<>(groups);
        all.putAll(before.groups);
        return all.keySet().stream()
                .filter(group -> of(group).state() != before.of(group).state())
                .map(TargetPort::targetName).collect(Collectors.toSet());
    }

    // --- as they are saved ---

    byte[] encode() {
        var bytes = new ByteArrayOutputStream();
        try (var out = new DataOutputStream(bytes)) {
            out.writeByte(VERSION);
            out.writeShort(groups.size());
            for (var entry : groups.entrySet()) {
                out.writeShort(entry.getKey().tag());
                out.writeShort(entry.getKey().relativeId());
                out.writeByte(entry.getValue().state().code());
                out.writeByte(entry.getValue().statusCode());
                out.writeUTF(entry.getKey().targetName());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    /** @throws IOException when these are not states of port groups */
    static PortGroupStates decode(byte[] saved) throws IOException {
        try (var in = new DataInputStream(new ByteArrayInputStream(saved))) {
            int version = in.readUnsignedByte();
            if (version != VERSION) {
                throw new IOException("states of port groups of version " + version);
            }
            var groups = new LinkedHashMap<TargetPort, GroupState>();
            for (int left = in.readUnsignedShort(); left > 0; left--) {
                int tag = in.readUnsignedShort();
                int relativeId = in.readUnsignedShort();
                State state = TargetPortGroups.State.of(in.readUnsignedByte());
                int statusCode = in.readUnsignedByte();
                groups.put(new TargetPort(in.readUTF(), tag, relativeId),
                        new GroupState(state, statusCode));
            }
            return new PortGroupStates(groups);
        }
    }
}
