package lunar.osd.client;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.initiator.ScsiResult;
import lunar.osd.client.security.CredentialRequest;
import lunar.osd.security.Credential;
import lunar.osd.security.IntegrityCheck;
import lunar.osd.security.IntegrityValues;
import lunar.osd.security.RequiredAccess;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.security.Capability;
import lunar.osd.wire.security.DataIntegrity;
import lunar.osd.wire.security.RequestNonce;
import lunar.osd.wire.security.SecurityMethod;
import lunar.osd.wire.sense.ResponseIntegrityCheck;
import lunar.scsi.Bytes;
import lunar.scsi.Sense;
import lunar.scsi.Status;

/** The credential of one command, and the integrity check values that follow from it. For one thread at a time. */
final class FrameSeal {
    static final OsdVersion VERSION = OsdVersion.OSD_2;

    private static final int REQUEST_VALUE_AT = Capability.end(VERSION);
    private static final int NONCE_AT = REQUEST_VALUE_AT + VERSION.integrityLength();
    private static final int SECURITY_ASC = 0x24;
    private static final int NONCE_NOT_UNIQUE = 0x06;
    private static final int NONCE_OUT_OF_RANGE = 0x07;

    private final CommandSecurity security;
    private CredentialRequest request;
    private Credential credential;
    private RequestNonce nonce = RequestNonce.NONE;

    FrameSeal(CommandSecurity security, CredentialRequest request) throws IOException {
        this.security = security;
        this.request = request;
        credential = security.source().credential(request);
    }

    private SecurityMethod method() {
        return SecurityMethod.of(credential.capability().securityMethod())
                .orElse(SecurityMethod.NOSEC);
    }

    /** Whether responses have an integrity check value. */
    boolean sealsResponse() {
        return method().compareTo(SecurityMethod.CMDRSP) >= 0;
    }

    /** Whether data have integrity information. */
    boolean sealsData() {
        return method() == SecurityMethod.ALLDATA;
    }

    /** Takes a new nonce, for a command that is about to be sent. */
    void begin() {
        nonce = security.nonce();
    }

    /** Writes capability, nonce and request integrity check value into a CDB. */
    void seal(byte[] cdb) throws StorageException {
        var bytes = MemorySegment.ofArray(cdb);
        credential.capability().encode(
                bytes.asSlice(Capability.AT, VERSION.capabilityLength()), VERSION);
        MemorySegment.copy(nonce.bytes().segment(), 0, bytes, NONCE_AT, RequestNonce.LENGTH);
        Bytes key = credential.capabilityKey();
        Bytes value = method() == SecurityMethod.CAPKEY
                ? IntegrityValues.ofToken(key, security.tokens().token())
                : IntegrityValues.ofCdb(key, bytes, VERSION);
        MemorySegment.copy(
                IntegrityCheck.field(value, VERSION.integrityLength()).segment(), 0, bytes,
                REQUEST_VALUE_AT, VERSION.integrityLength());
    }

    /** Writes the integrity check value of a CDB continuation segment into it. */
    void sealContinuation(MemorySegment segment) {
        if (sealsResponse() && segment.byteSize() > 0) {
            IntegrityValues.sealContinuation(credential.capabilityKey(), nonce, segment);
        }
    }

    /** Writes integrity information about parts of data-out. */
    void sealData(MemorySegment target, MemorySegment... parts) {
        IntegrityValues.information(credential.capabilityKey(), nonce, VERSION, parts)
                .encode(target);
    }

    // --- responses ---

    /** Checks the sense data of a command that was admitted. */
    void checkSense(ScsiResult result, String what) throws MediumException {
        if (!sealsResponse()) {
            return;
        }
        Bytes expected = IntegrityValues.ofResponse(credential.capabilityKey(), nonce,
                result.status(), result.senseData().segment());
        require(result.sense().flatMap(ResponseIntegrityCheck::of)
                .filter(value -> IntegrityCheck.matches(expected, value.value())).isPresent(),
                what);
    }

    /** Checks the response integrity check value of status GOOD. */
    void checkGood(Bytes value, String what) throws MediumException {
        Bytes expected = IntegrityValues.ofResponse(credential.capabilityKey(), nonce,
                Status.GOOD);
        require(value.length() > 0 && IntegrityCheck.matches(expected, value), what);
    }

    /** Checks integrity information about data-in; returns the bytes of data and of retrieved attributes. */
    DataIntegrity checkData(MemorySegment information, MemorySegment data,
            MemorySegment retrieved, String what) throws MediumException {
        var info = DataIntegrity.decode(information, DataIntegrity.IN_PARTS, VERSION);
        long dataBytes = info.lengths().get(0);
        long retrievedBytes = info.lengths().get(1);
        boolean fits = dataBytes >= 0 && dataBytes <= data.byteSize() && retrievedBytes >= 0
                && retrievedBytes <= retrieved.byteSize();
        require(fits, what);
        require(IntegrityCheck.matches(IntegrityValues.ofData(credential.capabilityKey(), nonce,
                data.asSlice(0, dataBytes), retrieved.asSlice(0, retrievedBytes)),
                info.value()), what);
        return info;
    }

    private static void require(boolean right, String what) throws MediumException {
        if (!right) {
            throw new MediumException(what + ": the response is not authentic: its integrity check"
                    + " value is wrong or missing");
        }
    }

    // --- refusals ---

    /** Prepares for another attempt after a refusal; returns whether it may succeed. */
    boolean renew(Sense sense) throws IOException {
        if (sense.additional().asc() != SECURITY_ASC) {
            return false;
        }
        int ascq = sense.additional().ascq();
        int field = sense.fieldPointer().map(pointer -> pointer.byteAt()).orElse(-1);
        if (ascq == NONCE_NOT_UNIQUE) {
            return true;
        }
        if (ascq == NONCE_OUT_OF_RANGE) {
            return security.advanceClock();
        }
        boolean otherType = field == Capability.OBJECT_TYPE_IN_CDB
                && RequiredAccess.isForAnyType(request.command())
                && request.access().type() == ObjectType.USER_OBJECT;
        if (otherType) {
            request = new CredentialRequest(request.command(), new RequiredAccess(
                    ObjectType.COLLECTION, request.access().permissions()), request.device());
        } else if (field == REQUEST_VALUE_AT) {
            security.forget();
            security.source().refused(request);
        } else {
            return false;
        }
        SecurityMethod before = method();
        credential = security.source().credential(request);
        return method() == before; // the places of integrity information depend on it
    }
}
