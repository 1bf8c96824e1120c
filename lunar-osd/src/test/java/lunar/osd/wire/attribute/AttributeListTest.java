package lunar.osd.wire.attribute;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import lunar.osd.wire.BufferPart;
import lunar.osd.wire.Hex;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.OsdVersion;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.MalformedDataException;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Lists of attributes, byte by byte, and how invalid ones are rejected. */
class AttributeListTest {
    /** Data-out of a Linux client's SET ATTRIBUTES with get attributes: a set list of 40 bytes, then a get list. */
    private static final String LINUX_SET_AND_GET = "0900000000000000"
            + " 0001000000000001 0000000000000010"
            + " 17171717000000001818181800000000"
            + " 0100000000000000 0000000300000005 0000000300000003";
    /** Data-in of a target for WRITE with get attributes. */
    private static final String RETRIEVED = "0900000000000030"
            + " 0000000100000081 0000000000000008 0000000000001000"
            + " 0000000100000082 0000000000000008 0000000000001000";

    private static final Attribute USED = attribute(1, 0x81, "0000000000001000");
    private static final Attribute LENGTH = attribute(1, 0x82, "0000000000001000");
    private static final Attribute NAME = attribute(0x9000_0001, 9, "6c756e");
    private static final Attribute UNSET = Attribute.unset(new AttributeId(0xf000_0003, 1));

    private static Attribute attribute(int page, int number, String hex) {
        return new Attribute(new AttributeId(page, number), Bytes.ofHex(hex));
    }

    @Test
    void shouldReadAndWriteListsOfLinux() throws Exception {
        MemorySegment dataOut = Hex.segment(LINUX_SET_AND_GET);
        var set = SetAttributesList.decode(new BufferPart(0, 0x28).in(dataOut), OsdVersion.OSD_2);
        assertThat(set.attributes()).containsExactly(
                attribute(0x10000, 1, "17171717000000001818181800000000"));
        var get = GetAttributesList.decode(new BufferPart(40, 0x18).in(dataOut),
                OsdVersion.OSD_2);
        assertThat(get.ids()).containsExactly(new AttributeId(3, 5), new AttributeId(3, 3));

        assertThat(Bytes.of(set.bytes(OsdVersion.OSD_2)))
                .isEqualTo(Bytes.of(dataOut.asSlice(0, 40)));
        assertThat(Bytes.of(get.bytes(OsdVersion.OSD_2)))
                .isEqualTo(Bytes.of(dataOut.asSlice(40)));
    }

    @Test
    void shouldReadAndWriteRootAttributesOfLinux() throws Exception {
        int[] numbers = {4, 5, 6, 7, 8, 9, 0x80, 0x81, 0xc0, 0x100, 3};
        var hex = new StringBuilder("0100000000000000");
        for (int number : numbers) {
            hex.append(String.format("90000001%08x", number));
        }
        var get = GetAttributesList.decode(Hex.segment(hex.toString()), OsdVersion.OSD_2);
        assertThat(get.ids()).hasSize(11).allMatch(id -> id.page() == 0x9000_0001);
        assertThat(get.ids()).extracting(AttributeId::number).containsExactly(4, 5, 6, 7, 8, 9,
                0x80, 0x81, 0xc0, 0x100, 3);
        assertThat(get.bytes(OsdVersion.OSD_2)).isEqualTo(Hex.array(hex.toString())).hasSize(96);
    }

    @Test
    void shouldReadAndWriteWhatATargetReturned() throws Exception {
        var retrieved = RetrievedAttributesList.decode(Hex.segment(RETRIEVED), OsdVersion.OSD_2);
        assertThat(retrieved.attributes()).containsExactly(USED, LENGTH);
        assertThat(encoded(retrieved, 56, 100, OsdVersion.OSD_2)).isEqualTo(Hex.array(RETRIEVED));
    }

