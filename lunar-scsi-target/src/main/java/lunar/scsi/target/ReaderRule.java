package lunar.scsi.target;

import java.util.Optional;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;

/**
 * What becomes of a command of an initiator that may only read: it may do nothing that changes the data, or how others
 * get at them. docs/configuration.md has the rules as a table.
 */
public enum ReaderRule {
    /** The command is executed. */
    ALLOWED,
    /** Refused as a change of the data (SBC-4 section 4.12). */
    PROTECTED,
    /** Refused as a change of the unit, or of what others may do to it, as access controls do (SPC-4 8.3.1.7). */
    DENIED;

    /** Returns the rule for commands of this access that do not have another one. */
    static ReaderRule of(Access access) {
        return switch (access) {
            case FREE, READY, READ, INFORM -> ALLOWED;
            case WRITE -> PROTECTED;
            case CONTROL -> DENIED;
        };
    }

    /** The sense data of the refusal; empty where the command is executed. */
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
