package lunar.target;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import lunar.iscsi.AsyncEvent;
import lunar.iscsi.Bhs;
import lunar.iscsi.BurstRules;
import lunar.iscsi.ConnectionEvent;
import lunar.iscsi.ConnectionState;
import lunar.iscsi.DataOut;
import lunar.iscsi.DataOutResult;
import lunar.iscsi.InitiatorPdu;
import lunar.iscsi.LoginResult;
import lunar.iscsi.LogoutRequest;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.RejectReason;
import lunar.iscsi.ScsiCommand;
import lunar.iscsi.SerialNumbers;
import lunar.iscsi.SessionType;
import lunar.iscsi.StatusNumbering;
import lunar.iscsi.spi.PduReceiver;
import lunar.iscsi.spi.Transport;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Lun;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import org.jspecify.annotations.Nullable;

/**
 * The full feature phase of a connection (RFC 7143 section 4.3): numbers commands, collects their data, dispatches
 * them to device servers, and sends the answers. Confined to the event loop's thread.
 */
final class FullFeature implements PduReceiver {
    /** An extended CDB of the longest kind and a bidirectional length (RFC 7143 section 11.2.2). */
    static final int MAX_AHS_BYTES = 260;

    /** The lowest iSCSIProtocolLevel with priorities, queries and status qualifiers. */
    static final int RFC_7144 = 2;

    /** Offset of ExpStatSN in every PDU of an initiator. */
    private static final int EXP_STAT_SN = 28;

    /**
     * So many answers with so many bytes do not wait for the end of the batch: the initiator processes them meanwhile.
     * Fewer answers do wait, as each write may have to wake the initiator, which is a third of the cost of a long read
     * on virtual processors.
     */
    private static final int EARLY_ANSWERS = 4;
    private static final int EARLY_BYTES = 64 * 1024;

    /** The part of a session's memory that may be data which its initiator has not acknowledged. */
    private static final int KEPT_SHARE = 4;

    private final Connection connection;
    private final TargetServer server;
    private final Transport transport;
    private final Session session;
    private final BurstRules rules;
    private final ResponseSender responses;
    private final boolean recovers;
    private final CommandIntake commands;
    private final NonScsiRequests others;
    private final LoginResult login;
    private final SessionTasks tasks;
    private final DataWatch dataWatch;
    private final KeepAlive keepAlive;
    private final BackPressure backPressure;
    /** Tags of R2Ts are not negative, tags of pings are. */
    private int lastTtt;
    private int lastPing = Integer.MIN_VALUE;
    private int expStatSn;
    private boolean inBatch;
    private boolean flushScheduled;
    private int unsentAnswers;
    private final Runnable scheduledFlush = this::flush;
    private boolean stopped;
    private boolean closed;
    /** Whether the connection is lost while its tasks are kept. */
    private boolean suspended;
    /** The task of the command with the data segment that is being read; null where that command is dropped. */
    private @Nullable Task incoming;
    private boolean begun;

    /** The task with the buffer that the transport is filling; an abort must not give that buffer to another task. */
    private @Nullable Task filling;

    /** @param login result of this connection's own login; {@link Session#login} is that of the leading connection */
    FullFeature(Connection connection, TargetServer server, Transport transport, Session session,
            LoginResult login, int firstStatSn) {
        this.connection = connection;
        this.server = server;
        this.transport = transport;
        this.session = session;
        this.login = login;
        tasks = session.tasks();
        var parameters = login.parameters();
        rules = BurstRules.of(parameters);
        recovers = session.recoveryLevel() > 0;
        responses = new ResponseSender(transport, session.window(),
                new StatusNumbering(firstStatSn), rules,
                parameters.maxSendDataSegmentLength(), recovers,
                server.limits().maxBufferBytesPerSession() / KEPT_SHARE);
        commands = new CommandIntake(this, session, server.limits(), responses);
        others = new NonScsiRequests(this, server, session, responses);
        dataWatch = new DataWatch(this, transport.loop(), server.limits().dataTimeoutMs());
        keepAlive = new KeepAlive(transport.loop(), server.limits().idleMs(), this::ping,
                this::endSilent);
        backPressure = new BackPressure(transport, server.limits().maxQueuedBytes(),
                server.limits().maxAnswerBytes(), keepAlive::heard);
    }

    /** Whether PDUs that arrive are ignored. */
    boolean isStopped() { return stopped; }

