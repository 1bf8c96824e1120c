package lunar.iscsi.pdu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import lunar.iscsi.LoginStatus;
import lunar.iscsi.ProtocolException;
import lunar.scsi.Lun;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests which headers are rejected, and PDUs that no capture contains. */
class PduRulesTest {
    private static final int NO_TAG = Bhs.NO_TAG;

    @ParameterizedTest
    @ValueSource(ints = {0x07, 0x0f, 0x11, 0x1c, 0x20, 0x23, 0x31, 0x3f})
    void shouldRejectOpcodesNoInitiatorSends(int opcode) {
        assertThatThrownBy(() -> InitiatorPdu.decode(bhs(opcode, 0x80), MemorySegment.NULL))
                .isInstanceOf(ProtocolException.class)
                .hasMessageContaining("opcode 0x" + Integer.toHexString(opcode));
    }

    @ParameterizedTest
    @ValueSource(ints = {0x00, 0x06, 0x10, 0x27, 0x30, 0x33, 0x3c, 0x3e})
    void shouldRejectOpcodesNoTargetSends(int opcode) {
        assertThatThrownBy(() -> TargetPdu.decode(bhs(opcode, 0x80), MemorySegment.NULL))
                .isInstanceOf(ProtocolException.class)
                .hasMessageContaining("opcode 0x" + Integer.toHexString(opcode));
    }

    @ParameterizedTest
    @ValueSource(ints = {0x00, 0x02, 0x06, 0x10, 0x20, 0x21, 0x22, 0x26, 0x31, 0x32, 0x3f})
    void shouldRejectHeadersWithoutTheirFixedFinalBit(int opcode) {
        assertRejected(bhs(opcode, 0).int32(Pdu.ITT, 1), "must have the F bit");
    }

    @ParameterizedTest
    @ValueSource(ints = {0x01, 0x02, 0x43, 0x04, 0x05, 0x06, 0x31})
    void shouldRejectRequestsWithoutTaskTag(int opcode) {
        assertRejected(bhs(opcode, 0x80).int32(Pdu.ITT, NO_TAG), "Initiator Task Tag");
    }

    @Test
    void shouldRejectUnexpectedAhs() {
        assertRejected(bhs(0x00, 0x80).lengths(4, 0), "TotalAHSLength must be 0");
        assertRejected(bhs(0x25, 0x80).lengths(4, 0), "TotalAHSLength must be 0");
        assertThatThrownBy(
                () -> ScsiCommand.decode(bhs(0x01, 0x80).lengths(8, 0), MemorySegment.NULL))
                .isInstanceOf(ProtocolException.class).hasMessageContaining("TotalAHSLength");
    }

    @Test
    void shouldRejectScsiCommandsWhoseFlagsDoNotGoTogether() {
        assertRejected(bhs(0x01, 0x00), "without F and W");
        assertRejected(bhs(0x01, 0x40), "without F and W");
        assertRejected(bhs(0x01, 0x80).int32(20, 512), "without R and W");
        assertRejected(bhs(0x01, 0x85), "ATTR has the reserved code 5");
        assertThatThrownBy(() -> ScsiCommand.decode(bhs(0x01, 0xc0).lengths(8, 0),
                bytes("0005020000000200"))).isInstanceOf(ProtocolException.class)
                .hasMessageContaining("bidirectional read length without R and W");
    }

    @Test
    void shouldReadTheCommandPriority() throws ProtocolException {
        ScsiCommand command = ScsiCommand.decode(bhs(0x01, 0x81).int8(2, 0xff), MemorySegment.NULL);
        assertThat(command.priority()).isEqualTo(15);
        assertThat(new Bhs().wrap(GoldenPduTest.encode(command, 0)).int8(2)).isEqualTo(0xf0);
    }

