package lunar.osd.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.HexFormat;
import lunar.osd.wire.ObjectId;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Commands as a Linux client sends them, and the replies to them, byte by byte. */
class LinuxVectorsTest {
    private static final String UNUSED = " 56:ffffffff 64:ffffffff 72:ffffffff";
    private static final String OF_ROOT = " 80:01 128:01ffe0 135:20";
    private static final String OF_PARTITION = " 20:17171717 80:01 128:02ffe0 135:20 156:17171717";
    private static final String OF_OBJECT = " 20:17171717 28:18181818 80:01 128:80ffe0 135:10"
            + " 156:17171717";
    private static final ObjectId OBJECT = new ObjectId(0x1717_1717, 0x1818_1818);

    private OsdFixture device;

    @BeforeEach
    void open() throws Exception { device = new OsdFixture(); }

    @AfterEach
    void close() throws Exception { device.close(); }

    /** A CDB by its runs of bytes other than zero: offset:hex. */
    private static byte[] cdb(String runs) {
        return cdb(236, runs);
    }

    private static byte[] cdb(int length, String runs) {
        byte[] cdb = new byte[length];
        for (String run : runs.trim().split(" +")) {
            byte[] bytes = hex(run.substring(run.indexOf(':') + 1));
            System.arraycopy(bytes, 0, cdb, Integer.parseInt(run.substring(0, run.indexOf(':'))),
                    bytes.length);
        }
        return cdb;
    }

    private static byte[] hex(String digits) {
        return HexFormat.of().parseHex(digits.replaceAll("[ |\n]", ""));
    }

    private Reply run(String runs, String out, int in) {
        return device.run(cdb("0:7f " + runs), hex(out), in);
    }

    private void createObject() {
        run("7:e48881 11:30 36:08" + UNUSED + OF_ROOT, "", 0).isGood(); // 128 MiB
        run("7:e4888b 11:30" + UNUSED + OF_PARTITION, "", 0).isGood();
        run("7:e48882 11:30" + UNUSED + OF_OBJECT, "", 0).isGood();
    }

    private static byte[] pattern(int length) {
        byte[] data = new byte[length];
        for (int i = 0; i < length; i++) {
            data[i] = (byte) (i * 7 + 1);
        }
        return data;
    }

    private void write4096() {
        device.run(cdb("0:7f 7:e48886 11:30 38:10" + UNUSED + OF_OBJECT), pattern(4096), 0)
                .isGood();
    }

    private static String number(String hex, int count) { return hex.repeat(count); }

    @Test
    void shouldAnswerProbeOfOsd2() {
        var list = new StringBuilder("0100000000000000");
        for (String each : new String[]{"04", "05", "06", "07", "08", "09", "80", "81", "c0",
                "0100", "03"}) {
            list.append("90000001").append("0".repeat(8 - each.length())).append(each);
        }
        Reply reply = run("7:e4888e 11:30 55:60 62:01b0 72:ffffffff" + OF_ROOT, list.toString(),
                0x1b0).isGood();
        String text = HexFormat.of().formatHex(reply.data());
        assertThat(text).startsWith("09000000" + "00000148"
                + "9000000100000004" + "000000000000" + "0008" + "4c554e4152202020"
                + "9000000100000005" + "000000000000" + "0010"
                + "4f534420202020202020202020202020"
                + "9000000100000006" + "000000000000" + "0020"
                + "4f5344" + number("20", 29)
                + "9000000100000007" + "000000000000" + "0004" + "302e3120" + "00000000"
                + "9000000100000008" + "000000000000" + "0020");
        assertThat(text).contains("9000000100000009" + "000000000000" + "0000"
                + "9000000100000080" + "000000000000" + "0008");
        assertThat(text).contains("9000000100000081" + "000000000000" + "0008"
                + "0000000000000000" + "90000001000000c0" + "000000000000" + "0008"
                + "0000000000000000" + "9000000100000100" + "000000000000" + "0006");
        assertThat(text.substring(text.length() - 80)).startsWith(
                "9000000100000003" + "000000000000" + "0014");
        assertThat(reply.data()).hasSize(0x150);
    }

