package lunar.target.internal.task;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Objects;
import lunar.iscsi.pdu.AsyncEvent;
import lunar.iscsi.pdu.AsyncMessage;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.DataIn;
import lunar.iscsi.pdu.LogoutResponse;
import lunar.iscsi.pdu.NopIn;
import lunar.iscsi.pdu.Pdu;
import lunar.iscsi.pdu.R2t;
import lunar.iscsi.pdu.Reject;
import lunar.iscsi.pdu.RejectReason;
import lunar.iscsi.pdu.Residual;
import lunar.iscsi.pdu.ScsiResponse;
import lunar.iscsi.pdu.TaskManagementResponse;
import lunar.iscsi.pdu.TextResponse;
import lunar.iscsi.session.CommandWindow;
import lunar.iscsi.session.StatusNumbering;
import lunar.iscsi.spi.Transport;
import lunar.iscsi.transfer.BurstRules;
import lunar.iscsi.transfer.DataInPlan;
import lunar.scsi.Lun;
import lunar.scsi.Sense;
import lunar.scsi.Status;
import org.jspecify.annotations.Nullable;

/**
 * Sends the PDUs of a connection in full feature phase. The frequent ones, Data-In, SCSI Response and R2T, are written
 * field by field into one reused header; nothing is allocated for them.
 *
 * <p>ExpStatSN is ignored at ErrorRecoveryLevel 0: nothing depends on it there, and libiscsi counts the StatSN of an
 * R2T as a status, so it acknowledges a status that was never sent. At higher levels PDUs with a status number are kept
 * until they are acknowledged.
 */
public final class ResponseSender {
    private static final int STAT_SN = 24;
    private static final int EXP_CMD_SN = 28;
    private static final int MAX_CMD_SN = 32;
    private static final int FINAL = 0x80;

    /** Shifts the flags of a residual to those of the bidirectional read residual. */
    private static final int BIDIRECTIONAL_SHIFT = 2;

    /** Status qualifier: retry after this many times 100 ms, on this nexus and unit. */
    private static final int RETRY_DELAY = 2;

    private final Transport transport;
    private final CommandWindow window;
    private final StatusNumbering status;
    private final BurstRules rules;
    private final MemorySegment header = Arena.ofAuto().allocate(Bhs.LENGTH, 8);
    private final Bhs bhs = new Bhs().wrap(header);
    private final boolean retryDelays;
    private final boolean recovers;
    private final Unacknowledged unacknowledged;
    private DataInPlan plan;
    private int maxSendBytes;

    /**
     * @param retryDelays whether the initiator supports a retry delay in the status qualifier
     * @param recovers whether PDUs are kept until they are acknowledged: error recovery level 1 and above
     * @param kept keeps them
     */
    ResponseSender(Transport transport, CommandWindow window, StatusNumbering status,
            BurstRules rules, int maxSendBytes, boolean retryDelays, boolean recovers,
            Unacknowledged kept) {
        this.retryDelays = retryDelays;
        this.recovers = recovers;
        unacknowledged = kept;
        this.transport = transport;
        this.window = window;
        this.status = status;
        this.rules = rules;
        this.maxSendBytes = maxSendBytes;
        plan = planOf(maxSendBytes);
    }

    /** Plans Data-In of what the initiator receives at once; one for each burst, where the transport places them. */
    private DataInPlan planOf(int pduBytes) {
        return new DataInPlan(rules, transport.placesData() ? rules.maxBurstBytes() : pduBytes);
    }

    /**
     * Adapts to another MaxRecvDataSegmentLength that the initiator has declared. No effect where the transport places
     * data: other keys, which only a login negotiates, stand for it (RFC 7145 section 6).
     */
    public void maxSendBytes(int bytes) {
        if (!transport.placesData()) {
            maxSendBytes = bytes;
            plan = planOf(bytes);
        }
    }

    public int maxSendBytes() { return maxSendBytes; }

    /** Sends Data-In and status of a task that has ended (RFC 7143 sections 11.4 and 11.7). */
    void respond(Task task) {
        boolean good = task.outcome().status() == Status.GOOD;
        begin(task, good && task.expectedOutBytes() == 0 && !recovers && !transport.placesData());
        task.hold(); // until all PDUs are handed over: short data is copied and released at once
        while (plan.next()) {
            sendDataIn(task);
        }
        if (!plan.statusSent()) {
            response(task);
        }
        task.answered();
    }