    @Test
    void shouldFillUpShortCdbsAndKeepACopy() {
        byte[] six = {0x12, 0, 0, 0, 36, 0};
        ScsiCommand command = ScsiCommand.of(Lun.ZERO, 1, MemorySegment.ofArray(six), 1, 1);
        six[0] = 0;
        assertThat(command.cdb().byteSize()).isEqualTo(16);
        assertThat(command.cdb().isReadOnly()).isTrue();
        assertThat(command.toString()).contains("cdb=12000000240000000000000000000000");
        assertThatThrownBy(
                () -> ScsiCommand.of(Lun.ZERO, 1, MemorySegment.ofArray(new byte[261]), 1, 1))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 13, 127})
    void shouldKeepTaskManagementFunctionsWhichNoRfcDefines(int function) throws ProtocolException {
        TaskManagementRequest request = TaskManagementRequest.decode(bhs(0x02, 0x80 | function));
        assertThat(request.function()).isEqualTo(function);
        assertThat(request.knownFunction()).isEmpty();
    }

    @Test
    void shouldSupportTheFunctionsOfRfc7144() throws ProtocolException {
        assertThat(TaskManagementRequest.decode(bhs(0x02, 0x8b)).knownFunction())
                .contains(TaskManagementFunction.I_T_NEXUS_RESET);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"c7 | T and C exclude", "88 | CSG has the reserved code 2",
            "8c | CSG must be a stage", "0c | CSG must be a stage",
            "86 | NSG has the reserved code 2",
            "84 | invalid login transition from OPERATIONAL to SECURITY",
            "85 | invalid login transition from OPERATIONAL to OPERATIONAL",
            "80 | invalid login transition from SECURITY to SECURITY"})
    void shouldRejectLoginsWhoseStagesDoNotGoTogether(String flags, String message) {
        int byte1 = Integer.parseInt(flags, 16);
        assertRejected(bhs(0x43, byte1), message);
        assertRejected(bhs(0x23, byte1), message);
    }

    @Test
    void shouldDecodeLoginRequestsWithoutTheImmediateBit() throws ProtocolException {
        assertThat(LoginRequest.decode(bhs(0x03, 0x87)).nextStage())
                .isEqualTo(LoginStage.FULL_FEATURE);
    }

    @Test
    void shouldIgnoreTheNextStageWithoutTransit() throws ProtocolException {
        LoginRequest request = LoginRequest.decode(bhs(0x43, 0x06));
        assertThat(request.nextStage()).isEqualTo(LoginStage.OPERATIONAL);
        assertThat(request.transit()).isFalse();
    }

    @Test
    void shouldDecodeARejectionOfAnyStage() throws ProtocolException {
        LoginResponse response = LoginResponse.decode(bhs(0x23, 0x8c).int16(36, 0x0203));
        assertThat(response.knownStatus()).contains(LoginStatus.NOT_FOUND);
    }

    @Test
    void shouldRejectTextsWhichAreFinalAndContinue() {
        assertRejected(bhs(0x04, 0xc0), "F and C");
        assertRejected(bhs(0x24, 0xc0), "F and C");
        assertRejected(bhs(0x24, 0x00).int32(Pdu.TTT, NO_TAG), "Target Transfer Tag");
    }

    @Test
    void shouldRejectReservedCodesWithoutAnAnswer() {
        assertRejected(bhs(0x06, 0x83), "logout reason has the reserved code 3");
        assertRejected(bhs(0x10, 0x84), "SNACK type has the reserved code 4");
    }

    @Test
    void shouldReadSnacksNoCaptureHas() throws ProtocolException {
        assertBothWays(
                "10820000" + "00000000" + "0001000000000000" + "ffffffff" + "00000007" + "00000000"
                        + "00000009" + "0000000000000000" + "00000003" + "00000000",
                new SnackRequest(SnackType.DATA_ACK, Lun.of(1), NO_TAG, 7, 9, 3, 0));
        assertBothWays(
                "10830000" + "00000000" + "0000000000000000" + "00000005" + "00000007" + "00000000"
                        + "00000009" + "0000000000000000" + "00000000" + "00000000",
                new SnackRequest(SnackType.R_DATA, Lun.ZERO, 5, 7, 9, 0, 0));
    }

    @Test
    void shouldRejectSnacksWithTheWrongTags() {
        assertRejected(snack(0x80, NO_TAG, NO_TAG, 0, 0), "names a task");
        assertRejected(snack(0x81, 5, NO_TAG, 0, 0), "names no task");
        assertRejected(snack(0x82, NO_TAG, NO_TAG, 0, 0), "Target Transfer Tag");
        assertRejected(snack(0x82, 5, 7, 0, 0), "no task");
        assertRejected(snack(0x82, NO_TAG, 7, 3, 1), "RunLength of a DataACK");
        assertRejected(snack(0x83, 5, 0, 0, 0), "SNACK Tag");
        assertRejected(snack(0x83, 5, 7, 1, 0), "BegRun and RunLength");
    }

    @Test
    void shouldReadResponsesNoCaptureHas() throws ProtocolException {
        assertBothWays(
                "21940018" + "00000000" + "1234000000000000" + "00000005" + "0000002a" + "00000001"
                        + "00000002" + "00000003" + "00000004" + "00000200" + "00000100",
                new ScsiResponse(ScsiResponse.COMPLETED, 0x18, 0x1234,
                        new Residual(Residual.Kind.OVERFLOW, 0x100),
                        new Residual(Residual.Kind.OVERFLOW, 0x200), 5, 0x2a, 1, 2, 3, 4));
        assertBothWays(
                "22800700" + "00000000" + "2900010000000000" + "00000005" + "00000000" + "00000001"
                        + "00000002" + "00000003" + "00000000" + "00000000" + "00000000",
                new TaskManagementResponse(TaskManagementResponseCode.FUNCTION_SUCCEEDED.code(),
                        0x29_0001, 5, 1, 2, 3));
        assertBothWays(
                "32800000" + "00000000" + "0001000000000000" + "ffffffff" + "00000000" + "00000001"
                        + "00000002" + "00000003" + "01000000" + "0000000a" + "00000000",
                new AsyncMessage(Lun.of(1), 1, 2, 3, AsyncEvent.LOGOUT_REQUEST.code(), 0, 0, 0,
                        10));
        assertBothWays(
                "26800300" + "00000000" + "0000000000000000" + "00000005" + "00000000" + "00000001"
                        + "00000002" + "00000003" + "00000000" + "00020014" + "00000000",
                new LogoutResponse(LogoutResponseCode.CLEANUP_FAILED.code(), 5, 1, 2, 3, 2, 20));
    }

    @Test
    void shouldRejectResidualsOfBothKinds() {
        assertRejected(bhs(0x21, 0x86), "exclude each other");
        assertRejected(bhs(0x21, 0x98), "exclude each other");
        assertRejected(bhs(0x25, 0x87), "exclude each other");
    }

    @Test
    void shouldIgnoreCountsWithoutAResidual() throws ProtocolException {
        assertThat(ScsiResponse.decode(bhs(0x21, 0x80).int32(44, 512)).residual())
                .isEqualTo(Residual.NONE);
    }

    @Test
    void shouldRejectDataInWhoseFlagsDoNotGoTogether() {
        assertRejected(bhs(0x25, 0x01), "S of a Data-In requires F");
        assertRejected(bhs(0x25, 0xc0).int32(Pdu.TTT, NO_TAG), "A of a Data-In");
    }

    @Test
    void shouldForgetStatusFieldsOfDataInWithoutStatus() throws ProtocolException {
        DataIn in = DataIn.decode(bhs(0x25, 0x06).int8(3, 2).int32(24, 9).int32(44, 512));
        assertThat(in.status()).isZero();
        assertThat(in.statSn()).isZero();
        assertThat(in.residual()).isEqualTo(Residual.NONE);
    }

    @Test
    void shouldRejectR2tWhichAsksForNothing() {
        assertRejected(bhs(0x31, 0x80), "more than 0 bytes");
        assertRejected(bhs(0x31, 0x80).int32(44, 512).int32(Pdu.TTT, NO_TAG),
                "Target Transfer Tag");
        assertThatThrownBy(() -> new R2t(Lun.ZERO, 1, 1, 0, 0, 0, 0, 0, 0))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldRejectNopInWhichAnswersAndAsks() {
        assertRejected(bhs(0x20, 0x80).int32(Pdu.ITT, 1).int32(Pdu.TTT, 2), "cannot be both");
    }

    @Test
    void shouldDescribeCodesWithoutAMeaning() {
        assertThat(RejectReason.describe(4)).isEqualTo("protocol error");
        assertThat(RejectReason.describe(1)).isEqualTo("unknown code 1");
        assertThat(LoginStatus.describe(2, 1)).isEqualTo("authentication failed");
        assertThat(LoginStatus.describe(2, 0x77)).isEqualTo("initiator error (status 0x0277)");
        assertThat(LoginStatus.describe(9, 1)).isEqualTo("unknown status class 9 (status 0x0901)");
    }

    @Test
    void shouldFindEveryEnumByItsCode() {
        for (TaskManagementFunction each : TaskManagementFunction.values()) {
            assertThat(TaskManagementFunction.of(each.code())).contains(each);
        }
        for (LoginStatus each : LoginStatus.values()) {
            assertThat(LoginStatus.of(each.statusClass(), each.detail())).contains(each);
        }
        for (AsyncEvent each : AsyncEvent.values()) {
            assertThat(AsyncEvent.of(each.code())).contains(each);
        }
        for (RejectReason each : RejectReason.values()) {
            assertThat(RejectReason.of(each.code())).contains(each);
        }
    }

    @Test
    void shouldDecodeIsidFields() {
        assertThat(Isid.random(0x12_3456, 0x789a)).isEqualTo(new Isid(0x8012_3456_789aL));
        assertThat(Isid.random(0x12_3456, 0x789a).namingAuthority()).isEqualTo(0x12_3456);
        assertThat(Isid.random(0x12_3456, 0x789a).qualifier()).isEqualTo(0x789a);
        assertThat(Isid.enterprise(9, 1).type()).isEqualTo(Isid.Type.ENTERPRISE_NUMBER);
        assertThat(new Isid(0xc000_0000_0000L).type()).isEqualTo(Isid.Type.RESERVED);
        assertThatThrownBy(() -> new Isid(1L << 48)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Isid.random(1 << 24, 0))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldCountResiduals() {
        assertThat(Residual.of(512, 512)).isEqualTo(Residual.NONE);
        assertThat(Residual.of(512, 36)).isEqualTo(new Residual(Residual.Kind.UNDERFLOW, 476));
        assertThat(Residual.of(36, 512)).isEqualTo(new Residual(Residual.Kind.OVERFLOW, 476));
        assertThat(Residual.of(0xffff_ffffL, 0)).hasToString("-4294967295");
    }

    private static Bhs snack(int flags, int itt, int ttt, int begRun, int runLength) {
        return bhs(0x10, flags).int32(Pdu.ITT, itt).int32(Pdu.TTT, ttt).int32(40, begRun)
                .int32(44, runLength);
    }

    /** A header of zeroes but for opcode, I bit and flags. */
    private static Bhs bhs(int byte0, int flags) {
        return new Bhs().wrap(MemorySegment.ofArray(new byte[Bhs.LENGTH])).int8(0, byte0).int8(1,
                flags);
    }

    private static void assertRejected(Bhs bhs, String message) {
        assertThatThrownBy(() -> {
            if (bhs.opcode() < 0x20) {
                InitiatorPdu.decode(bhs, MemorySegment.NULL);
            } else {
                TargetPdu.decode(bhs, MemorySegment.NULL);
            }
        }).isInstanceOf(ProtocolException.class).hasMessageContaining(message)
                .hasMessageContaining("RFC 7143 section");
    }

    private static void assertBothWays(String hex, Pdu expected) throws ProtocolException {
        Bhs bhs = new Bhs().wrap(bytes(hex));
        Pdu decoded = expected instanceof InitiatorPdu
                ? InitiatorPdu.decode(bhs, MemorySegment.NULL)
                : TargetPdu.decode(bhs, MemorySegment.NULL);
        assertThat(decoded).isEqualTo(expected);
        assertThat(GoldenPduTest.hex(GoldenPduTest.encode(expected, 0))).isEqualTo(hex);
    }

    private static MemorySegment bytes(String hex) {
        return MemorySegment.ofArray(HexFormat.of().parseHex(hex));
    }
}
