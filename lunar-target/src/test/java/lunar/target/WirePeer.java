package lunar.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * A scripted initiator that encodes and decodes PDUs byte by byte by the tables of RFC 7143 chapter 11. It shares no
 * code with the target, so that neither can hide an error of the other. It sends nothing by itself, and can lose or
 * damage anything that it sends or receives.
 */
final class WirePeer implements AutoCloseable {
    static final int NONE = -1;
    static final int READ = 0x40;
    static final int WRITE = 0x20;
    static final int FINAL = 0x80;

    private static final int PATIENCE_MS = 120_000;
    private static final String LOGIN = """
            TargetName=iqn.2026-11.org.lunar:test
            SessionType=Normal
            DataDigest=CRC32C
            """;

    /** A received PDU: its basic header and its data. */
    record Pdu(ByteBuffer header, byte[] data) {
        int opcode() { return header.get(0) & 0x3f; }

        int flags() { return header.get(1) & 0xff; }

        /** Response, and status of a SCSI Response. */
        int response() { return header.get(2); }

        int status() { return header.get(3) & 0xff; }

        int itt() { return header.getInt(16); }

        int ttt() { return header.getInt(20); }

        int statSn() { return header.getInt(24); }

        int expCmdSn() { return header.getInt(28); }

        /** DataSN of a Data-In, R2TSN of an R2T, ExpDataSN of a response. */
        int dataSn() {
            return header.getInt(36);
        }

        int offset() { return header.getInt(40); }

        /** Bidirectional Read Residual Count of a response; it is where an offset is in others. */
        int readResidual() {
            return header.getInt(40);
        }

        /** Desired Data Transfer Length of an R2T; Residual Count of a response. */
        int wanted() {
            return header.getInt(44);
        }

        String text() { return new String(data, StandardCharsets.UTF_8); }

        /** An answer with a status number of its own. */
        boolean isStatus() {
            return switch (opcode()) {
                case 0x31 -> false; // R2T
                case 0x25 -> (flags() & 1) != 0; // Data-In
                case 0x20 -> itt() != NONE; // NOP-In
                default -> true;
            };
        }
    }

    /** State shared by the connections of a session. */
    static final class Numbers {
        int itt = 0x1000;
        int cmdSn = 1;
        int tsih;
    }

    final Numbers numbers;
    private final Socket socket;
    private final DataInputStream in;
    private final OutputStream out;
    private final int cid;
    private boolean digests;
    /** LUN of commands, below 256. */
    int lun;
    String initiator = "InitiatorName=iqn.2026-11.org.lunar:raw";
    int expStatSn;

    WirePeer(TargetServer server, int cid) throws IOException { this(server, new Numbers(), cid); }

    private WirePeer(TargetServer server, Numbers numbers, int cid) throws IOException {
        this.numbers = numbers;
        this.cid = cid;
        socket = new Socket();
        socket.setReceiveBufferSize(RawInitiator.RECEIVE_BUFFER_BYTES);
        socket.connect(
                new InetSocketAddress("127.0.0.1", server.portals().getFirst().getPort()));
        socket.setSoTimeout(PATIENCE_MS);
        socket.setTcpNoDelay(true);
        in = new DataInputStream(socket.getInputStream());
        out = socket.getOutputStream();
    }

    /** Opens the first connection of a session at an error recovery level, and clears all unit attentions. */
    static WirePeer loggedIn(TargetServer server, int level, String... keys) throws IOException {
        var peer = new WirePeer(server, 0);
        assertThat(peer.login(level, 0, keys)).isZero();
        peer.takeAttentions();
        return peer;
    }

    /** Clears all unit attentions of the LUN. */
    void takeAttentions() throws IOException {
        int itt;
        do {
            itt = command(0, new byte[6], 0, new byte[0], true);
        } while (take(0x21, itt).status() == 2);
    }

    /**
     * Opens another connection of the session, or reinstates the one with this CID.
     *
     * @param expStatSnOfOld what the initiator has received of the old connection
     */
    WirePeer another(TargetServer server, int newCid, int expStatSnOfOld, String... keys)
            throws IOException {
        var peer = new WirePeer(server, numbers, newCid);
        assertThat(peer.login(2, expStatSnOfOld, keys)).isZero();
        return peer;
    }

