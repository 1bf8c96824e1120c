package lunar.scsi.reservation;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.MalformedDataException;
import lunar.scsi.ParameterData;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * Data of PERSISTENT RESERVE IN with READ FULL STATUS (SPC-5 section 6.15.5).
 *
 * @param generation PRGENERATION, 32 bits
 * @param registrations every registration
 */
public record ReservationFullStatus(long generation, List<Registration> registrations)
        implements
        ParameterData {
    /**
     * A registered nexus.
     *
     * @param key its key
     * @param holds the reservation's type where this nexus holds it
     * @param relativePort RELATIVE TARGET PORT IDENTIFIER
     * @param initiator its initiator port
     */
    public record Registration(long key, Optional<ReservationType> holds, int relativePort,
            TransportId initiator) {
        public Registration {
            CdbFields.check("relativePort", relativePort, 0xffff);
        }
    }

    private static final int HEADER_LENGTH = 8;
    private static final int DESCRIPTOR_LENGTH = 24;

    public ReservationFullStatus {
        CdbFields.check("generation", generation, 0xffff_ffffL);
        registrations = List.copyOf(registrations);
    }

    /** Reads the data; registrations that are cut off, or of another protocol, are left out. */
    public static ReservationFullStatus decode(MemorySegment bytes)
            throws MalformedDataException {
        if (bytes.byteSize() < HEADER_LENGTH) {
            throw new MalformedDataException(
                    "READ FULL STATUS data of " + bytes.byteSize() + " bytes");
        }
        long end = Math.min(bytes.byteSize(), HEADER_LENGTH + BigEndian.int32(bytes, 4));
        var registrations = new ArrayList<Registration>();
        long at = HEADER_LENGTH;
        while (at + DESCRIPTOR_LENGTH <= end) {
            long idLength = BigEndian.int32(bytes, at + 20);
            if (idLength > end - at - DESCRIPTOR_LENGTH) {
                break;
            }
            try {
                registrations.add(new Registration(BigEndian.int64(bytes, at),
                        BigEndian.bit(bytes, at + 12, 0)
                                ? ReservationType.of(BigEndian.int8(bytes, at + 13) & 0xf)
                                : Optional.empty(),
                        BigEndian.int16(bytes, at + 18), TransportId.decode(
                                bytes.asSlice(at + DESCRIPTOR_LENGTH, idLength), 0)));
            } catch (InvalidParameterListException _) {
                // Not of iSCSI.
            }
            at += DESCRIPTOR_LENGTH + idLength;
        }
        return new ReservationFullStatus(BigEndian.int32(bytes, 0), registrations);
    }

    @Override
    public byte[] bytes() {
        int length = registrations.stream()
                .mapToInt(one -> DESCRIPTOR_LENGTH + one.initiator().bytes().length).sum();
        byte[] array = new byte[HEADER_LENGTH + length];
        var bytes = MemorySegment.ofArray(array);
        BigEndian.int32(bytes, 0, generation);
        BigEndian.int32(bytes, 4, length);
        int at = HEADER_LENGTH;
        for (Registration one : registrations) {
            byte[] id = one.initiator().bytes();
            BigEndian.int64(bytes, at, one.key());
            BigEndian.int8(bytes, at + 12L, BigEndian.bit(one.holds().isPresent(), 0));
            BigEndian.int8(bytes, at + 13L, one.holds().map(ReservationType::code).orElse(0));
            BigEndian.int16(bytes, at + 18L, one.relativePort());
            BigEndian.int32(bytes, at + 20L, id.length);
            System.arraycopy(id, 0, array, at + DESCRIPTOR_LENGTH, id.length);
            at += DESCRIPTOR_LENGTH + id.length;
        }
        return array;
    }
}
