package lunar.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.DataIn;
import lunar.iscsi.pdu.DataOut;
import lunar.iscsi.pdu.InitiatorPdu;
import lunar.iscsi.pdu.Isid;
import lunar.iscsi.pdu.LoginRequest;
import lunar.iscsi.pdu.LoginResponse;
import lunar.iscsi.pdu.LoginStage;
import lunar.iscsi.pdu.LogoutReason;
import lunar.iscsi.pdu.LogoutRequest;
import lunar.iscsi.pdu.NopIn;
import lunar.iscsi.pdu.NopOut;
import lunar.iscsi.pdu.R2t;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.iscsi.pdu.ScsiResponse;
import lunar.iscsi.pdu.TaskAttribute;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.iscsi.pdu.TaskManagementRequest;
import lunar.iscsi.pdu.TaskManagementResponse;
import lunar.iscsi.pdu.TextRequest;
import lunar.iscsi.pdu.TextResponse;
import lunar.scsi.Lun;
import lunar.scsi.SenseKey;
import lunar.scsi.Status;

/**
 * Initiator on a plain socket that sends exactly the PDUs of a test, valid or not, one at a time. Waits time out after
 * two minutes.
 */
final class RawInitiator implements AutoCloseable {
    static final String TARGET = "iqn.2026-11.org.lunar:test";
    static final String NAME = "iqn.2026-11.org.lunar:raw";

    private static final int PATIENCE_MS = 120_000;
    private static final int QUIET_MS = 200;
    private static final int MAX_SEGMENT_BYTES = 8192;

    /** A PDU that came: its header, and its data without padding. */
    record Received(Bhs bhs, byte[] data) {
        int opcode() { return bhs.opcode(); }

        String text() { return new String(data, StandardCharsets.UTF_8); }

        /** Returns sense key, additional sense code and qualifier, as in 06_29_00h; 0 without sense data. */
        int sense() {
            return data.length < 16
                    ? 0
                    : (data[4] & 0xf) << 16 | (data[14] & 0xff) << 8 | data[15] & 0xff;
        }

        Status status() {
            assertThat(opcode()).as("opcode of a SCSI response").isEqualTo(ScsiResponse.OPCODE);
            int code = bhs.int8(ScsiResponse.STATUS);
            for (Status status : Status.values()) {
                if (status.code() == code) {
                    return status;
                }
            }
            throw new AssertionError("status " + code);
        }
    }

    /** Set explicitly; otherwise the kernel buffers tens of megabytes of unread data. */
    static final int RECEIVE_BUFFER_BYTES = 64 << 10;

    private final Socket socket;
    private final DataInputStream in;
    private final OutputStream out;
    private final Numbers numbers;
    private int tsih;
    private int expStatSn;
    private int maxCmdSn;

    /** Task tags and command numbers, which the connections of a session share. */
    private static final class Numbers {
        int itt = 1;
        int cmdSn = 1;
    }

    RawInitiator(TargetServer server) throws IOException {
        this(server.portals().getFirst().getPort());
    }

    RawInitiator(int port) throws IOException { this(port, new Numbers()); }

    /** From another address of this machine, such as 127.0.0.2. */
    static RawInitiator from(String address, TargetServer server) throws IOException {
        return new RawInitiator(server.portals().getFirst().getPort(), new Numbers(), address);
    }

    private RawInitiator(int port, Numbers numbers) throws IOException {
        this(port, numbers, "127.0.0.1");
    }

    private RawInitiator(int port, Numbers numbers, String from) throws IOException {
        this.numbers = numbers;
        socket = new Socket();
        socket.setReceiveBufferSize(RECEIVE_BUFFER_BYTES);
        socket.bind(new InetSocketAddress(from, 0));
        socket.connect(new InetSocketAddress("127.0.0.1", port));
        socket.setSoTimeout(PATIENCE_MS);
        socket.setTcpNoDelay(true);
        in = new DataInputStream(socket.getInputStream());
        out = socket.getOutputStream();
    }

    /** Logs in and clears all unit attentions. */
    static RawInitiator ready(TargetServer server, int qualifier, String... keys)
            throws IOException {
        var initiator = new RawInitiator(server);
        assertThat(initiator.login(isid(qualifier), keys).status()).isZero();
        initiator.takeAttentions();
        return initiator;
    }

    /** Opens another connection of a session, or reinstates the one with this CID, up to the login's outcome. */
    RawInitiator another(TargetServer server, Isid isid, int cid) throws IOException {
        var joined = new RawInitiator(server.portals().getFirst().getPort(), numbers);
        joined.tsih = tsih;
        String keys = "InitiatorName=" + NAME + "\0TargetName=" + TARGET
                + "\0SessionType=Normal\0";
        joined.send(new LoginRequest(true, false, LoginStage.OPERATIONAL, LoginStage.FULL_FEATURE,
                0, 0, isid, tsih, numbers.itt++, cid, numbers.cmdSn, 0),
                keys.getBytes(StandardCharsets.UTF_8));
        return joined;
    }

