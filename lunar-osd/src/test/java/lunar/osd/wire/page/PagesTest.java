package lunar.osd.wire.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import lunar.osd.wire.Hex;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.attribute.AttributesPage;
import lunar.scsi.Bytes;
import lunar.scsi.MalformedDataException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The standard pages and attributes. */
class PagesTest {
    private static Stream<StandardAttribute> attributes() {
        return Stream.<StandardAttribute[]>of(RootAttribute.values(), PartitionAttribute.values(),
                CollectionAttribute.values(), UserObjectAttribute.values(),
                CurrentCommandAttribute.values()).flatMap(Arrays::stream);
    }

    @ParameterizedTest
    @CsvSource({"00000000, USER_OBJECT, STANDARD", "0000007f, USER_OBJECT, STANDARD",
            "00000080, USER_OBJECT, RESERVED", "00008000, USER_OBJECT, OTHER_STANDARD",
            "3000f000, PARTITION, MANUFACTURER", "00010003, USER_OBJECT, APPLICATION",
            "6fffffff, COLLECTION, APPLICATION", "7fffffff, COLLECTION, APPLICATION",
            "80000000, COLLECTION, VENDOR", "8fffffff, COLLECTION, VENDOR",
            "90000001, ROOT, STANDARD", "bfffffff, ROOT, VENDOR", "c0000000, , RESERVED",
            "efffffff, , RESERVED", "f0000003, , ANY_OBJECT", "fffffffd, , ANY_OBJECT",
            "fffffffe, , CURRENT_COMMAND", "ffffffff, , ALL"})
    void shouldKnowRangesOfPages(String page, ObjectType type, PageKind kind) {
        int number = Integer.parseUnsignedInt(page, 16);
        assertThat(PageKind.of(number)).isEqualTo(kind);
        assertThat(PageKind.objectType(number).orElse(null)).isEqualTo(type);
    }

    @ParameterizedTest
    @EnumSource
    void shouldStartRangesWithDirectories(ObjectType type) {
        int first = PageKind.firstPage(type);
        assertThat(PageKind.objectType(first)).contains(type);
        assertThat(StandardPage.of(first)).hasValueSatisfying(
                page -> assertThat(page.name()).isEqualTo(type.name() + "_DIRECTORY"));
    }

    @Test
    void shouldNumberStandardPagesWithinTheirRanges() {
        for (StandardPage page : StandardPage.values()) {
            assertThat(StandardPage.of(page.number())).contains(page);
            assertThat(PageKind.of(page.number())).isEqualTo(page == StandardPage.CURRENT_COMMAND
                    ? PageKind.CURRENT_COMMAND
                    : PageKind.STANDARD);
            PageKind.objectType(page.number())
                    .ifPresent(type -> assertThat(page.name()).startsWith(type.name()));
        }
        assertThat(StandardPage.of(0x10003)).isEmpty();
    }

    @Test
    void shouldHaveEachStandardAttributeOnceOnAStandardPage() {
        assertThat(attributes()).extracting(StandardAttribute::id).doesNotHaveDuplicates()
                .allMatch(id -> StandardPage.of(id.page()).isPresent())
                .allMatch(id -> id.number() != AttributeId.PAGE_IDENTIFICATION);
    }

