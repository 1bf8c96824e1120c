package lunar.scsi.command;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import lunar.scsi.Bytes;

/** Descriptors of every command that {@link CdbDecoder#decode} knows; a target registers those it supports. */
public final class StandardCommands {
    /**
     * Name, a + where byte 1 holds a service action, and CDB usage data. The last byte is CONTROL, of which NACA is
     * looked at.
     */
    private static final String TABLE = """
            TEST UNIT READY       | 00 00 00 00 00 04
            REQUEST SENSE         | 03 01 00 00 FF 04
            FORMAT UNIT           | 04 FF 00 00 03 04
            READ(6)               | 08 1F FF FF FF 04
            WRITE(6)              | 0A 1F FF FF FF 04
            INQUIRY               | 12 01 FF FF FF 04
            MODE SELECT(6)        | 15 13 00 00 FF 04
            RESERVE(6)            | 16 11 00 00 00 04
            RELEASE(6)            | 17 11 00 00 00 04
            MODE SENSE(6)         | 1A 08 FF FF FF 04
            START STOP UNIT       | 1B 01 00 0F F7 04
            RECEIVE DIAGNOSTIC RESULTS | 1C 01 FF FF FF 04
            SEND DIAGNOSTIC       | 1D F7 00 FF FF 04
            PREVENT ALLOW MEDIUM REMOVAL | 1E 00 00 00 03 04
            READ CAPACITY(10)     | 25 00 00 00 00 00 00 00 00 04
            READ(10)              | 28 F8 FF FF FF FF 3F FF FF 04
            WRITE(10)             | 2A F8 FF FF FF FF 3F FF FF 04
            WRITE AND VERIFY(10)  | 2E F6 FF FF FF FF 3F FF FF 04
            VERIFY(10)            | 2F F6 FF FF FF FF 3F FF FF 04
            PRE-FETCH(10)         | 34 02 FF FF FF FF 3F FF FF 04
            SYNCHRONIZE CACHE(10) | 35 02 FF FF FF FF 3F FF FF 04
            READ DEFECT DATA(10)  | 37 00 1F 00 00 00 00 FF FF 04
            WRITE BUFFER          | 3B 1F FF FF FF FF FF FF FF 04
            READ BUFFER(10)       | 3C 1F FF FF FF FF FF FF FF 04
            WRITE SAME(10)        | 41 FE FF FF FF FF 3F FF FF 04
            UNMAP                 | 42 01 00 00 00 00 3F FF FF 04
            SANITIZE, OVERWRITE           + 48 A1 00 00 00 00 00 FF FF 04
            SANITIZE, BLOCK ERASE         + 48 A2 00 00 00 00 00 FF FF 04
            SANITIZE, CRYPTOGRAPHIC ERASE + 48 A3 00 00 00 00 00 FF FF 04
            SANITIZE, EXIT FAILURE MODE   + 48 BF 00 00 00 00 00 FF FF 04
            LOG SELECT            | 4C 03 FF FF 00 00 00 FF FF 04
            LOG SENSE             | 4D 01 FF FF 00 FF FF FF FF 04
            MODE SELECT(10)       | 55 13 00 00 00 00 00 FF FF 04
            RESERVE(10)           | 56 11 00 00 00 00 00 00 00 04
            RELEASE(10)           | 57 11 00 00 00 00 00 00 00 04
            MODE SENSE(10)        | 5A 18 FF FF 00 00 00 FF FF 04
            PERSISTENT RESERVE IN, READ KEYS           + 5E 00 00 00 00 00 00 FF FF 04
            PERSISTENT RESERVE IN, READ RESERVATION    + 5E 01 00 00 00 00 00 FF FF 04
            PERSISTENT RESERVE IN, REPORT CAPABILITIES + 5E 02 00 00 00 00 00 FF FF 04
            PERSISTENT RESERVE IN, READ FULL STATUS    + 5E 03 00 00 00 00 00 FF FF 04
            PERSISTENT RESERVE OUT, REGISTER           + 5F 00 FF 00 00 FF FF FF FF 04
            PERSISTENT RESERVE OUT, RESERVE            + 5F 01 FF 00 00 FF FF FF FF 04
            PERSISTENT RESERVE OUT, RELEASE            + 5F 02 FF 00 00 FF FF FF FF 04
            PERSISTENT RESERVE OUT, CLEAR              + 5F 03 FF 00 00 FF FF FF FF 04
            PERSISTENT RESERVE OUT, PREEMPT            + 5F 04 FF 00 00 FF FF FF FF 04
            PERSISTENT RESERVE OUT, PREEMPT AND ABORT  + 5F 05 FF 00 00 FF FF FF FF 04
            PERSISTENT RESERVE OUT, REGISTER AND IGNORE EXISTING KEY + 5F 06 FF 00 00 FF FF FF FF 04
            PERSISTENT RESERVE OUT, REGISTER AND MOVE  + 5F 07 FF 00 00 FF FF FF FF 04
            EXTENDED COPY(LID1)              + 83 00 00 00 00 00 00 00 00 00 FF FF FF FF 00 04
            EXTENDED COPY(LID4)              + 83 01 00 00 00 00 00 00 00 00 FF FF FF FF 00 04
            POPULATE TOKEN                   + 83 10 00 00 00 00 FF FF FF FF FF FF FF FF 3F 04
            WRITE USING TOKEN                + 83 11 00 00 00 00 FF FF FF FF FF FF FF FF 3F 04
            COPY OPERATION ABORT             + 83 1C FF FF FF FF 00 00 00 00 00 00 00 00 00 04
            RECEIVE COPY STATUS(LID1)        + 84 00 FF 00 00 00 00 00 00 00 FF FF FF FF 00 04
            RECEIVE COPY DATA(LID1)          + 84 01 FF 00 00 00 00 00 00 00 FF FF FF FF 00 04
            RECEIVE COPY OPERATING PARAMETERS + 84 03 00 00 00 00 00 00 00 00 FF FF FF FF 00 04
            RECEIVE COPY FAILURE DETAILS(LID1) + 84 04 FF 00 00 00 00 00 00 00 FF FF FF FF 00 04
            RECEIVE COPY STATUS(LID4)        + 84 05 FF FF FF FF 00 00 00 00 FF FF FF FF 00 04
            RECEIVE COPY DATA(LID4)          + 84 06 FF FF FF FF 00 00 00 00 FF FF FF FF 00 04
            RECEIVE ROD TOKEN INFORMATION    + 84 07 FF FF FF FF 00 00 00 00 FF FF FF FF 00 04
            READ(16)              | 88 F8 FF FF FF FF FF FF FF FF FF FF FF FF 3F 04
            COMPARE AND WRITE     | 89 F8 FF FF FF FF FF FF FF FF 00 00 00 FF 3F 04
            WRITE(16)             | 8A F8 FF FF FF FF FF FF FF FF FF FF FF FF 3F 04
            ORWRITE               | 8B F8 FF FF FF FF FF FF FF FF FF FF FF FF 3F 04
            WRITE AND VERIFY(16)  | 8E F6 FF FF FF FF FF FF FF FF FF FF FF FF 3F 04
            VERIFY(16)            | 8F F6 FF FF FF FF FF FF FF FF FF FF FF FF 3F 04
            PRE-FETCH(16)         | 90 02 FF FF FF FF FF FF FF FF FF FF FF FF 3F 04
            SYNCHRONIZE CACHE(16) | 91 02 FF FF FF FF FF FF FF FF FF FF FF FF 3F 04
            WRITE SAME(16)        | 93 FF FF FF FF FF FF FF FF FF FF FF FF FF 3F 04
            WRITE ATOMIC(16)      | 9C F8 FF FF FF FF FF FF FF FF FF FF FF FF 3F 04
            READ CAPACITY(16)     + 9E 10 00 00 00 00 00 00 00 00 FF FF FF FF 00 04
            GET LBA STATUS        + 9E 12 FF FF FF FF FF FF FF FF FF FF FF FF FF 04
            REPORT LUNS           | A0 00 FF 00 00 00 FF FF FF FF 00 04
            REPORT IDENTIFYING INFORMATION   + A3 05 00 00 00 00 FF FF FF FF FE 04
            REPORT TARGET PORT GROUPS        + A3 EA 00 00 00 00 FF FF FF FF 00 04
            REPORT SUPPORTED OPERATION CODES + A3 0C 87 FF FF FF FF FF FF FF 00 04
            REPORT SUPPORTED TASK MANAGEMENT FUNCTIONS + A3 0D 80 00 00 00 FF FF FF FF 00 04
            REPORT TIMESTAMP                 + A3 0F 00 00 00 00 FF FF FF FF 00 04
            SET IDENTIFYING INFORMATION      + A4 06 00 00 00 00 FF FF FF FF FE 04
            SET TARGET PORT GROUPS           + A4 0A 00 00 00 00 FF FF FF FF 00 04
            SET TIMESTAMP                    + A4 0F 00 00 00 00 FF FF FF FF 00 04
            READ(12)              | A8 F8 FF FF FF FF FF FF FF FF 3F 04
            WRITE(12)             | AA F8 FF FF FF FF FF FF FF FF 3F 04
            WRITE AND VERIFY(12)  | AE F6 FF FF FF FF FF FF FF FF 3F 04
            VERIFY(12)            | AF F6 FF FF FF FF FF FF FF FF 3F 04
            READ DEFECT DATA(12)  | B7 1F FF FF FF FF FF FF FF FF 00 04
            """;

    /** Every command, in ascending order of operation code and service action. */
    public static final List<CommandDescriptor> ALL = parse();

    private static final int SERVICE_ACTION_MASK = 0x1f;

    private StandardCommands() {}

    private static List<CommandDescriptor> parse() {
        var all = new ArrayList<CommandDescriptor>();
        for (String line : TABLE.lines().toList()) {
            int split = Math.max(line.indexOf('|'), line.indexOf('+'));
            Bytes usage = Bytes.ofHex(line.substring(split + 1));
            all.add(new CommandDescriptor(line.substring(0, split).strip(), usage.at(0),
                    line.charAt(split) == '+'
                            ? OptionalInt.of(usage.at(1) & SERVICE_ACTION_MASK)
                            : OptionalInt.empty(),
                    usage, Optional.empty()));
        }
        return List.copyOf(all);
    }
}
