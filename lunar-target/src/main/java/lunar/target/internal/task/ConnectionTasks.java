package lunar.target.internal.task;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.LongSupplier;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.SerialNumbers;
import lunar.iscsi.login.LoginResult;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.DataOut;
import lunar.iscsi.session.StatusNumbering;
import lunar.iscsi.spi.Transport;
import lunar.iscsi.transfer.BurstRules;
import lunar.iscsi.transfer.DataOutResult;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.target.ServerLimits;
import org.jspecify.annotations.Nullable;

/**
 * Manages the tasks with allegiance to one connection: receives commands and their data, starts execution, and sends
 * responses. Confined to the event loop's thread.
 */
public final class ConnectionTasks implements TaskConnection {
    /** Divisor of a session's memory for the part that may be data which its initiator has not acknowledged. */
    private static final int KEPT_SHARE = 4;

    /** Limit of that for a connection. */
    private static final long MAX_KEPT_BYTES = 8 << 20;

    /** Whether the connection can be used. */
    private enum Phase {
        OPEN,
        /** Lost; its tasks continue, and their responses are kept for the connection that adopts them. */
        SUSPENDED,
        /** Ended, like its tasks. */
        CLOSED
    }

    private final TaskSession session;
    private final SessionTasks tasks;
    private final Transport transport;
    private final int cid;
    private final boolean recovers;
    private final LongSupplier heardMs;
    private final ResponseSender responses;
    private final FlushScheduler flushes;
    private final CommandIntake commands;
    private final DataWatch dataWatch;
    private Phase phase = Phase.OPEN;
    /** Tags of R2Ts are non-negative, tags of pings negative. */
    private int lastTtt;
    private int lastPing = Integer.MIN_VALUE;
    private int expStatSn;
    /** The task of the command with the data segment that is being read; null if that command is dropped. */
    private @Nullable Task incoming;
    private boolean begun;

    /** The task with the buffer that the transport is filling; an abort must not give that buffer to another task. */
    private @Nullable Task filling;

    /**
     * @param login result of this connection's own login; {@link TaskSession#login} is that of the leading connection
     * @param kept limits what is kept for retransmission
     * @param heardMs when the peer was last heard
     */
    public ConnectionTasks(TaskSession session, SessionTasks tasks, Transport transport,
            LoginResult login, ServerLimits limits, RetransmissionMemory kept, int firstStatSn,
            LongSupplier heardMs) {
        this.session = session;
        this.tasks = tasks;
        this.transport = transport;
        this.heardMs = heardMs;
        cid = login.cid();
        recovers = session.recoveryLevel() > 0;
        BurstRules rules = BurstRules.of(login.parameters());
        responses = new ResponseSender(transport, session.window(),
                new StatusNumbering(firstStatSn), rules,
                login.parameters().maxSendDataSegmentLength(),
                session.hasLevel(TaskSession.RFC_7144), recovers,
                new Unacknowledged(Math.min(MAX_KEPT_BYTES,
                        limits.maxBufferBytesPerSession() / KEPT_SHARE), kept));
        flushes = new FlushScheduler(transport);
        commands = new CommandIntake(this, session, tasks, limits, rules, responses);
        dataWatch = new DataWatch(this, transport.loop(), limits.dataTimeoutMs());
    }

    @Override
    public int cid() { return cid; }

    @Override
    public long heardMs() { return heardMs.getAsLong(); }

    /** Returns the sender of all PDUs of the connection. */
    public ResponseSender responses() {
        return responses;
    }

    public FlushScheduler flushes() { return flushes; }

    /** Returns the task of a tag that has its allegiance to this connection, or null. */
    @Nullable
    public Task own(int itt) {
        Task task = tasks.find(itt);
        return task != null && task.connection().equals(this) ? task : null;
    }

    /** Returns the tasks that have their allegiance to this connection. */
    public List<Task> own() {
        return tasks.all().stream().filter(task -> task.connection().equals(this)).toList();
    }

    // --- receiving ---

    /**
     * Begins a command whose data is about to be read, and returns the memory for it. At higher recovery levels the
     * command begins only after its data, because a command with a digest error must be treated as not received (RFC
     * 7143 section 7.8).
     */
    public MemorySegment commandDestination(Bhs bhs, MemorySegment ahs, int length)
            throws ProtocolException {
        if (recovers) {
            return MemorySegment.NULL;
        }
        incoming = begin(bhs, ahs, length);
        begun = true;
        return destination(incoming, 0, length);
    }

