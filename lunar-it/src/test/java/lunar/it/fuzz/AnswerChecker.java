package lunar.it.fuzz;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import lunar.iscsi.IscsiException;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.framing.Framing;
import lunar.iscsi.framing.PduReader;
import lunar.iscsi.framing.PduReceiver;
import lunar.iscsi.pdu.AsyncMessage;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.DataIn;
import lunar.iscsi.pdu.LoginResponse;
import lunar.iscsi.pdu.LoginStage;
import lunar.iscsi.pdu.LogoutResponse;
import lunar.iscsi.pdu.NopIn;
import lunar.iscsi.pdu.R2t;
import lunar.iscsi.pdu.Reject;
import lunar.iscsi.pdu.ScsiResponse;
import lunar.iscsi.pdu.TargetPdu;
import lunar.iscsi.pdu.TaskManagementResponse;
import lunar.iscsi.pdu.TextResponse;
import lunar.scsi.Sense;
import lunar.scsi.Status;
import org.jspecify.annotations.Nullable;

/**
 * Checks the target's responses on one connection: decodable PDUs with valid digests, status numbers that increase by
 * one except on retransmission (RFC 7143 section 4.2.2.2), and a valid command window.
 */
final class AnswerChecker implements PduReceiver {
    private static final int ANY_LENGTH = (1 << 24) - 1;
    private static final int MAX_WINDOW = 4 * 128; // of a session with several units;

    private final Map<String, Integer> seen;
    private final PduReader reader = new PduReader(this);
    private final StringBuilder loginText = new StringBuilder();
    /** Responses that may be requested again, by StatSN; from error recovery level 1 on. */
    private final Map<Integer, String> statuses = new HashMap<>();
    private boolean recovers;
    private boolean numbered;
    private boolean busy;
    private int nextStatSn;
    private int answeredProbes;
    private int loginResponses;
    private byte @Nullable [] challenge;

    /** {@code seen} counts answers by kind. */
    AnswerChecker(Map<String, Integer> seen) {
        this.seen = seen;
    }

    /** How many streams were survived for certain. */
    int answeredProbes() {
        return answeredProbes;
    }

    /** Whether a command was refused for want of memory, so that the target did not ask for its data. */
    boolean wasBusy() {
        return busy;
    }

    int loginResponses() { return loginResponses; }

    /** The text with a CHAP challenge, once. */
    byte @Nullable [] takeChallenge() {
        byte[] text = challenge;
        challenge = null;
        return text;
    }

    boolean inPdu() { return reader.inPdu(); }

    /** Where to read to: behind what is left of the last time. */
    int restore(MemorySegment staging) {
        return reader.restore(staging);
    }

    /** Checks what was read; returns whether there is more than the start of a PDU. */
    void check(MemorySegment staging, int length) {
        try {
            ByteBuffer rest = reader.destination();
            int from = 0;
            if (rest != null) { // a shell with one buffer: what belongs to the destination is in front
                from = Math.min(rest.remaining(), length);
                MemorySegment.copy(staging, 0, MemorySegment.ofBuffer(rest), 0, from);
                rest.position(rest.position() + from);
            }
            MemorySegment.copy(staging, from, staging, 0, length - from);
            reader.consume(staging, length - from);
        } catch (IscsiException e) {
            throw new FuzzFailure("an answer that breaks a rule: " + e.getMessage(), e);
        }
    }

    @Override
    public MemorySegment dataDestination(Bhs bhs, MemorySegment ahs, int length) {
        return MemorySegment.NULL;
    }

