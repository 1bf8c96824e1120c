package lunar.scsi.primary;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.scsi.MalformedDataException;
import lunar.scsi.ParameterData;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * REPORT TARGET PORT GROUPS data (SPC-5).
 *
 * @param extended whether the header is the extended one
 * @param implicitTransitionTimeS IMPLICIT TRANSITION TIME, in the extended header only
 * @param groups every group of the logical unit
 */
public record TargetPortGroups(boolean extended, int implicitTransitionTimeS, List<Group> groups)
        implements
        ParameterData {
    /** ASYMMETRIC ACCESS STATE (SPC-5). */
    public enum State {
        ACTIVE_OPTIMIZED(0),
        ACTIVE_NON_OPTIMIZED(1),
        STANDBY(2),
        UNAVAILABLE(
                3),
        LOGICAL_BLOCK_DEPENDENT(4),
        OFFLINE(0xe),
        TRANSITIONING(0xf);

        private final int code;

        State(int code) { this.code = code; }

        /** The code on the wire. */
        public int code() { return code; }

        /** The state of a code; a reserved one is taken for {@link #UNAVAILABLE}. */
        public static State of(int code) {
            for (State state : values()) {
                if (state.code == code) {
                    return state;
                }
            }
            return UNAVAILABLE;
        }
    }

    /**
     * Ports that share their state.
     *
     * @param number TARGET PORT GROUP
     * @param preferred PREF
     * @param state ASYMMETRIC ACCESS STATE
     * @param supportedStates the byte of T_SUP to AO_SUP
     * @param statusCode STATUS CODE: why the state was last changed
     * @param ports relative target port identifiers
     */
    public record Group(int number, boolean preferred, State state, int supportedStates,
            int statusCode, List<Integer> ports) {
        public Group {
            CdbFields.check("target port group", number, 0xffff);
            CdbFields.check("supportedStates", supportedStates, 0xff);
            CdbFields.check("statusCode", statusCode, 0xff);
            CdbFields.check("number of ports", ports.size(), 0xff);
            ports.forEach(port -> CdbFields.check("port", port, 0xffff));
            ports = List.copyOf(ports);
        }
    }

    /** STATUS CODE: a SET TARGET PORT GROUPS has changed the state. */
    public static final int CHANGED_EXPLICITLY = 1;
    /** STATUS CODE: the device has changed the state by itself. */
    public static final int CHANGED_IMPLICITLY = 2;

    /** T_SUP, U_SUP, S_SUP, AN_SUP and AO_SUP of the supported states. */
    public static final int SUPPORTS_ALL_BUT_OFFLINE = 0x8f;
    /** AO_SUP of the supported states. */
    public static final int SUPPORTS_ACTIVE_OPTIMIZED = 0x01;

    private static final int LENGTH_FIELD = 4;
    private static final int EXTENDED_LENGTH = 8;
    private static final int EXTENDED_FORMAT = 0x10;
    private static final int GROUP_LENGTH = 8;
    private static final int PORT_LENGTH = 4;

    public TargetPortGroups {
        CdbFields.check("implicitTransitionTimeS", implicitTransitionTimeS, extended ? 0xff : 0);
        groups = List.copyOf(groups);
    }

    /** Reads the data; groups that are cut off are left out. */
    public static TargetPortGroups decode(MemorySegment bytes) throws MalformedDataException {
        if (bytes.byteSize() < LENGTH_FIELD) {
            throw new MalformedDataException(
                    "REPORT TARGET PORT GROUPS data of " + bytes.byteSize() + " bytes");
        }
        long end = Math.min(bytes.byteSize(), LENGTH_FIELD + BigEndian.int32(bytes, 0));
        boolean extended = end >= EXTENDED_LENGTH
                && (BigEndian.int8(bytes, 4) & 0x70) == EXTENDED_FORMAT;
        long at = extended ? EXTENDED_LENGTH : LENGTH_FIELD;
        var groups = new ArrayList<Group>();
        while (at + GROUP_LENGTH <= end) {
            int portCount = BigEndian.int8(bytes, at + 7);
            if (at + GROUP_LENGTH + (long) portCount * PORT_LENGTH > end) {
                break;
            }
            var ports = new ArrayList<Integer>(portCount);
            for (int i = 0; i < portCount; i++) {
                ports.add(BigEndian.int16(bytes, at + GROUP_LENGTH + (long) i * PORT_LENGTH + 2));
            }
            groups.add(new Group(BigEndian.int16(bytes, at + 2), BigEndian.bit(bytes, at, 7),
                    State.of(BigEndian.int8(bytes, at) & 0xf), BigEndian.int8(bytes, at + 1),
                    BigEndian.int8(bytes, at + 5), ports));
            at += GROUP_LENGTH + (long) portCount * PORT_LENGTH;
        }
        return new TargetPortGroups(extended, extended ? BigEndian.int8(bytes, 5) : 0, groups);
    }

    @Override
    public byte[] bytes() {
        int header = extended ? EXTENDED_LENGTH : LENGTH_FIELD;
        int length = groups.stream()
                .mapToInt(group -> GROUP_LENGTH + PORT_LENGTH * group.ports().size()).sum();
        byte[] array = new byte[header + length];
        var bytes = MemorySegment.ofArray(array);
        BigEndian.int32(bytes, 0, array.length - LENGTH_FIELD);
        if (extended) {
            BigEndian.int8(bytes, 4, EXTENDED_FORMAT);
            BigEndian.int8(bytes, 5, implicitTransitionTimeS);
        }
        int at = header;
        for (Group group : groups) {
            BigEndian.int8(bytes, at, BigEndian.bit(group.preferred(), 7) | group.state().code());
            BigEndian.int8(bytes, at + 1, group.supportedStates());
            BigEndian.int16(bytes, at + 2, group.number());
            BigEndian.int8(bytes, at + 5, group.statusCode());
            BigEndian.int8(bytes, at + 7, group.ports().size());
            at += GROUP_LENGTH;
            for (int port : group.ports()) {
                BigEndian.int16(bytes, at + 2, port);
                at += PORT_LENGTH;
            }
        }
        return array;
    }
}