    private void begin(Task task, boolean collapse) { begin(plan, task, collapse); }

    private static void begin(DataInPlan plan, Task task, boolean collapse) {
        plan.begin(task.expectedInBytes(), task.outcome().dataInBytes(), collapse);
        // R2Ts and Data-In of a bidirectional command are numbered together (section 11.7.5).
        int r2ts = task.isBidirectional() ? task.transfer().expDataSn() : 0;
        plan.resume(task.outcome().acknowledgedBytes(),
                Math.max(task.outcome().acknowledgedPdus(), r2ts));
    }

    /** Sends the Data-In that is planned; the transport uses the data until it releases the task. */
    private void sendDataIn(Task task) {
        dataIn(task, plan);
        task.hold();
        TaskData data = task.data();
        if (data.isTransferred()) {
            transport.transfer(header, data, plan.offset(), task);
        } else {
            transport.send(header, data.dataIn(plan.offset(), plan.length()), task);
        }
    }

    private void dataIn(Task task, DataInPlan data) {
        boolean withStatus = data.carriesStatus();
        bhs.start(DataIn.OPCODE, false, (data.isFinal() ? FINAL : 0)
                | (withStatus ? DataIn.HAS_STATUS | residualFlags(data.residual()) : 0));
        bhs.lengths(0, data.length());
        bhs.int32(Pdu.ITT, task.itt());
        bhs.int32(Pdu.TTT, Bhs.NO_TAG);
        if (withStatus) {
            bhs.int8(DataIn.STATUS, Status.GOOD.code());
            bhs.int32(STAT_SN, status.next());
            bhs.int32(DataIn.RESIDUAL_COUNT, data.residual().bytes());
        }
        window();
        bhs.int32(DataIn.DATA_SN, data.dataSn());
        bhs.int32(DataIn.BUFFER_OFFSET, data.offset());
    }

    private void response(Task task) {
        Residual residual = residual(task);
        Residual ofRead = task.isBidirectional() ? readResidual(task) : Residual.NONE;
        Sense sense = task.outcome().sense();
        bhs.start(ScsiResponse.OPCODE, false,
                FINAL | residualFlags(residual) | residualFlags(ofRead) << BIDIRECTIONAL_SHIFT);
        bhs.int8(ScsiResponse.STATUS, task.outcome().status().code());
        bhs.int16(ScsiResponse.STATUS_QUALIFIER, qualifier(task));
        bhs.int32(Pdu.ITT, task.itt());
        bhs.int32(STAT_SN, status.next());
        window();
        bhs.int32(ScsiResponse.EXP_DATA_SN, task.expectedOutBytes() > 0 && !task.isBidirectional()
                ? task.transfer().expDataSn()
                : plan.pduCount());
        bhs.int32(ScsiResponse.BIDIRECTIONAL_READ_RESIDUAL_COUNT, ofRead.bytes());
        bhs.int32(ScsiResponse.RESIDUAL_COUNT, residual.bytes());
        MemorySegment data = MemorySegment.NULL;
        if (sense != null) {
            // SenseLength precedes the sense data (RFC 7143 section 11.4.7)
            byte[] bytes = sense.encode(task.server().descriptorSense());
            byte[] segment = new byte[bytes.length + 2];
            segment[0] = (byte) (bytes.length >> 8);
            segment[1] = (byte) bytes.length;
            System.arraycopy(bytes, 0, segment, 2, bytes.length);
            data = MemorySegment.ofArray(segment);
        }
        bhs.lengths(0, (int) data.byteSize());
        if (recovers) {
            keep(data, task);
        }
        transport.send(header, data, Transport.Release.NOTHING);
    }

    /** Keeps the PDU of the header until its StatSN is acknowledged. */
    private void keep(MemorySegment data, @Nullable Task task) {
        unacknowledged.add(new Unacknowledged.Sent(bhs.int32(STAT_SN),
                MemorySegment.ofArray(header.toArray(ValueLayout.JAVA_BYTE)), data, task,
                maxSendBytes));
    }

    /** Releases the PDUs before a StatSN, which the initiator has received. */
    public void acknowledge(int expStatSn) {
        unacknowledged.acknowledge(expStatSn);
    }