    @Override
    public void received(Bhs bhs, MemorySegment ahs, MemorySegment data) throws ProtocolException {
        TargetPdu pdu = TargetPdu.decode(bhs, ahs);
        seen.merge(kind(pdu), 1, Integer::sum);
        int open = pdu.maxCmdSn() - pdu.expCmdSn() + 1;
        if (open < 0 || open > MAX_WINDOW) {
            throw new FuzzFailure("a command window of " + open + " in " + pdu);
        }
        switch (pdu) {
            case LoginResponse response -> login(response, data);
            case DataIn in when !in.hasStatus() -> {
            }
            case R2t _ -> status(pdu, false);
            case NopIn nop -> {
                status(pdu, nop.itt() != Bhs.NO_TAG);
                int probe = nop.itt() - Requests.PROBE;
                if (probe >= 0 && probe < 256) {
                    answeredProbes = Math.max(answeredProbes, probe + 1);
                }
            }
            case ScsiResponse response -> {
                status(pdu, true);
                busy |= response.status() == Status.BUSY.code();
                sense(response, data);
            }
            case DataIn _,TaskManagementResponse _,TextResponse _,LogoutResponse _,Reject _,AsyncMessage _ ->
                status(pdu, true);
        }
    }

    private static String kind(TargetPdu pdu) {
        return pdu.getClass().getSimpleName() + switch (pdu) {
            case ScsiResponse response -> " status " + Integer.toHexString(response.status());
            case Reject reject -> " reason " + Integer.toHexString(reject.reason());
            case LoginResponse response -> " " + response.statusClass() + "/"
                    + response.statusDetail();
            case TaskManagementResponse response -> " " + response.response();
            default -> "";
        };
    }

    private void login(LoginResponse response, MemorySegment data) {
        loginResponses++;
        if (response.statusClass() != 0) {
            return; // its StatSN means nothing
        }
        status(response, true);
        byte[] bytes = data.toArray(ValueLayout.JAVA_BYTE);
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        loginText.append(text);
        if (text.contains("CHAP_C=")) {
            challenge = bytes;
        }
        if (response.transit() && response.nextStage() == LoginStage.FULL_FEATURE) {
            var answered = Arrays.asList(loginText.toString().split("\0", -1));
            recovers = answered.contains("ErrorRecoveryLevel=1")
                    || answered.contains("ErrorRecoveryLevel=2");
            reader.framing(new Framing(answered.contains("HeaderDigest=CRC32C"),
                    answered.contains("DataDigest=CRC32C"), ANY_LENGTH, 0));
        }
    }

    private void status(TargetPdu pdu, boolean usesUp) {
        if (numbered && pdu.statSn() != nextStatSn) {
            if (recovers && usesUp && sentBefore(pdu)) {
                return;
            }
            throw new FuzzFailure("StatSN " + pdu.statSn() + ", not " + nextStatSn + ", in " + pdu);
        }
        numbered = true;
        nextStatSn = usesUp ? pdu.statSn() + 1 : pdu.statSn();
        if (recovers && usesUp) {
            statuses.put(pdu.statSn(), kind(pdu) + " " + pdu.itt());
        }
    }

    /** Whether it is once more, for a SNACK, what had this number before (section 11.16). */
    private boolean sentBefore(TargetPdu pdu) {
        return (kind(pdu) + " " + pdu.itt()).equals(statuses.get(pdu.statSn()));
    }

    private static void sense(ScsiResponse response, MemorySegment data) {
        if (response.status() != Status.CHECK_CONDITION.code()) {
            return;
        }
        long length = data.byteSize() < 2
                ? -1
                : data.get(ValueLayout.JAVA_SHORT_UNALIGNED
                        .withOrder(java.nio.ByteOrder.BIG_ENDIAN), 0) & 0xffff;
        if (length < 8 || length > data.byteSize() - 2) {
            throw new FuzzFailure("sense data of " + length + " bytes in " + response);
        }
        Sense _ = Sense.decode(data.asSlice(2, length));
    }

    @Override
    public void dataDigestError(Bhs bhs) {
        throw new FuzzFailure("a wrong data digest in the PDU " + java.util.HexFormat.of()
                .formatHex(bhs.bytes().toArray(ValueLayout.JAVA_BYTE)));
    }

    @Override
    public void batchEnd() {}

    @Override
    public void closed(java.io.@Nullable IOException cause) {}
}
