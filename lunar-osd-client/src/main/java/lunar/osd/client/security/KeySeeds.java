package lunar.osd.client.security;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import lunar.osd.security.IntegrityCheck;
import lunar.osd.security.SecretKey;
import lunar.osd.wire.command.KeyLevel;
import lunar.scsi.Bytes;
import lunar.scsi.wire.BigEndian;

/**
 * Seeds for SET KEY that follow from the master key and from the identifier of the new key, which the device shows: so
 * the master key alone leads to all keys that its holder has set.
 */
final class KeySeeds {
    private static final byte[] CONTEXT = "Lunar SET KEY seed"
            .getBytes(StandardCharsets.US_ASCII);
    private static final int NUMBERS_LENGTH = 10;

    private KeySeeds() {}

    static Bytes of(SecretKey master, KeyLevel level, long partition, int version, Bytes keyId) {
        var numbers = MemorySegment.ofArray(new byte[NUMBERS_LENGTH]);
        BigEndian.int8(numbers, 0, level.code());
        BigEndian.int8(numbers, 1, version);
        BigEndian.int64(numbers, 2, partition);
        return IntegrityCheck.of(master.generation(), MemorySegment.ofArray(CONTEXT), numbers,
                keyId.segment());
    }
}
