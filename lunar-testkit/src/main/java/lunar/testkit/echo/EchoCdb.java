package lunar.testkit.echo;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import lunar.scsi.Cdb;
import lunar.scsi.InvalidCdbException;

/**
 * ECHO: returns the data-out. A vendor-specific command of ten bytes, with data in both directions.
 *
 * <pre>
 * 0 operation code C0h   1: 0 report a recovered error with the data   2 to 8 reserved   9 CONTROL
 * </pre>
 *
 * @param recovered whether the command ends with CHECK CONDITION and RECOVERED ERROR although it returns the data
 */
public record EchoCdb(boolean recovered) implements Cdb {
    /** OPERATION CODE. */
    public static final int OPCODE = 0xc0;

    private static final int LENGTH = 10;
    private static final int RECOVERED_AT = 1;
    private static final int CONTROL_AT = 9;
    private static final int NACA = 1 << 2;

    /** The command that ends with GOOD. */
    public EchoCdb() { this(false); }

    static Cdb decode(MemorySegment cdb) throws InvalidCdbException {
        if ((cdb.get(ValueLayout.JAVA_BYTE, CONTROL_AT) & NACA) != 0) {
            throw InvalidCdbException.field(CONTROL_AT, 2);
        }
        return new EchoCdb((cdb.get(ValueLayout.JAVA_BYTE, RECOVERED_AT) & 1) != 0);
    }

    @Override
    public int opcode() { return OPCODE; }

    @Override
    public int length() { return LENGTH; }

    @Override
    public Direction direction() { return Direction.BOTH; }

    @Override
    public void encode(MemorySegment target) {
        target.asSlice(0, LENGTH).fill((byte) 0);
        target.set(ValueLayout.JAVA_BYTE, 0, (byte) OPCODE);
        target.set(ValueLayout.JAVA_BYTE, RECOVERED_AT, (byte) (recovered ? 1 : 0));
    }
}
