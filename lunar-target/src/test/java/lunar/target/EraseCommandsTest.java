package lunar.target;

import static lunar.target.RawInitiator.bytes;
import static lunar.target.TargetFixture.blocks;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import lunar.block.BlockRequest.Operation;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.scsi.Status;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests SANITIZE and FORMAT UNIT: their result, and the responses to other commands meanwhile. */
class EraseCommandsTest {
    private static final String READY = "000000000000";
    private static final String READ = "28000000000000000100";
    private static final String ERASE = "48020000000000000000";
    private static final String ERASE_AT_ONCE = "48820000000000000000";
    private static final String EXIT_FAILURE_MODE = "481f0000000000000000";
    private static final String ALL_OF_IT = "48010000000000000600"; // OVERWRITE with a list of 6 bytes

    /** Asks until the unit is ready; what it says until then must be this. */
    static void awaitReady(RawInitiator initiator, int meanwhile) throws IOException {
        RawInitiator.Received answer = initiator.command(READY, 0);
        while (answer.status() != Status.GOOD) {
            assertThat(answer.sense()).isEqualTo(meanwhile);
            LockSupport.parkNanos(1_000_000);
            answer = initiator.command(READY, 0);
        }
    }

    @Test
    void shouldEraseAfterRunningWritesAndReportProgressToOthers() throws Exception {
        try (var target = new TargetFixture();
                var writer = target.ready(1);
                var other = target.ready(2)) {
            target.device.shut(1);
            writer.write(3, blocks(1, 0x77));
            target.device.awaitArrivals(); // the erasure waits for this write

            assertThat(other.command(ERASE_AT_ONCE, 0).status()).isEqualTo(Status.GOOD);
            RawInitiator.Received refused = other.command(READ, 512);
            assertThat(refused.sense()).isEqualTo(0x02_04_1b);
            assertThat(refused.data()[2 + 15]).as("SKSV: progress").isEqualTo((byte) 0x80);
            assertThat(other.command(READY, 0).sense()).isEqualTo(0x02_04_1b);
            assertThat(other.command(ERASE, 0).sense()).isEqualTo(0x02_04_1b);
            assertThat(other.command("1b0000000100", 0).sense()).isEqualTo(0x02_04_1b);
            assertThat(other.command("120000002400", 36).data()).as("INQUIRY").hasSize(36);
            byte[] told = other.command("030000001200", 18).data();
            assertThat(told[2]).as("REQUEST SENSE").isEqualTo((byte) 0x02);
            assertThat(Arrays.copyOfRange(told, 12, 18)).isEqualTo(bytes("041b 00 80 0000"));
            assertThat(other.managed(other.manage(TaskManagementFunction.ABORT_TASK_SET, -1)))
                    .isZero();
            assertThat(other.command(READY, 0).sense()).as("no abort stops it")
                    .isEqualTo(0x02_04_1b);

            target.device.open();
            assertThat(writer.receive().status()).isEqualTo(Status.GOOD);
            awaitReady(other, 0x02_04_1b);
            assertThat(other.read(3, 1)).isEqualTo(blocks(1, 0));
            assertThat(other.command("030000001200", 18).data()[2]).isZero();
        }
    }

    @Test
    void shouldOverwriteEveryBlockAsOftenAsRequested() throws Exception {
        try (var target = new TargetFixture("ram:1MiB", unit -> unit.withThick(true));
                var initiator = target.ready(1)) {
            var writes = new AtomicInteger();
            target.device.shut(1, request -> request.operation() == Operation.WRITE
                    && writes.incrementAndGet() == 2);
            int tag = initiator.write(initiator.newTag(), initiator.useCmdSn(), bytes(ALL_OF_IT),
                    bytes("82000002 a50f"), 6, true); // INVERT, two passes
            target.device.awaitArrivals();
            assertThat(target.onDevice(2047, 1)).as("the first of two passes is the inverted one")
                    .isEqualTo(pattern(0x5a, 0xf0));
            target.device.open();
            RawInitiator.Received answer = initiator.receive();
            assertThat(answer.bhs().itt()).isEqualTo(tag);
            assertThat(answer.status()).isEqualTo(Status.GOOD);
            byte[] expected = pattern(0xa5, 0x0f);
            assertThat(target.onDevice(0, 1)).isEqualTo(expected);
            assertThat(target.onDevice(1024, 1)).isEqualTo(expected);
            assertThat(target.onDevice(2047, 1)).isEqualTo(expected);
        }
    }

    private static byte[] pattern(int even, int odd) {
        byte[] block = new byte[512];
        for (int i = 0; i < block.length; i++) {
            block[i] = (byte) (i % 2 == 0 ? even : odd);
        }
        return block;
    }

