package lunar.iscsi.pdu;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.Random;
import lunar.iscsi.ProtocolException;
import lunar.scsi.Lun;
import org.junit.jupiter.api.Test;

/** Tests that records and flyweights agree, and that decoding any header throws only declared exceptions. */
class PduPropertyTest {
    private static final long SEED = Optional.ofNullable(Long.getLong("lunar.seed"))
            .orElseGet(System::nanoTime);
    private static final int ROUNDS = 1_000;
    private static final int[] INITIATOR_OPCODES = {0, 1, 2, 3, 4, 5, 6, 0x10};
    private static final int[] TARGET_OPCODES = {0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x31,
            0x32,
            0x3f};

    private final Random random = new Random(SEED);

    @Test
    void shouldDecodeWhatItEncodes() throws ProtocolException {
        for (int round = 0; round < ROUNDS; round++) {
            InitiatorPdu sent = initiatorPdu(round % INITIATOR_OPCODES.length);
            MemorySegment headers = GoldenPduTest.encode(sent, 0);
            Bhs bhs = new Bhs().wrap(headers);
            assertThat(InitiatorPdu.decode(bhs, headers.asSlice(Bhs.LENGTH))).as("seed %d", SEED)
                    .isEqualTo(sent)
                    .hasSameHashCodeAs(sent);
            assertThat(bhs.immediate()).as("seed %d, %s", SEED, sent).isEqualTo(sent.immediate());
            assertThat(bhs.int32(InitiatorPdu.EXP_STAT_SN)).as("seed %d, %s", SEED, sent)
                    .isEqualTo(sent.expStatSn());

            TargetPdu answered = targetPdu(round % TARGET_OPCODES.length);
            bhs = encoded(answered);
            assertThat(TargetPdu.decode(bhs, MemorySegment.NULL)).as("seed %d", SEED)
                    .isEqualTo(answered);
            assertThat(bhs.int32(TargetPdu.STAT_SN)).as("seed %d, %s", SEED, answered)
                    .isEqualTo(answered.statSn());
            assertThat(bhs.int32(TargetPdu.EXP_CMD_SN)).as("seed %d, %s", SEED, answered)
                    .isEqualTo(answered.expCmdSn());
            assertThat(bhs.int32(TargetPdu.MAX_CMD_SN)).as("seed %d, %s", SEED, answered)
                    .isEqualTo(answered.maxCmdSn());
        }
    }

    @Test
    void shouldMatchRecordFields() {
        for (int round = 0; round < ROUNDS; round++) {
            ScsiCommand command = (ScsiCommand) initiatorPdu(1);
            Bhs bhs = encoded(command);
            assertThat(bhs.lun()).as("seed %d", SEED).isEqualTo(command.lun().value());
            assertThat(bhs.int32(ScsiCommand.CMD_SN)).isEqualTo(command.cmdSn());
            assertThat(bhs.int32(ScsiCommand.EXPECTED_DATA_TRANSFER_LENGTH))
                    .isEqualTo(command.expectedDataTransferBytes());
            assertThat((bhs.flags() & ScsiCommand.READ) != 0).isEqualTo(command.read());
            assertThat((bhs.flags() & ScsiCommand.WRITE) != 0).isEqualTo(command.write());
            assertThat(bhs.isFinal()).isEqualTo(command.isFinal());
            assertThat(bhs.totalAhsLengthBytes()).isEqualTo(command.ahsBytes());
            assertThat(bhs.bytes().asSlice(ScsiCommand.CDB, ScsiCommand.CDB_LENGTH)
                    .mismatch(command.cdb().asSlice(0, ScsiCommand.CDB_LENGTH))).isEqualTo(-1);

            DataOut out = (DataOut) initiatorPdu(5);
            bhs = encoded(out);
            assertThat(bhs.ttt()).as("seed %d", SEED).isEqualTo(out.ttt());
            assertThat(bhs.int32(DataOut.DATA_SN)).isEqualTo(out.dataSn());
            assertThat(bhs.int32(DataOut.BUFFER_OFFSET)).isEqualTo(out.bufferOffsetBytes());

            DataIn in = (DataIn) targetPdu(5);
            bhs = encoded(in);
            assertThat(bhs.int8(DataIn.STATUS)).as("seed %d", SEED).isEqualTo(in.status());
            assertThat(bhs.int32(DataIn.DATA_SN)).isEqualTo(in.dataSn());
            assertThat(bhs.int32(DataIn.BUFFER_OFFSET)).isEqualTo(in.bufferOffsetBytes());
            assertThat(bhs.int32(DataIn.RESIDUAL_COUNT)).isEqualTo(in.residual().bytes());
            assertThat((bhs.flags() & DataIn.OVERFLOW) != 0)
                    .isEqualTo(in.residual().kind() == Residual.Kind.OVERFLOW);

            R2t r2t = (R2t) targetPdu(7);
            bhs = encoded(r2t);
            assertThat(bhs.int32(R2t.R2T_SN)).as("seed %d", SEED).isEqualTo(r2t.r2tSn());
            assertThat(bhs.int32(R2t.BUFFER_OFFSET)).isEqualTo(r2t.bufferOffsetBytes());
            assertThat(bhs.int32(R2t.DESIRED_DATA_TRANSFER_LENGTH)).isEqualTo(r2t.desiredBytes());
        }
    }

