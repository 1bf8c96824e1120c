package lunar.target;

import static lunar.target.PrimaryCommandsTest.cdb;
import static lunar.target.PrimaryCommandsTest.in;
import static lunar.target.TargetFixture.blocks;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import lunar.block.BlockRequest.Operation;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.scsi.Status;
import lunar.scsi.log.LogPage;
import lunar.scsi.log.LogParameter;
import org.junit.jupiter.api.Test;

/** Tests log pages and self-tests (SPC-5). */
class LogAndDiagnosticsTest {
    private static final byte[] READY = new byte[6];

    @Test
    void shouldListLogPagesWithAndWithoutSubpages() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            assertThat(in(initiator, "4d00 40 00 00 0000 0100 00", 256))
                    .isEqualTo(cdb("80000008 00 02 03 05 0c 0e 10 2f"));
            assertThat(in(initiator, "4d00 40 ff 00 0000 0100 00", 256)).isEqualTo(cdb(
                    "c0ff0012 0000 00ff 0200 0300 0500 0c00 0e00 1000 2f00"));
            assertThat(sense(initiator, "4d00 4d 00 00 0000 0100 00")).isEqualTo(0x05_24_00);
            assertThat(sense(initiator, "4d01 42 00 00 0000 0100 00")).as("SP")
                    .isEqualTo(0x05_24_00);
            assertThat(sense(initiator, "4d00 42 00 00 0007 0100 00")).as("no such parameter")
                    .isEqualTo(0x05_24_00);
        }
    }

    @Test
    void shouldCountWhatIsReadWrittenAndVerified() throws Exception {
        try (var target = new TargetFixture();
                var initiator = target.ready(1);
                var other = target.ready(2)) {
            initiator.commandOut(RawInitiator.writeCdb(0, 3), blocks(3, 1));
            initiator.read(0, 2);
            assertThat(initiator.command(cdb("2f00 00000000 00 0004 00"), 0).status())
                    .isEqualTo(Status.GOOD);
            assertThat(count(initiator, LogPage.WRITE_ERRORS)).isEqualTo(3 * 512);
            assertThat(count(initiator, LogPage.VERIFY_ERRORS)).isEqualTo(4 * 512);
            assertThat(count(initiator, LogPage.READ_ERRORS))
                    .as("a verify reads too").isEqualTo((2 + 4) * 512);
            assertThat(sense(initiator, "2f00 00000000 00 ffff 00")).isEqualTo(0x05_21_00);
            assertThat(count(initiator, LogPage.VERIFY_ERRORS)).as("it was refused")
                    .isEqualTo(4 * 512);

            assertThat(initiator.command(cdb("4c02 42 00 00 00 00 0000 00"), 0).status())
                    .isEqualTo(Status.GOOD);
            assertThat(count(initiator, LogPage.WRITE_ERRORS)).isZero();
            assertThat(count(initiator, LogPage.VERIFY_ERRORS)).isNotZero();
            assertThat(other.command(READY, 0).sense()).isEqualTo(0x06_2a_02);
        }
    }

    @Test
    void shouldCountStarts() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            assertThat(sense(initiator, "1b00 00 00 01 00")).isZero();
            assertThat(sense(initiator, "1b00 00 00 00 00")).as("a stop").isZero();
            assertThat(sense(initiator, "1b00 00 00 11 00")).as("a power condition").isZero();
            assertThat(sense(initiator, "1b00 00 00 03 00")).as("refused").isEqualTo(0x05_24_00);
            assertThat(count(initiator, LogPage.START_STOP)).isOne();
        }
    }

    @Test
    void shouldTestTheMediumAndRememberTheOutcome() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            assertThat(sense(initiator, "1d04 00 0000 00")).as("default self-test").isZero();
            assertThat(sense(initiator, "1dc0 00 0000 00")).as("foreground extended").isZero();
            assertThat(sense(initiator, "1d80 00 0000 00")).as("abort of nothing")
                    .isEqualTo(0x05_24_00);
            target.device.failReads();
            assertThat(sense(initiator, "1da0 00 0000 00")).as("foreground short")
                    .isEqualTo(0x04_3e_03);
            List<LogParameter> results = page(initiator, LogPage.SELF_TEST_RESULTS).parameters();
            assertThat(results).hasSize(20);
            assertThat(results.get(0).value().toString())
                    .isEqualTo("a7000000" + "0000000000000000" + "043e0300");
            assertThat(results.get(1).value().toString())
                    .isEqualTo("c0000000" + "ffffffffffffffff" + "00000000");
            assertThat(results.get(2).value().at(0)).isZero();

            assertThat(sense(initiator, "1d20 00 0000 00")).as("background short").isZero();
            TargetFixture.await("the outcome of the test in the background",
                    () -> newest(initiator) == 0x27);
            assertThat(in(initiator, "1c01 00 0100 00", 256)).isEqualTo(cdb("0000000100"));
            assertThat(sense(initiator, "1c01 01 0100 00")).isEqualTo(0x05_24_00);
        }
    }

    @Test
    void shouldReportAndStopABackgroundSelfTest() throws Exception {
        String[] stops = {"1d80 00 0000 00", "1b00 00 00 00 00", "0400 00 00 00 00", "reset"};
        for (String stop : stops) {
            try (var target = new TargetFixture(); var initiator = target.ready(1)) {
                target.device.shut(1, request -> request.operation() == Operation.READ);
                assertThat(sense(initiator, "1d40 00 0000 00")).as("background extended").isZero();
                target.device.awaitArrivals();
                assertThat(newest(initiator)).as("it goes on").isEqualTo(0x4f);
                byte[] told = in(initiator, "0300 00 00 12 00", 18);
                assertThat(told[2]).isEqualTo((byte) 0x02);
                assertThat(Arrays.copyOfRange(told, 12, 16)).isEqualTo(cdb("04 09 00 80"));
                assertThat(sense(initiator, "0000 00 00 00 00")).as("others are served").isZero();
                assertThat(sense(initiator, "1da0 00 0000 00")).isEqualTo(0x02_04_09);

                if (stop.equals("reset")) {
                    assertThat(initiator.managed(initiator
                            .manage(TaskManagementFunction.LOGICAL_UNIT_RESET, -1))).isZero();
                    initiator.takeAttentions();
                } else {
                    assertThat(sense(initiator, stop)).isZero();
                }
                target.device.open();
                TargetFixture.await("the end by " + stop, () -> newest(initiator) != 0x4f);
                assertThat(newest(initiator)).as("by SEND DIAGNOSTIC, or otherwise")
                        .isEqualTo(stop.startsWith("1d80") ? 0x41 : 0x42);
            }
        }
    }

    @Test
    void shouldNotAbortAForegroundSelfTestAsABackgroundOne() throws Exception {
        try (var target = new TargetFixture();
                var initiator = target.ready(1);
                var other = target.ready(2)) {
            target.device.shut(1, request -> request.operation() == Operation.READ);
            int tag = initiator.send(cdb("1da0 00 0000 00"), 0);
            target.device.awaitArrivals();
            assertThat(sense(other, "1d80 00 0000 00")).isEqualTo(0x05_24_00);
            target.device.open();
            RawInitiator.Received answer = initiator.receive();
            assertThat(answer.bhs().itt()).isEqualTo(tag);
            assertThat(answer.status()).isEqualTo(Status.GOOD);
        }
    }

    @Test
    void shouldNotTestMediumThatIsNotThere() throws Exception {
        try (var target = new TargetFixture("ram:1MiB", unit -> unit.withRemovable(true));
                var initiator = target.ready(1)) {
            assertThat(sense(initiator, "1b00 00 00 02 00")).as("ejected").isZero();
            assertThat(sense(initiator, "1d04 00 0000 00")).isEqualTo(0x02_3a_00);
        }
    }

    private static int newest(RawInitiator initiator) {
        try {
            return page(initiator, LogPage.SELF_TEST_RESULTS).parameters().getFirst().value().at(0);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static LogPage page(RawInitiator initiator, int code) throws Exception {
        return LogPage.decode(MemorySegment.ofArray(in(initiator,
                String.format("4d00 %02x 00 00 0000 1000 00", 0x40 | code), 4096)));
    }

    private static long count(RawInitiator initiator, int code) throws Exception {
        return page(initiator, code).parameters().getFirst().number();
    }

    private static int sense(RawInitiator initiator, String hex) throws IOException {
        return initiator.command(cdb(hex), 0).sense();
    }
}