    static Isid isid(int qualifier) { return Isid.enterprise(0x123456, qualifier); }

    int localPort() { return socket.getLocalPort(); }

    /** Returns the TSIH of the last Login Response. */
    int tsih() { return tsih & 0xffff; }

    // --- login ---

    /** Outcome of a login: status class and detail in one number, 0 for success, and the keys of the response. */
    record Login(int status, String keys) {}

    Login login(Isid isid, String... keys) throws IOException {
        sendLogin(isid, keys);
        return loginAnswer();
    }

    void sendLogin(Isid isid, String... keys) throws IOException {
        var all = new ArrayList<>(List.of("InitiatorName=" + NAME, "TargetName=" + TARGET,
                "SessionType=Normal"));
        all.addAll(List.of(keys));
        sendKeys(isid, all);
    }

    /** A login with these keys and no others. */
    Login loginWith(Isid isid, String... keys) throws IOException {
        sendKeys(isid, List.of(keys));
        return loginAnswer();
    }

    /** Logs in an initiator to a target by their names. */
    Login loginAs(String initiator, String target) throws IOException {
        return loginWith(isid(1), "InitiatorName=" + initiator, "TargetName=" + target,
                "SessionType=Normal");
    }

    /** Returns the response to SendTargets, one key per line. */
    String sendTargets(String which) throws IOException {
        return text("SendTargets=" + which);
    }

    /** Returns the response to a Text Request with one key, one key per line. */
    String text(String key) throws IOException {
        send(new TextRequest(true, true, false, Lun.ZERO, numbers.itt++, Bhs.NO_TAG, numbers.cmdSn,
                expStatSn),
                (key + "\0").getBytes(StandardCharsets.UTF_8));
        Received answer = receive();
        assertThat(answer.opcode()).isEqualTo(TextResponse.OPCODE);
        return answer.text().replace('\0', '\n');
    }

    private void sendKeys(Isid isid, List<String> keys) throws IOException {
        var text = new StringBuilder();
        for (String key : keys) {
            text.append(key).append('\0');
        }
        send(new LoginRequest(true, false, LoginStage.OPERATIONAL, LoginStage.FULL_FEATURE, 0, 0,
                isid, 0, numbers.itt++, 0, numbers.cmdSn, 0),
                text.toString().getBytes(StandardCharsets.UTF_8));
    }

    Login loginAnswer() throws IOException {
        Received answer = receive();
        assertThat(answer.opcode()).isEqualTo(LoginResponse.OPCODE);
        tsih = answer.bhs.int16(LoginResponse.TSIH);
        return new Login(answer.bhs.int16(LoginResponse.STATUS_CLASS), answer.text());
    }

    /**
     * Asserts that the next PDU is the response to a ping: earlier requests have been received, but not answered yet.
     */
    void assertSilent() throws IOException {
        int ping = ping();
        Received answer = receive();
        assertThat(answer.opcode()).isEqualTo(NopIn.OPCODE);
        assertThat(answer.bhs().itt()).isEqualTo(ping);
    }

    /** Sends TEST UNIT READY until GOOD; returns the number of unit attentions. */
    int takeAttentions() throws IOException {
        int count = 0;
        while (true) {
            Received answer = command(new byte[6], 0);
            if (answer.status() != Status.CHECK_CONDITION
                    || answer.sense() >> 16 != SenseKey.UNIT_ATTENTION.code()) {
                return count;
            }
            count++;
        }
    }

    // --- requests; each returns its task tag ---

    /** A command without data-out. */
    int send(byte[] cdb, int expectedInBytes) throws IOException {
        int itt = numbers.itt++;
        send(new ScsiCommand(false, true, expectedInBytes > 0, false, TaskAttribute.SIMPLE, 0,
                Lun.ZERO, itt, expectedInBytes, numbers.cmdSn++, expStatSn,
                MemorySegment.ofArray(cdb), 0),
                new byte[0]);
        return itt;
    }

    /** A command without data-out, to any LUN, with any attribute and priority. */
    int send(Lun lun, TaskAttribute attribute, int priority, byte[] cdb, int expectedInBytes)
            throws IOException {
        int itt = numbers.itt++;
        send(new ScsiCommand(false, true, expectedInBytes > 0, false, attribute, priority, lun, itt,
                expectedInBytes, numbers.cmdSn++, expStatSn, MemorySegment.ofArray(cdb), 0),
                new byte[0]);
        return itt;
    }

