package lunar.scsi.reservation;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import lunar.scsi.MalformedDataException;
import lunar.scsi.ParameterData;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/**
 * Data of PERSISTENT RESERVE IN with READ RESERVATION (SPC-5 section 6.15.3).
 *
 * @param generation PRGENERATION, 32 bits
 * @param held the reservation, if there is one
 */
public record ReservationStatus(long generation, Optional<Held> held) implements ParameterData {
    /**
     * A reservation.
     *
     * @param key the holder's key; 0 where all registrants hold it
     * @param type TYPE
     */
    public record Held(long key, ReservationType type) {}

    private static final int HEADER_LENGTH = 8;
    private static final int LENGTH = 16;
    private static final int TYPE = HEADER_LENGTH + 13;

    public ReservationStatus {
        CdbFields.check("generation", generation, 0xffff_ffffL);
    }

    public static ReservationStatus decode(MemorySegment bytes) throws MalformedDataException {
        if (bytes.byteSize() < HEADER_LENGTH) {
            throw new MalformedDataException(
                    "READ RESERVATION data of " + bytes.byteSize() + " bytes");
        }
        boolean held = BigEndian.int32(bytes, 4) >= LENGTH && bytes.byteSize() > TYPE;
        return new ReservationStatus(BigEndian.int32(bytes, 0), held
                ? ReservationType.of(BigEndian.int8(bytes, TYPE) & 0xf)
                        .map(type -> new Held(BigEndian.int64(bytes, HEADER_LENGTH), type))
                : Optional.empty());
    }

    @Override
    public byte[] bytes() {
        byte[] array = new byte[held.isPresent() ? HEADER_LENGTH + LENGTH : HEADER_LENGTH];
        var bytes = MemorySegment.ofArray(array);
        BigEndian.int32(bytes, 0, generation);
        held.ifPresent(now -> {
            BigEndian.int32(bytes, 4, LENGTH);
            BigEndian.int64(bytes, HEADER_LENGTH, now.key());
            BigEndian.int8(bytes, TYPE, now.type().code()); // SCOPE 0: the logical unit
        });
        return array;
    }
}
