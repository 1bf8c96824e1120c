package lunar.scsi;

import java.util.Optional;

/** Status codes of commands (SAM-5 section 5.3.1). */
public enum Status {
    GOOD(0x00),
    CHECK_CONDITION(0x02),
    CONDITION_MET(0x04),
    BUSY(0x08),
    /** Obsolete since SAM-4. */
    INTERMEDIATE(0x10),
    /** Obsolete since SAM-4. */
    INTERMEDIATE_CONDITION_MET(0x14),
    RESERVATION_CONFLICT(0x18),
    /** Obsolete since SAM-2. */
    COMMAND_TERMINATED(0x22),
    TASK_SET_FULL(0x28),
    ACA_ACTIVE(0x30),
    TASK_ABORTED(0x40);

    private final int code;

    Status(int code) { this.code = code; }

    /** The code on the wire. */
    public int code() { return code; }

    /** The status of a code, or nothing where the code is reserved. */
    public static Optional<Status> of(int code) {
        return switch (code) {
            case 0x00 -> Optional.of(GOOD);
            case 0x02 -> Optional.of(CHECK_CONDITION);
            case 0x04 -> Optional.of(CONDITION_MET);
            case 0x08 -> Optional.of(BUSY);
            case 0x10 -> Optional.of(INTERMEDIATE);
            case 0x14 -> Optional.of(INTERMEDIATE_CONDITION_MET);
            case 0x18 -> Optional.of(RESERVATION_CONFLICT);
            case 0x22 -> Optional.of(COMMAND_TERMINATED);
            case 0x28 -> Optional.of(TASK_SET_FULL);
            case 0x30 -> Optional.of(ACA_ACTIVE);
            case 0x40 -> Optional.of(TASK_ABORTED);
            default -> Optional.empty();
        };
    }

    @Override
    public String toString() { return name().replace('_', ' '); }
}