    private static byte[] encoded(RetrievedAttributesList list, long allocationLength, int room,
            OsdVersion version) {
        byte[] target = new byte[room];
        int length = list.encode(MemorySegment.ofArray(target), allocationLength, version);
        return Arrays.copyOf(target, length);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "OSD_1 | 01000000 90000001 00000009 ffffffff ffffffff",
            "OSD_2 | 01000000 00000000 90000001 00000009 ffffffff ffffffff"})
    void shouldHaveBothLayoutsOfGetLists(OsdVersion version, String hex) throws Exception {
        var list = new GetAttributesList(List.of(NAME.id(),
                new AttributeId(AttributeId.ALL_PAGES, AttributeId.ALL_NUMBERS)));
        assertThat(list.bytes(version)).isEqualTo(Hex.array(hex));
        assertThat(GetAttributesList.decode(Hex.segment(hex), version)).isEqualTo(list);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "OSD_1 | 09000000 90000001 00000009 0003 6c756e f0000003 00000001 0000",
            "OSD_2 | 09000000 00000000 90000001 00000009 000000000000 0003 6c756e 0000000000"
                    + " f0000003 00000001 000000000000 0000"})
    void shouldHaveBothLayoutsOfSetLists(OsdVersion version, String hex) throws Exception {
        var list = new SetAttributesList(List.of(NAME, UNSET));
        assertThat(list.bytes(version)).isEqualTo(Hex.array(hex));
        assertThat(SetAttributesList.decode(Hex.segment(hex), version)).isEqualTo(list);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "OSD_1 | 09000017 90000001 00000009 0003 6c756e f0000003 00000001 ffff",
            "OSD_2 | 09000000 00000028 90000001 00000009 000000000000 0003 6c756e 0000000000"
                    + " f0000003 00000001 000000000000 0000"})
    void shouldHaveBothLayoutsOfRetrievedLists(OsdVersion version, String hex) throws Exception {
        var list = new RetrievedAttributesList(List.of(NAME, UNSET));
        assertThat(encoded(list, 1000, 1000, version)).isEqualTo(Hex.array(hex));
        assertThat(RetrievedAttributesList.decode(Hex.segment(hex), version)).isEqualTo(list);
    }

    @Test
    void shouldReadUnsetAttributesOfEarlyOsd2() throws Exception {
        assertThat(RetrievedAttributesList.decode(Hex.segment("0900000000000028"
                + " f000000300000001 000000000000ffff"
                + " 9000000100000009 0000000000000003 6c756e0000000000"),
                OsdVersion.OSD_2).attributes()).containsExactly(UNSET, NAME);
    }

    @Test
    void shouldReadValueWithoutPaddingAtTheEnd() throws Exception {
        String hex = "0900000000000000 9000000100000009 0000000000000003 6c756e";
        assertThat(SetAttributesList.decode(Hex.segment(hex), OsdVersion.OSD_2).attributes())
                .containsExactly(NAME);
        assertThat(RetrievedAttributesList
                .decode(Hex.segment(hex.replace("0900000000000000", "0900000000000013")),
                        OsdVersion.OSD_2)
                .attributes()).containsExactly(NAME);
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "7, 0", "8, 0", "31, 0", "32, 1", "55, 1", "56, 2"})
    void shouldTruncateRetrievedListsAtAllocationLength(int allocationLength, int whole)
            throws Exception {
        var list = new RetrievedAttributesList(List.of(USED, LENGTH));
        byte[] byAllocation = encoded(list, allocationLength, 100, OsdVersion.OSD_2);
        assertThat(byAllocation).hasSize(allocationLength);
        assertThat(encoded(list, 0xffff_ffffL, allocationLength, OsdVersion.OSD_2))
                .isEqualTo(byAllocation);
        if (allocationLength >= 8) {
            assertThat(byAllocation[7]).as("bytes behind the header")
                    .isEqualTo((byte) (allocationLength - 8));
            assertThat(RetrievedAttributesList
                    .decode(MemorySegment.ofArray(byAllocation), OsdVersion.OSD_2).attributes())
                    .isEqualTo(list.attributes().subList(0, whole));
        }
    }

    @Test
    void shouldTruncateListsThatOsd1CannotDescribe() throws Exception {
        var large = new Attribute(new AttributeId(0x10000, 1), Bytes.of(new byte[40_000]));
        byte[] list = encoded(new RetrievedAttributesList(List.of(large, large)), 100_000, 100_000,
                OsdVersion.OSD_1);
        assertThat(list).hasSize(4 + 0xffff);
        assertThat(RetrievedAttributesList.decode(MemorySegment.ofArray(list), OsdVersion.OSD_1)
                .attributes()).containsExactly(large);
    }

    @Test
    void shouldListNothingWithoutBytes() throws Exception {
        var nothing = MemorySegment.ofArray(new byte[0]);
        assertThat(GetAttributesList.decode(nothing, OsdVersion.OSD_2).ids()).isEmpty();
        assertThat(SetAttributesList.decode(nothing, OsdVersion.OSD_2).attributes()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"OSD_2 | 0100 | -1", "OSD_2 | 0900000000000000 | 0",
            "OSD_2 | 0f00000000000000 | 0", "OSD_1 | 09000000 | 0", "OSD_1 | 0100 | -1",
            "OSD_2 | 0100000000000000 00000001 | -1",
            "OSD_1 | 01000000 0000000100000001 00 | -1"})
    void shouldRejectGetLists(OsdVersion version, String hex, int byteAt) {
        assertThatExceptionOfType(InvalidParameterListException.class)
                .isThrownBy(() -> GetAttributesList.decode(Hex.segment(hex), version))
                .satisfies(e -> assertThat(e.sense()).isEqualTo(sense(byteAt, 3)));
    }

    private static Sense sense(int byteAt, int bit) {
        return byteAt < 0
                ? Sense.of(SenseKey.ILLEGAL_REQUEST,
                        AdditionalSense.PARAMETER_LIST_LENGTH_ERROR)
                : Sense.invalidFieldInParameterList(byteAt, bit);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"OSD_2 | 09 | -1", "OSD_2 | 0100000000000000 | 0",
            "OSD_1 | 01000000 | 0",
            // an entry that is cut, and values that are
            "OSD_2 | 0900000000000000 0000000100000001 00000000000000 | -1",
            "OSD_2 | 0900000000000000 0000000100000001 0000000000000001 | -1",
            "OSD_2 | 0900000000000000 0000000100000001 000000000000fffe 00 | -1",
            "OSD_1 | 09000000 0000000100000001 00 | -1",
            "OSD_1 | 09000000 0000000100000001 0002 00 | -1"})
    void shouldRejectSetLists(OsdVersion version, String hex, int byteAt) {
        assertThatExceptionOfType(InvalidParameterListException.class)
                .isThrownBy(() -> SetAttributesList.decode(Hex.segment(hex), version))
                .satisfies(e -> assertThat(e.sense()).isEqualTo(sense(byteAt, 3)));
    }

    @Test
    void shouldRejectLengthThatSaysUnsetInSetList() {
        assertThatExceptionOfType(InvalidParameterListException.class)
                .isThrownBy(() -> SetAttributesList.decode(
                        Hex.segment("09000000 0000000100000001 ffff"), OsdVersion.OSD_1))
                .satisfies(e -> assertThat(e.sense())
                        .isEqualTo(Sense.invalidFieldInParameterList(4 + 8)));
    }

    @ParameterizedTest
    @EnumSource
    void shouldRejectReturnedListsOfOtherTypes(OsdVersion version) {
        for (String hex : List.of("", "090000", "0100000000000000", "0e00000000000000")) {
            assertThatExceptionOfType(MalformedDataException.class).isThrownBy(
                    () -> RetrievedAttributesList.decode(Hex.segment(hex), version));
        }
        for (String hex : List.of("", "0900000000000000", "0f00000000000000")) {
            assertThatExceptionOfType(MalformedDataException.class)
                    .isThrownBy(() -> MultiObjectAttributesList.decode(Hex.segment(hex)));
        }
        for (String hex : List.of("0f", "09000000")) {
            assertThatExceptionOfType(MalformedDataException.class)
                    .isThrownBy(() -> CreatedObjectsAttributesList.decode(Hex.segment(hex)));
        }
    }

    @Test
    void shouldReadAndWriteAttributesOfSeveralObjects() throws Exception {
        String hex = "0e00000000000048"
                + " 0000000000010001 80 0000000000 0018"
                + " 9000000100000009 0000000000000003 6c756e0000000000"
                + " 0000000000010002 40 0000000000 0010 f000000300000001 0000000000000000";
        var list = new MultiObjectAttributesList(List.of(
                new ObjectAttributes(0x10001, ObjectType.USER_OBJECT, List.of(NAME)),
                new ObjectAttributes(0x10002, ObjectType.COLLECTION, List.of(UNSET))));
        byte[] target = new byte[200];
        int length = list.encode(MemorySegment.ofArray(target), 200);
        assertThat(Arrays.copyOf(target, length)).isEqualTo(Hex.array(hex));
        assertThat(MultiObjectAttributesList.decode(Hex.segment(hex))).isEqualTo(list);
        assertThat(MultiObjectAttributesList.decode(Hex.segment(hex).asSlice(0, 79)).objects())
                .containsExactly(list.objects().getFirst());
        String unknownType = hex.replaceFirst("0000000000010001 80", "0000000000010001 81");
        assertThatExceptionOfType(MalformedDataException.class)
                .isThrownBy(() -> MultiObjectAttributesList.decode(Hex.segment(unknownType)));
    }

    @Test
    void shouldReadAndWriteAttributesOfCreatedObjects() throws Exception {
        String hex = "0f000027 0000000000010001 90000001 00000009 0003 6c756e"
                + " 0000000000010002 f0000003 00000001 ffff";
        var list = new CreatedObjectsAttributesList(
                List.of(new CreatedObjectsAttributesList.Entry(0x10001, NAME),
                        new CreatedObjectsAttributesList.Entry(0x10002, UNSET)));
        byte[] target = new byte[200];
        int length = list.encode(MemorySegment.ofArray(target), 200);
        assertThat(Arrays.copyOf(target, length)).isEqualTo(Hex.array(hex));
        assertThat(CreatedObjectsAttributesList.decode(Hex.segment(hex))).isEqualTo(list);
    }

    @Test
    void shouldReadAndWritePages() throws Exception {
        String hex = "90000002 00000004 00000007";
        var page = new AttributesPage(0x9000_0002, Bytes.ofHex("00000007"));
        assertThat(page.bytes()).isEqualTo(Hex.array(hex));
        assertThat(AttributesPage.decode(Hex.segment(hex + "ffff"))).isEqualTo(page);
        assertThat(AttributesPage.decode(Hex.segment("90000002 ffffffff 0000")).fields())
                .isEqualTo(Bytes.ofHex("0000"));
        assertThat(AttributesPage.empty(7).bytes()).isEqualTo(Hex.array("00000007 00000000"));
        assertThatExceptionOfType(MalformedDataException.class)
                .isThrownBy(() -> AttributesPage.decode(Hex.segment("90000002 000000")));
    }

    @Test
    void shouldRejectPartsThatAreNotAllThere() throws Exception {
        MemorySegment dataOut = MemorySegment.ofArray(new byte[64]);
        assertThat(new BufferPart(40, 24).in(dataOut).byteSize()).isEqualTo(24);
        assertThat(BufferPart.NONE.in(dataOut).byteSize()).isZero();
        for (BufferPart part : List.of(new BufferPart(40, 25), new BufferPart(64, 1),
                new BufferPart(1L << 50, 0xffff_ffffL))) {
            assertThatExceptionOfType(InvalidParameterListException.class)
                    .isThrownBy(() -> part.in(dataOut))
                    .satisfies(e -> assertThat(e.sense()).isEqualTo(sense(-1, 0)));
        }
    }

    @Test
    void shouldRefuseValuesThatNoListHasRoomFor() {
        assertThatIllegalArgumentException().isThrownBy(() -> new Attribute(NAME.id(),
                Bytes.of(new byte[0xffff])));
        assertThatIllegalArgumentException().isThrownBy(() -> new FieldParameters(
                new Attribute(NAME.id(), Bytes.of(new byte[19]))));
        var large = new Attribute(NAME.id(), Bytes.of(new byte[Attribute.MAX_LENGTH]));
        assertThatIllegalArgumentException().isThrownBy(
                () -> new ObjectAttributes(1, ObjectType.USER_OBJECT, List.of(large)));
    }

    @Test
    void shouldOrderIdsAsUnsignedNumbers() {
        var ids = List.of(new AttributeId(0x9000_0001, 1), new AttributeId(1, 0xffff_ff00),
                new AttributeId(1, 2));
        assertThat(ids.stream().sorted()).isEqualTo(ids.reversed());
    }
}