    /** WRITE(10) of whole blocks to any LUN, all of them immediate data. */
    int write(Lun lun, long lba, byte[] data) throws IOException {
        int itt = numbers.itt++;
        send(new ScsiCommand(false, true, false, true, TaskAttribute.SIMPLE, 0, lun, itt,
                data.length, numbers.cmdSn++, expStatSn,
                MemorySegment.ofArray(writeCdb(lba, data.length / 512)), 0), data);
        return itt;
    }

    /** A command for any LUN, with immediate data or with data-in. */
    int send(Lun lun, byte[] cdb, byte[] data, int expectedInBytes) throws IOException {
        int itt = numbers.itt++;
        send(new ScsiCommand(false, true, expectedInBytes > 0, data.length > 0,
                TaskAttribute.SIMPLE, 0, lun, itt, expectedInBytes + data.length, numbers.cmdSn++,
                expStatSn, MemorySegment.ofArray(cdb), 0), data);
        return itt;
    }

    /** Sends a command and waits for its response, which must be the next PDU. */
    Received command(byte[] cdb, int expectedInBytes) throws IOException {
        int itt = send(cdb, expectedInBytes);
        Received answer = receive();
        assertThat(answer.bhs.itt()).isEqualTo(itt);
        return answer;
    }

    /** Sends a command with all of its data-out as immediate data and waits for its response. */
    Received commandOut(byte[] cdb, byte[] data) throws IOException {
        int itt = write(numbers.itt++, numbers.cmdSn++, cdb, data, data.length, true);
        Received answer = receive();
        assertThat(answer.bhs.itt()).isEqualTo(itt);
        return answer;
    }

    /** A command for a LUN, without data-out. */
    Received command(Lun lun, byte[] cdb, int expectedInBytes) throws IOException {
        int itt = numbers.itt++;
        send(new ScsiCommand(false, true, expectedInBytes > 0, false, TaskAttribute.SIMPLE, 0, lun,
                itt, expectedInBytes, numbers.cmdSn++, expStatSn, MemorySegment.ofArray(cdb), 0),
                new byte[0]);
        Received answer = receive();
        assertThat(answer.bhs.itt()).isEqualTo(itt);
        return answer;
    }

    /** A command given in hexadecimal, without data-out. */
    Received command(String cdb, int expectedInBytes) throws IOException {
        return command(bytes(cdb), expectedInBytes);
    }

    /** A command given in hexadecimal with all of its data as immediate data; waits for its response. */
    Received commandOut(String cdb, byte[] data) throws IOException {
        write(newTag(), useCmdSn(), bytes(cdb), data, data.length, true);
        return receive();
    }

    static byte[] bytes(String hex) { return HexFormat.of().parseHex(hex.replace(" ", "")); }

    /** WRITE(10) of whole blocks, all of them immediate data. */
    int write(long lba, byte[] data) throws IOException {
        return write(numbers.itt++, numbers.cmdSn++, writeCdb(lba, data.length / 512), data,
                data.length, true);
    }

    /** Sends a write with all fields given. */
    int write(int itt, int sn, byte[] cdb, byte[] immediateData, int expectedBytes, boolean isFinal)
            throws IOException {
        send(new ScsiCommand(false, isFinal, false, true, TaskAttribute.SIMPLE, 0, Lun.ZERO, itt,
                expectedBytes, sn, expStatSn, MemorySegment.ofArray(cdb), 0), immediateData);
        return itt;
    }

    void dataOut(int itt, int ttt, int dataSn, int offset, boolean isFinal, byte[] data)
            throws IOException {
        send(new DataOut(isFinal, Lun.ZERO, itt, ttt, expStatSn,
                dataSn, offset), data);
    }

    int ping() throws IOException {
        int itt = numbers.itt++;
        send(new NopOut(true, Lun.ZERO, itt, Bhs.NO_TAG, numbers.cmdSn, expStatSn), new byte[0]);
        return itt;
    }

    void answerPing(int ttt) throws IOException {
        send(new NopOut(true, Lun.ZERO, Bhs.NO_TAG, ttt, numbers.cmdSn, expStatSn), new byte[0]);
    }

    int manage(TaskManagementFunction function, int referencedTag) throws IOException {
        int itt = numbers.itt++;
        send(new TaskManagementRequest(true, function.code(), Lun.ZERO, itt, referencedTag,
                numbers.cmdSn,
                expStatSn, 0, 0), new byte[0]);
        return itt;
    }

    /** Sends a task management request with all fields given. */
    int manage(TaskManagementFunction function, Lun lun, int referencedTag, int sn, int refCmdSn)
            throws IOException {
        int itt = numbers.itt++;
        send(new TaskManagementRequest(true, function.code(), lun, itt, referencedTag, sn,
                expStatSn, refCmdSn, 0), new byte[0]);
        return itt;
    }