    @Test
    void shouldAnswerProbeOfOsd1() {
        byte[] cdb = cdb(200, "0:7f 7:e4880e 11:30 55:14 62:01 72:ffffffff 80:01");
        Reply reply = device.run(cdb, hex("01000010" + "90000001" + "000000c0" + "90000001"
                + "00000009"), 0x100).isGood();
        reply.has("0900001c" + "90000001" + "000000c0" + "0008" + "0000000000000000"
                + "90000001" + "00000009" + "ffff");
    }

    @Test
    void shouldFormatAndCreate() {
        createObject();
        assertThat(device.read(OBJECT, 0, 0).isGood().data()).isEmpty();
    }

    @Test
    void shouldWriteAndGetAttributes() {
        createObject();
        String list = "01000000 00000000 00000001 00000081 00000001 00000082";
        byte[] out = Arrays.copyOf(pattern(4096), 4096 + 24);
        System.arraycopy(hex(list), 0, out, 4096, 24);
        device.run(cdb("0:7f 7:e48886 11:30 38:10 55:18 56:b0000200 63:38 72:ffffffff"
                + OF_OBJECT), out, 0x38).isGood()
                .has("09000000 00000030 | 00000001 00000081 000000000000 0008 0000000000001000"
                        + " | 00000001 00000082 000000000000 0008 0000000000001000");
        assertThat(device.read(OBJECT, 0, 4096).isGood().data()).isEqualTo(pattern(4096));
    }

    @Test
    void shouldScatterAndGather() {
        createObject();
        write4096();
        String extents = "000000000000000c 0000000000000004 0000000000000008 0000000000000004"
                + "0000000000000004 0000000000000004 0000000000000030 0000000000000400";
        String segment = "01008886 00000000" + "00".repeat(32) + "0001000000000040" + extents;
        byte[] data = new byte[4096];
        for (int i = 0; i < data.length; i++) {
            data[i] = (byte) (0xff - i);
        }
        byte[] out = Arrays.copyOf(hex(segment), 4208);
        System.arraycopy(data, 0, out, 0x70, data.length);
        device.run(cdb("0:7f 7:e48886 11:30 38:10 51:70" + UNUSED + OF_OBJECT), out, 0).isGood();

        byte[] expected = pattern(4096);
        System.arraycopy(data, 0, expected, 0x0c, 4);
        System.arraycopy(data, 4, expected, 0x08, 4);
        System.arraycopy(data, 8, expected, 0x04, 4);
        System.arraycopy(data, 12, expected, 0x30, 0x400);
        assertThat(device.read(OBJECT, 0, 4096).isGood().data()).isEqualTo(expected);

        Reply gathered = device.run(cdb("0:7f 7:e48885 11:30 38:10 51:70" + UNUSED + OF_OBJECT),
                hex(segment.replace("8886", "8885")), 0x1000).isGood();
        assertThat(gathered.data()).isEqualTo(Arrays.copyOf(data, 0x40c));
    }

    @Test
    void shouldSetAndGetAttributes() {
        createObject();
        Reply reply = run("7:e4888f 11:30 55:18 56:b0000005 63:38 71:28" + OF_OBJECT,
                "09000000 00000000 | 00010000 00000001 000000000000 0010"
                        + "17171717000000001818181800000000"
                        + "| 01000000 00000000 00000003 00000005 00000003 00000003",
                0x38).isGood();
        String text = HexFormat.of().formatHex(reply.data());
        assertThat(text.substring(0, 48)).isEqualTo("0900000000000030"
                + "0000000300000005" + "000000000000" + "0006");
        run("7:e4888e 11:30 55:10 63:40 72:ffffffff" + OF_OBJECT,
                "01000000 00000000 00010000 00000001", 0x40).isGood()
                .has("09000000 00000020 00010000 00000001 000000000000 0010"
                        + "17171717000000001818181800000000");
    }
}