    /** Releases the PDUs that only this connection, which is lost, could have retransmitted. */
    void lost() {
        unacknowledged.keepTasks();
    }

    /** Releases all PDUs that are kept; nothing is retransmitted on this connection. */
    void forget() {
        unacknowledged.close();
    }

    // --- retransmission ---

    /** Retransmits PDUs with a status (section 11.16.1); returns false if none of them is kept. */
    boolean statusAgain(int firstStatSn, int length) {
        List<Unacknowledged.Sent> run = unacknowledged.run(firstStatSn, length);
        run.forEach(this::again);
        return !run.isEmpty();
    }

    private void again(Unacknowledged.Sent pdu) {
        header.copyFrom(pdu.header());
        window();
        transport.send(header, pdu.data(), Transport.Release.NOTHING);
    }

    /** Retransmits Data-In of a task; returns false if they are not kept or would be segmented differently now. */
    boolean dataAgain(int itt, int firstDataSn, int length) {
        Unacknowledged.Sent kept = unacknowledged.ofTask(itt);
        return kept != null && kept.pduBytes() == maxSendBytes
                && dataAgain(Objects.requireNonNull(kept.task()), firstDataSn, length);
    }

    private boolean dataAgain(Task task, int firstDataSn, int length) {
        boolean any = false;
        begin(task, false);
        task.hold();
        while (plan.next()) {
            int distance = plan.dataSn() - firstDataSn;
            if (distance >= 0 && (length == 0 || Integer.compareUnsigned(distance, length) < 0)) {
                any = true;
                sendDataIn(task);
            }
        }
        task.release();
        return any;
    }

    /**
     * Retransmits all Data-In of a task with new segmentation, then its status with the request's tag (sections 11.16.3
     * and 11.4.6).
     */
    boolean allDataAgain(int itt, int snackTag) {
        Unacknowledged.Sent kept = unacknowledged.ofTask(itt);
        if (kept == null || !dataAgain(Objects.requireNonNull(kept.task()), 0, 0)) {
            return false;
        }
        header.copyFrom(kept.header());
        window();
        bhs.int32(ScsiResponse.SNACK_TAG, snackTag);
        bhs.int32(ScsiResponse.EXP_DATA_SN, plan.pduCount());
        transport.send(header, kept.data(), Transport.Release.NOTHING);
        return true;
    }

    /** Returns the task of a tag with its status not acknowledged yet, or null. */
    @Nullable
    Task unacknowledged(int itt) {
        Unacknowledged.Sent kept = unacknowledged.ofTask(itt);
        return kept == null ? null : kept.task();
    }

    /**
     * Sends data and status of a task that was reassigned from another connection after it had ended (section 7.2.2).
     *
     * @param expDataSn first Data-In that the initiator has not received; 0 or an invalid number for all of them
     */
    void adopt(Task task, ResponseSender from, int expDataSn) {
        Unacknowledged.Sent kept = Objects.requireNonNull(from.unacknowledged.ofTask(task.itt()));
        boolean isHeld = from.unacknowledged.hand(kept);
        DataInPlan before = planOf(kept.pduBytes());
        begin(before, task, false);
        while (before.pduCount() != expDataSn && before.next()) {
        }
        if (expDataSn > 0 && before.pduCount() == expDataSn) {
            task.outcome().acknowledged(expDataSn, before.nextOffset());
        }
        respond(task);
        if (isHeld) {
            task.release();
        }
    }

    /**
     * Returns the residual: a failed command counts as transferring nothing, a successful one the length of its CDB
     * (11.4.5), one that returns data with its sense data the length of these.
     */
    private Residual residual(Task task) {
        if (!task.outcome().hasTransferred()
                && (task.outcome().status() == Status.CHECK_CONDITION
                        || task.outcome().status() == Status.BUSY
                        || task.outcome().status() == Status.TASK_SET_FULL)) {
            return task.declaresDataOut()
                    ? task.overflow()
                    : Residual.of(task.expectedInBytes(), 0);
        }
        return task.declaresDataOut() ? task.transfer().residual() : plan.residual();
    }

    private Residual readResidual(Task task) {
        return task.outcome().hasTransferred()
                ? plan.residual()
                : Residual.of(task.expectedInBytes(), 0);
    }

