package lunar.osd.wire.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.OptionalInt;
import lunar.osd.wire.Hex;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.attribute.FieldParameters;
import lunar.osd.wire.attribute.ListParameters;
import lunar.osd.wire.security.SecurityParameters;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.Sense;
import lunar.scsi.SenseSpecific.FieldPointer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rules for CDBs: how invalid ones are rejected, and deviations that are accepted. */
class CdbRulesTest {
    private static final CommonFields ONE = CommonFields.of(OsdVersion.OSD_1);
    private static final CommonFields TWO = CommonFields.of(OsdVersion.OSD_2);

    private static Sense rejected(byte... cdb) {
        var sense = new Sense[1];
        assertThatExceptionOfType(InvalidCdbException.class)
                .isThrownBy(() -> OsdCdbDecoder.decode(MemorySegment.ofArray(cdb)))
                .satisfies(e -> sense[0] = e.sense());
        return sense[0];
    }

    private static byte[] read(CommonFields common) {
        return new ByteRangeCommand(ServiceAction.READ, common, new ObjectId(0x10000, 0x10000), 1,
                2, 0).bytes();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"1:04 | 1 | 2", "7:e0 | 7 | ", "7:c0 | 7 | ",
            "10:03 | 10 | 2", "10:06 | 10 | 2", "11:00 | 11 | 5", "12:01 | 12 | ", "12:ff | 12 | ",
            // offsets that are used and illegal or missing
            "52:0000000880000001 | 56 | ", "60:0000000890000001 | 64 | ",
            "68:00000008ffffffff | 72 | ",
            "11:20 52:00000001 56:00000008a0000000 | 60 | ",
            "11:20 64:00000001 72:00000008ffffffff | 76 | ", "11:10 60:0013 | 60 | ",
            // continuation segments: shorter than their header, not a multiple of eight
            "48:00000020 | 48 | ", "48:0000002c | 48 | ",
            // commands
            "8:8882 28:00010000 32:0002 | 24 | ", "8:8883 11:31 | 11 | 3",
            "8:8888 10:03 | 10 | 1", "8:888c 11:32 | 11 | 2", "8:8898 11:30 | 11 | 1",
            "8:8899 11:32 | 11 | 1"})
    void shouldNameTheFieldInError(String changes, int byteAt, Integer bit) {
        byte[] cdb = read(TWO);
        for (String change : changes.split(" ")) {
            String[] parts = change.split(":");
            byte[] bytes = Hex.array(parts[1]);
            System.arraycopy(bytes, 0, cdb, Integer.parseInt(parts[0]), bytes.length);
        }
        assertThat(rejected(cdb)).isEqualTo(bit == null
                ? Sense.invalidFieldInCdb(byteAt)
                : Sense.invalidFieldInCdb(byteAt, bit));
    }

    @ParameterizedTest
    @CsvSource({"OSD_1, 8:8808 10:02, 10", "OSD_1, 11:10, 11", "OSD_1, 7:e5, 7"})
    void shouldRejectInOsd1(OsdVersion version, String changes, int byteAt) {
        byte[] cdb = read(CommonFields.of(version));
        for (String change : changes.split(" ")) {
            String[] parts = change.split(":");
            byte[] bytes = Hex.array(parts[1]);
            System.arraycopy(bytes, 0, cdb, Integer.parseInt(parts[0]), bytes.length);
        }
        assertThat(rejected(cdb).fieldPointer().map(FieldPointer::byteAt)).contains(byteAt);
    }

    @ParameterizedTest
    @EnumSource
    void shouldPointBehindTruncatedCdb(OsdVersion version) {
        byte[] cdb = read(CommonFields.of(version));
        for (int length = 0; length < cdb.length; length++) {
            assertThat(rejected(Arrays.copyOf(cdb, length)).fieldPointer())
                    .contains(new FieldPointer(true, length, OptionalInt.empty()));
        }
    }

    @Test
    void shouldRejectCdbThatIsLongerThanItSays() {
        assertThat(rejected(Arrays.copyOf(read(TWO), 240))).isEqualTo(Sense.invalidFieldInCdb(7));
        assertThat(rejected(Arrays.copyOf(read(ONE), 236))).isEqualTo(Sense.invalidFieldInCdb(7));
    }

    @ParameterizedTest
    @ValueSource(ints = {200, 236})
    void shouldAcceptAdditionalLengthOfOsd2InOsd1(int length) throws Exception {
        byte[] cdb = Arrays.copyOf(read(ONE), length);
        cdb[7] = (byte) 228;
        assertThat(OsdCdbDecoder.decode(MemorySegment.ofArray(cdb)))
                .isEqualTo(OsdCdbDecoder.decode(MemorySegment.ofArray(read(ONE))));
    }

    @Test
    void shouldReadFlushScopeWhereLinuxWritesIt() throws Exception {
        byte[] cdb = new FlushCommand(ServiceAction.FLUSH_OSD, TWO, ObjectId.ROOT,
                FlushScope.MEMBERS, 0, 0, 0).bytes();
        cdb[11] |= 2;
        assertThat(OsdCdbDecoder.decode(MemorySegment.ofArray(cdb)))
                .isEqualTo(new FlushCommand(ServiceAction.FLUSH_OSD, TWO, ObjectId.ROOT,
                        FlushScope.ALL, 0, 0, 0));
    }

    @Test
    void shouldIgnoreOffsetsThatAreNotUsed() throws Exception {
        byte[] cdb = read(TWO);
        for (int at : new int[]{56, 64, 72, 228, 232}) {
            cdb[at] = (byte) 0x80; // an illegal exponent
        }
        OsdCdb decoded = OsdCdbDecoder.decode(MemorySegment.ofArray(cdb));
        assertThat(decoded.common().attributes()).isEqualTo(ListParameters.NONE);
    }

    @Test
    void shouldIgnoreReservedBytes() throws Exception {
        byte[] cdb = read(TWO);
        for (int at : new int[]{2, 3, 4, 5, 6, 13, 14, 15, 76, 77, 78, 79, 83}) {
            cdb[at] = (byte) 0xff;
        }
        assertThat(OsdCdbDecoder.decode(MemorySegment.ofArray(cdb)))
                .isEqualTo(OsdCdbDecoder.decode(MemorySegment.ofArray(read(TWO))));
    }

    @ParameterizedTest
    @EnumSource
    void shouldIgnoreIsolationInOsd1AndInFlush(Isolation isolation) throws Exception {
        byte[] osd1 = read(ONE);
        osd1[10] = (byte) isolation.code();
        assertThat(OsdCdbDecoder.decode(MemorySegment.ofArray(osd1)).common().options())
                .isEqualTo(CommandOptions.DEFAULT);
        byte[] osd2 = read(TWO);
        osd2[10] = (byte) isolation.code();
        assertThat(OsdCdbDecoder.decode(MemorySegment.ofArray(osd2)).common().options().isolation())
                .isEqualTo(isolation);
    }

    @Test
    void shouldCreateOneObjectForNumberZero() throws Exception {
        byte[] cdb = new CreateCommand(TWO, ObjectId.ofPartition(0x10000), 0, 0).bytes();
        var create = (CreateCommand) OsdCdbDecoder.decode(MemorySegment.ofArray(cdb));
        assertThat(create.objectCount()).isEqualTo(1);
        assertThat(new CreateCommand(TWO, create.object(), 7, 0).objectCount()).isEqualTo(7);
    }

    @ParameterizedTest
    @EnumSource
    void shouldRejectServiceActionsWithoutLayout(ServiceAction action) {
        byte[] cdb = read(TWO);
        int code = action.code(OsdVersion.OSD_2);
        cdb[8] = (byte) (code >> 8);
        cdb[9] = (byte) code;
        if (!action.hasLayout()) {
            assertThat(rejected(cdb).additional())
                    .isEqualTo(AdditionalSense.INVALID_COMMAND_OPERATION_CODE);
        }
        assertThat(ServiceAction.of(code)).contains(action);
        assertThat(OsdVersion.ofServiceAction(code)).contains(OsdVersion.OSD_2);
        if (action.isIn(OsdVersion.OSD_1)) {
            assertThat(ServiceAction.of(action.code(OsdVersion.OSD_1))).contains(action);
            assertThat(OsdVersion.ofServiceAction(action.code(OsdVersion.OSD_1)))
                    .contains(OsdVersion.OSD_1);
        } else {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> action.code(OsdVersion.OSD_1));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0x0000, 0x8800, 0x8804, 0x8809, 0x8820, 0x888d, 0x8890, 0x8891, 0x88a5,
            0x88ff, 0x8900, 0x8f80, 0x8fa0, 0x8f7b, 0xffff})
    void shouldRejectOtherServiceActions(int code) {
        byte[] cdb = read(TWO);
        cdb[8] = (byte) (code >> 8);
        cdb[9] = (byte) code;
        assertThat(rejected(cdb).additional())
                .isEqualTo(AdditionalSense.INVALID_COMMAND_OPERATION_CODE);
    }

    @Test
    void shouldRejectOtherOperationCodes() {
        byte[] cdb = read(TWO);
        cdb[0] = 0x28;
        assertThat(rejected(cdb).additional())
                .isEqualTo(AdditionalSense.INVALID_COMMAND_OPERATION_CODE);
    }

    @Test
    void shouldRefuseToBuildWhatAVersionDoesNotHave() {
        ObjectId object = new ObjectId(0x10000, 0x10000);
        assertThatIllegalArgumentException().isThrownBy(
                () -> new ByteRangeCommand(ServiceAction.CLEAR, ONE, object, 1, 0, 0));
        assertThatIllegalArgumentException().isThrownBy(
                () -> new ByteRangeCommand(ServiceAction.REMOVE, TWO, object, 1, 0, 0));
        assertThatIllegalArgumentException().isThrownBy(
                () -> new ByteRangeCommand(ServiceAction.READ, ONE, object, 1, 0, 48));
        assertThatIllegalArgumentException().isThrownBy(
                () -> new ByteRangeCommand(ServiceAction.APPEND, TWO, object, 1, 1, 0));
        assertThatIllegalArgumentException().isThrownBy(
                () -> new ByteRangeCommand(ServiceAction.READ, TWO, object, 1, 0, 44));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new CreateCommand(TWO, object, 2, 0));
        assertThatIllegalArgumentException().isThrownBy(
                () -> new RemoveCommand(ServiceAction.REMOVE, TWO, object, true, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> new FlushCommand(
                ServiceAction.FLUSH, ONE, object, FlushScope.RANGE_AND_ATTRIBUTES, 1, 0, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> new FlushCommand(
                ServiceAction.FLUSH_OSD, TWO, object, FlushScope.ATTRIBUTES, 0, 0, 0));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new QueryCommand(ONE, object, 1, 0, false, 0));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ONE.withSecurity(SecurityParameters.none(OsdVersion.OSD_2)));
        assertThatIllegalArgumentException().isThrownBy(() -> ONE.withOptions(
                new CommandOptions(Isolation.STRICT, false, false, false)));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ONE.withAttributes(new FieldParameters(
                        Attribute.unset(new AttributeId(1, 0x82)))));
    }

    @Test
    void shouldHideSecretsInTexts() throws Exception {
        byte[] cdb = new SetKeyCommand(TWO, KeyLevel.ROOT, 0, 0, Bytes.ofHex("01020304050607"),
                Bytes.ofHex("5e".repeat(20))).bytes();
        Arrays.fill(cdb, 184, 216, (byte) 0x6c); // request integrity check value
        Arrays.fill(cdb, 222, 228, (byte) 0x7d); // random bytes of the nonce
        Arrays.fill(cdb, 90, 122, (byte) 0x8e); // audit, discriminator
        assertThat(OsdCdbDecoder.decode(MemorySegment.ofArray(cdb)).toString())
                .contains("SetKeyCommand", "01020304050607", "OSD_2")
                .doesNotContain("5e5e", "6c6c", "7d7d", "8e8e");
    }
}
