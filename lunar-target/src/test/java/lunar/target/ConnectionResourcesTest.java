package lunar.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.List;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.DataIn;
import lunar.iscsi.pdu.Isid;
import lunar.iscsi.pdu.LoginRequest;
import lunar.iscsi.pdu.LoginResponse;
import lunar.iscsi.pdu.LoginStage;
import lunar.iscsi.pdu.NopIn;
import lunar.iscsi.pdu.NopOut;
import lunar.iscsi.pdu.R2t;
import lunar.iscsi.pdu.Reject;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.iscsi.pdu.ScsiResponse;
import lunar.iscsi.pdu.TaskAttribute;
import lunar.iscsi.pdu.TextRequest;
import lunar.iscsi.spi.Transport;
import lunar.scsi.Lun;
import lunar.store.MemoryDevice;
import lunar.target.internal.session.Connection;
import lunar.target.internal.session.LoginPhase;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that connections release all resources when they end, so that reconnecting peers do not fill the memory. */
class ConnectionResourcesTest {
    private static final String IQN = "iqn.2026-11.org.lunar:disk";
    private static final int BLOCK = 512;

    private final ManualTransport transport = new ManualTransport();
    private final MemoryDevice device = MemoryDevice.create(1 << 20, BLOCK);
    private TargetServer server;
    private Connection connection;
    private int cmdSn = 1;

    @BeforeEach
    void startServer() throws IOException {
        server = TargetServer.builder().portal("127.0.0.1", 0)
                .target(TargetSpec.of(IQN).withLun(0, device)).start();
        connection = LoginPhase.accept(server.shared(),
                server.shared().portals().all().getFirst(), transport);
    }

    @AfterEach
    void stopServer() {
        server.close();
        device.close();
    }

    @Test
    void shouldLeaveNoTimerWhenPeerGoesDuringLogin() {
        assertThat(transport.timers).isNotEmpty();

        connection.closed(null);

        assertThat(transport.timers).isEmpty();
    }

    /** A login that joins a session moves to the loop of that, and its timer stays on the old one. */
    @Test
    void shouldEndALoginThatTakesTooLongOnItsOwnLoop() {
        Runnable timer = transport.timers.getFirst();
        transport.elsewhere = true;
        timer.run();
        assertThat(transport.closed).as("by the other loop").isFalse();
        transport.elsewhere = false;
        transport.queued.forEach(Runnable::run);
        assertThat(transport.closed).isTrue();
    }

    @Test
    void shouldNotEndALoginThatSucceedsWhileItsTimerMoves() throws ProtocolException {
        Runnable timer = transport.timers.getFirst();
        transport.elsewhere = true;
        timer.run();
        transport.elsewhere = false;
        login();
        transport.queued.forEach(Runnable::run);
        assertThat(transport.closed).isFalse();
    }

    @Test
    void shouldLeaveNoTimerWhenPeerGoesAfterLogin() throws ProtocolException {
        login();
        assertThat(transport.sentOpcodes).containsExactly(LoginResponse.OPCODE);
        assertThat(server.sessionCount()).isOne();
        assertThat(transport.timers).isNotEmpty();

        connection.closed(null);

        assertThat(server.sessionCount()).isZero();
        assertThat(transport.timers).isEmpty();
    }

    @Test
    void shouldKeepBufferOfReadUntilEveryDataInIsSent() throws ProtocolException {
        login();
        command(false, 0, new byte[16]); // takes the unit attention of the new session
        transport.sentOpcodes.clear();
        int bytes = 16_384 + BLOCK; // the first Data-In is sent from the buffer, the second is copied

        command(true, bytes, new byte[]{0x28, 0, 0, 0, 0, 0, 0, 0, (byte) (bytes / BLOCK), 0});

        assertThat(transport.sentOpcodes).containsExactly(DataIn.OPCODE, DataIn.OPCODE);
        assertThat(transport.unsent).hasSize(1);
        assertThat(server.bufferBytesInUse()).isPositive();

        List.copyOf(transport.unsent).forEach(Transport.Release::release);

        assertThat(server.bufferBytesInUse()).isZero();
    }

    @Test
    void shouldGiveBufferBackWhenNothingOfItIsSent() throws ProtocolException {
        login();

        command(true, BLOCK, new byte[]{0x28, 0, 0, 0, 0, 0, 0, 0, 1, 0});

        assertThat(transport.sentOpcodes).containsExactly(LoginResponse.OPCODE,
                ScsiResponse.OPCODE);
        assertThat(server.bufferBytesInUse()).isZero();
    }

