package lunar.testkit;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.zip.CRC32C;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.DataOut;
import lunar.iscsi.pdu.InitiatorPdu;
import lunar.iscsi.pdu.LoginRequest;
import lunar.iscsi.pdu.LoginResponse;
import lunar.iscsi.pdu.LoginStage;
import lunar.iscsi.pdu.Pdu;
import lunar.iscsi.pdu.SnackRequest;
import lunar.iscsi.pdu.TargetPdu;

/**
 * Target end of a connection of a {@link ScriptedTarget}: blocking, PDU by PDU. The script controls status numbers and
 * digests, valid or not; {@link #statSn} and {@link #maxCmdSn} help with that.
 */
public final class ScriptedPeer {
    private static final int WORD = 4;
    private static final int WINDOW = 64;

    /** Keys that the target declares, offered or not. */
    private static final Set<String> DECLARED = Set.of("TargetPortalGroupTag",
            "MaxRecvDataSegmentLength");
    private static final Map<String, String> ANSWERS = answers();

    private final Socket socket;
    private final DataInputStream in;
    private final OutputStream out;
    private byte[] data = {};
    private int statSn = 1;
    private int expCmdSn = 1;
    private int window = WINDOW;
    private boolean headerDigest;
    private boolean dataDigest;

    private static Map<String, String> answers() {
        var answers = new LinkedHashMap<String, String>();
        answers.put("TargetPortalGroupTag", "1");
        answers.put("MaxRecvDataSegmentLength", "8192");
        answers.put("HeaderDigest", "None");
        answers.put("DataDigest", "None");
        answers.put("InitialR2T", "Yes");
        answers.put("ImmediateData", "Yes");
        answers.put("MaxBurstLength", "16384");
        answers.put("FirstBurstLength", "8192");
        answers.put("MaxOutstandingR2T", "1");
        answers.put("MaxConnections", "1");
        answers.put("DefaultTime2Wait", "2");
        answers.put("DefaultTime2Retain", "0");
        answers.put("DataPDUInOrder", "Yes");
        answers.put("DataSequenceInOrder", "Yes");
        answers.put("ErrorRecoveryLevel", "0");
        answers.put("TaskReporting", "RFC3720");
        answers.put("iSCSIProtocolLevel", "1");
        return answers;
    }

    ScriptedPeer(Socket socket) throws IOException {
        this.socket = socket;
        this.in = new DataInputStream(socket.getInputStream());
        this.out = socket.getOutputStream();
    }

    // --- numbers ---

    /** A StatSN, used up. */
    public int statSn() { return statSn++; }

    /** The StatSN that comes next. */
    public int nextStatSn() { return statSn; }

    /** ExpCmdSN as follows from what was received. */
    public int expCmdSn() { return expCmdSn; }

    /** Goes on with the numbering of a session from here. */
    public void expCmdSn(int value) {
        expCmdSn = value;
    }

    /** MaxCmdSN for a window of {@link #window} commands. */
    public int maxCmdSn() {
        return expCmdSn + window - 1;
    }

    /** Sets the command window. */
    public void window(int commands) { window = commands; }

    /** Sets the digests in use from now on. */
    public void digests(boolean header, boolean dataToo) {
        headerDigest = header;
        dataDigest = dataToo;
    }

    // --- receiving ---

    /** The next PDU; its data are in {@link #data}. */
    public InitiatorPdu receive() throws IOException {
        byte[] header = in.readNBytes(Bhs.LENGTH);
        if (header.length < Bhs.LENGTH) {
            throw new EOFException("the initiator closed the connection");
        }
        var bhs = new Bhs().wrap(MemorySegment.ofArray(header));
        byte[] ahs = in.readNBytes(bhs.totalAhsLengthBytes());
        if (headerDigest) {
            in.readInt();
        }
        data = in.readNBytes(bhs.dataSegmentLength());
        in.skipNBytes(-data.length & (WORD - 1));
        if (dataDigest && data.length > 0) {
            in.readInt();
        }
        InitiatorPdu pdu = InitiatorPdu.decode(bhs, MemorySegment.ofArray(ahs));
        boolean numbered = !pdu.immediate() && pdu.opcode() != DataOut.OPCODE
                && pdu.opcode() != SnackRequest.OPCODE;
        if (numbered) {
            expCmdSn++;
        }
        return pdu;
    }

    /** The next PDU, which must be of this kind. */
    public <P extends InitiatorPdu> P receive(Class<P> kind) throws IOException {
        InitiatorPdu pdu = receive();
        if (!kind.isInstance(pdu)) {
            throw new AssertionError("expected " + kind.getSimpleName() + ", received " + pdu);
        }
        return kind.cast(pdu);
    }