    /** Logs in and returns status class and detail. */
    int login(int level, int expStatSnOfOld, String... keys) throws IOException {
        String text = initiator + "\n" + LOGIN
                + (numbers.tsih == 0 ? "ErrorRecoveryLevel=" + level + "\n" : "")
                + String.join("\n", keys) + (keys.length > 0 ? "\n" : "");
        ByteBuffer header = header(0x43, 0x87, newTag()); // T, from operational negotiation to full feature
        header.putInt(8, 0x80123456).putShort(14, (short) numbers.tsih);
        header.putShort(20, (short) cid).putInt(24, numbers.cmdSn).putInt(28, expStatSnOfOld);
        send(header, text.replace('\n', '\0').getBytes(StandardCharsets.UTF_8));
        Pdu answer = receive();
        assertThat(answer.opcode()).isEqualTo(0x23);
        int status = answer.header.getShort(36);
        if (status == 0) {
            if (numbers.tsih == 0) {
                assertThat(answer.text()).contains("ErrorRecoveryLevel=" + level);
            }
            assertThat(answer.text()).contains("DataDigest=CRC32C");
            numbers.tsih = answer.header.getShort(14) & 0xffff;
            expStatSn = answer.statSn() + 1;
            loginExpCmdSn = answer.expCmdSn();
            digests = true;
        }
        return status;
    }

    /** ExpCmdSN of the Login Response. */
    int loginExpCmdSn;

    int newTag() { return numbers.itt++; }

    // --- requests; they return their task tag ---

    /** A command with a new CmdSN. */
    int command(int flags, byte[] cdb, int expectedBytes, byte[] immediate, boolean isFinal)
            throws IOException {
        int itt = newTag();
        command(itt, numbers.cmdSn++, flags, cdb, expectedBytes, immediate, isFinal);
        return itt;
    }

    /** A command with everything said. */
    void command(int itt, int cmdSn, int flags, byte[] cdb, int expectedBytes, byte[] immediate,
            boolean isFinal) throws IOException {
        send(commandHeader(itt, cmdSn, flags, cdb, expectedBytes, isFinal), immediate);
    }

    ByteBuffer commandHeader(int itt, int cmdSn, int flags, byte[] cdb, int expectedBytes,
            boolean isFinal) {
        return header(0x01, (isFinal ? FINAL : 0) | flags, itt).put(9, (byte) lun)
                .putInt(20, expectedBytes).putInt(24, cmdSn).putInt(28, expStatSn).put(32, cdb);
    }

    /**
     * A command that sends and gets data, perhaps with a CDB of more than 16 bytes: both need additional header
     * segments (sections 11.2.2.3 and 11.2.2.4). No data go with it.
     */
    int bidirectional(byte[] cdb, int outBytes, int inBytes) throws IOException {
        int itt = newTag();
        int more = Math.max(0, cdb.length - 16);
        int extended = more == 0 ? 0 : 4 + (more + 3) / 4 * 4;
        ByteBuffer header = commandHeader(itt, numbers.cmdSn++, READ | WRITE,
                Arrays.copyOf(cdb, 16), outBytes, true);
        header.put(4, (byte) ((extended + 8) / 4)); // TotalAHSLength in words
        ByteBuffer pdu = ByteBuffer.allocate(48 + extended + 8).put(header.array());
        if (more > 0) {
            pdu.putShort((short) (more + 1)).put((byte) 1).put((byte) 0).put(cdb, 16, more);
        }
        pdu.position(48 + extended).putShort((short) 5).put((byte) 2).put((byte) 0).putInt(inBytes);
        sendBytes(pdu.array());
        return itt;
    }

    /** WRITE(10) without immediate data, to be asked for by R2T. */
    int write(int lba, int blocks) throws IOException {
        return command(WRITE, cdb10(0x2a, lba, blocks), blocks * 512, new byte[0], true);
    }

    int read(int lba, int blocks) throws IOException {
        return command(READ, cdb10(0x28, lba, blocks), blocks * 512, new byte[0], true);
    }

    static byte[] cdb10(int operation, int lba, int blocks) {
        return ByteBuffer.allocate(10).put((byte) operation).put((byte) 0).putInt(lba)
                .put((byte) 0).putShort((short) blocks).array();
    }

