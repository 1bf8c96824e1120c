package lunar.osd.security;

import java.lang.foreign.MemorySegment;
import lunar.osd.field.Fields;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.security.Capability;
import lunar.scsi.Bytes;

/**
 * A credential: a capability, the system identifier of the device that it is for, and the credential integrity check
 * value, which proves that a holder of the secret key has issued it. The holder of the credential uses this value as
 * the capability key: it sends the capability in the CDB, and computes integrity check values with the key. So a
 * credential has to be kept secret.
 *
 * <pre>
 *                      OSD-1  OSD-2
 * capability              80    104
 * OSD system identifier   20     20
 * integrity check value   20     32   HMAC-SHA1 of what is before it, padded with zeros
 * </pre>
 *
 * @param version layout of the capability
 * @param capability what is allowed
 * @param systemId OSD system identifier (attribute 3h of the root information page), 20 bytes
 * @param capabilityKey credential integrity check value, 20 secret bytes
 */
public record Credential(OsdVersion version, Capability capability, Bytes systemId,
        Bytes capabilityKey) {
    /** Bytes of the system identifier. */
    public static final int SYSTEM_ID_LENGTH = 20;

    /** Checks the lengths. */
    public Credential {
        Fields.checkLength("systemId", systemId, SYSTEM_ID_LENGTH);
        Fields.checkLength("capabilityKey", capabilityKey, IntegrityCheck.LENGTH);
        if (!capability.fits(version)) {
            throw new IllegalArgumentException(capability + " does not fit into " + version);
        }
    }

    /** Issues a credential, by the authentication key of a secret key. */
    public static Credential issue(OsdVersion version, Capability capability, Bytes systemId,
            Bytes authenticationKey) {
        byte[] encoded = new byte[version.capabilityLength()];
        capability.encode(MemorySegment.ofArray(encoded), version);
        return new Credential(version, capability, systemId,
                capabilityKey(MemorySegment.ofArray(encoded), systemId, authenticationKey));
    }

    /** Returns the capability key of an encoded capability: what {@link #issue} gives its holder. */
    public static Bytes capabilityKey(MemorySegment capability, Bytes systemId,
            Bytes authenticationKey) {
        return IntegrityCheck.of(authenticationKey, capability, systemId.segment());
    }

    /** Returns the bytes of a credential of a version. */
    public static int length(OsdVersion version) {
        return version.capabilityLength() + SYSTEM_ID_LENGTH + version.integrityLength();
    }

    /**
     * Reads a credential.
     *
     * @throws IllegalArgumentException if it has another length
     */
    public static Credential decode(MemorySegment bytes, OsdVersion version) {
        if (bytes.byteSize() != length(version)) {
            throw new IllegalArgumentException("a credential has " + length(version)
                    + " bytes, not " + bytes.byteSize());
        }
        int idAt = version.capabilityLength();
        return new Credential(version, Capability.decode(bytes, version),
                Fields.bytes(bytes, idAt, SYSTEM_ID_LENGTH),
                Fields.bytes(bytes, idAt + SYSTEM_ID_LENGTH, IntegrityCheck.LENGTH));
    }

    /** Returns the credential in its layout. */
    public Bytes bytes() {
        var bytes = MemorySegment.ofArray(new byte[length(version)]);
        capability.encode(bytes, version);
        Fields.bytes(bytes, version.capabilityLength(), systemId);
        Fields.bytes(bytes, version.capabilityLength() + SYSTEM_ID_LENGTH, capabilityKey);
        return Bytes.of(bytes);
    }

    /** Leaves out the key. */
    @Override
    public String toString() { return "Credential[" + capability + ']'; }
}
