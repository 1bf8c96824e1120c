package lunar.target;

import static lunar.target.TargetFixture.blocks;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import lunar.iscsi.pdu.DataIn;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.scsi.CdbForm;
import lunar.scsi.Lun;
import lunar.scsi.Status;
import lunar.scsi.mode.CachingModePage;
import lunar.scsi.mode.ModeParameters;
import lunar.scsi.primary.TargetPortGroups;
import lunar.scsi.target.StateStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests the commands of every device type (SPC-5): mode pages, target port groups, logical units, identification,
 * buffers.
 */
class PrimaryCommandsTest {
    private static final String WCE_OFF = "00000000 0812 00" + "00".repeat(17);
    private static final byte[] READY = new byte[6];

    @TempDir
    Path directory;

    @Test
    void shouldMakeEveryChangeStableWhileTheWriteCacheIsOff() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            initiator.commandOut(RawInitiator.writeCdb(0, 1), blocks(1, 1));
            assertThat(target.device.requests()).containsExactly("WRITE lba=0 blocks=1");

            assertThat(select(initiator, 0, WCE_OFF)).isEqualTo(0);
            assertThat(target.device.requests()).as("what was in the cache").containsExactly(
                    "FLUSH");
            initiator.commandOut(RawInitiator.writeCdb(1, 1), blocks(1, 2));
            initiator.commandOut(cdb("41 00 00000000 00 0004 00"), blocks(1, 0)); // WRITE SAME
            assertThat(target.device.requests()).containsExactly("WRITE lba=1 blocks=1 FUA",
                    "WRITE_ZEROES lba=0 blocks=4", "FLUSH");
            assertThat(target.onDevice(0, 4)).isEqualTo(blocks(4, 0));
        }
    }

    @Test
    void shouldReportChangedModeParametersToOtherNexuses() throws Exception {
        try (var target = new TargetFixture();
                var initiator = target.ready(1);
                var other = target.ready(2)) {
            assertThat(select(initiator, 0, WCE_OFF)).isEqualTo(0);
            assertThat(other.command(READY, 0).sense()).isEqualTo(0x06_2a_01);
            assertThat(initiator.command(READY, 0).status()).isEqualTo(Status.GOOD);
            assertThat(select(initiator, 0, WCE_OFF)).as("once more: no change").isEqualTo(0);
            assertThat(other.command(READY, 0).status()).isEqualTo(Status.GOOD);
            assertThat(select(initiator, 1, WCE_OFF)).as("SP without a place to save")
                    .isEqualTo(0x05_24_00);
        }
    }

    @Test
    void shouldRestoreSavedValuesOnReset() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            assertThat(select(initiator, 0, WCE_OFF)).isEqualTo(0);
            assertThat(in(initiator, "1a08 08 00 ff 00", 255)[6] & 4).as("WCE").isZero();
            assertThat(initiator.managed(
                    initiator.manage(TaskManagementFunction.LOGICAL_UNIT_RESET, 0))).isZero();
            initiator.takeAttentions();
            assertThat(in(initiator, "1a08 08 00 ff 00", 255)[6] & 4).as("WCE").isNotZero();
        }
    }

    @Test
    void shouldSaveModePagesAndIdentifyingInformation() throws Exception {
        try (var target = new TargetFixture(StateStore.inDirectory(directory));
                var initiator = target.ready(1);
                var other = target.ready(2)) {
            assertThat(select(initiator, 1, WCE_OFF)).isEqualTo(0);
            assertThat(initiator.commandOut(cdb("a406 00000000 00000005 0400"),
                    "rack\0".getBytes(StandardCharsets.UTF_8)).status()).isEqualTo(Status.GOOD);
            assertThat(other.command(READY, 0).sense()).isEqualTo(0x06_2a_01);
            assertThat(other.command(READY, 0).sense()).isEqualTo(0x06_3f_05);
        }
        try (var target = new TargetFixture(StateStore.inDirectory(directory));
                var initiator = target.ready(1)) {
            for (int control : new int[]{0x00, 0xc0}) { // current and saved
                byte[] data = in(initiator, "1a08" + HexFormat.of().toHexDigits(
                        (byte) (control | 8)) + "00ff00", 255);
                assertThat(ModeParameters.decodeSense(CdbForm.CDB6, MemorySegment.ofArray(data))
                        .page(CachingModePage.CODE)).get()
                        .isInstanceOfSatisfying(CachingModePage.class, page -> {
                            assertThat(page.writeCacheEnabled()).isFalse();
                            assertThat(page.saveable()).isTrue();
                        });
            }
            assertThat(in(initiator, "a305 00000000 00000100 0400", 256))
                    .isEqualTo("\0\0\0\5rack\0".getBytes(StandardCharsets.UTF_8));
        }
    }

    @Test
    void shouldNotStartOnDamagedModePages() throws Exception {
        StateStore store = StateStore.inDirectory(directory);
        store.save("mode-pages", new byte[]{1, 8});
        assertThatExceptionOfType(IOException.class).isThrownBy(() -> new TargetFixture(store))
                .withMessageContaining("mode-pages").withMessageContaining("damaged");
        Files.write(directory.resolve("mode-pages"), new byte[9]);
        assertThatExceptionOfType(IOException.class).isThrownBy(() -> new TargetFixture(store))
                .withMessageContaining("mode-pages").withMessageContaining("damaged");
    }

    @Test
    void shouldRespectTheStatesOfTargetPortGroups() throws Exception {
        try (var target = new TargetFixture();
                var initiator = target.ready(1);
                var other = target.ready(2)) {
            assertThat(in(initiator, "12 00 0000 24 00", 36)[5] & 0x30).as("TPGS").isEqualTo(0x30);
            assertThat(in(initiator, "a32a 00000000 00000100 0000", 256)).isEqualTo(cdb(
                    "00000010 103c0000 008f0001 00000001 00000001"));

            assertThat(setGroup(initiator, 2, 1)).isEqualTo(0);
            assertThat(initiator.command(READY, 0).sense()).isEqualTo(0x02_04_0b);
            assertThat(initiator.command(RawInitiator.readCdb(0, 1), 512).sense())
                    .isEqualTo(0x02_04_0b);
            assertThat(in(initiator, "1a083f00ff00", 255)).as("MODE SENSE").isNotEmpty();
            assertThat(in(initiator, "a30a 00000000 00000100 0000", 256)).isEqualTo(
                    cdb("0000000c 028f0001 00010001 00000001"));
            assertThat(other.command(READY, 0).sense()).isEqualTo(0x06_2a_06);
            assertThat(setGroup(initiator, 0, 7)).as("no such group").isEqualTo(0x05_26_00);
            assertThat(setGroup(initiator, 14, 1)).as("offline").isEqualTo(0x05_26_00);
            assertThat(setGroup(initiator, 1, 1)).isEqualTo(0);
            assertThat(initiator.command(READY, 0).status()).isEqualTo(Status.GOOD);

            target.server.changeAccess(RawInitiator.TARGET, 1, TargetPortGroups.State.UNAVAILABLE);
            assertThat(initiator.command(READY, 0).sense()).isEqualTo(0x06_2a_06);
            assertThat(initiator.command(READY, 0).sense()).isEqualTo(0x02_04_0c);
            assertThat(initiator.command(cdb("1a083f00ff00"), 255).sense()).isEqualTo(0x02_04_0c);
            assertThat(in(initiator, "a30a 00000000 00000100 0000", 256)).isEqualTo(
                    cdb("0000000c 038f0001 00020001 00000001"));
        }
    }

    @Test
    void shouldListLogicalUnitsAndAnswerForTheWellKnownOne() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            assertThat(luns(initiator, 0x00)).isEqualTo("00000008 00000000 0000000000000000");
            assertThat(luns(initiator, 0x01)).isEqualTo("00000008 00000000 c101000000000000");
            assertThat(luns(initiator, 0x02))
                    .isEqualTo("00000010 00000000 0000000000000000 c101000000000000");
            assertThat(luns(initiator, 0x10)).isEqualTo("00000000 00000000");
            assertThat(luns(initiator, 0x11)).isEqualTo("00000008 00000000 0000000000000000");
            assertThat(luns(initiator, 0x12)).isEqualTo("00000000 00000000");
            assertThat(initiator.command(cdb("a000 03 000000 00000100 0000"), 256).sense())
                    .isEqualTo(0x05_24_00);

            Lun known = Lun.REPORT_LUNS;
            assertThat(initiator.command(known, READY, 0).status()).isEqualTo(Status.GOOD);
            assertThat(initiator.command(known, cdb("12 00 0000 24 00"), 36).data()[0])
                    .isEqualTo((byte) 0x1e);
            assertThat(initiator.command(known, cdb("12 01 0000 ff 00"), 255).data())
                    .isEqualTo(cdb("1e 00 0002 00 83"));
            assertThat(initiator.command(known, cdb("a000 01 000000 00000100 0000"), 256).data())
                    .hasSize(16);
            assertThat(initiator.command(known, RawInitiator.readCdb(0, 1), 512).sense())
                    .isEqualTo(0x05_20_00);
            assertThat(initiator.command(new Lun(0xc102L << 48), READY, 0).sense())
                    .as("another well-known unit").isEqualTo(0x05_25_00);
        }
    }

    @Test
    void shouldReportThatAThinDeviceGetsFull() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            String thresholds = "00000000 5c02 001c" + "00".repeat(12)
                    + "00 01 0000 00000000" + "81 02 0000 00000001";
            assertThat(select(initiator, 0, thresholds)).isEqualTo(0);
            for (int chunk = 0; chunk < 3; chunk++) { // memory is taken by 256 KiB
                initiator.commandOut(RawInitiator.writeCdb(chunk * 512L, 1), blocks(1, 1));
            }
            assertThat(initiator.command(READY, 0).status()).isEqualTo(Status.GOOD);
            initiator.commandOut(RawInitiator.writeCdb(3 * 512L, 1), blocks(1, 1));
            assertThat(initiator.command(READY, 0).sense()).isEqualTo(0x06_38_07);
            initiator.commandOut(RawInitiator.writeCdb(3 * 512L, 1), blocks(1, 1));
            assertThat(initiator.command(READY, 0).status()).as("once").isEqualTo(Status.GOOD);
            assertThat(in(initiator, "4d00 4c 00 00 0000 0100 00", 256)).isEqualTo(cdb(
                    "8c000018 00012308 00000000 01000000 00022308 00000001 01000000"));
        }
    }

    @Test
    void shouldSimulateAnInformationalException() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            assertThat(select(initiator, 0, "00000000 1c0a 04 06 00000000 00000000")).isEqualTo(0);
            byte[] sense = in(initiator, "03000000 fc 00", 252);
            assertThat(sense[12]).isEqualTo((byte) 0x5d);
            assertThat(sense[13]).isEqualTo((byte) 0xff);
            assertThat(select(initiator, 0, "00000000 1c0a 04 02 00000000 00000000")).isEqualTo(0);
            assertThat(initiator.command(READY, 0).sense()).isEqualTo(0x06_5d_ff);
            assertThat(select(initiator, 0, "00000000 1c0a 04 05 00000000 00000000"))
                    .isEqualTo(0x05_26_00);
        }
    }

    @Test
    void shouldEchoToEachInitiatorWhatItWrote() throws Exception {
        try (var target = new TargetFixture();
                var initiator = target.ready(1);
                var other = target.ready(2)) {
            String echo = "3c 0a 00 000000 000400 00";
            assertThat(initiator.command(cdb(echo), 1024).sense()).isEqualTo(0x05_2c_00);
            initiator.commandOut(cdb("3b 0a 00 000000 000200 00"), blocks(1, 7));
            other.commandOut(cdb("3b 0a 00 000000 000200 00"), blocks(1, 9));
            assertThat(in(initiator, echo, 1024)).isEqualTo(blocks(1, 7));

            initiator.commandOut(cdb("3b 02 00 000010 000200 00"), blocks(1, 3));
            assertThat(in(other, "3c 02 00 000010 000200 00", 512)).isEqualTo(blocks(1, 3));
            assertThat(in(other, "3c 03 00 000000 000004 00", 4)).isEqualTo(cdb("00010000"));
            assertThat(in(other, "3c 0b 00 000000 000004 00", 4)).isEqualTo(cdb("01001000"));
            assertThat(initiator.commandOut(cdb("3b 02 00 00ff01 000200 00"), blocks(1, 3))
                    .sense()).as("past the end").isEqualTo(0x05_24_00);
            assertThat(initiator.commandOut(cdb("3b 05 00 000000 000200 00"), blocks(1, 3))
                    .sense()).as("microcode").isEqualTo(0x05_24_00);
        }
    }

    @Test
    void shouldKeepTheTimestampThatWasSet() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            byte[] clock = in(initiator, "a30f 00000000 0000000c 0000", 12);
            assertThat(clock[2]).as("the clock of the machine").isEqualTo((byte) 3);
            byte[] wanted = cdb("00000000 7f0000000000 0000");
            assertThat(initiator.commandOut(cdb("a40f 00000000 0000000c 0000"), wanted).status())
                    .isEqualTo(Status.GOOD);
            byte[] then = in(initiator, "a30f 00000000 0000000c 0000", 12);
            assertThat(then[2]).isEqualTo((byte) 2);
            assertThat(List.of(then[4], then[5])).containsExactly((byte) 0x7f, (byte) 0);
        }
    }

    @Test
    void shouldReportTaskManagementFunctionsAndTimeouts() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            assertThat(in(initiator, "a30d 80000000 00000100 0000", 256))
                    .isEqualTo(cdb("de07000c" + "00".repeat(12)));
            assertThat(in(initiator, "a30c 81 12 0000 00000100 0000", 256)).isEqualTo(
                    cdb("00830006 1201ffffff04 000a 0000 00000000 0000003c"));
        }
    }

    @ParameterizedTest
    @CsvSource({"1510 0000 18 00, 00000000", "5510 0000000000 0018 00, 0000000000000000",
            "a40a 00000000 0000000c 0000, 0000000000000001"})
    void shouldRejectListThatIsCutBetweenTwoOfItsParts(String cdb, String list) throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            assertThat(initiator.commandOut(cdb(cdb), cdb(list)).sense()).isEqualTo(0x05_0e_03);
        }
    }

    static byte[] cdb(String hex) { return HexFormat.of().parseHex(hex.replace(" ", "")); }

    /** Data-in of a command that ends well. */
    static byte[] in(RawInitiator initiator, String hex, int expectedBytes) throws IOException {
        RawInitiator.Received answer = initiator.command(cdb(hex), expectedBytes);
        assertThat(answer.opcode()).as("%s: %06x", hex, answer.sense()).isEqualTo(DataIn.OPCODE);
        return answer.data();
    }

    /** MODE SELECT(6); its sense, or 0. */
    private static int select(RawInitiator initiator, int sp, String list) throws IOException {
        byte[] data = cdb(list);
        return initiator.commandOut(
                new byte[]{0x15, (byte) (0x10 | sp), 0, 0, (byte) data.length, 0}, data).sense();
    }

    private static int setGroup(RawInitiator initiator, int state, int group) throws IOException {
        return initiator.commandOut(cdb("a40a 00000000 00000008 0000"),
                new byte[]{0, 0, 0, 0, (byte) state, 0, 0, (byte) group}).sense();
    }

    private static String luns(RawInitiator initiator, int select) throws IOException {
        byte[] list = in(initiator, "a000" + HexFormat.of().toHexDigits((byte) select)
                + "000000 00000100 0000", 256);
        var text = new StringBuilder(HexFormat.of().formatHex(list)).insert(8, ' ');
        for (int at = 17; at < text.length(); at += 17) {
            text.insert(at, ' ');
        }
        return text.toString();
    }
}