    /** Returns when the peer was last heard. */
    long heardMs() { return keepAlive.heardMs(); }

    Session session() { return session; }

    /** Returns the connection's number in its session. */
    int cid() { return login.cid(); }

    Transport transport() { return transport; }

    Connection connection() { return connection; }

    /** Returns the intake of its commands. */
    CommandIntake commands() { return commands; }

    /** Returns the negotiated rules for the data of commands. */
    BurstRules rules() {
        return rules;
    }

    /** Returns the task of a tag that has its allegiance to this connection, or null. */
    @Nullable
    Task own(int itt) {
        Task task = tasks.find(itt);
        return task != null && task.connection().equals(this) ? task : null;
    }

    // --- receiving ---

    @Override
    public MemorySegment dataDestination(Bhs bhs, MemorySegment ahs, int length)
            throws ProtocolException {
        if (stopped) {
            return MemorySegment.NULL;
        }
        return switch (bhs.opcode()) {
            case ScsiCommand.OPCODE -> {
                if (recovers) { // with a wrong digest it must be as if it had never come (section 7.8)
                    yield MemorySegment.NULL;
                }
                incoming = begin(bhs, ahs, length);
                begun = true;
                yield destination(incoming, 0, length);
            }
            case DataOut.OPCODE -> {
                yield destination(own(bhs.itt()), bhs.int32(DataOut.BUFFER_OFFSET), length);
            }
            default -> MemorySegment.NULL;
        };
    }

    private MemorySegment destination(@Nullable Task task, int offset, int length) {
        if (task == null) {
            return MemorySegment.NULL;
        }
        MemorySegment destination = task.destination(offset, length);
        if (!destination.equals(MemorySegment.NULL)) {
            filling = task;
        }
        return destination;
    }

    boolean isFilling(Task task) { return task.equals(filling); }

    /**
     * Ends the filling of a buffer, complete or not; a task that ended meanwhile gives its buffer back now.
     */
    private void filled() {
        Task task = filling;
        filling = null;
        if (task != null && task.state == Task.State.ENDED) {
            task.giveBackBuffer();
        }
    }

