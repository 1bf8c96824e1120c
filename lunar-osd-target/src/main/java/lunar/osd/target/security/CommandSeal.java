package lunar.osd.target.security;

import java.lang.foreign.MemorySegment;
import lunar.osd.security.IntegrityValues;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.command.OsdCdb;
import lunar.osd.wire.security.DataIntegrity;
import lunar.osd.wire.security.RequestNonce;
import lunar.osd.wire.security.SecurityMethod;
import lunar.scsi.Bytes;
import lunar.scsi.Sense;
import lunar.scsi.Status;

/** Integrity check values of the response to a command, as far as its security method has them. Immutable. */
public final class CommandSeal {
    /** No values. */
    public static final CommandSeal NONE = new CommandSeal(SecurityMethod.NOSEC, Bytes.EMPTY,
            RequestNonce.NONE, OsdVersion.OSD_2);

    private final SecurityMethod method;
    private final Bytes key;
    private final RequestNonce nonce;
    private final OsdVersion version;

    private CommandSeal(SecurityMethod method, Bytes key, RequestNonce nonce,
            OsdVersion version) {
        this.method = method;
        this.key = key;
        this.nonce = nonce;
        this.version = version;
    }

    /** Returns the seal of a command whose request integrity check value was right. */
    static CommandSeal of(SecurityMethod method, Bytes key, OsdCdb command) {
        return new CommandSeal(method, key, command.common().security().nonce(),
                command.common().version());
    }

    private boolean sealsResponse() { return method.compareTo(SecurityMethod.CMDRSP) >= 0; }

    /** Returns the value of a response with status GOOD; no bytes if the method has none. */
    public Bytes responseValue() {
        return sealsResponse()
                ? IntegrityValues.ofResponse(key, nonce, Status.GOOD)
                : Bytes.EMPTY;
    }

    /** Returns the sense data of a CHECK CONDITION with their value, if the method has one. */
    public Sense seal(Sense sense) {
        return sealsResponse() ? IntegrityValues.seal(key, nonce, version, sense) : sense;
    }

    /** Whether data-in has integrity information. */
    public boolean sealsDataIn() {
        return method == SecurityMethod.ALLDATA;
    }

    /** Returns the integrity information about data-in. */
    public byte[] dataIn(MemorySegment data, MemorySegment retrieved) {
        byte[] bytes = new byte[DataIntegrity.length(DataIntegrity.IN_PARTS, version)];
        IntegrityValues.information(key, nonce, version, data, retrieved)
                .encode(MemorySegment.ofArray(bytes));
        return bytes;
    }
}
