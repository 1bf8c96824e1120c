package lunar.target;

import static lunar.target.RawInitiator.bytes;
import static lunar.target.TargetFixture.blocks;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.scsi.Status;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests media that are inserted and removed, and kinds of unit: read-only, fully provisioned, with long physical
 * blocks.
 */
class MediumCommandsTest {
    private static final String READY = "000000000000";
    private static final String EJECT = "1b0000000200";
    private static final String LOAD = "1b0000000300";
    private static final String PREVENT = "1e0000000100";
    private static final String ALLOW = "1e0000000000";
    private static final String READ = "28000000000000000100";

    private static TargetFixture removable() throws IOException {
        return new TargetFixture("ram:1MiB", unit -> unit.withRemovable(true));
    }

    @Test
    void shouldReportEjectAndLoadToEveryNexus() throws Exception {
        try (var target = removable(); var one = target.ready(1); var other = target.ready(2)) {
            assertThat(one.command("120000002400", 36).data()[1]).isEqualTo((byte) 0x80); // RMB
            assertThat(one.command(EJECT, 0).status()).isEqualTo(Status.GOOD);

            assertThat(one.command(READY, 0).sense()).isEqualTo(0x02_3a_00);
            assertThat(other.command(READ, 512).sense()).isEqualTo(0x02_3a_00);
            assertThat(other.command("1b0000000100", 0).sense()).as("START").isEqualTo(0x02_3a_00);
            assertThat(other.command("120000002400", 36).data()).as("INQUIRY").hasSize(36);

            assertThat(one.command(LOAD, 0).status()).isEqualTo(Status.GOOD);
            assertThat(one.command(READY, 0).status()).isEqualTo(Status.GOOD);
            assertThat(other.command(READY, 0).sense()).isEqualTo(0x06_28_00);
            assertThat(other.command(READY, 0).status()).isEqualTo(Status.GOOD);
        }
    }

    @Test
    void shouldKeepMediumAsLongAsAnyNexusPreventsItsRemoval() throws Exception {
        try (var target = removable(); var one = target.ready(1)) {
            try (var other = target.ready(2)) {
                assertThat(one.command(PREVENT, 0).status()).isEqualTo(Status.GOOD);
                assertThat(other.command(PREVENT, 0).status()).isEqualTo(Status.GOOD);
                assertThat(one.command(ALLOW, 0).status()).isEqualTo(Status.GOOD);
                assertThat(one.command(EJECT, 0).sense()).isEqualTo(0x05_53_02);
                assertThat(one.command(READY, 0).status()).isEqualTo(Status.GOOD);
            }
            TargetFixture.await("the end of the other session",
                    () -> target.server.sessionCount() == 1);
            assertThat(one.command(EJECT, 0).status()).isEqualTo(Status.GOOD);
        }
    }

    @Test
    void shouldForgetPreventionWhenUnitIsReset() throws Exception {
        try (var target = removable(); var one = target.ready(1)) {
            assertThat(one.command(PREVENT, 0).status()).isEqualTo(Status.GOOD);
            assertThat(one.managed(one.manage(TaskManagementFunction.LOGICAL_UNIT_RESET, -1)))
                    .isZero();
            one.takeAttentions();
            assertThat(one.command(EJECT, 0).status()).isEqualTo(Status.GOOD);
        }
    }

