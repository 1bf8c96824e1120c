package lunar.osd.wire.command;

import java.lang.foreign.MemorySegment;
import lunar.osd.field.Fields;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ServiceAction;
import lunar.scsi.Bytes;
import lunar.scsi.InvalidCdbException;

/**
 * SET KEY: derives a key from a seed and the key above it.
 *
 * <pre>
 * byte 11: 1..0 key to set   24 key version, low nibble   25 key identifier (7)   32 seed (20)
 * </pre>
 *
 * @param common common fields
 * @param level which key
 * @param partition Partition_ID; 0 for the root key
 * @param keyVersion number of the working key, four bits
 * @param keyId identifier of the new key, 7 bytes
 * @param seed 20 secret bytes
 */
public record SetKeyCommand(CommonFields common, KeyLevel level, long partition, int keyVersion,
        Bytes keyId, Bytes seed) implements OsdCdb {
    /** Bytes of a key identifier. */
    public static final int KEY_ID_LENGTH = 7;
    /** Bytes of the seed. */
    public static final int SEED_LENGTH = 20;

    private static final int LEVEL_MASK = 3;
    private static final int LEVEL_BIT = 1;
    private static final int VERSION_MASK = 0xf;
    private static final int VERSION_AT = 24;
    private static final int KEY_ID_AT = 25;
    private static final int SEED_AT = 32;

    public SetKeyCommand {
        Fields.check("keyVersion", keyVersion, VERSION_MASK);
        Fields.checkLength("keyId", keyId, KEY_ID_LENGTH);
        Fields.checkLength("seed", seed, SEED_LENGTH);
    }

    static SetKeyCommand decode(CdbReader cdb) throws InvalidCdbException {
        KeyLevel level = KeyLevel.of(cdb.bits(LEVEL_MASK)).orElseThrow(
                () -> InvalidCdbException.field(CdbLayout.FORMAT_AT, LEVEL_BIT));
        return new SetKeyCommand(cdb.common(), level, cdb.partition().partition(),
                cdb.int8(VERSION_AT) & VERSION_MASK, cdb.bytes(KEY_ID_AT, KEY_ID_LENGTH),
                cdb.bytes(SEED_AT, SEED_LENGTH));
    }

    @Override
    public ServiceAction action() { return ServiceAction.SET_KEY; }

    @Override
    public ObjectId object() { return ObjectId.ofPartition(partition); }

    @Override
    public void encode(MemorySegment target) {
        new CdbWriter(target, action(), common, object()).bits(level.code())
                .int8(VERSION_AT, keyVersion).bytes(KEY_ID_AT, keyId).bytes(SEED_AT, seed);
    }

    /** Leaves out the seed. */
    @Override
    public String toString() {
        return "SetKeyCommand[common=" + common + ", level=" + level + ", partition="
                + Long.toHexString(partition) + "h, keyVersion=" + keyVersion + ", keyId=" + keyId
                + ']';
    }
}
