package lunar.scsi.reservation;

import java.util.Optional;

/** TYPE of a persistent reservation (SPC-5 section 6.16.3). */
public enum ReservationType {
    WRITE_EXCLUSIVE(1),
    EXCLUSIVE_ACCESS(3),
    WRITE_EXCLUSIVE_REGISTRANTS_ONLY(5),
    EXCLUSIVE_ACCESS_REGISTRANTS_ONLY(6),
    WRITE_EXCLUSIVE_ALL_REGISTRANTS(7),
    EXCLUSIVE_ACCESS_ALL_REGISTRANTS(8);

    private final int code;

    ReservationType(int code) { this.code = code; }

    /** The code on the wire. */
    public int code() { return code; }

    /** The type with a code, if there is one. */
    public static Optional<ReservationType> of(int code) {
        for (ReservationType type : values()) {
            if (type.code == code) {
                return Optional.of(type);
            }
        }
        return Optional.empty();
    }

    /** Whether every registrant holds the reservation. */
    public boolean isAllRegistrants() {
        return this == WRITE_EXCLUSIVE_ALL_REGISTRANTS || this == EXCLUSIVE_ACCESS_ALL_REGISTRANTS;
    }

    /** Whether every registered nexus may do what the holder may. */
    public boolean admitsRegistrants() {
        return this != WRITE_EXCLUSIVE && this != EXCLUSIVE_ACCESS;
    }

    /** Whether others may read. */
    public boolean admitsReads() {
        return this == WRITE_EXCLUSIVE || this == WRITE_EXCLUSIVE_REGISTRANTS_ONLY
                || this == WRITE_EXCLUSIVE_ALL_REGISTRANTS;
    }
}