    @Test
    void shouldThrowNothingButProtocolExceptionForRandomHeaders() {
        int decoded = 0;
        for (int round = 0; round < 40_000; round++) {
            byte[] bytes = new byte[Bhs.LENGTH];
            random.nextBytes(bytes);
            if (random.nextBoolean()) {
                bytes[0] = (byte) INITIATOR_OPCODES[random.nextInt(INITIATOR_OPCODES.length)];
                bytes[4] = 0;
            } else if (random.nextBoolean()) {
                bytes[0] = (byte) TARGET_OPCODES[random.nextInt(TARGET_OPCODES.length)];
                bytes[4] = 0;
            }
            if (random.nextInt(4) == 0) {
                new Bhs().wrap(MemorySegment.ofArray(bytes)).int32(Bhs.ITT, Bhs.NO_TAG);
            }
            Bhs bhs = new Bhs().wrap(MemorySegment.ofArray(bytes));
            byte[] ahs = new byte[random.nextBoolean()
                    ? bhs.totalAhsLengthBytes()
                    : random.nextInt(64)];
            random.nextBytes(ahs);
            decoded += decodes(bhs, ahs);
        }
        assertThat(decoded).as("seed %d", SEED).isGreaterThan(4_000);
    }

    @Test
    void shouldThrowNothingButProtocolExceptionForRandomAhs() {
        int decoded = 0;
        for (int round = 0; round < 20_000; round++) {
            ScsiCommand command = (ScsiCommand) initiatorPdu(1);
            MemorySegment all = GoldenPduTest.encode(command, 0);
            byte[] ahs = new byte[4 * random.nextInt(70)];
            random.nextBytes(ahs);
            if (ahs.length >= 8) { // lengths and types near those which make sense
                ahs[0] = 0;
                ahs[1] = (byte) random.nextInt(ahs.length);
                ahs[2] = (byte) random.nextInt(4);
            }
            Bhs bhs = new Bhs().wrap(all).lengths(ahs.length, 0);
            decoded += decodes(bhs, ahs);
        }
        assertThat(decoded).as("seed %d", SEED).isGreaterThan(100);
    }

    private static int decodes(Bhs bhs, byte[] ahs) {
        int decoded = 0;
        try {
            InitiatorPdu.decode(bhs, MemorySegment.ofArray(ahs));
            decoded++;
        } catch (ProtocolException e) {
            assertThat(e.getMessage()).contains("RFC 7143 section");
        } catch (RuntimeException e) {
            throw new AssertionError("seed " + SEED, e);
        }
        try {
            TargetPdu.decode(bhs, MemorySegment.NULL);
            decoded++;
        } catch (ProtocolException e) {
            assertThat(e.getMessage()).contains("RFC 7143 section");
        } catch (RuntimeException e) {
            throw new AssertionError("seed " + SEED, e);
        }
        return decoded;
    }

    private Bhs encoded(Pdu pdu) {
        int dataBytes = random.nextInt(1 << 24);
        Bhs bhs = new Bhs().wrap(GoldenPduTest.encode(pdu, dataBytes));
        assertThat(bhs.opcode()).as("seed %d, %s", SEED, pdu).isEqualTo(pdu.opcode());
        assertThat(bhs.itt()).as("seed %d, %s", SEED, pdu).isEqualTo(pdu.itt());
        assertThat(bhs.dataSegmentLength()).as("seed %d, %s", SEED, pdu).isEqualTo(dataBytes);
        return bhs;
    }

