package lunar.testkit.echo;

import java.lang.foreign.MemorySegment;
import lunar.scsi.Bytes;
import lunar.scsi.Cdb;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.wire.BigEndian;

/**
 * ADD: returns the data-out with bytes of the CDB added. A variable-length CDB (SPC-5 section 4.2.3), with data in both
 * directions.
 *
 * <pre>
 * 0 operation code 7Fh   1 CONTROL   7 additional CDB length   8 service action F001h   10 reserved   16 bytes to add
 * </pre>
 *
 * @param addends bytes that are added in turn, 4 to 244 in a multiple of 4
 */
public record AddCdb(Bytes addends) implements Cdb {
    /** OPERATION CODE of every variable-length CDB. */
    public static final int OPCODE = 0x7f;
    /** SERVICE ACTION. */
    public static final int SERVICE_ACTION = 0xf001;

    private static final int ADDITIONAL_LENGTH_AT = 7;
    private static final int SERVICE_ACTION_AT = 8;
    private static final int ADDENDS_AT = 16;

    private static final int CONTROL_AT = 1;
    private static final int NACA = 1 << 2;
    private static final int MAX_ADDENDS = 244;

    public AddCdb {
        if (addends.length() == 0 || addends.length() % 4 != 0
                || addends.length() > MAX_ADDENDS) {
            throw new IllegalArgumentException(addends.length() + " bytes to add");
        }
    }

    static Cdb decode(MemorySegment cdb) throws InvalidCdbException {
        if (cdb.byteSize() <= ADDENDS_AT) {
            throw InvalidCdbException.field((int) cdb.byteSize());
        }
        if (BigEndian.int8(cdb, ADDITIONAL_LENGTH_AT) + SERVICE_ACTION_AT != cdb.byteSize()
                || cdb.byteSize() % 4 != 0) {
            throw InvalidCdbException.field(ADDITIONAL_LENGTH_AT);
        }
        if (BigEndian.int16(cdb, SERVICE_ACTION_AT) != SERVICE_ACTION) {
            throw InvalidCdbException.field(SERVICE_ACTION_AT);
        }
        if ((BigEndian.int8(cdb, CONTROL_AT) & NACA) != 0) {
            throw InvalidCdbException.field(CONTROL_AT, 2);
        }
        return new AddCdb(Bytes.of(cdb.asSlice(ADDENDS_AT)));
    }

    /** Returns the sum at an offset of the data. */
    byte sum(byte data, int at) {
        return (byte) (data + addends.at(at % addends.length()));
    }

    @Override
    public int opcode() { return OPCODE; }

    @Override
    public int length() { return ADDENDS_AT + addends.length(); }

    @Override
    public Direction direction() { return Direction.BOTH; }

    @Override
    public void encode(MemorySegment target) {
        target.asSlice(0, ADDENDS_AT).fill((byte) 0);
        BigEndian.int8(target, 0, OPCODE);
        BigEndian.int8(target, ADDITIONAL_LENGTH_AT, length() - SERVICE_ACTION_AT);
        BigEndian.int16(target, SERVICE_ACTION_AT, SERVICE_ACTION);
        MemorySegment.copy(MemorySegment.ofArray(addends.toArray()), 0, target, ADDENDS_AT,
                addends.length());
    }
}
