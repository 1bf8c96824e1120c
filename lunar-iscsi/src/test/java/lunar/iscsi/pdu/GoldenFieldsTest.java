package lunar.iscsi.pdu;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import lunar.iscsi.GoldenCapture;
import lunar.iscsi.LoginStatus;
import lunar.iscsi.ProtocolException;
import lunar.scsi.Lun;
import org.junit.jupiter.api.Test;

/** Tests the fields of one captured PDU of each kind, decoded by hand; both ways. */
class GoldenFieldsTest {
    private static final int NO_TAG = 0xffff_ffff;

    @Test
    void shouldReadNopOutPingOfTheKernel() throws ProtocolException {
        check("kernel-lio-nop", 8,
                new NopOut(true, Lun.ZERO, 0x1400_0000, NO_TAG, 0x13, 0x31ac_f68e));
    }

    @Test
    void shouldReadNopOutWhichAnswersATarget() throws ProtocolException {
        check("qemu-tgtd-nop", 25, new NopOut(true, Lun.ZERO, NO_TAG, 1, 0x1e3d_246c, 0xc));
    }

    @Test
    void shouldReadScsiCommandThatReads() throws ProtocolException {
        check("kernel-tgtd-digests", 14,
                new ScsiCommand(false, true, true, false, TaskAttribute.SIMPLE, 0, Lun.of(1),
                        0x4200_0000,
                        0x800, 0x41, 0x42, bytes("28000000000000000400000000000000"), 0));
    }

    @Test
    void shouldReadScsiCommandWithUnsolicitedDataToFollow() throws ProtocolException {
        check("kernel-lio-unsolicited", 8,
                new ScsiCommand(false, false, false, true, TaskAttribute.SIMPLE, 0, Lun.ZERO,
                        0x1400_0000,
                        0x1000, 0x13, 0xf2b1_8006, bytes("2a000000000000000800000000000000"), 0));
    }

    @Test
    void shouldReadScsiCommandWithExtendedCdb() throws ProtocolException {
        check("kernel-lio-ahs-read", 8,
                new ScsiCommand(false, true, true, false, TaskAttribute.SIMPLE, 0, Lun.ZERO,
                        0x1400_0000,
                        0x200, 0x13, 0x6257_f5e0,
                        bytes("7f0000000000001800090000000000000000000000000000"
                                + "0000000000000001"),
                        0));
    }

    @Test
    void shouldReadScsiCommandBothWays() throws ProtocolException {
        check("scripted-tgtd-bidi", 6,
                new ScsiCommand(false, true, true, true, TaskAttribute.SIMPLE, 0, Lun.of(1), 0x30,
                        0x200,
                        3, 3, bytes("53000000000000000100000000000000"), 0x200));
    }

    @Test
    void shouldReadTaskManagementRequest() throws ProtocolException {
        check("libiscsi-tgtd-abort-task", 7,
                new TaskManagementRequest(true, TaskManagementFunction.ABORT_TASK.code(), Lun.of(1),
                        0x420a_676b, 0x420a_676a, 0x0d74_59cc, 3, 0x0d74_59cb, 0));
    }

    @Test
    void shouldReadLoginRequest() throws ProtocolException {
        Isid isid = new Isid(0x0002_3d00_0009L);
        check("kernel-lio-chap-mutual", 4, new LoginRequest(true, false, LoginStage.SECURITY,
                LoginStage.OPERATIONAL, 0, 0, isid, 0, 0, 0, 0, 0xacc7_8b87));
        assertThat(isid.type()).isEqualTo(Isid.Type.OUI);
        assertThat(isid.namingAuthority()).isEqualTo(0x00_023d); // Cisco's, which open-iscsi uses
        assertThat(isid.qualifier()).isEqualTo(9);
        assertThat(isid).hasToString("00023d000009");
    }

    @Test
    void shouldReadLoginRequestForASecondConnection() throws ProtocolException {
        LoginRequest login = (LoginRequest) GoldenCapture.pdu("scripted-lio-second-connection", 0)
                .decoded();
        assertThat(login.cid()).isEqualTo(1);
        assertThat(login.tsih()).isNotZero();
        assertThat(login.nextStage()).isEqualTo(LoginStage.FULL_FEATURE);
    }

    @Test
    void shouldReadTextRequest() throws ProtocolException {
        check("kernel-lio-discovery-long", 2,
                new TextRequest(false, true, false, Lun.ZERO, 1, NO_TAG, 1, 0x17a2_6fbc));
    }

    @Test
    void shouldReadDataOut() throws ProtocolException {
        check("kernel-lio-r2t", 11,
                new DataOut(true, Lun.ZERO, 0x1400_0000, 0x11, 0xe54d_4537, 1, 0x200));
    }

    @Test
    void shouldReadLogoutRequest() throws ProtocolException {
        check("kernel-tgtd-ahs", 19,
                new LogoutRequest(true, LogoutReason.CLOSE_SESSION, 0x4400_0000, 0, 0x43, 0x44));
    }

    @Test
    void shouldReadSnackForData() throws ProtocolException {
        check("scripted-lio-snack", 9,
                new SnackRequest(SnackType.DATA_R2T, Lun.ZERO, 0x20, NO_TAG, 0x771d_8334, 1, 2));
    }

    @Test
    void shouldReadSnackForStatus() throws ProtocolException {
        check("scripted-lio-snack", 12,
                new SnackRequest(SnackType.STATUS, Lun.ZERO, NO_TAG, NO_TAG, 0x771d_8334,
                        0x771d_8334, 1));
    }

    @Test
    void shouldReadNopInPingOfTheTarget() throws ProtocolException {
        check("qemu-tgtd-nop", 24, new NopIn(Lun.ZERO, NO_TAG, 1, 0xc, 0x1e3d_246c, 0x1e3d_24ec));
    }

