package lunar.osd.wire.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.MemorySegment;
import java.util.List;
import lunar.osd.wire.Hex;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.attribute.ObjectAttributes;
import lunar.scsi.Bytes;
import lunar.scsi.MalformedDataException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Replies of commands, byte by byte, and how malformed ones are rejected. */
class DataTest {
    private static final String IDS = "0000000000010000 0000000000010003";

    @ParameterizedTest
    @CsvSource({"OSD_1, LIST, PARTITION, false, 01", "OSD_1, LIST, USER_OBJECT, true, 02",
            "OSD_1, LIST_COLLECTION, COLLECTION, true, 03",
            "OSD_1, LIST_COLLECTION, USER_OBJECT, false, 00", "OSD_2, LIST, PARTITION, false, 04",
            "OSD_2, LIST, USER_OBJECT, true, 86", "OSD_2, LIST_COLLECTION, COLLECTION, false, 44",
            "OSD_2, LIST_COLLECTION, USER_OBJECT, false, 84"})
    void shouldHaveFlagsOfBothVersions(OsdVersion version, ServiceAction action, ObjectType type,
            boolean changed, String flags) throws Exception {
        String hex = "0000000000000100 0000000000010009 01020304 000000" + flags + IDS;
        var list = new ObjectList(
                new ListHeader(version, 0x100, 0x10009, 0x1020304, type, false, changed),
                List.of(0x10000L, 0x10003L));
        assertThat(list.bytes()).isEqualTo(Hex.array(hex));
        assertThat(ObjectList.decode(Hex.segment(hex), version, action)).isEqualTo(list);
    }

    @Test
    void shouldListCompletely() throws Exception {
        var list = new ObjectList(ListHeader.complete(OsdVersion.OSD_2, ObjectType.PARTITION, 2),
                List.of(0x10000L, 0x10003L));
        String hex = "0000000000000020 0000000000000000 00000000 00000004" + IDS;
        assertThat(list.bytes()).isEqualTo(Hex.array(hex));
        assertThat(ObjectList.decode(Hex.segment(hex + "0000000000010004"), OsdVersion.OSD_2,
                ServiceAction.LIST)).as("bytes behind the list").isEqualTo(list);
    }

    @ParameterizedTest
    @CsvSource({"24, 0", "31, 0", "32, 1", "39, 1", "40, 2"})
    void shouldTruncateListsAtAllocationLength(int length, int whole) throws Exception {
        var list = new ObjectList(ListHeader.complete(OsdVersion.OSD_2, ObjectType.PARTITION, 2),
                List.of(0x10000L, 0x10003L));
        byte[] target = new byte[100];
        assertThat(list.encode(MemorySegment.ofArray(target), length)).isEqualTo(length);
        ObjectList decoded = ObjectList.decode(MemorySegment.ofArray(target).asSlice(0, length),
                OsdVersion.OSD_2, ServiceAction.LIST);
        assertThat(decoded.ids()).isEqualTo(list.ids().subList(0, whole));
        assertThat(decoded.header().additionalLength()).isEqualTo(32);
    }

    @Test
    void shouldListWithAttributes() throws Exception {
        // additional length: 16 bytes of the header and 40 of the entry
        String hex = "0000000000000038 0000000000000000 00000000 0000004a"
                + " 0000000000010001 40 0000000000 0018"
                + " 6000000100000009 0000000000000003 6c756e0000000000";
        var list = new ObjectAttributesList(
                new ListHeader(OsdVersion.OSD_2, 0x38, 0, 0, ObjectType.COLLECTION, true, true),
                List.of(new ObjectAttributes(0x10001, ObjectType.COLLECTION, List.of(new Attribute(
                        new AttributeId(0x6000_0001, 9), Bytes.ofHex("6c756e"))))));
        assertThat(list.bytes()).isEqualTo(Hex.array(hex));
        assertThat(ObjectAttributesList.decode(Hex.segment(hex), ServiceAction.LIST_COLLECTION))
                .isEqualTo(list);
        String shorter = hex.replaceFirst("0000000000000038", "0000000000000037");
        assertThat(ObjectAttributesList
                .decode(Hex.segment(shorter), ServiceAction.LIST_COLLECTION).objects())
                .as("entry that is longer than the list").isEmpty();
    }