    @Test
    void shouldNotEjectFixedMediumNorStopForOthers() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            assertThat(initiator.command(EJECT, 0).sense()).isEqualTo(0x05_24_00);
            assertThat(initiator.command("1b0000000000", 0).status()).isEqualTo(Status.GOOD);
            assertThat(initiator.command(READ, 512).data()).hasSize(512);
        }
    }

    @Test
    void shouldNotNameABlockForAFailedFlush() throws Exception {
        try (var target = new TargetFixture("fault=1,op=flush:ram:1MiB", unit -> unit);
                var initiator = target.ready(1)) {
            byte[] data = initiator.command("35000000000000000000", 0).data();
            assertThat(data[2]).as("response code, and VALID of INFORMATION")
                    .isEqualTo((byte) 0x70);
            assertThat(data[4]).isEqualTo((byte) 3);
        }
    }

    /** Each of them with the data that it wants, in blocks. */
    @ParameterizedTest
    @CsvSource({"0a0000000100, 1", "2a000000000000000100, 1", "aa0000000000000000010000, 1",
            "8a000000000000000000000000010000, 1", "2e000000000000000100, 1",
            "8b000000000000000000000000010000, 1", "9c000000000000000000000000010000, 1",
            "89000000000000000000000000010000, 2", "41000000000000000100, 1",
            "93000000000000000000000000010000, 1", "93010000000000000000000000010000, 0",
            "42000000000000001800, 0", "48020000000000000000, 0", "040000000000, 0"})
    void shouldRejectAllThatWritesOnUnitForReading(String cdb, int count) throws Exception {
        try (var target = new TargetFixture("ram:1MiB", unit -> unit.withReadOnly(true));
                var initiator = target.ready(1)) {
            byte[] data = cdb.startsWith("42")
                    ? bytes("0016001000000000 0000000000000000 0000000100000000")
                    : blocks(count, 0);
            assertThat(initiator.commandOut(cdb, data).sense()).isEqualTo(0x07_27_00);
            // WP, in the mode parameter header
            assertThat(initiator.command("1a083f00ff00", 255).data()[2] & 0x80).isNotZero();
        }
    }

    @Test
    void shouldHideFromHostsThatThickUnitCouldUnmap() throws Exception {
        try (var target = new TargetFixture("ram:1MiB", unit -> unit.withThick(true));
                var initiator = target.ready(1)) {
            byte[] capacity = initiator.command("9e100000000000000000000000200000", 32).data();
            assertThat(capacity[14]).as("LBPME, LBPRZ").isZero();
            byte[] provisioning = initiator.command("1201b200ff00", 255).data();
            assertThat(Arrays.copyOfRange(provisioning, 5, 8)).as("LBPU, provisioning type")
                    .isEqualTo(new byte[3]);
            byte[] limits = initiator.command("1201b000ff00", 255).data();
            assertThat(Arrays.copyOfRange(limits, 20, 28)).as("UNMAP limits")
                    .isEqualTo(new byte[8]);
            assertThat(initiator.commandOut("42000000000000001800", new byte[24]).sense())
                    .isEqualTo(0x05_20_00);
            assertThat(initiator.commandOut("41080000000000000100", new byte[512]).sense())
                    .isEqualTo(0x05_24_00);
            assertThat(initiator.command("9e120000000000000000000000ff0000", 255).data())
                    .isEqualTo(bytes("00000014 00000001 0000000000000000 00000800 00000000"));
        }
    }

    @Test
    void shouldReportPhysicalBlocksLongerThanLogicalOnes() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            assertThat(initiator.command("9e100000000000000000000000200000", 32).data())
                    .startsWith(bytes("00000000000007ff 00000200 00 03 c000"));
        }
        try (var target = new TargetFixture("ram:1MiB?block-size=4096", unit -> unit);
                var initiator = target.ready(1)) {
            assertThat(initiator.command("9e100000000000000000000000200000", 32).data())
                    .startsWith(bytes("00000000000000ff 00001000 00 00 c000"));
        }
    }

    @Test
    void shouldReportNoDefectsInWhateverListIsRequested() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            assertThat(initiator.command("37001d00000000010000", 256).data())
                    .isEqualTo(bytes("001d0000"));
            assertThat(initiator.command("b70b0000000000000100 0000", 256).data())
                    .isEqualTo(bytes("000b000000000000"));
        }
    }

    /** No protection information: RDPROTECT, WRPROTECT, VRPROTECT and ORPROTECT must be 0. */
    @Test
    void shouldPointAtUnsupportedProtectionFields() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            List<byte[]> senses = new ArrayList<>();
            senses.add(initiator.command("28200000000000000100", 512).data());
            senses.add(initiator.command("2f200000000000000100", 0).data());
            for (String cdb : List.of("2a200000000000000100", "2e200000000000000100",
                    "41200000000000000100", "8b200000000000000000000000010000",
                    "9c200000000000000000000000010000")) {
                senses.add(initiator.commandOut(cdb, blocks(1, 1)).data());
            }
            for (byte[] sense : senses) { // after two bytes of length: INVALID FIELD IN CDB, byte 1 bit 7
                assertThat(Arrays.copyOfRange(sense, 14, 20)).isEqualTo(bytes("2400 00 cf0001"));
            }
            assertThat(target.onDevice(0, 1)).isEqualTo(blocks(1, 0));
        }
    }
}