    private InitiatorPdu initiatorPdu(int kind) {
        boolean immediate = flip();
        return switch (kind) {
            case 0 -> {
                int itt = flip() ? Bhs.NO_TAG : tag();
                yield new NopOut(immediate || itt == Bhs.NO_TAG, lun(), itt, any(), any(), any());
            }
            case 1 -> scsiCommand(immediate);
            case 2 -> new TaskManagementRequest(immediate, random.nextInt(128), lun(), tag(), any(),
                    any(),
                    any(), any(), any());
            case 3 -> {
                boolean transit = flip();
                LoginStage stage = flip() ? LoginStage.SECURITY : LoginStage.OPERATIONAL;
                yield new LoginRequest(transit, !transit && flip(), stage, LoginStage.FULL_FEATURE,
                        int8(), int8(), isid(), int16(), tag(), int16(), any(), any());
            }
            case 4 -> {
                boolean isFinal = flip();
                yield new TextRequest(immediate, isFinal, !isFinal && flip(), lun(), tag(), any(),
                        any(),
                        any());
            }
            case 5 -> new DataOut(flip(), lun(), tag(), any(), any(), any(), any());
            case 6 -> new LogoutRequest(immediate, LogoutReason.values()[random.nextInt(3)], tag(),
                    int16(), any(), any());
            default -> switch (SnackType.values()[random.nextInt(4)]) {
                case DATA_R2T ->
                    new SnackRequest(SnackType.DATA_R2T, lun(), tag(), any(), any(), any(),
                            any());
                case STATUS ->
                    new SnackRequest(SnackType.STATUS, lun(), Bhs.NO_TAG, any(), any(), any(),
                            any());
                case DATA_ACK ->
                    new SnackRequest(SnackType.DATA_ACK, lun(), Bhs.NO_TAG, tag(), any(),
                            any(), 0);
                case R_DATA ->
                    new SnackRequest(SnackType.R_DATA, lun(), tag(), tag() | 1, any(), 0, 0);
            };
        };
    }

    private ScsiCommand scsiCommand(boolean immediate) {
        boolean read = flip();
        boolean write = flip();
        byte[] cdb = new byte[random.nextInt(3) == 0
                ? 16 + random.nextInt(245)
                : random.nextInt(17)];
        random.nextBytes(cdb);
        return new ScsiCommand(immediate, !write || flip(), read, write,
                TaskAttribute.values()[random.nextInt(5)], random.nextInt(16), lun(), tag(),
                read || write ? any() : 0, any(), any(), MemorySegment.ofArray(cdb),
                read && write ? any() : 0);
    }

    private TargetPdu targetPdu(int kind) {
        return switch (kind) {
            case 0 -> flip()
                    ? new NopIn(lun(), Bhs.NO_TAG, any(), any(), any(), any())
                    : new NopIn(lun(), tag(), Bhs.NO_TAG, any(), any(), any());
            case 1 ->
                new ScsiResponse(int8(), int8(), int16(), residual(), residual(), tag(), any(),
                        any(), any(), any(), any());
            case 2 ->
                new TaskManagementResponse(int8(), random.nextInt(1 << 24), tag(), any(), any(),
                        any());
            case 3 -> {
                boolean transit = flip();
                yield new LoginResponse(transit, !transit && flip(), LoginStage.SECURITY,
                        LoginStage.OPERATIONAL, int8(), int8(), isid(), int16(), tag(), any(),
                        any(),
                        any(), int8(), int8());
            }
            case 4 -> {
                boolean isFinal = flip();
                yield new TextResponse(isFinal, !isFinal && flip(), lun(), tag(), tag(), any(),
                        any(),
                        any());
            }
            case 5 -> {
                boolean isFinal = flip();
                boolean acknowledge = flip();
                yield new DataIn(isFinal, acknowledge, isFinal && flip(), int8(), residual(), lun(),
                        tag(),
                        acknowledge ? tag() : Bhs.NO_TAG, any(), any(), any(), any(), any());
            }
            case 6 -> new LogoutResponse(int8(), tag(), any(), any(), any(), int16(), int16());
            case 7 -> new R2t(lun(), tag(), tag(), any(), any(), any(), any(), any(), tag() | 1);
            case 8 -> new AsyncMessage(lun(), any(), any(), any(), int8(), int8(), int16(), int16(),
                    int16());
            default -> new Reject(int8(), any(), any(), any(), any());
        };
    }

    private Residual residual() {
        return switch (random.nextInt(3)) {
            case 0 -> Residual.NONE;
            case 1 -> new Residual(Residual.Kind.OVERFLOW, any());
            default -> new Residual(Residual.Kind.UNDERFLOW, any());
        };
    }

    private boolean flip() { return random.nextBoolean(); }

    private int any() { return random.nextInt(); }

    /** Any tag but the one that stands for none. */
    private int tag() {
        return random.nextInt() & 0x7fff_ffff;
    }

    private int int8() { return random.nextInt(1 << 8); }

    private int int16() { return random.nextInt(1 << 16); }

    private Lun lun() { return new Lun(random.nextLong()); }

    private Isid isid() { return new Isid(random.nextLong() >>> 16); }
}
