package lunar.target;

import static lunar.target.RawInitiator.bytes;
import static lunar.target.TargetFixture.blocks;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.regex.Pattern;
import lunar.iscsi.pdu.DataIn;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.iscsi.pdu.ScsiResponse;
import lunar.iscsi.pdu.TaskAttribute;
import lunar.scsi.Lun;
import lunar.scsi.Status;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests an Expected Data Transfer Length, R bit or W bit that does not match the CDB (RFC 7143 sections 11.3.1, 11.3.4
 * and 11.4.5, FCP-4 section 9.4.2): a command that ends with GOOD transferred the declared length and reports its
 * residual; any other command changes nothing.
 */
class TransferLengthTest {
    private static final int INVALID_FIELD_IN_UNIT = 0x05_0e_03;
    private static final int OLD = 0x11;
    private static final int NEW = 0x22;
    private static final int BLOCKS = 8;
    private static final Pattern WHOLE = Pattern.compile("^WRITE(\\(| AND VERIFY)");

    /** Every command with data-out and how many bytes it needs, by its CDB. */
    private static final String WITH_DATA_OUT = """
            WRITE(6),                    0a0000000100,                     512
            WRITE(10),                   2a000000000000000100,             512
            WRITE(10) of two,            2a000000000000000200,             1024
            WRITE(10) with FUA,          2a080000000000000100,             512
            WRITE(12),                   aa0000000000000000010000,         512
            WRITE(16),                   8a000000000000000000000000010000, 512
            WRITE AND VERIFY(10),        2e000000000000000100,             512
            WRITE AND VERIFY(16),        8e000000000000000000000000020000, 1024
            VERIFY(10) of bytes,         2f020000000000000200,             1024
            VERIFY(10) of one block,     2f060000000000000200,             512
            COMPARE AND WRITE,           89000000000000000000000000010000, 1024
            ORWRITE(16),                 8b000000000000000000000000020000, 1024
            WRITE ATOMIC(16),            9c000000000000000000000000020000, 1024
            WRITE SAME(10),              41000000000000000400,             512
            WRITE SAME(16),              93000000000000000000000000040000, 512
            UNMAP,                       42000000000000001800,             24
            MODE SELECT(6),              151000001800,                     24
            MODE SELECT(10),             55100000000000001800,             24
            PERSISTENT RESERVE OUT,      5f000000000000001800,             24
            EXTENDED COPY,               83010000000000000000000000300000, 48
            POPULATE TOKEN,              83100000000000000001000000200000, 32
            WRITE USING TOKEN,           83110000000000000001000002280000, 552
            FORMAT UNIT,                 041000000000,                     4
            SANITIZE,                    48010000000000000800,             8
            SEND DIAGNOSTIC,             1d1000000400,                     4
            WRITE BUFFER,                3b020000000000020000,             512
            WRITE BUFFER of an echo,     3b0a0000000000020000,             512
            SET TARGET PORT GROUPS,      a40a00000000000000080000,         8
            SET TIMESTAMP,               a40f000000000000000c0000,         12
            SET IDENTIFYING INFORMATION, a40600000000000000080400,         8
            """;

    private static RawInitiator.Received command(RawInitiator initiator, boolean read,
            boolean write, String cdb, int expectedBytes, byte[] data) throws IOException {
        byte[] padded = Arrays.copyOf(bytes(cdb), 16);
        initiator.send(new ScsiCommand(false, true, read, write, TaskAttribute.SIMPLE, 0, Lun.ZERO,
                initiator.newTag(), expectedBytes, initiator.useCmdSn(), initiator.expStatSn(),
                MemorySegment.ofArray(padded), 0), data);
        return initiator.receive();
    }

    private static byte[] data(int length) {
        byte[] data = new byte[length];
        Arrays.fill(data, (byte) NEW);
        return data;
    }

    private static void assertRefused(RawInitiator.Received answer) {
        assertThat(answer.status()).isEqualTo(Status.CHECK_CONDITION);
        assertThat(answer.sense()).isEqualTo(INVALID_FIELD_IN_UNIT);
    }