    @Override
    public void received(Bhs bhs, MemorySegment ahs, MemorySegment data) throws ProtocolException {
        inBatch = true;
        keepAlive.heard();
        filled();
        if (stopped) {
            return;
        }
        if (bhs.opcode() != LogoutRequest.OPCODE) { // its ExpStatSN may be of another connection
            expStatSn = bhs.int32(EXP_STAT_SN);
            session.fence().look();
            if (recovers) {
                responses.acknowledge(expStatSn);
            }
        }
        int length = (int) data.byteSize();
        switch (bhs.opcode()) {
            case ScsiCommand.OPCODE -> {
                Task task = begun ? incoming : begin(bhs, ahs, data);
                begun = false;
                incoming = null;
                if (task != null) {
                    advance(task);
                }
                tasks.releaseHeld();
            }
            case DataOut.OPCODE -> dataOut(bhs, length);
            default -> others.received(InitiatorPdu.decode(bhs, ahs), bhs, data);
        }
        backPressure.look();
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

    /** Makes a task of a command that has arrived, and room for its data. Returns null to drop it. */
    private @Nullable Task begin(Bhs bhs, MemorySegment ahs, int immediateBytes)
            throws ProtocolException {
        Task task = commands.take(bhs, ahs);
        if (task != null) {
            judge(task, task.receive(immediateBytes, bhs.isFinal()));
        }
        return task;
    }

    private void dataOut(Bhs bhs, int length) throws ProtocolException {
        DataOut.check(bhs);
        Task task = own(bhs.itt());
        if (task == null || task.state != Task.State.RECEIVING) {
            return; // of a command that was aborted, or dropped for its CmdSN: to be discarded (section 11.7)
        }
        task.heardMs = keepAlive.heardMs();
        DataOutResult result = task.transfer().dataOut(bhs.ttt(), bhs.int32(DataOut.DATA_SN),
                bhs.int32(DataOut.BUFFER_OFFSET), length, bhs.isFinal());
        judge(task, result);
        if (task.state == Task.State.RECEIVING) {
            advance(task);
            tasks.releaseHeld();
        }
    }

    /** Ends the task after a violation of the data transfer rules where the RFC names a sense, else the connection. */
    private void judge(Task task, DataOutResult result) throws ProtocolException {
        if (result.accepted()) {
            return;
        }
        if (result.senseCode() == 0) {
            throw new ProtocolException(
                    "Data-Out of task " + Integer.toHexString(task.itt) + ": " + result.rule());
        }
        task.refuse(Sense.of(SenseKey.ABORTED_COMMAND,
                new AdditionalSense(result.senseCode() >> 8, result.senseCode() & 0xff)));
        task.broken = true;
    }

    /** Executes a task if its turn has come and its data are there; otherwise asks for the data. */
    void advance(Task task) {
        if (!task.delivered || task.state != Task.State.RECEIVING || isFilling(task)) {
            return; // if filling, another connection has delivered it while its data are still being read
        }
        if (task.broken || task.hasAllData()) {
            if (task.set == null) {
                task.execute();
            } else {
                task.set.ready(task);
            }
            return;
        }
        dataWatch.begin();
        while (task.transfer().wantsR2t()) {
            lastTtt = lastTtt + 1 & Integer.MAX_VALUE;
            task.transfer().planR2t(lastTtt);
            responses.r2t(task, lastTtt);
        }
    }

    @Override
    public void dataDigestError(Bhs bhs) throws ProtocolException {
        filled();
        if (stopped) {
            return;
        }
        responses.reject(bhs, RejectReason.DATA_DIGEST_ERROR);
        if (!recovers) {
            // At ErrorRecoveryLevel 0 every digest error ends the session (RFC 7143 section 7.8, 7.11).
            throw new ProtocolException("data digest is wrong (RFC 7143 section 7.8)");
        }
        Task task = bhs.opcode() == DataOut.OPCODE ? own(bhs.itt()) : null;
        if (task != null && task.state == Task.State.RECEIVING) {
            judge(task, task.transfer().lost(bhs.ttt(), bhs.isFinal()));
            advance(task);
        } // any other PDU is dropped, and its initiator sends it again
    }

    @Override
    public void batchEnd() {
        inBatch = false;
        sendAnswers();
        backPressure.look();
    }

    // --- sending ---

    /** Runs something on the event loop's thread, at once if called there. */
    void inLoop(Runnable what) {
        if (transport.loop().inLoop()) {
            what.run();
        } else {
            transport.loop().execute(what);
        }
    }

    /** Continues a task when its execution has ended, on the event loop's thread, at once or in its turn. */
    void resume(Execution ended, boolean inTurn) {
        if (!inTurn && transport.loop().inLoop()) {
            ended.run();
            return;
        }
        try {
            transport.loop().execute(ended);
        } catch (RejectedExecutionException _) {
            // The server has closed after waiting its time for this device; no connection is left to answer.
        }
    }

    /** Sends the outcome of a task, unless it is aborted or its connection is over. */
    void answer(Task task) {
        if ((task.aborted() && !task.endsWithoutUnit() && !task.endsAborted())
                || (closed && !suspended)) {
            task.giveBackBuffer();
        } else {
            responses.respond(task); // where the connection is lost, kept for the one that adopts the task
            if (++unsentAnswers >= EARLY_ANSWERS && transport.queuedBytes() >= EARLY_BYTES) {
                sendAnswers();
            }
            scheduleFlush();
        }
    }

    /** Sends the outcome of a task that its device has not ended, and keeps the task's buffer. */
    void answerLeftBehind(Task task) {
        if (!closed || suspended) {
            responses.respond(task);
            scheduleFlush();
        }
    }

    /** Whether data can go from a device to the initiator without a buffer, as nothing is kept to be sent again. */
    boolean transfers() {
        return !recovers && transport.transfers();
    }

    /** Returns the StatSN of the next answer. */
    int nextStatSn() { return responses.nextStatSn(); }

    /** Whether the initiator has every status before this number. */
    boolean hasAcknowledged(int statSn) {
        return !SerialNumbers.lessThan(expStatSn, statSn);
    }

    /** Schedules one flush for all tasks that end outside a batch until then. */
    void scheduleFlush() {
        if (!inBatch && !flushScheduled) {
            flushScheduled = true;
            transport.loop().execute(scheduledFlush);
        }
    }

    private void flush() {
        flushScheduled = false;
        sendAnswers();
    }

    private void sendAnswers() {
        unsentAnswers = 0;
        transport.flush();
    }

    // --- ending ---

    /**
     * Asks once more for the data of a task that have not come for some time, if error recovery is negotiated (section
     * 7.5). Returns whether it did.
     */
    boolean askAgain(Task task) {
        if (!recovers || task.askedAgain) {
            return false;
        }
        task.askedAgain = true;
        task.transfer().interrupted();
        advance(task);
        scheduleFlush();
        return true;
    }

    /** Refuses a task when its data have not come for too long, and waits for them no longer. */
    void giveUp(Task task) {
        task.refuse(Sense.of(SenseKey.ABORTED_COMMAND, AdditionalSense.INITIATOR_RESPONSE_TIMEOUT));
        task.broken = true;
        advance(task);
    }

    /** Returns the tasks that have their allegiance to this connection. */
    List<Task> tasks() {
        return tasks.all().stream().filter(task -> task.connection().equals(this)).toList();
    }

    /** Whether the connection can be used. */
    boolean isOpen() { return !closed; }

    /** Sends an Asynchronous Message (RFC 7143 section 11.9). */
    void announce(Lun lun, AsyncEvent event, int parameter1, int parameter2, int parameter3) {
        if (!closed) {
            responses.announce(lun, event, parameter1, parameter2, parameter3);
            scheduleFlush();
        }
    }

    /** Announces to the initiator that the session is over, and ends the connection (AsyncEvent 3). */
    void drop(String why) {
        if (!closed) {
            var parameters = session.login().parameters();
            announce(Lun.ZERO, AsyncEvent.SESSION_DROP, 0, parameters.defaultTime2WaitSeconds(),
                    session.time2RetainSeconds());
            connection.end(why, new ConnectionEvent.SessionClosed());
        }
    }

    /**
     * Ends the connection, with its tasks. On the event loop's thread.
     *
     * @param why the reason to log; null for an orderly end
     */
    void terminate(@Nullable String why, ConnectionEvent event) {
        if (suspended && connection.state() == ConnectionState.FREE) {
            release();
        } else if (!closed || suspended) {
            if (why == null) {
                connection.happened(event);
            } else {
                connection.end(why, event);
            }
        }
    }

    /** Ignores all further PDUs, since a logout has begun or the connection is over. */
    void stopCommands() {
        stopped = true;
        keepAlive.stop();
        dataWatch.stop();
    }

    /** Keeps the tasks of a lost connection to be reassigned to another, if that is negotiated; else releases them. */
    void suspend() {
        if (session.retainMs() == 0) {
            release();
        } else if (!closed) {
            stopCommands();
            closed = true;
            suspended = true;
            backPressure.stop();
            filled();
            session.suspend(this);
        }
    }

    /** Aborts the tasks that are left when the connection is over and its transport closed. */
    void release() {
        if (closed && !suspended) {
            return;
        }
        stopCommands();
        closed = true;
        suspended = false;
        backPressure.stop();
        filled();
        responses.forget();
        session.leave(this);
    }

    // --- reassignment ---

    /** Releases the answers before a StatSN, which the initiator has. */
    void acknowledge(int expStatSn) {
        responses.acknowledge(expStatSn);
    }

    /** Returns the task of a tag that has ended here with its status not acknowledged yet, or null. */
    @Nullable
    Task unacknowledged(int itt) { return responses.unacknowledged(itt); }

    /** Takes over the allegiance of a task of a lost connection, and continues it (section 7.2.2). */
    void adopt(Task task, int expDataSn) {
        FullFeature from = task.connection();
        task.reassign(this);
        if (task.state == Task.State.RECEIVING) {
            task.transfer().interrupted();
            advance(task);
        } else if (task.state == Task.State.ENDED) {
            responses.adopt(task, from.responses, expDataSn);
        } // else it is answered here when it ends
        scheduleFlush();
    }

    @Override
    public void closed(@Nullable IOException cause) {}

    void ping() {
        if (session.login().sessionType() == SessionType.NORMAL) { // no NOP-In in discovery
            lastPing = lastPing + 1 == Bhs.NO_TAG ? Integer.MIN_VALUE : lastPing + 1;
            responses.ping(lastPing);
            transport.flush();
        }
    }

    private void endSilent() {
        connection.end("no answer to a ping for " + server.limits().idleMs() + " ms",
                new ConnectionEvent.TransportLost());
    }

    @Override
    public String toString() { return session.toString(); }
}
