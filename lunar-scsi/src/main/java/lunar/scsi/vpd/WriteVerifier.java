package lunar.scsi.vpd;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.UUID;
import lunar.scsi.wire.BigEndian;

/**
 * VPD page C0h of Lunar's own units: a value that changes when the unit may have lost writes that it acknowledged, as
 * the write verifier of NFS does (RFC 1813 section 3.3.7). An initiator that finds the value it knew before may count
 * on the unit's volatile cache, whatever has happened to sessions, processes and gateways meanwhile.
 *
 * <pre>
 * 0 to 7 "LUNAR-WV"   8 to 23 verifier
 * </pre>
 *
 * <p>The page code is vendor specific (SPC-5 table 487); pages of others with this code are {@link OtherVpdPage}.
 */
public record WriteVerifier(UUID value) implements VpdPage {
    public static final int CODE = 0xc0;

    private static final long MAGIC = 0x4c55_4e41_522d_5756L;
    private static final int LENGTH = 24;

    /** The page, if it is Lunar's and whole. */
    static Optional<WriteVerifier> decode(MemorySegment content) {
        return content.byteSize() >= LENGTH && BigEndian.int64(content, 0) == MAGIC
                ? Optional.of(new WriteVerifier(
                        new UUID(BigEndian.int64(content, 8), BigEndian.int64(content, 16))))
                : Optional.empty();
    }

    @Override
    public int pageCode() { return CODE; }

    @Override
    public byte[] content() {
        byte[] content = new byte[LENGTH];
        var bytes = MemorySegment.ofArray(content);
        BigEndian.int64(bytes, 0, MAGIC);
        BigEndian.int64(bytes, 8, value.getMostSignificantBits());
        BigEndian.int64(bytes, 16, value.getLeastSignificantBits());
        return content;
    }
}