    private static void assertOverflow(RawInitiator.Received answer, int bytes) {
        assertThat(answer.bhs().flags() & 0x1e).isEqualTo(ScsiResponse.OVERFLOW);
        assertThat(answer.bhs().int32(ScsiResponse.RESIDUAL_COUNT)).isEqualTo(bytes);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(textBlock = WITH_DATA_OUT)
    void shouldRejectCommandWhoseDataOutIsTooShort(String name, String cdb, int needed)
            throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            initiator.commandOut(RawInitiator.writeCdb(0, BLOCKS), blocks(BLOCKS, OLD));
            for (int expected : new int[]{0, 1, needed / 2, needed - 1}) {
                if (expected % 512 == 0 && WHOLE.matcher(name).find()) {
                    continue; // of these, whole blocks may be a part
                }
                var answer = command(initiator, false, true, cdb, expected, data(expected));
                assertRefused(answer);
                assertOverflow(answer, needed - expected);
            }
            assertThat(initiator.read(0, BLOCKS)).as("nothing was written")
                    .isEqualTo(blocks(BLOCKS, OLD));
        }
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(textBlock = WITH_DATA_OUT)
    void shouldRejectDataOutThatIsNotDeclared(String name, String cdb, int needed)
            throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            initiator.commandOut(RawInitiator.writeCdb(0, BLOCKS), blocks(BLOCKS, OLD));

            assertRefused(command(initiator, true, false, cdb, needed, new byte[0]));
            assertRefused(command(initiator, false, false, cdb, 0, new byte[0]));

            assertThat(initiator.read(0, BLOCKS)).as("nothing was written")
                    .isEqualTo(blocks(BLOCKS, OLD));
        }
    }

    @ParameterizedTest
    @CsvSource({"2a000000000000000100, 512", "8e000000000000000000000000010000, 512",
            "3b020000000000020000, 512", "2f020000000000000000, 0", "2a000000000000000000, 0",
            "000000000000, 0"})
    void shouldAcceptExcessDataOutAndReportResidual(String cdb, int needed) throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            initiator.commandOut(RawInitiator.writeCdb(0, BLOCKS), blocks(BLOCKS, OLD));

            var answer = command(initiator, false, true, cdb, needed + 700, data(needed + 700));

            assertThat(answer.status()).isEqualTo(Status.GOOD);
            assertThat(answer.bhs().flags() & 0x1e).isEqualTo(ScsiResponse.UNDERFLOW);
            assertThat(answer.bhs().int32(ScsiResponse.RESIDUAL_COUNT)).isEqualTo(700);
            assertThat(initiator.read(1, 1)).as("the block behind").isEqualTo(blocks(1, OLD));
        }
    }

    /** Both may stand for data that were not compared or not meant for each block. */
    @ParameterizedTest
    @ValueSource(strings = {"89000000000000000000000000010000", "41000000000000000100"})
    void shouldRejectMoreDataThanOneComparisonOrPatternHas(String cdb) throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            assertThat(command(initiator, false, true, cdb, 2048, data(2048)).sense())
                    .isEqualTo(0x05_24_00);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"2a000000000000000300", "aa0000000000000000030000",
            "8a000000000000000000000000030000", "2e000000000000000300",
            "8e000000000000000000000000030000"})
    void shouldWriteDeclaredWholeBlocksAndReportResidual(String cdb) throws Exception {
        for (int count = 0; count < 3; count++) {
            try (var target = new TargetFixture(); var initiator = target.ready(1)) {
                initiator.commandOut(RawInitiator.writeCdb(0, BLOCKS), blocks(BLOCKS, OLD));

                var answer = command(initiator, false, true, cdb, 512 * count, data(512 * count));

                assertThat(answer.status()).isEqualTo(Status.GOOD);
                assertOverflow(answer, 512 * (3 - count));
                assertThat(initiator.read(0, count)).isEqualTo(blocks(count, NEW));
                assertThat(initiator.read(count, 3)).isEqualTo(blocks(3, OLD));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"41000000000000000400", "89000000000000000000000000010000",
            "2a000000000000000100"})
    void shouldReportProtectionBeforeDataThatAreTooShort(String cdb) throws Exception {
        try (var target = new TargetFixture("ram:1MiB", unit -> unit.withReadOnly(true));
                var initiator = target.ready(1)) {
            assertThat(command(initiator, false, true, cdb, 0, new byte[0]).sense())
                    .isEqualTo(0x07_27_00);
        }
    }

    @Test
    void shouldTruncateReadToExpectedLengthAndReportResidual() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            initiator.commandOut(RawInitiator.writeCdb(0, BLOCKS), blocks(BLOCKS, OLD));

            var nothing = command(initiator, true, false, "28000000000000000100", 0, new byte[0]);
            assertThat(nothing.status()).isEqualTo(Status.GOOD);
            assertOverflow(nothing, 512);

            var part = command(initiator, true, false, "28000000000000000100", 200, new byte[0]);
            assertThat(part.opcode()).isEqualTo(DataIn.OPCODE);
            assertThat(part.data()).isEqualTo(Arrays.copyOf(blocks(1, OLD), 200));
            assertThat(part.bhs().flags() & 0x06).isEqualTo(DataIn.OVERFLOW);
            assertThat(part.bhs().int32(DataIn.RESIDUAL_COUNT)).isEqualTo(312);
        }
    }
}
