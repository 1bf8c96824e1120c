package lunar.scsi.target;

import java.util.Optional;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;

/**
 * Rule for a command of an initiator with read-only access, which may change neither the data nor the access of other
 * initiators to it. docs/configuration.md has the rules as a table.
 */
public enum ReaderRule {
    /** The command is executed. */
    ALLOWED,
    /** Rejected as a change of the data (SBC-4 section 4.12). */
    PROTECTED,
    /**
     * Rejected as a change of the unit or of the access of other initiators, like access controls do (SPC-4 8.3.1.7).
     */
    DENIED;

    /** Returns the default rule for commands of this access. */
    static ReaderRule of(Access access) {
        return switch (access) {
            case FREE, READY, READ, INFORM -> ALLOWED;
            case WRITE -> PROTECTED;
            case CONTROL -> DENIED;
        };
    }

    /** Returns the sense data of the rejection; empty if the command is executed. */
    Optional<Sense> refusal() {
        return switch (this) {
            case ALLOWED -> Optional.empty();
            case PROTECTED -> Optional
                    .of(Sense.of(SenseKey.DATA_PROTECT, AdditionalSense.WRITE_PROTECTED));
            case DENIED -> Optional.of(Sense.of(SenseKey.ILLEGAL_REQUEST,
                    AdditionalSense.ACCESS_DENIED_NO_ACCESS_RIGHTS));
        };
    }
}
