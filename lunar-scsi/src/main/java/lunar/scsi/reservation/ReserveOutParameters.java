package lunar.scsi.reservation;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.ParameterData;
import lunar.scsi.wire.BigEndian;

/**
 * Data-out of PERSISTENT RESERVE OUT, but for REGISTER AND MOVE (SPC-5 section 6.16.3).
 *
 * <pre>
 * 0 reservation key   8 service action key   20 SPEC_I_PT 3, ALL_TG_PT 2, APTPL 0   24 length   28 TransportIDs
 * </pre>
 *
 * @param reservationKey RESERVATION KEY: the one the sender has registered
 * @param serviceActionKey SERVICE ACTION RESERVATION KEY
 * @param specifiesInitiators SPEC_I_PT
 * @param allTargetPorts ALL_TG_PT
 * @param persistent APTPL: kept through a loss of power
 * @param initiators TransportIDs, present with SPEC_I_PT
 */
public record ReserveOutParameters(long reservationKey, long serviceActionKey,
        boolean specifiesInitiators, boolean allTargetPorts, boolean persistent,
        List<TransportId> initiators) implements ParameterData {
    private static final int LENGTH = 24;
    private static final int LIST = 28;
    private static final int SERVICE_ACTION_KEY = 8;
    private static final int FLAGS = 20;
    private static final int MAX_INITIATORS = 256;

    public ReserveOutParameters {
        initiators = List.copyOf(initiators);
    }

    /** Keys and no more. */
    public static ReserveOutParameters of(long reservationKey, long serviceActionKey) {
        return new ReserveOutParameters(reservationKey, serviceActionKey, false, false, false,
                List.of());
    }

    /**
     * Reads all PARAMETER LIST LENGTH bytes.
     *
     * @throws InvalidParameterListException 1Ah/00h for another length than 24 without SPEC_I_PT, or a list that is
     *         cut; 26h/00h for TransportIDs that are wrong or too many
     */
    public static ReserveOutParameters decode(MemorySegment bytes)
            throws InvalidParameterListException {
        if (bytes.byteSize() < LENGTH) {
            throw InvalidParameterListException.length();
        }
        boolean specifies = BigEndian.bit(bytes, FLAGS, 3);
        if (specifies ? bytes.byteSize() < LIST : bytes.byteSize() != LENGTH) {
            throw InvalidParameterListException.length();
        }
        return new ReserveOutParameters(BigEndian.int64(bytes, 0),
                BigEndian.int64(bytes, SERVICE_ACTION_KEY), specifies,
                BigEndian.bit(bytes, FLAGS, 2), BigEndian.bit(bytes, FLAGS, 0),
                specifies ? initiators(bytes) : List.of());
    }

    private static List<TransportId> initiators(MemorySegment bytes)
            throws InvalidParameterListException {
        long end = LIST + BigEndian.int32(bytes, LENGTH);
        if (end != bytes.byteSize()) {
            throw InvalidParameterListException.length();
        }
        var ids = new ArrayList<TransportId>();
        int at = LIST;
        while (at < end) {
            if (ids.size() == MAX_INITIATORS || end - at < 4
                    || TransportId.length(bytes, at) > end - at) {
                throw InvalidParameterListException.field(at);
            }
            int length = TransportId.length(bytes, at);
            ids.add(TransportId.decode(bytes.asSlice(at, length), at));
            at += length;
        }
        return ids;
    }

    @Override
    public byte[] bytes() {
        int listBytes = initiators.stream().mapToInt(id -> id.bytes().length).sum();
        byte[] array = new byte[specifiesInitiators ? LIST + listBytes : LENGTH];
        var bytes = MemorySegment.ofArray(array);
        BigEndian.int64(bytes, 0, reservationKey);
        BigEndian.int64(bytes, SERVICE_ACTION_KEY, serviceActionKey);
        BigEndian.int8(bytes, FLAGS, BigEndian.bit(specifiesInitiators, 3)
                | BigEndian.bit(allTargetPorts, 2) | BigEndian.bit(persistent, 0));
        if (specifiesInitiators) {
            BigEndian.int32(bytes, LENGTH, listBytes);
            int at = LIST;
            for (TransportId id : initiators) {
                byte[] one = id.bytes();
                System.arraycopy(one, 0, array, at, one.length);
                at += one.length;
            }
        }
        return array;
    }
}