    /** Returns how long to wait before a retry, for initiators that understand it (SAM-5 section 5.3.2). */
    private int qualifier(Task task) {
        return (task.outcome().status() == Status.BUSY
                || task.outcome().status() == Status.TASK_SET_FULL)
                && retryDelays ? RETRY_DELAY : 0;
    }

    private static int residualFlags(Residual residual) {
        return switch (residual.kind()) {
            case NONE -> 0;
            case OVERFLOW -> DataIn.OVERFLOW;
            case UNDERFLOW -> DataIn.UNDERFLOW;
        };
    }

    private void window() {
        bhs.int32(EXP_CMD_SN, window.expCmdSn());
        bhs.int32(MAX_CMD_SN, window.maxCmdSn());
    }

    /** Sends the R2T that the task's transfer has just planned. */
    void r2t(Task task, int ttt) {
        encodeR2t(task, ttt);
        transport.send(header, MemorySegment.NULL, Transport.Release.NOTHING);
    }

    /** Makes the transport fetch the data of the R2T that the task's transfer has just planned. */
    void fetch(Task task, int ttt, MemorySegment into, Transport.Release release) {
        encodeR2t(task, ttt);
        transport.fetch(header, into, release);
    }

    private void encodeR2t(Task task, int ttt) {
        bhs.start(R2t.OPCODE, false, FINAL);
        bhs.int64(Pdu.LUN, task.lun().value());
        bhs.int32(Pdu.ITT, task.itt());
        bhs.int32(Pdu.TTT, ttt);
        bhs.int32(STAT_SN, status.current());
        window();
        bhs.int32(R2t.R2T_SN, task.transfer().r2tSn());
        bhs.int32(R2t.BUFFER_OFFSET, task.transfer().r2tOffset());
        bhs.int32(R2t.DESIRED_DATA_TRANSFER_LENGTH, task.transfer().r2tLength());
    }

    /** Answers a ping, with its data (section 11.19). */
    public void nopIn(Lun lun, int itt, MemorySegment data) {
        new NopIn(lun, itt, Bhs.NO_TAG, status.next(), window.expCmdSn(), window.maxCmdSn())
                .encode(bhs);
        send(data);
    }

    int nextStatSn() { return status.current(); }

    /** Pings the initiator. */
    void ping(int ttt) {
        new NopIn(Lun.ZERO, Bhs.NO_TAG, ttt, status.current(), window.expCmdSn(), window.maxCmdSn())
                .encode(bhs);
        send(MemorySegment.NULL);
    }

    /** Sends an Asynchronous Message (section 11.9). */
    public void announce(Lun lun, AsyncEvent event, int parameter1, int parameter2,
            int parameter3) {
        new AsyncMessage(lun, status.next(), window.expCmdSn(), window.maxCmdSn(), event.code(), 0,
                parameter1, parameter2, parameter3).encode(bhs);
        send(MemorySegment.NULL);
    }

    public void managed(int itt, int response, int information) {
        new TaskManagementResponse(response, information, itt, status.next(), window.expCmdSn(),
                window.maxCmdSn())
                .encode(bhs);
        send(MemorySegment.NULL);
    }

    public void text(boolean isFinal, boolean more, Lun lun, int itt, int ttt, MemorySegment text) {
        new TextResponse(isFinal, more, lun, itt, ttt, status.next(), window.expCmdSn(),
                window.maxCmdSn())
                .encode(bhs);
        send(text);
    }

    public void loggedOut(int itt, int response, int time2waitSeconds, int time2retainSeconds) {
        new LogoutResponse(response, itt, status.next(), window.expCmdSn(), window.maxCmdSn(),
                time2waitSeconds, time2retainSeconds).encode(bhs);
        send(MemorySegment.NULL);
    }

    /** Rejects a PDU; the Reject contains its header (section 11.17). */
    public void reject(Bhs refused, RejectReason reason) {
        MemorySegment copy = MemorySegment.ofArray(new byte[Bhs.LENGTH]).copyFrom(refused.bytes());
        new Reject(reason.code(), status.next(), window.expCmdSn(), window.maxCmdSn(), 0)
                .encode(bhs);
        send(copy);
    }

    private void send(MemorySegment data) {
        bhs.lengths(0, (int) data.byteSize());
        if (recovers && bhs.int32(STAT_SN) != status.current()) { // the PDU has consumed its StatSN
            keep(data, null);
        }
        transport.send(header, data, Transport.Release.NOTHING);
    }
}