    /** Data segment of the PDU received last. */
    public byte[] data() { return data.clone(); }

    /** Waits until the initiator closes its side; discards data until then. */
    public void awaitEnd() throws IOException {
        byte[] waste = new byte[4096];
        while (in.read(waste) >= 0) {
            // discarded
        }
    }

    // --- sending ---

    /** Sends a PDU without data. */
    public void send(TargetPdu pdu) throws IOException {
        send(pdu, new byte[0]);
    }

    /** Sends a PDU with data. */
    public void send(TargetPdu pdu, byte[] dataSegment) throws IOException {
        sendBytes(encode(pdu, dataSegment));
    }

    /** Sends any bytes. */
    public void sendBytes(byte[] bytes) throws IOException {
        out.write(bytes);
        out.flush();
    }

    /** Sends bytes as a recording has them: hexadecimal digits, blanks allowed. */
    public void sendHex(String hex) throws IOException {
        sendBytes(HexFormat.of().parseHex(hex.replaceAll("\\s", "")));
    }

    /** Returns a PDU as sent on the wire, with padding and the current digests. */
    public byte[] encode(Pdu pdu, byte[] dataSegment) {
        int padding = -dataSegment.length & (WORD - 1);
        int headerLength = Bhs.LENGTH + (headerDigest ? WORD : 0);
        boolean hasDataDigest = dataDigest && dataSegment.length > 0;
        byte[] bytes = new byte[headerLength + dataSegment.length + padding
                + (hasDataDigest ? WORD : 0)];
        var bhs = new Bhs().wrap(MemorySegment.ofArray(bytes));
        pdu.encode(bhs);
        bhs.lengths(0, dataSegment.length);
        if (headerDigest) {
            putDigest(bytes, 0, Bhs.LENGTH);
        }
        System.arraycopy(dataSegment, 0, bytes, headerLength, dataSegment.length);
        if (hasDataDigest) {
            putDigest(bytes, headerLength, dataSegment.length + padding);
        }
        return bytes;
    }

    private static void putDigest(byte[] bytes, int from, int length) {
        var crc = new CRC32C();
        crc.update(bytes, from, length);
        int value = Integer.reverseBytes((int) crc.getValue());
        for (int i = 0; i < WORD; i++) {
            bytes[from + length + i] = (byte) (value >> (24 - 8 * i));
        }
    }

    /** Ends the connection now; with a reset, so that the initiator may lose what it has not read yet. */
    public void cut() throws IOException {
        socket.setSoLinger(true, 0);
        socket.close();
    }

    // --- login ---

    /**
     * Accepts the login of the initiator. Negotiates small bursts, no digests and no unsolicited Data-Out, unless
     * overridden by these keys; negotiated digests apply from then on.
     *
     * @param overrides key=value
     */
    public void login(String... overrides) throws IOException {
        LoginRequest _ = admit(overrides);
    }

    /** Like {@link #login}, but returns the Login Request that ended the login. */
    public LoginRequest admit(String... overrides) throws IOException {
        LoginRequest request = receive(LoginRequest.class);
        if (request.currentStage() == LoginStage.SECURITY) {
            send(new LoginResponse(true, false, LoginStage.SECURITY, LoginStage.OPERATIONAL, 0, 0,
                    request.isid(), 0, request.itt(), statSn(), expCmdSn, maxCmdSn(), 0, 0),
                    "AuthMethod=None\0".getBytes(StandardCharsets.UTF_8));
            request = receive(LoginRequest.class);
        }
        var answers = new LinkedHashMap<>(ANSWERS);
        for (String each : overrides) {
            int equals = each.indexOf('=');
            answers.put(each.substring(0, equals), each.substring(equals + 1));
        }
        var text = new StringBuilder();
        String offered = "\0" + new String(data, StandardCharsets.UTF_8);
        answers.forEach((key, value) -> {
            if (DECLARED.contains(key) || offered.contains("\0" + key + "=")) {
                text.append(key).append('=').append(value).append('\0');
            }
        });
        send(loginResponse(request, true, 0, 0),
                text.toString().getBytes(StandardCharsets.UTF_8));
        headerDigest = "CRC32C".equals(answers.get("HeaderDigest"));
        dataDigest = "CRC32C".equals(answers.get("DataDigest"));
        return request;
    }

    /** An answer to a Login Request: the end of the login, or a refusal. */
    public LoginResponse loginResponse(LoginRequest request, boolean transit, int statusClass,
            int statusDetail) {
        return new LoginResponse(transit, false, request.currentStage(),
                transit ? LoginStage.FULL_FEATURE : request.currentStage(), 0, 0, request.isid(),
                transit ? 1 : 0, request.itt(), statSn(), expCmdSn, maxCmdSn(), statusClass,
                statusDetail);
    }
}
