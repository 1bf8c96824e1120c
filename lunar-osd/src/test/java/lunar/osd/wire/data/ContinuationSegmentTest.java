package lunar.osd.wire.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import lunar.osd.wire.Hex;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.data.ContinuationDescriptor.CopySource;
import lunar.osd.wire.data.ContinuationDescriptor.ExtensionCapabilities;
import lunar.osd.wire.data.ContinuationDescriptor.Other;
import lunar.osd.wire.data.ContinuationDescriptor.ScatterGather;
import lunar.osd.wire.data.ContinuationDescriptor.ScatterGather.Extent;
import lunar.osd.wire.data.ContinuationDescriptor.UserObjects;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** CDB continuation segments and other data-out, byte by byte, and how invalid ones are rejected. */
class ContinuationSegmentTest {
    private static final String ICV = "00".repeat(32);
    /** The segment of a Linux client's scattered WRITE, 70h bytes. */
    private static final String LINUX_SCATTERED = "01 00 8886 00000000" + ICV
            + " 0001 00 00 00000040"
            + " 000000000000000c 0000000000000004 0000000000000008 0000000000000004"
            + " 0000000000000004 0000000000000004 0000000000000000 0000000000000400";

    @Test
    void shouldReadAndWriteTheScatterGatherListOfLinux() throws Exception {
        var segment = ContinuationSegment.of(ServiceAction.WRITE, new ScatterGather(List.of(
                new Extent(12, 4), new Extent(8, 4), new Extent(4, 4), new Extent(0, 0x400))));
        assertThat(segment.bytes()).isEqualTo(Hex.array(LINUX_SCATTERED)).hasSize(0x70);
        assertThat(
                ContinuationSegment.decode(Hex.segment(LINUX_SCATTERED), ServiceAction.WRITE))
                .isEqualTo(segment);
    }

    @Test
    void shouldReadAndWriteEveryDescriptor() throws Exception {
        String icv = "c1".repeat(32);
        String hex = "01 00 88a0 00000000" + icv
                + " 0002 00 01 00000017" + " 01000000"
                + " 0000 000f 00010000 00000002 0001 61 0002 7a7a" + "00"
                + " 0100 00 00 00000010 0000000000010001 0000000000010002"
                + " 0101 00 07 00000011 0000000000010000 0000000000010003 80" + "00".repeat(7)
                + " ffee 00 00 00000008 0102030405060708" + " 0abc 00 00 00000000";
        var segment = new ContinuationSegment(ServiceAction.QUERY, Bytes.ofHex(icv), List.of(
                new QueryList(true, List.of(new QueryList.Criterion(new AttributeId(0x10000, 2),
                        Bytes.ofHex("61"), Bytes.ofHex("7a7a")))),
                new UserObjects(List.of(0x10001L, 0x10002L)),
                new CopySource(new ObjectId(0x10000, 0x10003), Bytes.ofHex("80")),
                new ExtensionCapabilities(Bytes.ofHex("0102030405060708")),
                new Other(0xabc, Bytes.EMPTY)));
        assertThat(segment.bytes()).isEqualTo(Hex.array(hex));
        assertThat(ContinuationSegment.decode(Hex.segment(hex), ServiceAction.QUERY))
                .isEqualTo(segment);
        assertThat(segment.toString()).doesNotContain("c1c1", "0102030405");
    }

