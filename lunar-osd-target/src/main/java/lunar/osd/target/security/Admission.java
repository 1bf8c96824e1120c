package lunar.osd.target.security;

import java.util.Optional;
import lunar.scsi.Sense;

/**
 * Whether a command is admitted.
 *
 * @param seal seals its response, also if it was refused after its integrity check value was found right
 * @param refusal sense data if it is refused
 */
public record Admission(CommandSeal seal, Optional<Sense> refusal) {
    /** Any command, without security. */
    public static final Admission FREE = new Admission(CommandSeal.NONE, Optional.empty());
}
