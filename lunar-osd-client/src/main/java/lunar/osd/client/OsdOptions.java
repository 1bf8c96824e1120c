package lunar.osd.client;

import java.util.Optional;
import lunar.osd.client.security.CredentialSource;
import lunar.osd.wire.security.Capability;

/**
 * Options of a client. Immutable.
 *
 * @param transferBytes most data of one READ, WRITE or CREATE AND WRITE; longer transfers take several commands. At
 *        least 4 KiB, at most 256 MiB. OSD has no field by which a device tells its limit
 * @param depth how many commands of one transfer or stream are in flight, from 1 to 64
 * @param capability capability of commands whose {@link RequestOptions} have none
 * @param credentials provides the credentials of commands, for a device with security; empty for none. Then no
 *        capability of options is used
 */
public record OsdOptions(int transferBytes, int depth, Capability capability,
        Optional<CredentialSource> credentials) {
    /** 1 MiB in one command, 4 commands in flight, no capability. */
    public static final OsdOptions DEFAULT = new OsdOptions(1 << 20, 4, Capability.NONE,
            Optional.empty());

    private static final int MIN_TRANSFER_BYTES = 4096;
    private static final int MAX_TRANSFER_BYTES = 256 << 20;
    private static final int MAX_DEPTH = 64;

    /** Checks the limits. */
    public OsdOptions {
        if (transferBytes < MIN_TRANSFER_BYTES || transferBytes > MAX_TRANSFER_BYTES) {
            throw new IllegalArgumentException("transferBytes must be 4 KiB to 256 MiB, not "
                    + transferBytes + " bytes");
        }
        if (depth < 1 || depth > MAX_DEPTH) {
            throw new IllegalArgumentException("depth must be 1 to 64, not " + depth);
        }
    }

    /** Returns a copy with another length of transfers, in bytes. */
    public OsdOptions withTransferBytes(int value) {
        return new OsdOptions(value, depth, capability, credentials);
    }

    /** Returns a copy with another number of commands in flight. */
    public OsdOptions withDepth(int value) {
        return new OsdOptions(transferBytes, value, capability, credentials);
    }

    /** Returns a copy with another default capability. */
    public OsdOptions withCapability(Capability value) {
        return new OsdOptions(transferBytes, depth, value, credentials);
    }

    /** Returns a copy for a device with security. */
    public OsdOptions withCredentials(CredentialSource value) {
        return new OsdOptions(transferBytes, depth, capability, Optional.of(value));
    }
}