    /** Sends one Data-Out of a solicited sequence, with a range of the data. */
    void dataOut(int itt, int ttt, int dataSn, byte[] data, int from, int to, boolean isFinal)
            throws IOException {
        send(dataOutHeader(itt, ttt, dataSn, from, isFinal), Arrays.copyOfRange(data, from, to));
    }

    ByteBuffer dataOutHeader(int itt, int ttt, int dataSn, int offset, boolean isFinal) {
        return header(0x05, isFinal ? FINAL : 0, itt).putInt(20, ttt).putInt(28, expStatSn)
                .putInt(36, dataSn).putInt(40, offset);
    }

    /** Answers an R2T in one Data-Out. */
    void answer(Pdu r2t, byte[] data) throws IOException {
        dataOut(r2t.itt(), r2t.ttt(), 0, data, r2t.offset(), r2t.offset() + r2t.wanted(), true);
    }

    /** SNACK Request of type 0 Data/R2T, 1 Status, 2 DataACK, 3 R-Data. */
    void snack(int type, int itt, int ttt, int begRun, int runLength) throws IOException {
        send(header(0x10, FINAL | type, itt).putInt(20, ttt).putInt(28, expStatSn)
                .putInt(40, begRun).putInt(44, runLength), new byte[0]);
    }

    /** TASK REASSIGN; returns the response. */
    int reassign(int referencedTag, int expDataSn) throws IOException {
        int itt = newTag();
        send(header(0x42, FINAL | 8, itt).putInt(20, referencedTag).putInt(24, numbers.cmdSn)
                .putInt(28, expStatSn).putInt(36, expDataSn), new byte[0]);
        return take(0x22, itt).response();
    }

    /** ABORT TASK; returns the response. */
    int abort(int referencedTag) throws IOException {
        return managed(1, referencedTag);
    }

    /** LOGICAL UNIT RESET; returns its task tag. */
    int resetUnit() throws IOException {
        return manage(5, NONE);
    }

    /** A task management function on LUN 0, or on a task, by its number; returns its task tag. */
    int manage(int function, int referencedTag) throws IOException {
        int itt = newTag();
        send(header(0x42, FINAL | function, itt).putInt(20, referencedTag)
                .putInt(24, numbers.cmdSn).putInt(28, expStatSn).putInt(32, numbers.cmdSn),
                new byte[0]);
        return itt;
    }

    /** Sends a task management function; returns the response, which must be the next PDU. */
    int managed(int function, int referencedTag) throws IOException {
        return take(0x22, manage(function, referencedTag)).response();
    }

    /**
     * Logout for 0 the session, 1 a connection, 2 a connection to be recovered; returns the response.
     *
     * @param expStatSnOfClosed what the initiator has received of that connection
     */
    int logout(int reason, int ofCid, int expStatSnOfClosed) throws IOException {
        int itt = newTag();
        send(header(0x46, FINAL | reason, itt).putShort(20, (short) ofCid)
                .putInt(24, numbers.cmdSn).putInt(28, expStatSnOfClosed), new byte[0]);
        return take(0x26, itt).response();
    }

    /** A ping with data. */
    int ping(byte[] data) throws IOException {
        int itt = newTag();
        send(pingHeader(itt), data);
        return itt;
    }

    ByteBuffer pingHeader(int itt) {
        return header(0x40, FINAL, itt).putInt(20, NONE).putInt(24, numbers.cmdSn).putInt(28,
                expStatSn);
    }

    /** Answers a ping of the target. */
    void pong(Pdu ping) throws IOException {
        send(header(0x40, FINAL, NONE).putInt(20, ping.ttt()).putInt(24, numbers.cmdSn)
                .putInt(28, expStatSn), new byte[0]);
    }

    /** A Text Request of one PDU. */
    int text(String keys) throws IOException {
        int itt = newTag();
        send(header(0x44, FINAL, itt).putInt(20, NONE).putInt(24, numbers.cmdSn).putInt(28,
                expStatSn), keys.replace('\n', '\0').getBytes(StandardCharsets.UTF_8));
        return itt;
    }

    // --- bytes ---