    @Test
    void shouldRejectMalformedLists() {
        String header = "0000000000000010 0000000000000000 00000000 000000";
        for (String hex : List.of("", header, header + "00", header + "0c", header + "94")) {
            assertThatExceptionOfType(MalformedDataException.class).isThrownBy(() -> ObjectList
                    .decode(Hex.segment(hex), OsdVersion.OSD_2, ServiceAction.LIST));
        }
        assertThatExceptionOfType(MalformedDataException.class).isThrownBy(() -> ObjectList
                .decode(Hex.segment(header + "88"), OsdVersion.OSD_2, ServiceAction.LIST));
        assertThatExceptionOfType(MalformedDataException.class).isThrownBy(
                () -> ObjectAttributesList.decode(Hex.segment(header + "84"), ServiceAction.LIST));
        assertThatIllegalArgumentException().isThrownBy(
                () -> new ListHeader(OsdVersion.OSD_1, 0, 0, 0, ObjectType.PARTITION, true, false));
        assertThatIllegalArgumentException().isThrownBy(
                () -> new ListHeader(OsdVersion.OSD_2, 0, 0, 0, ObjectType.ROOT, false, false));
    }

    @Test
    void shouldReadAndWriteObjectMaps() throws Exception {
        String hex = "0000000000000020 0000 0001 00001000 0000000000000000"
                + " 0000 0002 ffffffff 0000000000001000";
        var map = new ObjectMap(
                List.of(new ObjectMap.Range(MapType.WRITTEN_DATA.code(), 4096, 0),
                        new ObjectMap.Range(MapType.DATA_HOLE.code(), 0xffff_ffffL, 4096)));
        assertThat(map.bytes()).isEqualTo(Hex.array(hex));
        assertThat(ObjectMap.decode(Hex.segment(hex))).isEqualTo(map);
        assertThat(ObjectMap.decode(Hex.segment(hex).asSlice(0, 39)).ranges())
                .containsExactly(map.ranges().getFirst());
        assertThat(ObjectMap.decode(Hex.segment(hex.replaceFirst("00", "ff"))))
                .as("a length beyond the reply").isEqualTo(map);
        assertThatExceptionOfType(MalformedDataException.class)
                .isThrownBy(() -> ObjectMap.decode(Hex.segment("00000000000000")));
        assertThat(MapType.of(0x8000)).contains(MapType.DAMAGED_ATTRIBUTES);
        assertThat(MapType.of(4)).isEmpty();
    }

    @Test
    void shouldReadAndWriteQueryMatches() throws Exception {
        String hex = "0000000000000015 00000000 84 0000000000010000 8000000000010003";
        var matches = QueryMatches.of(List.of(0x10000L, 0x8000_0000_0001_0003L));
        assertThat(matches.bytes()).isEqualTo(Hex.array(hex));
        assertThat(QueryMatches.decode(Hex.segment(hex))).isEqualTo(matches);
        QueryMatches truncated = QueryMatches.decode(Hex.segment(hex).asSlice(0, 28));
        assertThat(truncated.ids()).containsExactly(0x10000L);
        assertThat(truncated.additionalLength()).isEqualTo(21);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0000000000000005 00000000",
            "0000000000000005 00000000 44", "0000000000000005 00000084 00"})
    void shouldRejectMalformedQueryMatches(String hex) {
        assertThatExceptionOfType(MalformedDataException.class)
                .isThrownBy(() -> QueryMatches.decode(Hex.segment(hex)));
    }

    @Test
    void shouldReadAndWriteTaskManagementResponses() throws Exception {
        var response = new TaskManagementResponse(TaskManagementResponse.REJECTED, 0x010203);
        assertThat(response.bytes()).isEqualTo(Hex.array("0006 0000 08 010203"));
        assertThat(TaskManagementResponse.decode(Hex.segment("0006 0000 08 010203")))
                .isEqualTo(response);
        assertThat(TaskManagementResponse.decode(Hex.segment("0006 0000 ff ffffff")).response())
                .isEqualTo(0xff);
        assertThatExceptionOfType(MalformedDataException.class)
                .isThrownBy(() -> TaskManagementResponse.decode(Hex.segment("0006 0000 08 0102")));
    }
}