    /** Waits for the answer of a task management request and returns its code. */
    int managed(int itt) throws IOException {
        Received answer = receive();
        assertThat(answer.opcode()).isEqualTo(TaskManagementResponse.OPCODE);
        assertThat(answer.bhs.itt()).isEqualTo(itt);
        return answer.bhs.int8(TaskManagementResponse.RESPONSE);
    }

    void logout() throws IOException {
        send(new LogoutRequest(true, LogoutReason.CLOSE_SESSION, numbers.itt++, 0, numbers.cmdSn,
                expStatSn),
                new byte[0]);
    }

    int expStatSn() { return expStatSn; }

    int newTag() { return numbers.itt++; }

    int cmdSn() { return numbers.cmdSn; }

    int useCmdSn() { return numbers.cmdSn++; }

    int maxCmdSn() { return maxCmdSn; }

    static byte[] writeCdb(long lba, int blocks) {
        return ByteBuffer.allocate(10).put((byte) 0x2a).put((byte) 0).putInt((int) lba)
                .put((byte) 0).putShort((short) blocks).array();
    }

    static byte[] readCdb(long lba, int blocks) {
        return ByteBuffer.allocate(10).put((byte) 0x28).put((byte) 0).putInt((int) lba)
                .put((byte) 0).putShort((short) blocks).array();
    }

    /** Reads whole blocks, over as many Data-In PDUs as it takes. */
    byte[] read(long lba, int blocks) throws IOException {
        send(readCdb(lba, blocks), blocks * 512);
        var data = ByteBuffer.allocate(blocks * 512);
        while (true) {
            Received piece = receive();
            if (piece.opcode() == ScsiResponse.OPCODE) {
                assertThat(piece.status()).isEqualTo(Status.GOOD);
                break;
            }
            assertThat(piece.opcode()).isEqualTo(DataIn.OPCODE);
            data.position(piece.bhs.int32(DataIn.BUFFER_OFFSET)).put(piece.data);
            if ((piece.bhs.flags() & DataIn.HAS_STATUS) != 0) {
                break;
            }
        }
        return data.array();
    }

    // --- bytes ---

    void send(InitiatorPdu pdu, byte[] data) throws IOException { sendBytes(encode(pdu, data)); }

    static byte[] encode(InitiatorPdu pdu, byte[] data) {
        byte[] bytes = new byte[Bhs.LENGTH + (data.length + 3) / 4 * 4];
        Bhs bhs = new Bhs().wrap(MemorySegment.ofArray(bytes));
        pdu.encode(bhs);
        bhs.lengths(0, data.length);
        System.arraycopy(data, 0, bytes, Bhs.LENGTH, data.length);
        return bytes;
    }

    void sendBytes(byte[] bytes) throws IOException {
        out.write(bytes);
        out.flush();
    }

    /** The next PDU. */
    Received receive() throws IOException {
        byte[] header = new byte[Bhs.LENGTH];
        in.readFully(header);
        Bhs bhs = new Bhs().wrap(MemorySegment.ofArray(header));
        assertThat(bhs.totalAhsLengthBytes()).isZero();
        assertThat(bhs.dataSegmentLength()).isLessThanOrEqualTo(MAX_SEGMENT_BYTES);
        byte[] data = new byte[bhs.dataSegmentLength()];
        in.readFully(data);
        in.skipNBytes((4 - data.length % 4) % 4);
        maxCmdSn = bhs.int32(32); // at the same offset in all target PDUs
        if (bhs.opcode() != R2t.OPCODE && !(bhs.opcode() == NopIn.OPCODE && bhs.itt() == Bhs.NO_TAG)
                && (bhs.opcode() != DataIn.OPCODE || (bhs.flags() & DataIn.HAS_STATUS) != 0)) {
            expStatSn = bhs.int32(24) + 1;
        }
        return new Received(bhs, data);
    }

    /** Whether the target has closed the connection, once what it sent before is read. */
    boolean isClosedByTarget() throws IOException {
        try {
            while (true) {
                receive();
            }
        } catch (EOFException | SocketException _) {
            return true;
        } catch (SocketTimeoutException _) {
            return false;
        }
    }

    /** Whether nothing arrives for a moment. */
    boolean isQuiet() throws IOException {
        socket.setSoTimeout(QUIET_MS);
        try {
            int first = in.read();
            assertThat(first).as("the target closed the connection").isNotEqualTo(-1);
            return false;
        } catch (SocketTimeoutException _) {
            return true;
        } finally {
            socket.setSoTimeout(PATIENCE_MS);
        }
    }

    @Override
    public void close() throws IOException { socket.close(); }
}