    @ParameterizedTest
    @CsvSource({"00000002a50f, no pass", "21000002a50f, TEST", "01000000a50f, no pattern",
            "01000003a50f, a pattern longer than the list"})
    void shouldRejectInvalidOverwrite(String list, String why) throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            initiator.write(0, blocks(1, 9));
            assertThat(initiator.receive().status()).isEqualTo(Status.GOOD);
            assertThat(initiator.commandOut(ALL_OF_IT, bytes(list)).sense()).as(why)
                    .isEqualTo(0x05_26_00);
            assertThat(initiator.read(0, 1)).isEqualTo(blocks(1, 9));
        }
    }

    @ParameterizedTest
    @CsvSource({"48030000000000000000, '', a key to erase", "48420000000000000000, '', zones",
            "48020000000000000400, 00000000, a list of a block erase",
            EXIT_FAILURE_MODE + ", '', a failure"})
    void shouldRejectUnsupportedRequests(String cdb, String list, String what) throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            assertThat(initiator.commandOut(cdb, bytes(list)).sense()).as(what)
                    .isEqualTo(0x05_24_00);
        }
    }

    @Test
    void shouldStayInFailureUntilExitedOrErased() throws Exception {
        try (var target = new TargetFixture(
                "fault=0,op=write,lba=2000-2000:ram:1MiB", unit -> unit);
                var initiator = target.ready(1)) {
            byte[] onePass = bytes("01000002a50f");
            assertThat(initiator.commandOut(ALL_OF_IT, onePass).sense()).isEqualTo(0x03_31_03);
            assertThat(initiator.command(READ, 512).sense()).isEqualTo(0x03_31_03);
            byte[] told = initiator.command("030000001200", 18).data();
            assertThat(told[2]).as("REQUEST SENSE").isEqualTo((byte) 0x03);
            assertThat(Arrays.copyOfRange(told, 12, 14)).isEqualTo(bytes("3103"));
            assertThat(initiator.command(EXIT_FAILURE_MODE, 0).sense())
                    .as("without AUSE there is no way out").isEqualTo(0x05_24_00);
            assertThat(initiator.commandOut("48210000000000000600", onePass).sense())
                    .as("nor by AUSE at the next time").isEqualTo(0x05_24_00);
            assertThat(initiator.command("040000000000", 0).sense()).as("nor by FORMAT UNIT")
                    .isEqualTo(0x03_31_03);
            assertThat(initiator.command(ERASE, 0).status()).as("which does not write")
                    .isEqualTo(Status.GOOD);
            assertThat(initiator.read(0, 2)).isEqualTo(blocks(2, 0));

            assertThat(initiator.commandOut("48210000000000000600", onePass).sense()) // AUSE
                    .isEqualTo(0x03_31_03);
            assertThat(initiator.command(EXIT_FAILURE_MODE, 0).status()).isEqualTo(Status.GOOD);
            assertThat(initiator.command(READY, 0).status()).isEqualTo(Status.GOOD);
        }
    }

    @Test
    void shouldFormatWithAndWithoutParameters() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            for (String[] format : new String[][]{{"040000000000", ""},
                    {"041000000000", "00020000"}, {"043000000000", "0082000000000000"}}) {
                initiator.write(2000, blocks(1, 5));
                assertThat(initiator.receive().status()).isEqualTo(Status.GOOD);
                assertThat(initiator.commandOut(format[0], bytes(format[1])).status())
                        .isEqualTo(Status.GOOD);
                awaitReady(initiator, 0x02_04_04); // the last two are IMMED
                assertThat(initiator.read(2000, 1)).isEqualTo(blocks(1, 0));
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"048000000000, '', 052400, FMTPINFO", "041000000000, 01000000, 052600, protection",
            "040000000300, '', 052400, FFMT", "041000000000, 00200000, 052600, DCRT without FOV",
            "041000000000, 00880000, 052600, an initialization pattern",
            "041000000000, 00000004, 052600, a defect list",
            "041000000000, 0000, 050e03, half a header"})
    void shouldRejectUnsupportedFormat(String cdb, String list, String sense, String what)
            throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            initiator.write(0, blocks(1, 9));
            assertThat(initiator.receive().status()).isEqualTo(Status.GOOD);
            assertThat(initiator.commandOut(cdb, bytes(list)).sense()).as(what)
                    .isEqualTo(Integer.parseInt(sense, 16));
            assertThat(initiator.read(0, 1)).isEqualTo(blocks(1, 9));
        }
    }
}