    /** Returns the memory for the data of a Data-Out. */
    public MemorySegment dataOutDestination(Bhs bhs, int length) {
        return destination(own(bhs.itt()), bhs.int32(DataOut.BUFFER_OFFSET), length);
    }

    private MemorySegment destination(@Nullable Task task, int offset, int length) {
        if (task == null) {
            return MemorySegment.NULL;
        }
        MemorySegment destination = task.destination(offset, length);
        if (!destination.equals(MemorySegment.NULL)) {
            filling = task;
            task.data().beginFilling();
        }
        return destination;
    }

    /** Ends the filling of a buffer, complete or not. */
    public void filled() {
        Task task = filling;
        filling = null;
        if (task != null) {
            task.filled();
        }
    }

    /** Processes the ExpStatSN of a PDU, which acknowledges responses. */
    public void heard(int acknowledged) {
        expStatSn = acknowledged;
        tasks.fence().look();
        if (recovers) {
            responses.acknowledge(acknowledged);
        }
    }

    /** Takes a command that has arrived, with its immediate data. */
    public void command(Bhs bhs, MemorySegment ahs, MemorySegment data) throws ProtocolException {
        Task task = begun ? incoming : begin(bhs, ahs, data);
        begun = false;
        incoming = null;
        if (task != null) {
            advance(task);
        }
        tasks.releaseHeld();
    }

    /** Begins a command that came together with its data. */
    private @Nullable Task begin(Bhs bhs, MemorySegment ahs, MemorySegment data)
            throws ProtocolException {
        int length = (int) data.byteSize();
        Task task = begin(bhs, ahs, length);
        MemorySegment room = task == null || length == 0
                ? MemorySegment.NULL
                : task.destination(0, length);
        if (!room.equals(MemorySegment.NULL)) {
            room.copyFrom(data);
        }
        return task;
    }

    /** Creates the task of a received command, with memory for its data. Returns null to drop it. */
    private @Nullable Task begin(Bhs bhs, MemorySegment ahs, int immediateBytes)
            throws ProtocolException {
        Task task = commands.take(bhs, ahs);
        if (task != null) {
            judge(task, task.receive(immediateBytes, bhs.isFinal()));
        }
        return task;
    }

    /** Takes a Data-Out that has arrived. */
    public void dataOut(Bhs bhs, int length) throws ProtocolException {
        DataOut.check(bhs);
        Task task = own(bhs.itt());
        if (task == null || !task.state().takesData()) {
            return; // of a command that was aborted, or dropped for its CmdSN: to be discarded (section 11.7)
        }
        task.out().heard(heardMs());
        DataOutResult result = task.transfer().dataOut(bhs.ttt(), bhs.int32(DataOut.DATA_SN),
                bhs.int32(DataOut.BUFFER_OFFSET), length, bhs.isFinal());
        judge(task, result);
        if (task.state().takesData()) {
            advance(task);
            tasks.releaseHeld();
        }
    }

    /** Requests the data of a Data-Out with a digest error again. */
    public void dataOutLost(Bhs bhs) throws ProtocolException {
        Task task = own(bhs.itt());
        if (task != null && task.state().takesData()) {
            judge(task, task.transfer().lost(bhs.ttt(), bhs.isFinal()));
            advance(task);
        }
    }

    /** Ends the task after a violation of the data transfer rules where the RFC names a sense, else the connection. */
    private void judge(Task task, DataOutResult result) throws ProtocolException {
        if (result.accepted()) {
            return;
        }
        if (result.senseCode() == 0) {
            throw new ProtocolException(
                    "Data-Out of task " + Integer.toHexString(task.itt()) + ": " + result.rule());
        }
        task.out().giveUp(Sense.of(SenseKey.ABORTED_COMMAND,
                new AdditionalSense(result.senseCode() >> 8, result.senseCode() & 0xff)));
    }