    private static ByteBuffer header(int opcode, int flags, int itt) {
        return ByteBuffer.allocate(48).put(0, (byte) opcode).put(1, (byte) flags).putInt(16, itt);
    }

    void send(ByteBuffer header, byte[] data) throws IOException {
        sendBytes(bytes(header, data, false));
    }

    /** Sends a PDU whose data digest is wrong. */
    void sendDamaged(ByteBuffer header, byte[] data) throws IOException {
        sendBytes(bytes(header, data, true));
    }

    byte[] bytes(ByteBuffer header, byte[] data, boolean damaged) {
        int padded = (data.length + 3) / 4 * 4;
        boolean digest = digests && data.length > 0;
        header.putInt(4, data.length); // the data are shorter than 16 MiB, so TotalAHSLength stays 0
        ByteBuffer bytes = ByteBuffer.allocate(48 + padded + (digest ? 4 : 0));
        bytes.put(0, header.array()).put(48, data);
        if (digest) {
            var crc = new CRC32C();
            crc.update(bytes.array(), 48, padded);
            bytes.order(ByteOrder.LITTLE_ENDIAN).putInt(48 + padded,
                    (int) crc.getValue() ^ (damaged ? 1 : 0));
        }
        return bytes.array();
    }

    void sendBytes(byte[] bytes) throws IOException {
        out.write(bytes);
        out.flush();
    }

    /** Receives the next PDU without acknowledging it. */
    Pdu receive() throws IOException {
        byte[] header = new byte[48];
        in.readFully(header);
        ByteBuffer fields = ByteBuffer.wrap(header);
        assertThat(fields.get(4)).as("TotalAHSLength").isZero();
        byte[] data = new byte[fields.getInt(4) & 0xffffff];
        in.readFully(data);
        in.skipNBytes((4 - data.length % 4) % 4);
        if (digests && data.length > 0) {
            var crc = new CRC32C();
            crc.update(Arrays.copyOf(data, (data.length + 3) / 4 * 4));
            assertThat(Integer.reverseBytes(in.readInt())).as("data digest")
                    .isEqualTo((int) crc.getValue());
        }
        return new Pdu(fields, data);
    }

    /** Receives the next PDU, whose status is acknowledged by the next request. */
    Pdu take() throws IOException {
        Pdu pdu = receive();
        if (pdu.isStatus()) {
            assertThat(pdu.statSn()).as("StatSN").isEqualTo(expStatSn);
            expStatSn++;
        }
        return pdu;
    }

    /** Receives and acknowledges the next PDU, which must have this opcode and task tag. */
    Pdu take(int opcode, int itt) throws IOException {
        Pdu pdu = take();
        assertThat(pdu.opcode()).as("opcode").isEqualTo(opcode);
        assertThat(pdu.itt()).as("task tag").isEqualTo(itt);
        return pdu;
    }

    /** Like {@link #take(int, int)}, but answers pings of the target first. */
    Pdu takeBetweenPings() throws IOException {
        Pdu pdu = take();
        while (pdu.opcode() == 0x20 && pdu.itt() == NONE) {
            pong(pdu);
            pdu = take();
        }
        return pdu;
    }

    /** Receives the next PDU, which must have this opcode and task tag, and treats it as lost. */
    Pdu lose(int opcode, int itt) throws IOException {
        Pdu pdu = receive();
        assertThat(pdu.opcode()).as("opcode").isEqualTo(opcode);
        assertThat(pdu.itt()).as("task tag").isEqualTo(itt);
        return pdu;
    }

    /** Takes a SCSI Response and says whether it is GOOD. */
    boolean isGood(int itt) throws IOException {
        Pdu response = take(0x21, itt);
        return response.response() == 0 && response.status() == 0;
    }

    /** Takes a Reject and returns its reason. */
    int rejected() throws IOException {
        return take(0x3f, NONE).response();
    }

    /** Whether no PDU is pending: the response to a ping is the next PDU. */
    boolean isSilent() throws IOException {
        int itt = ping(new byte[0]);
        return take().itt() == itt;
    }

    boolean isClosedByTarget() throws IOException {
        try {
            while (true) {
                receive();
            }
        } catch (EOFException | SocketException _) {
            return true;
        }
    }

    @Override
    public void close() throws IOException { socket.close(); }
}