    @Test
    void shouldReadNopInWhichAnswers() throws ProtocolException {
        check("kernel-lio-nop", 9,
                new NopIn(new Lun(-1), 0x1400_0000, NO_TAG, 0x31ac_f68e, 0x13, 0x52));
    }

    @Test
    void shouldReadScsiResponse() throws ProtocolException {
        check("kernel-lio-digests", 21,
                ScsiResponse.completed(2, 0x0a00_0000, 0xa4a5_6c12, 0xa, 0x49, 0));
    }

    @Test
    void shouldReadTaskManagementResponse() throws ProtocolException {
        check("libiscsi-tgtd-abort-task", 9,
                new TaskManagementResponse(TaskManagementResponseCode.TASK_DOES_NOT_EXIST.code(), 0,
                        0x420a_676b, 4, 0x0d74_59cc, 0x0d74_5a4c));
        check("kernel-lio-tmf", 11,
                new TaskManagementResponse(TaskManagementResponseCode.FUNCTION_REJECTED.code(), 0,
                        0x1500_0000, 0x9efa_a2a9, 0x13, 0x52));
    }

    @Test
    void shouldReadLoginResponse() throws ProtocolException {
        check("kernel-tgtd-ahs", 1,
                new LoginResponse(true, false, LoginStage.OPERATIONAL, LoginStage.FULL_FEATURE, 0,
                        0,
                        new Isid(0x0002_3d00_0001L), 0x4700, 0, 0, 0, 1, 0, 0));
    }

    @Test
    void shouldReadLoginResponseThatRefuses() throws ProtocolException {
        check("libiscsi-tgtd-unknown-target", 1,
                new LoginResponse(false, false, LoginStage.OPERATIONAL, LoginStage.OPERATIONAL, 0,
                        0,
                        new Isid(0), 0, 0x1b48_0e7c, 0, 0, 0, LoginStatus.NOT_FOUND.statusClass(),
                        LoginStatus.NOT_FOUND.detail()));
    }

    @Test
    void shouldReadTextResponseThatContinues() throws ProtocolException {
        check("kernel-lio-discovery-long", 3,
                new TextResponse(false, true, Lun.ZERO, 1, 0, 0x17a2_6fbc, 2, 2));
    }

    @Test
    void shouldReadTextResponse() throws ProtocolException {
        check("libiscsi-tgtd-discovery", 3,
                new TextResponse(true, false, Lun.ZERO, 0x37c9_1eb2, NO_TAG, 1, 0x343f_9c86,
                        0x343f_9c87));
    }

    @Test
    void shouldReadDataInWithStatusAndResidual() throws ProtocolException {
        check("kernel-lio-digests", 12,
                new DataIn(true, false, true, 0, new Residual(Residual.Kind.UNDERFLOW, 0xff0),
                        new Lun(-1), 0x0500_0000, NO_TAG, 0xa4a5_6c0d, 5, 0x44, 0, 0));
    }

    @Test
    void shouldReadDataInThatAsksForAcknowledgement() throws ProtocolException {
        check("scripted-lio-snack", 8,
                new DataIn(true, true, true, 0, Residual.NONE, Lun.ZERO, 0x20, 0, 0x771d_8334, 3,
                        0x42, 3,
                        0x600));
    }

    @Test
    void shouldReadLogoutResponse() throws ProtocolException {
        check("kernel-lio-chap-mutual", 15,
                new LogoutResponse(LogoutResponseCode.SUCCESS.code(), 0x1500_0000, 0xacc7_8b9d,
                        0x14, 0x53,
                        0, 0));
    }

    @Test
    void shouldReadR2t() throws ProtocolException {
        check("libiscsi-tgtd-bad-datasn", 7,
                new R2t(Lun.of(1), 0x0cc4_20db, 0x7007_bc3f, 3, 0x7df6_1ec7, 0x7df6_1f47, 0, 0,
                        0x400));
    }

    @Test
    void shouldReadAsyncMessage() throws ProtocolException {
        AsyncMessage message = (AsyncMessage) GoldenCapture.pdu("scripted-lio-async", 4).decoded();
        assertThat(message).isEqualTo(new AsyncMessage(Lun.ZERO, 0x69d6_e39b, 2, 0x41,
                AsyncEvent.CONNECTION_DROP.code(), 0, 1, 2, 5));
        // LIO's ones in the reserved bytes 20 to 23 are not kept.
        assertThat(GoldenPduTest.hex(GoldenPduTest.encode(message, 0)))
                .isEqualTo(
                        "32800000" + "00000000" + "00000000" + "00000000" + "ffffffff" + "00000000"
                                + "69d6e39b" + "00000002" + "00000041" + "02000001" + "00020005"
                                + "00000000");
    }

    @Test
    void shouldReadReject() throws ProtocolException {
        check("scripted-lio-reject", 5,
                new Reject(RejectReason.PROTOCOL_ERROR.code(), 0xd094_3eb9, 1, 0x40, 0));
    }

    private static void check(String capture, int number, Pdu expected) throws ProtocolException {
        GoldenCapture.Pdu golden = GoldenCapture.pdu(capture, number);
        assertThat(golden.decoded()).isEqualTo(expected);
        MemorySegment encoded = GoldenPduTest.encode(expected, golden.bhs().dataSegmentLength());
        assertThat(GoldenPduTest.hex(encoded)).isEqualTo(GoldenPduTest.hex(golden.headers()));
    }

    private static MemorySegment bytes(String hex) {
        return MemorySegment.ofArray(HexFormat.of().parseHex(hex));
    }
}