    @Override
    public void advance(Task task) {
        if (task.state() != TaskState.RECEIVING || task.equals(filling)) {
            return; // if filling, it was delivered through another connection while its data is still being read
        }
        if (task.out().isOver()) {
            TaskSet set = task.set();
            if (set == null) {
                task.execute();
            } else {
                set.ready(task);
            }
            return;
        }
        dataWatch.begin();
        while (task.transfer().wantsR2t()) {
            lastTtt = lastTtt + 1 & Integer.MAX_VALUE;
            task.transfer().planR2t(lastTtt);
            if (transport.placesData()) {
                fetch(task);
            } else {
                responses.r2t(task, lastTtt);
            }
        }
    }

    /** Has the transport fetch what the task's transfer has just planned. */
    private void fetch(Task task) {
        MemorySegment into = task.destination(task.transfer().r2tOffset(),
                task.transfer().r2tLength());
        task.data().beginFilling();
        responses.fetch(task, lastTtt, into, () -> fetched(task));
    }

    private void fetched(Task task) {
        if (transport.loop().inLoop()) {
            task.filled();
        } else {
            transport.loop().execute(task::filled);
        }
    }

    // --- missing data ---

    /**
     * Requests the overdue data of a task once more, if error recovery is negotiated (section 7.5). Returns whether it
     * has.
     */
    boolean askAgain(Task task) {
        if (!recovers || !task.out().askAgain()) {
            return false;
        }
        advance(task);
        flushes.schedule();
        return true;
    }

    /** Ends a task whose data has not arrived in time. */
    void giveUp(Task task) {
        task.out().giveUp(Sense.of(SenseKey.ABORTED_COMMAND,
                AdditionalSense.INITIATOR_RESPONSE_TIMEOUT));
        advance(task);
    }

    // --- sending ---

    @Override
    public boolean transfers() { return !recovers && transport.transfers(); }

    @Override
    public void answer(Task task) {
        if ((task.aborted() && !task.endsWithoutUnit() && !task.endsAborted())
                || phase == Phase.CLOSED) {
            unanswered(task);
            task.giveBackBuffer();
        } else {
            responses.respond(task); // if the connection is lost, kept for the connection that adopts the task
            flushes.answered();
        }
    }

    @Override
    public void unanswered(Task task) { transport.withdraw(task.itt()); }

    @Override
    public void dropped(int itt) {
        if (own(itt) == null) { // else the buffers are those of the task
            transport.withdraw(itt);
        }
    }

    @Override
    public void answerLeftBehind(Task task) {
        if (phase != Phase.CLOSED) {
            responses.respond(task);
            flushes.schedule();
        }
    }

    @Override
    public void reuse(Task task) { commands.reuse(task); }

    @Override
    public int nextStatSn() { return responses.nextStatSn(); }

    @Override
    public boolean hasAcknowledged(int statSn) {
        return !SerialNumbers.lessThan(expStatSn, statSn);
    }

    @Override
    public void ping() {
        if (!session.isDiscovery()) { // NOP-In is not allowed in discovery
            lastPing = lastPing + 1 == Bhs.NO_TAG ? Integer.MIN_VALUE : lastPing + 1;
            responses.ping(lastPing);
            transport.flush();
        }
    }

    // --- ending ---

    @Override
    public boolean isOpen() { return phase == Phase.OPEN; }

    /** Whether the connection is lost while its tasks are kept. */
    public boolean isSuspended() {
        return phase == Phase.SUSPENDED;
    }

    public boolean isClosed() { return phase == Phase.CLOSED; }

    /** Stops waiting for data. */
    public void stop() { dataWatch.stop(); }

    /** Keeps the tasks of a connection that is lost. */
    public void suspend() {
        phase = Phase.SUSPENDED;
        filled();
        responses.lost();
    }

    /** Stops sending responses. */
    public void close() {
        phase = Phase.CLOSED;
        filled();
        responses.forget();
    }

    // --- reassignment ---

    /** Returns the task of a tag that has ended here with its status not yet acknowledged, or null. */
    @Nullable
    public Task unacknowledged(int itt) { return responses.unacknowledged(itt); }

    /** Takes over the allegiance of a task of a lost connection, and continues it (section 7.2.2). */
    public void adopt(Task task, ConnectionTasks from, int expDataSn) {
        task.reassign(this);
        if (task.state().takesData()) {
            task.transfer().interrupted();
            advance(task);
        } else if (task.state().isEnded()) {
            responses.adopt(task, from.responses, expDataSn);
        } // else it is answered here when it ends
        flushes.schedule();
    }
}