    @Test
    void shouldHaveTheTransportReadyBeforeTheLoginIsAnswered() throws ProtocolException {
        login();
        assertThat(transport.sentOpcodes).containsExactly(LoginResponse.OPCODE);
        assertThat(transport.sentBeforeAgreement).isZero();
    }

    @Test
    void shouldForgetTheBuffersOfCommandsThatAreDropped() throws ProtocolException {
        login();
        command(false, 0, new byte[16]);
        assertThat(transport.withdrawn).isEmpty();
        command(99, 1, false, false, 0, new byte[16]); // a CmdSN that was received already
        assertThat(transport.withdrawn).containsExactly(99);
    }

    /** A command that waits for data, and dropped ones of the same tag: their buffers are taken to be its own. */
    @Test
    void shouldKeepTheBuffersOfATaskWhoseTagComesAgain() throws ProtocolException {
        login();
        command(false, 0, new byte[16]); // takes the unit attention of the new session
        command(7, cmdSn, false, true, BLOCK, new byte[]{0x2a, 0, 0, 0, 0, 0, 0, 0, 1, 0});
        command(7, cmdSn, false, true, BLOCK, new byte[]{0x2a, 0, 0, 0, 0, 0, 0, 0, 1, 0});
        command(7, cmdSn + 1, false, false, 0, new byte[16]);
        assertThat(transport.sentOpcodes).contains(R2t.OPCODE, Reject.OPCODE);
        assertThat(transport.withdrawn).isEmpty();
    }

    /** Over iSER, other keys stand for MaxRecvDataSegmentLength, which a login negotiates (RFC 7145 section 6). */
    @ParameterizedTest
    @CsvSource({"false, 20000", "true, 16384"})
    void shouldSendLongerPdusAfterALaterDeclarationUnlessDataArePlaced(boolean places,
            int expected) throws ProtocolException {
        transport.places = places;
        login();
        var bhs = new Bhs().wrap(MemorySegment.ofArray(new byte[Bhs.LENGTH]));
        byte[] text = "MaxRecvDataSegmentLength=32768\0".getBytes(StandardCharsets.UTF_8);
        new TextRequest(true, true, false, Lun.ZERO, 1, Bhs.NO_TAG, cmdSn, 0).encode(bhs);
        receive(bhs, text);
        new NopOut(true, Lun.ZERO, 2, Bhs.NO_TAG, cmdSn, 0).encode(bhs);
        receive(bhs, new byte[20_000]);
        assertThat(transport.sentOpcodes).endsWith(NopIn.OPCODE);
        assertThat(transport.longestData).isEqualTo(expected);
    }

    private void receive(Bhs bhs, byte[] data) throws ProtocolException {
        bhs.lengths(0, data.length);
        connection.received(bhs, MemorySegment.NULL, MemorySegment.ofArray(data));
        connection.batchEnd();
    }

    private void command(boolean read, int bytes, byte[] cdb) throws ProtocolException {
        command(cmdSn, cmdSn, read, false, bytes, cdb);
        cmdSn++;
    }

    private void command(int itt, int number, boolean read, boolean write, int bytes, byte[] cdb)
            throws ProtocolException {
        var bhs = new Bhs().wrap(MemorySegment.ofArray(new byte[Bhs.LENGTH]));
        new ScsiCommand(false, true, read, write, TaskAttribute.SIMPLE, 0, Lun.ZERO, itt, bytes,
                number, 0, MemorySegment.ofArray(cdb), 0).encode(bhs);
        connection.received(bhs, MemorySegment.NULL, MemorySegment.NULL);
        connection.batchEnd();
    }

    private void login() throws ProtocolException {
        var bhs = new Bhs().wrap(MemorySegment.ofArray(new byte[Bhs.LENGTH]));
        byte[] text = ("InitiatorName=iqn.2026-11.org.lunar:host\0TargetName=" + IQN
                + "\0SessionType=Normal\0MaxBurstLength=16384\0FirstBurstLength=16384\0"
                + "MaxRecvDataSegmentLength=16384\0").getBytes(StandardCharsets.UTF_8);
        new LoginRequest(true, false, LoginStage.OPERATIONAL, LoginStage.FULL_FEATURE, 0, 0,
                new Isid(1), 0, 1, 0, cmdSn, 0).encode(bhs);
        bhs.lengths(0, text.length);
        connection.received(bhs, MemorySegment.NULL, MemorySegment.ofArray(text));
    }
}
