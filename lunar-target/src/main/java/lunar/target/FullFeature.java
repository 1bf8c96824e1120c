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
 * The full feature phase of one connection (RFC 7143 section 4.3): numbers commands, collects their data, hands
 * them to device servers, and sends what these answer. All on the connection's loop.
 */
final class FullFeature implements PduReceiver {
    /** An extended CDB of the longest kind and a bidirectional length (RFC 7143 section 11.2.2). */
    static final int MAX_AHS_BYTES = 260;

    /** The iSCSIProtocolLevel from which on there are priorities, queries and status qualifiers. */
    static final int RFC_7144 = 2;

    /** Where every PDU of an initiator has it. */
    private static final int EXP_STAT_SN = 28;

    /**
     * So many answers with so many bytes do not wait for the end of the batch: the initiator works on these while we
     * make the others. Not for less, for each write may have to wake it, which is a third of the cost of a long read
     * where processors are virtual.
     */
    private static final int EARLY_ANSWERS = 4;
    private static final int EARLY_BYTES = 64 * 1024;

    /** Of a session's memory this part may be data that its initiator has not acknowledged. */
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
    /** Tags of R2Ts are not negative, those of pings are. */
    private int lastTtt;
    private int lastPing = Integer.MIN_VALUE;
    private int expStatSn;
    private boolean inBatch;
    private boolean flushScheduled;
    private int unsentAnswers;
    private final Runnable scheduledFlush = this::flush;
    private boolean stopped;
    private boolean closed;
    /** The connection is lost, and its tasks are not. */
    private boolean suspended;
    /** The task of the command whose data segment is being read; null where that command is dropped. */
    private @Nullable Task incoming;
    private boolean begun;

    /** The task into whose buffer the transport is reading; an abort must not give that buffer to another task. */
    private @Nullable Task filling;

    /** @param login what the login of this connection ended with; of the session only the leading one's */
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

    /** Whether nothing that comes is looked at any longer. */
    boolean isStopped() {
        return stopped;
    }

    /** When something has come last. */
    long heardMs() { return keepAlive.heardMs(); }

    Session session() { return session; }

    /** The connection's number in its session. */
    int cid() { return login.cid(); }

    Transport transport() { return transport; }

    Connection connection() { return connection; }

    /** Where its commands come in. */
    CommandIntake commands() { return commands; }

    /** What was agreed for the data of commands. */
    BurstRules rules() { return rules; }

    /** The task of a tag that has its allegiance to this connection, or null. */
    @Nullable
    Task own(int itt) {
        Task task = tasks.find(itt);
        return task != null && task.connection().equals(this) ? task : null;
    }

    // --- what comes ---

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
     * The transport has filled what it was filling, or never will; a task that ended meanwhile gives its buffer back
     * now.
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
        if (bhs.opcode() != LogoutRequest.OPCODE) { // there it may be of another connection
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

    /** A command whose data came with it. */
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

    /** A command has arrived: makes a task of it, and room for its data. Null to drop it. */
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

    /** A rule of data transfer broken ends the task where the RFC names a sense for it, else the connection. */
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

    /** Executes a task if its turn has come and its data are there; else asks for the data. */
    void advance(Task task) {
        if (!task.delivered || task.state != Task.State.RECEIVING || isFilling(task)) {
            return; // of the last, another connection has made it its turn while its data are still coming
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
        } // all else is dropped, and its initiator sends it again
    }

    @Override
    public void batchEnd() {
        inBatch = false;
        sendAnswers();
        backPressure.look();
    }

    // --- what goes ---

    /** Runs something on the loop, at once if this is its thread. */
    void inLoop(Runnable what) {
        if (transport.loop().inLoop()) {
            what.run();
        } else {
            transport.loop().execute(what);
        }
    }

    /** What a task had elsewhere has ended: goes on with the task on the loop, at once or in its turn. */
    void resume(Execution ended, boolean inTurn) {
        if (!inTurn && transport.loop().inLoop()) {
            ended.run();
            return;
        }
        try {
            transport.loop().execute(ended);
        } catch (RejectedExecutionException _) {
            // The server has closed and waited its time for this device; there is nobody left to answer.
        }
    }

    /** Sends what a task has come to, unless nobody wants to hear it. */
    void answer(Task task) {
        if ((task.aborted() && !task.endsWithoutUnit() && !task.endsAborted())
                || (closed && !suspended)) {
            task.giveBackBuffer();
        } else {
            responses.respond(task); // where the connection is lost, for whoever the task is reassigned to
            if (++unsentAnswers >= EARLY_ANSWERS && transport.queuedBytes() >= EARLY_BYTES) {
                sendAnswers();
            }
            scheduleFlush();
        }
    }

    /** Sends what a task has come to whose device has not ended it, and keeps its buffer. */
    void answerLeftBehind(Task task) {
        if (!closed || suspended) {
            responses.respond(task);
            scheduleFlush();
        }
    }

    /** Whether data can go from a device to the initiator without passing through memory: nothing is sent twice. */
    boolean transfers() {
        return !recovers && transport.transfers();
    }

    /** The StatSN of the next answer. */
    int nextStatSn() { return responses.nextStatSn(); }

    /** Whether the initiator has every status before this number. */
    boolean hasAcknowledged(int statSn) {
        return !SerialNumbers.lessThan(expStatSn, statSn);
    }

    /** What ends outside a batch is flushed once after all that has ended by then. */
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
     * The data of a task have not come for some time: asks for them once more, where that is agreed (section 7.5).
     * Returns whether it did.
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

    /** The data of a task have not come for too long: nobody waits for them any longer. */
    void giveUp(Task task) {
        task.refuse(Sense.of(SenseKey.ABORTED_COMMAND, AdditionalSense.INITIATOR_RESPONSE_TIMEOUT));
        task.broken = true;
        advance(task);
    }

    /** The tasks that have their allegiance to this connection. */
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

    /** Tells the initiator that the session is over, and ends it (AsyncEvent 3). */
    void drop(String why) {
        if (!closed) {
            var parameters = session.login().parameters();
            announce(Lun.ZERO, AsyncEvent.SESSION_DROP, 0, parameters.defaultTime2WaitSeconds(),
                    session.time2RetainSeconds());
            connection.end(why, new ConnectionEvent.SessionClosed());
        }
    }

    /**
     * Ends the connection, with its tasks. On the loop.
     *
     * @param why null where it ends in order
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

    /** A logout has begun, or the connection is over: what still comes is not looked at. */
    void stopCommands() {
        stopped = true;
        keepAlive.stop();
        dataWatch.stop();
    }

    /** The connection is lost: its tasks wait to be reassigned to another, where that is agreed. */
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

    /** The connection is over, and its transport closed: aborts what it has left. */
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

    /** The initiator has every status before this number. */
    void acknowledge(int expStatSn) {
        responses.acknowledge(expStatSn);
    }

    /** The task of a tag that has ended here and whose status has not been acknowledged, or null. */
    @Nullable
    Task unacknowledged(int itt) { return responses.unacknowledged(itt); }

    /** A task of a lost connection has its allegiance to this one from now on, and goes on (section 7.2.2). */
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
