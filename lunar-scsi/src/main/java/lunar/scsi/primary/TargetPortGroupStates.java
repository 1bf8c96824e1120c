package lunar.scsi.primary;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.ParameterData;
import lunar.scsi.primary.TargetPortGroups.State;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * Data-out of SET TARGET PORT GROUPS (SPC-5): four reserved bytes, then four for each group.
 *
 * @param wanted in the order of the list
 */
public record TargetPortGroupStates(List<Wanted> wanted) implements ParameterData {
    /**
     * A set target port group descriptor.
     *
     * @param state ASYMMETRIC ACCESS STATE: active, standby or unavailable
     * @param group TARGET PORT GROUP
     */
    public record Wanted(State state, int group) {
        public Wanted {
            CdbFields.check("target port group", group, 0xffff);
        }
    }

    /** Offset of the first descriptor, and length of each: where field pointers count from. */
    public static final int LENGTH = 4;

    private static final int STATE_BIT = 3;

    public TargetPortGroupStates {
        wanted = List.copyOf(wanted);
    }

    /**
     * Reads the list, which has PARAMETER LIST LENGTH bytes.
     *
     * @throws InvalidParameterListException 1Ah/00h for a list that is cut, 26h/00h for a state that cannot be asked
     *         for
     */
    public static TargetPortGroupStates decode(MemorySegment bytes)
            throws InvalidParameterListException {
        if (bytes.byteSize() < LENGTH || bytes.byteSize() % LENGTH != 0) {
            throw InvalidParameterListException.length();
        }
        var wanted = new ArrayList<Wanted>();
        for (int at = LENGTH; at < bytes.byteSize(); at += LENGTH) {
            int code = BigEndian.int8(bytes, at) & 0xf;
            if (code > State.UNAVAILABLE.code()) {
                throw InvalidParameterListException.field(at, STATE_BIT);
            }
            wanted.add(new Wanted(State.of(code), BigEndian.int16(bytes, at + 2)));
        }
        return new TargetPortGroupStates(wanted);
    }

    @Override
    public byte[] bytes() {
        byte[] array = new byte[LENGTH * (1 + wanted.size())];
        var bytes = MemorySegment.ofArray(array);
        int at = LENGTH;
        for (Wanted one : wanted) {
            BigEndian.int8(bytes, at, one.state().code());
            BigEndian.int16(bytes, at + 2, one.group());
            at += LENGTH;
        }
        return array;
    }
}