    @Test
    void shouldNumberAttributesAsClientsDo() {
        assertThat(RootAttribute.SYSTEM_ID.id()).isEqualTo(new AttributeId(0x9000_0001, 3));
        assertThat(RootAttribute.SYSTEM_ID.length()).hasValue(20);
        assertThat(RootAttribute.OSD_NAME.length()).isEmpty();
        assertThat(UserObjectAttribute.LOGICAL_LENGTH.id()).isEqualTo(new AttributeId(1, 0x82));
        assertThat(PartitionAttribute.workingKeyId(15).toString()).isEqualTo("30000005h/800fh");
        assertThat(RootAttribute.continuationDescriptor(1).toString())
                .isEqualTo("90000001h/7000001h");
        assertThat(RootAttribute.diffieHellmanGroup(2).toString())
                .isEqualTo("90000005h/80000012h");
        assertThat(UserObjectAttribute.collection(UserObjectAttribute.LAST_COLLECTION).toString())
                .isEqualTo("4h/ffffff00h");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> UserObjectAttribute.collection(0));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> UserObjectAttribute.collection(0xffff_ff01));
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> PartitionAttribute.workingKeyId(16));
    }

    @ParameterizedTest
    @CsvSource({"ROOT_QUOTAS, OSD_2, 24", "PARTITION_QUOTAS, OSD_2, 1c",
            "USER_OBJECT_QUOTAS, OSD_2, 8", "ROOT_TIMESTAMPS, OSD_2, d",
            "PARTITION_TIMESTAMPS, OSD_2, 1f", "COLLECTION_TIMESTAMPS, OSD_2, 1e",
            "USER_OBJECT_TIMESTAMPS, OSD_1, 1e", "USER_OBJECT_POLICY_SECURITY, OSD_2, 4",
            "COLLECTION_POLICY_SECURITY, OSD_2, 4", "CURRENT_COMMAND, OSD_1, 30",
            "CURRENT_COMMAND, OSD_2, 44"})
    void shouldHaveLengthsOfPages(StandardPage page, OsdVersion version, String length) {
        PageLayout layout = PageLayout.of(page, version).orElseThrow();
        assertThat(layout.length()).isEqualTo(Integer.parseInt(length, 16));
        for (PageLayout.Field field : layout.fields()) {
            attributes().filter(each -> !field.reserved()
                    && each.id().equals(new AttributeId(page.number(), field.number())))
                    .flatMapToInt(each -> each.length().stream())
                    .forEach(known -> assertThat(field.length()).as("%s %x", page, field.number())
                            .isEqualTo(known));
        }
    }

    @Test
    void shouldWriteAndReadCurrentCommandPage() {
        PageLayout layout = PageLayout.of(StandardPage.CURRENT_COMMAND, OsdVersion.OSD_2)
                .orElseThrow();
        AttributesPage page = layout.encode(Map.of(2, Bytes.ofHex("80"), 3,
                Bytes.ofHex("0000000000010000"), 4, Bytes.ofHex("0000000000010007")));
        assertThat(page.bytes()).isEqualTo(Hex.array("fffffffe 00000044" + "00".repeat(32)
                + "80000000 0000000000010000 0000000000010007" + "00".repeat(16)));
        assertThat(layout.decode(page)).hasSize(6).contains(
                new Attribute(CurrentCommandAttribute.OBJECT_ID.id(),
                        Bytes.ofHex("0000000000010007")));
        assertThat(layout.decode(new AttributesPage(page.page(), Bytes.of(new byte[35]))))
                .extracting(each -> each.id().number()).containsExactly(1, 2);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> layout.encode(Map.of(3, Bytes.ofHex("00"))));
    }

    @Test
    void shouldHaveNoLayoutOfPagesThatAreListsOnly() {
        for (StandardPage page : List.of(StandardPage.ROOT_INFORMATION,
                StandardPage.ROOT_POLICY_SECURITY, StandardPage.PARTITION_DIRECTORY)) {
            assertThat(PageLayout.of(page, OsdVersion.OSD_2)).isEmpty();
        }
    }

    @Test
    void shouldIdentifyPages() throws Exception {
        var id = new PageIdentification(PageIdentification.STANDARD_VENDOR,
                "T10 User Object Information");
        String hex = "494e434954532020" + "5431302055736572204f626a65637420496e666f726d6174696f6e"
                + "0000000000";
        assertThat(id.value()).isEqualTo(Bytes.ofHex(hex));
        assertThat(PageIdentification.decode(Bytes.ofHex(hex))).isEqualTo(id);
        assertThat(PageIdentification.decode(Bytes.ofHex("ff".repeat(40)))).isEqualTo(
                new PageIdentification("?".repeat(8), "?".repeat(31)));
        assertThatExceptionOfType(MalformedDataException.class)
                .isThrownBy(() -> PageIdentification.decode(Bytes.ofHex("00".repeat(39))));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new PageIdentification("INCITS", "n".repeat(32)));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new PageIdentification("INCITS ", "name"));
    }
}
