package lunar.osd.security;

import java.lang.foreign.MemorySegment;
import lunar.osd.field.Fields;
import lunar.osd.wire.command.KeyLevel;
import lunar.osd.wire.command.SetKeyCommand;
import lunar.scsi.Bytes;
import lunar.scsi.wire.BigEndian;

/**
 * Seeds of keys that no SET KEY has set yet, so that the holder of the master key can use a device at once. The
 * standard leaves initial keys to the manufacturer; these are Lunar's.
 *
 * <pre>
 * 0 level   1 key version   2 created time of the partition (6)   8 Partition_ID (8)   16 zeros (4)
 * </pre>
 *
 * <p>The seeds are not secret; the generation key above them is. A partition that is created again has other keys.
 */
public final class InitialSeeds {
    private static final int CREATED_AT = 2;
    private static final int PARTITION_AT = 8;

    private InitialSeeds() {}

    /** Returns the seed of the root key. */
    public static Bytes ofRoot() {
        return seed(KeyLevel.ROOT, 0, 0, 0);
    }

    /** Returns the seed of a partition key. */
    public static Bytes ofPartition(long partition, long createdMs) {
        return seed(KeyLevel.PARTITION, partition, createdMs, 0);
    }

    /** Returns the seed of a working key, 0 to 15. */
    public static Bytes ofWorkingKey(long partition, long createdMs, int version) {
        return seed(KeyLevel.WORKING, partition, createdMs, version);
    }

    private static Bytes seed(KeyLevel level, long partition, long createdMs, int version) {
        var seed = MemorySegment.ofArray(new byte[SetKeyCommand.SEED_LENGTH]);
        BigEndian.int8(seed, 0, level.code());
        BigEndian.int8(seed, 1, version);
        Fields.int48(seed, CREATED_AT, createdMs);
        BigEndian.int64(seed, PARTITION_AT, partition);
        return Bytes.of(seed);
    }
}