    @Test
    void shouldReadUserObjectsOfTheDraftAndStopAtTheEndDescriptor() throws Exception {
        String hex = "01 00 888e 00000000" + ICV + " 0003 00 00 00000008 0000000000010001"
                + " 0000 00 07 ffffffff ffff";
        assertThat(ContinuationSegment.decode(Hex.segment(hex), ServiceAction.GET_ATTRIBUTES)
                .descriptors()).containsExactly(new UserObjects(List.of(0x10001L)));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            // format, service action, padding, in this order
            "0,02 | | 0 | ", "2,8885 | | 2 | ", "| 0001 00 01 00000010 | 43 | 2",
            "| 0001 00 00 0000000f | 43 | 2", "| 0abc 00 01 ffffffff | -1 | ",
            // descriptors that are cut
            "| 0001 00 00 | -1 | ", "| 0001 00 00 00000010 0000000000000000 | -1 | ",
            "| 0abc 00 01 00000007 00000000000000 | -1 | ",
            // contents that are cut
            "| 0001 00 00 00000008 0000000000000000 | -1 | ",
            "| 0100 00 04 00000004 0000000000000000 | -1 | ",
            "| 0101 00 00 00000008 0000000000000000 | -1 | "})
    void shouldRejectSegments(String change, String descriptors, int byteAt, Integer bit) {
        String header = "01 00 8886 00000000" + ICV;
        if (change != null) {
            String[] parts = change.split(",");
            header = Bytes.of(Hex.runs(40, "0:01 2:8886 " + parts[0] + ":" + parts[1])).toString();
        }
        String all = header + (descriptors == null ? "" : descriptors);
        assertThatExceptionOfType(InvalidParameterListException.class)
                .isThrownBy(
                        () -> ContinuationSegment.decode(Hex.segment(all), ServiceAction.WRITE))
                .satisfies(e -> assertThat(e.sense()).isEqualTo(sense(byteAt, bit)));
    }

    private static Sense sense(int byteAt, Integer bit) {
        if (byteAt < 0) {
            return Sense.of(SenseKey.ILLEGAL_REQUEST, AdditionalSense.PARAMETER_LIST_LENGTH_ERROR);
        }
        return bit == null
                ? Sense.invalidFieldInParameterList(byteAt)
                : Sense.invalidFieldInParameterList(byteAt, bit);
    }

    @Test
    void shouldRejectSegmentsShorterThanTheirHeader() {
        for (int length = 0; length < ContinuationSegment.HEADER_LENGTH; length++) {
            var segment = Hex.segment(LINUX_SCATTERED).asSlice(0, length);
            assertThatExceptionOfType(InvalidParameterListException.class)
                    .isThrownBy(() -> ContinuationSegment.decode(segment, ServiceAction.WRITE))
                    .satisfies(e -> assertThat(e.sense()).isEqualTo(sense(-1, null)));
        }
    }

    @Test
    void shouldEndQueryListsAtAnEntryOfLengthZero() throws Exception {
        QueryList list = QueryList.decode(Hex.segment("00000000"
                + " 0000 0001 00010000 00000002 0000 0000 0000 0000 ffff"));
        assertThat(list).isEqualTo(new QueryList(false, List.of(new QueryList.Criterion(
                new AttributeId(0x10000, 2), Bytes.EMPTY, Bytes.EMPTY))));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"000000 | -1 | ", "02000000 | 0 | 3",
            "00000000 0000 000c 00010000 00000002 0000 00 | -1 | ",
            "00000000 0000 000c 00010000 00000002 0001 0000 | -1 | ",
            "00000000 0000 000c 00010000 00000002 0000 0001 | -1 | ",
            "00000000 0000 000c 00010000 00000002 ffff 0000 | -1 | "})
    void shouldRejectQueryLists(String hex, int byteAt, Integer bit) {
        assertThatExceptionOfType(InvalidParameterListException.class)
                .isThrownBy(() -> QueryList.decode(Hex.segment(hex)))
                .satisfies(e -> assertThat(e.sense()).isEqualTo(sense(byteAt, bit)));
    }

    @Test
    void shouldRefuseDescriptorsOfKnownTypesAsOthers() {
        for (int type : new int[]{0, 1, 2, 3, 0x100, 0x101, 0xffee, 0x10000, -1}) {
            assertThatIllegalArgumentException().isThrownBy(() -> new Other(type, Bytes.EMPTY));
        }
    }

    @Test
    void shouldReadAndWriteMasterKeyData() throws Exception {
        String hex = "00000003 010203 00000000";
        var data = new MasterKeyData(List.of(Bytes.ofHex("010203"), Bytes.EMPTY));
        assertThat(data.bytes()).isEqualTo(Hex.array(hex));
        assertThat(MasterKeyData.decode(Hex.segment(hex), 2)).isEqualTo(data);
        assertThat(data.toString()).doesNotContain("0102");
        for (int length = 0; length < 11; length++) {
            var cut = Hex.segment(hex).asSlice(0, length);
            assertThatExceptionOfType(InvalidParameterListException.class)
                    .isThrownBy(() -> MasterKeyData.decode(cut, 2));
        }
        assertThatExceptionOfType(InvalidParameterListException.class)
                .isThrownBy(() -> MasterKeyData.decode(Hex.segment("ffffffff 00"), 1));
    }
}
