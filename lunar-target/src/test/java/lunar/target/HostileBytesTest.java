package lunar.target;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import lunar.iscsi.IscsiException;
import lunar.iscsi.framing.PduReader;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.DataOut;
import lunar.iscsi.pdu.Isid;
import lunar.iscsi.pdu.LoginRequest;
import lunar.iscsi.pdu.LoginStage;
import lunar.iscsi.pdu.LogoutReason;
import lunar.iscsi.pdu.LogoutRequest;
import lunar.iscsi.pdu.NopOut;
import lunar.iscsi.pdu.Pdu;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.iscsi.pdu.TaskAttribute;
import lunar.iscsi.pdu.TaskManagementRequest;
import lunar.iscsi.pdu.TextRequest;
import lunar.scsi.Lun;
import lunar.store.MemoryDevice;
import lunar.target.internal.session.Connection;
import lunar.target.internal.session.LoginPhase;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;

/**
 * Tests framing, login and full feature phase with malformed bytes: only declared exceptions occur, and no resources
 * leak.
 */
class HostileBytesTest {
    private static final String IQN = "iqn.2026-11.org.lunar:disk";
    private static final int ROUNDS = 3_000;
    private static final int STAGING = 1 << 16;

    private final MemorySegment staging = Arena.ofAuto().allocate(STAGING);

    @Test
    void shouldSurviveArbitraryBytes() throws IOException {
        long seed = Seed.next();
        Random random = new Random(seed);
        byte[] right = conversation();
        try (var device = MemoryDevice.create(1 << 20, 512);
                var server = TargetServer.builder().portal("127.0.0.1", 0)
                        .target(TargetSpec.of(IQN).withLun(0, device)).start()) {
            for (int round = 0; round < ROUNDS; round++) {
                byte[] wrong = right.clone();
                for (int i = random.nextInt(1, 6); i > 0; i--) {
                    wrong[random.nextInt(wrong.length)] ^= (byte) (1 << random.nextInt(8));
                }
                var transport = new ManualTransport();
                var connection = LoginPhase.accept(server.shared(),
                        server.shared().portals().all().getFirst(), transport);
                IOException cause = null;
                try {
                    feed(new PduReader(connection), connection, wrong,
                            random.nextInt(1, wrong.length + 1), random);
                } catch (IscsiException e) {
                    cause = e;
                } catch (RuntimeException | Error e) {
                    fail("seed " + seed + ", round " + round, e);
                }
                connection.closed(cause);
                transport.unsent.forEach(release -> release.release());

                assertThat(transport.timers).as("seed %d, round %d", seed, round).isEmpty();
                assertThat(server.sessionCount()).as("seed %d, round %d", seed, round).isZero();
                assertThat(server.bufferBytesInUse()).as("seed %d, round %d", seed, round)
                        .isZero();
            }
        }
    }

    /** As a transport does: in pieces, long data straight to their destination. */
    private void feed(PduReader reader, Connection connection, byte[] bytes, int length,
            Random random) throws IscsiException {
        int at = 0;
        while (at < length) {
            int piece = Math.min(length - at, random.nextInt(1, 3_000));
            int kept = reader.restore(staging);
            var destination = reader.destination();
            int direct = destination == null ? 0 : Math.min(piece, destination.remaining());
            if (destination != null) {
                destination.put(bytes, at, direct);
            }
            MemorySegment.copy(bytes, at + direct, staging, ValueLayout.JAVA_BYTE, kept,
                    piece - direct);
            reader.consume(staging, kept + piece - direct);
            connection.batchEnd();
            at += piece;
        }
    }

    /** A session with something of everything. */
    private static byte[] conversation() {
        var out = new ByteArrayOutputStream();
        pdu(out, new LoginRequest(true, false, LoginStage.OPERATIONAL, LoginStage.FULL_FEATURE, 0,
                0, new Isid(1), 0, 1, 0, 1, 0),
                text("InitiatorName=iqn.2026-11.org.lunar:host\0TargetName=" + IQN
                        + "\0SessionType=Normal\0InitialR2T=No\0ImmediateData=Yes\0"
                        + "MaxRecvDataSegmentLength=16384\0MaxBurstLength=16384\0"
                        + "FirstBurstLength=16384\0HeaderDigest=None\0"));
        pdu(out, command(1, false, false, true, 0, 0), new byte[0]);
        pdu(out, command(2, false, true, true, 4096, 0x2a), new byte[4096]);
        pdu(out, command(3, false, true, false, 8192, 0x2a), new byte[1024]);
        pdu(out, new DataOut(true, Lun.ZERO, 3, Bhs.NO_TAG, 0, 0, 1024), new byte[7168]);
        pdu(out, command(4, true, false, true, 24_576, 0x28), new byte[0]);
        pdu(out, command(5, true, false, true, 512, 0x12), new byte[0]);
        pdu(out, new NopOut(false, Lun.ZERO, 6, Bhs.NO_TAG, 6, 0), new byte[100]);
        pdu(out, new TextRequest(false, true, false, Lun.ZERO, 7, Bhs.NO_TAG, 7, 0),
                text("SendTargets=\0"));
        pdu(out, command(8, false, true, true, 8192, 0x2a), new byte[0]);
        pdu(out, new DataOut(true, Lun.ZERO, 8, 1, 0, 0, 0), new byte[8192]);
        pdu(out, command(9, false, true, true, 8192, 0x2a), new byte[0]);
        pdu(out, new TaskManagementRequest(true, 1, Lun.ZERO, 10, 9, 10, 0, 9, 0), new byte[0]);
        pdu(out, new LogoutRequest(false, LogoutReason.CLOSE_SESSION, 11, 0, 10, 0), new byte[0]);
        return out.toByteArray();
    }

    private static ScsiCommand command(int number, boolean read, boolean write, boolean isFinal,
            int bytes, int opcode) {
        byte[] cdb = {(byte) opcode, 0, 0, 0, 0, 0, 0, 0, (byte) (bytes / 512), 0};
        return new ScsiCommand(false, isFinal, read, write, TaskAttribute.SIMPLE, 0, Lun.ZERO,
                number, bytes, number, 0, MemorySegment.ofArray(cdb), 0);
    }

    private static byte[] text(String keys) { return keys.getBytes(StandardCharsets.UTF_8); }

    private static void pdu(ByteArrayOutputStream out, Pdu pdu, byte[] data) {
        byte[] header = new byte[Bhs.LENGTH];
        Bhs bhs = new Bhs().wrap(MemorySegment.ofArray(header));
        pdu.encode(bhs);
        bhs.lengths(0, data.length);
        out.writeBytes(header);
        out.writeBytes(data);
        out.writeBytes(new byte[-data.length & 3]);
    }
}
