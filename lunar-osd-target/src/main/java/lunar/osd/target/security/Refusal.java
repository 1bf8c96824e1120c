package lunar.osd.target.security;

import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.security.Capability;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;

/**
 * Thrown for a command that is not admitted. Has no stack trace, because hostile peers can cause it often.
 */
final class Refusal extends Exception {
    private static final long serialVersionUID = 1;

    private static final AdditionalSense KEY_FROZEN = new AdditionalSense(0x24, 0x05);
    private static final AdditionalSense NONCE_NOT_UNIQUE = new AdditionalSense(0x24, 0x06);
    private static final AdditionalSense NONCE_OUT_OF_RANGE = new AdditionalSense(0x24, 0x07);
    private static final AdditionalSense DATA_OUT_INTEGRITY = new AdditionalSense(0x26, 0x0f);

    private final transient Sense sense;

    private Refusal(Sense sense, String why) {
        super(why, null, false, false);
        this.sense = sense;
    }

    private static Refusal illegal(AdditionalSense additional, String why) {
        return new Refusal(Sense.of(SenseKey.ILLEGAL_REQUEST, additional), why);
    }

    /** INVALID FIELD IN CDB (24h/00h), with the byte in error. */
    static Refusal field(int byteAt, String why) {
        return new Refusal(Sense.invalidFieldInCdb(byteAt), why);
    }

    /** The request integrity check value. */
    static Refusal integrity(OsdVersion version) {
        return field(Capability.end(version),
                "the integrity check value is not that of the capability and its key");
    }

    static Refusal keyFrozen() { return illegal(KEY_FROZEN, "the working key is frozen"); }

    static Refusal nonceRepeated() {
        return illegal(NONCE_NOT_UNIQUE, "the nonce was used before");
    }

    static Refusal nonceOutOfRange() {
        return illegal(NONCE_OUT_OF_RANGE, "the time of the nonce is out of range");
    }

    static Refusal dataOutIntegrity() {
        return illegal(DATA_OUT_INTEGRITY, "the integrity check value of data-out is wrong");
    }

    Sense sense() { return sense; }

    /** Returns the reason, without secrets. */
    String why() { return String.valueOf(getMessage()); }
}
