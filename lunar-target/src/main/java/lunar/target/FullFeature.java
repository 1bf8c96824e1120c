package lunar.target;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Predicate;
import lunar.iscsi.Bhs;
import lunar.iscsi.BurstRules;
import lunar.iscsi.CommandWindow;
import lunar.iscsi.ConnectionEvent;
import lunar.iscsi.DataOut;
import lunar.iscsi.DataOutResult;
import lunar.iscsi.InitiatorPdu;
import lunar.iscsi.LoginRequest;
import lunar.iscsi.LogoutRequest;
import lunar.iscsi.NopOut;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.RejectReason;
import lunar.iscsi.ScsiCommand;
import lunar.iscsi.SessionType;
import lunar.iscsi.SnackRequest;
import lunar.iscsi.StatusNumbering;
import lunar.iscsi.TaskManagementRequest;
import lunar.iscsi.TextRequest;
import lunar.iscsi.spi.EventLoop;
import lunar.iscsi.spi.PduReceiver;
import lunar.iscsi.spi.Transport;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.target.device.Buffers;
import org.jspecify.annotations.Nullable;

/**
 * The full feature phase of one connection (RFC 7143 section 4.3): numbers commands, collects their data, hands
 * them to device servers, and sends what these answer. All on the connection's loop.
 */
final class FullFeature implements PduReceiver {
    /** An extended CDB of the longest kind and a bidirectional length (RFC 7143 section 11.2.2). */
    static final int MAX_AHS_BYTES = 260;

    private static final long RESUME_CHECK_MS = 5;

    private final Connection connection;
    private final TargetServer server;
    private final Transport transport;
    private final Session session;
    private final CommandWindow window;
    private final BurstRules rules;
    private final Answers answers;
    private final OtherRequests others;
    private final Map<Integer, Task> tasks = new HashMap<>();
    private final Map<Integer, Task> held = new HashMap<>();
    private int immediateCount;
    private long bufferBytes;
    private long lastQueuedBytes;
    private int lastTtt;
    private boolean inBatch;
    private boolean flushScheduled;
    private boolean stopped;
    private boolean closed;
    private long heardMs;
    private EventLoop.Timer silence = () -> {};

    /** A ping is out, and nothing has been heard since. */
    private boolean pinged;

    /** The task of the command whose data segment is being read; null where that command is dropped. */
    private @Nullable Task incoming;
    private boolean begun;

    /** The task into whose buffer the transport is reading; an abort must not give that buffer to another task. */
    private @Nullable Task filling;

    FullFeature(Connection connection, TargetServer server, Transport transport, Session session,
            int firstStatSn) {
        this.connection = connection;
        this.server = server;
        this.transport = transport;
        this.session = session;
        window = session.window();
        var parameters = session.login().parameters();
        rules = new BurstRules(parameters.firstBurstLength(), parameters.maxBurstLength(),
                parameters.maxOutstandingR2t(), parameters.initialR2t(), parameters.immediateData(),
                parameters.dataPduInOrder(), parameters.dataSequenceInOrder());
        answers = new Answers(transport, window, new StatusNumbering(firstStatSn), rules,
                parameters.maxSendDataSegmentLength());
        others = new OtherRequests(this, server, session, answers);
        heardMs = transport.loop().nowMs();
        watchSilence();
    }

    Session session() { return session; }

    /** Memory for a command: null where the server has none left, or this session has taken its share. */
    Buffers.@Nullable Buffer takeBuffer(int bytes) {
        if (bufferBytes + bytes > server.limits().maxBufferBytesPerSession()) {
            return null;
        }
        Buffers.Buffer buffer = server.buffers().take(bytes);
        if (buffer != null) {
            bufferBytes += buffer.memory().byteSize();
        }
        return buffer;
    }

    void giveBuffer(Buffers.Buffer buffer) {
        bufferBytes -= buffer.memory().byteSize();
        server.buffers().give(buffer);
    }

    Transport transport() { return transport; }

    Connection connection() { return connection; }

    @Nullable
    Task task(int itt) { return tasks.get(itt); }

    // --- what comes ---

    @Override
    public MemorySegment dataDestination(Bhs bhs, MemorySegment ahs, int length)
            throws ProtocolException {
        if (stopped) {
            return MemorySegment.NULL;
        }
        return switch (bhs.opcode()) {
            case ScsiCommand.OPCODE -> {
                incoming = begin(bhs, ahs, length);
                begun = true;
                yield destination(incoming, 0, length);
            }
            case DataOut.OPCODE -> {
                yield destination(tasks.get(bhs.itt()), bhs.int32(DataOut.BUFFER_OFFSET), length);
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
        heardMs = transport.loop().nowMs();
        pinged = false;
        filled();
        if (stopped) {
            return;
        }
        int length = (int) data.byteSize();
        switch (bhs.opcode()) {
            case ScsiCommand.OPCODE -> {
                Task task = begun ? incoming : begin(bhs, ahs, 0);
                begun = false;
                incoming = null;
                if (task != null) {
                    advance(task);
                }
                releaseHeld();
            }
            case DataOut.OPCODE -> dataOut(DataOut.decode(bhs), length);
            default -> other(InitiatorPdu.decode(bhs, ahs), bhs, data);
        }
    }

    /** A command has arrived: numbers it, finds who executes it, makes room for its data. Null to drop it. */
    private @Nullable Task begin(Bhs bhs, MemorySegment ahs, int immediateBytes)
            throws ProtocolException {
        if (session.login().sessionType() == SessionType.DISCOVERY) {
            throw new ProtocolException(
                    "a SCSI command in a discovery session (RFC 7143 section 4.3)");
        }
        ScsiCommand command = ScsiCommand.decode(bhs, ahs);
        CommandWindow.Verdict verdict = window.accept(command.cmdSn(), command.immediate());
        if (verdict == CommandWindow.Verdict.IGNORE) {
            return null;
        }
        if (tasks.containsKey(command.itt())) {
            if (verdict == CommandWindow.Verdict.HOLD) {
                window.forget(command.cmdSn());
            } else {
                finishNumbering(command.immediate());
            }
            answers.reject(bhs, RejectReason.TASK_IN_PROGRESS);
            return null;
        }
        if (command.immediate()
                && ++immediateCount > server.limits().immediateCommandsPerSession()) {
            immediateCount--;
            answers.reject(bhs, RejectReason.TOO_MANY_IMMEDIATE);
            return null;
        }
        TargetNode target = Objects.requireNonNull(session.target());
        int expected = command.expectedDataTransferBytes();
        boolean tooLong = Integer.compareUnsigned(expected, server.limits().maxTransferBytes()) > 0;
        int out = command.write() ? expected : 0;
        int in = !command.read()
                ? 0
                : command.write()
                        ? Math.max(0, command.bidirectionalReadBytes())
                        : expected < 0 ? Integer.MAX_VALUE : expected;
        var task = new Task(this, target.device().server(command.lun()), command.lun(),
                command.itt(),
                command.cmdSn(), command.immediate(), command.read(), command.write(), out, in,
                command.cdb());
        task.delivered = verdict == CommandWindow.Verdict.DELIVER;
        tasks.put(task.itt, task);
        if (!task.delivered) {
            held.put(task.cmdSn, task);
        }
        if (command.write() && tooLong) {
            task.refuse(Sense.of(SenseKey.ILLEGAL_REQUEST, AdditionalSense.INVALID_FIELD_IN_CDB));
        } else {
            task.server.prepare(task);
        }
        judge(task, task.begin(rules, immediateBytes, bhs.isFinal()));
        return task;
    }

    private void dataOut(DataOut dataOut, int length) throws ProtocolException {
        Task task = tasks.get(dataOut.itt());
        if (task == null || task.state != Task.State.RECEIVING) {
            return; // of a command that was aborted, or dropped for its CmdSN: to be discarded (section 11.7)
        }
        DataOutResult result = task.transfer().dataOut(dataOut.ttt(), dataOut.dataSn(),
                dataOut.bufferOffsetBytes(), length, dataOut.isFinal());
        judge(task, result);
        if (task.state == Task.State.RECEIVING) {
            advance(task);
            releaseHeld();
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
    private void advance(Task task) {
        if (!task.delivered || task.state != Task.State.RECEIVING) {
            return;
        }
        if (task.broken || task.transfer().isComplete()) {
            task.execute();
            return;
        }
        while (task.transfer().wantsR2t()) {
            lastTtt = lastTtt + 1 == Bhs.NO_TAG ? 0 : lastTtt + 1;
            task.transfer().planR2t(lastTtt);
            answers.r2t(task, lastTtt);
        }
    }

    private void releaseHeld() {
        while (window.nextIsHeld()) {
            Task next = held.remove(window.releaseHeld());
            if (next != null) {
                next.delivered = true;
                advance(next);
            }
        }
    }

    private void other(InitiatorPdu pdu, Bhs bhs, MemorySegment data) throws ProtocolException {
        if (!(pdu instanceof SnackRequest) && !numbered(bhs)) {
            return;
        }
        switch (pdu) {
            case NopOut nop -> others.nop(nop, data);
            case TextRequest text -> others.text(text, bhs, data);
            case LogoutRequest logout -> others.logout(logout);
            case TaskManagementRequest request -> others.manage(request);
            case SnackRequest _ -> answers.reject(bhs, RejectReason.SNACK_REJECT); // ErrorRecoveryLevel 0
            case LoginRequest _ -> throw new ProtocolException(
                    "a Login Request in full feature phase (RFC 7143 section 6.3)");
            case ScsiCommand _,DataOut _ -> throw new IllegalStateException(pdu.toString());
        }
    }

    /**
     * Takes the CmdSN of a request other than a SCSI command. With one connection in a session, a gap before it is
     * the initiator's mistake, and it is dropped like a request outside the window.
     */
    private boolean numbered(Bhs bhs) {
        if (bhs.opcode() == NopOut.OPCODE && bhs.itt() == Bhs.NO_TAG) {
            return true; // the answer to our ping; its CmdSN is not used up (section 11.18)
        }
        int cmdSn = bhs.int32(InitiatorPdu.CMD_SN);
        return switch (window.accept(cmdSn, bhs.immediate())) {
            case DELIVER -> {
                if (!bhs.immediate()) {
                    window.finished();
                    releaseHeld();
                }
                yield true;
            }
            case HOLD -> {
                window.forget(cmdSn);
                yield false;
            }
            case IGNORE -> false;
        };
    }

    @Override
    public void dataDigestError(Bhs bhs) throws ProtocolException {
        filled();
        answers.reject(bhs, RejectReason.DATA_DIGEST_ERROR);
        // At ErrorRecoveryLevel 0 every digest error ends the session (RFC 7143 section 7.8, 7.11).
        throw new ProtocolException("data digest is wrong (RFC 7143 section 7.8)");
    }

    @Override
    public void batchEnd() {
        inBatch = false;
        transport.flush();
        if (transport.queuedBytes() > server.limits().maxQueuedBytes()) {
            transport.reading(false);
            transport.loop().schedule(this::resumeReading, RESUME_CHECK_MS);
        }
    }

    private void resumeReading() {
        if (closed) {
            return;
        }
        long queuedBytes = transport.queuedBytes();
        if (queuedBytes < lastQueuedBytes) {
            heardMs = transport.loop().nowMs(); // it takes what we send, slowly
            pinged = false;
        }
        lastQueuedBytes = queuedBytes;
        if (queuedBytes > server.limits().maxQueuedBytes() / 2) {
            transport.loop().schedule(this::resumeReading, RESUME_CHECK_MS);
        } else {
            transport.reading(true);
        }
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

    /** A device has ended a request of a task: goes on with the task on the loop, at once or in its turn. */
    void resume(Task task, boolean inTurn) {
        if (!inTurn && transport.loop().inLoop()) {
            task.resume();
            return;
        }
        try {
            transport.loop().execute(task::resume);
        } catch (RejectedExecutionException _) {
            // The server has closed and waited its time for this device; there is nobody left to answer.
        }
    }

    /** The device server has ended a task. On the loop. */
    void ended(Task task) {
        tasks.remove(task.itt);
        finishNumbering(task.immediate);
        if (task.immediate) {
            immediateCount--;
        }
        if (task.aborted() || closed) {
            task.giveBackBuffer();
        } else {
            answers.respond(task);
            scheduleFlush();
        }
        task.markEnded();
        if (closed && tasks.isEmpty()) {
            server.ended(session);
        }
    }

    private void finishNumbering(boolean immediate) {
        if (!immediate) {
            window.finished();
        }
    }

    /** What ends outside a batch is flushed once after all that has ended by then. */
    void scheduleFlush() {
        if (!inBatch && !flushScheduled) {
            flushScheduled = true;
            transport.loop().execute(() -> {
                flushScheduled = false;
                transport.flush();
            });
        }
    }

    // --- aborting and ending ---

    /** Aborts tasks; see {@link Session#abort}. On the loop. */
    CompletableFuture<Integer> abort(Predicate<Task> which) {
        List<Task> chosen = new ArrayList<>(tasks.values());
        chosen.removeIf(task -> !which.test(task));
        int count = 0;
        var waits = new ArrayList<CompletableFuture<Void>>();
        for (Task task : chosen) {
            var wait = new CompletableFuture<Void>();
            waits.add(wait);
            task.whenEnded(() -> wait.complete(null)); // also of those that somebody else has aborted before
            if (!task.aborted()) {
                count++;
                abort(task);
            }
        }
        int aborted = count;
        return CompletableFuture.allOf(waits.toArray(CompletableFuture[]::new))
                .thenApply(_ -> aborted);
    }

    private void abort(Task task) {
        task.abort();
        if (task.state == Task.State.RECEIVING) {
            if (!task.delivered) {
                held.remove(task.cmdSn);
                window.forget(task.cmdSn);
                tasks.remove(task.itt);
                task.giveBackBuffer();
                task.markEnded();
            } else {
                ended(task);
            }
        }
    }

    /** Ends the session, whose only connection this is. On the loop. */
    void terminate(String why, ConnectionEvent event) {
        if (!closed) {
            connection.end(why, event);
        }
    }

    /** A logout has begun, or the connection is over: what still comes is not looked at. */
    void stopCommands() {
        stopped = true;
        silence.cancel();
    }

    /**
     * The connection is over, and its transport closed: aborts what is left; the session ends when the last task has.
     */
    void release() {
        if (closed) {
            return;
        }
        stopCommands();
        closed = true;
        filled();
        List.copyOf(tasks.values()).forEach(this::abort);
        if (tasks.isEmpty()) {
            server.ended(session);
        }
    }

    @Override
    public void closed(@Nullable IOException cause) {}

    /** Pings a peer that has been silent for a while, and ends the connection when that is not answered as long. */
    private void watchSilence() {
        long idleMs = server.limits().idleMs();
        long silentMs = transport.loop().nowMs() - heardMs;
        silence = transport.loop().schedule(this::checkSilence,
                pinged ? idleMs : Math.max(1, idleMs - silentMs));
    }

    private void checkSilence() {
        if (stopped) {
            return;
        }
        long idleMs = server.limits().idleMs();
        if (pinged) {
            connection.end("no answer to a ping for " + idleMs + " ms",
                    new ConnectionEvent.TransportLost());
            return;
        }
        if (transport.loop().nowMs() - heardMs >= idleMs) {
            pinged = true;
            if (session.login().sessionType() == SessionType.NORMAL) { // no NOP-In in discovery
                lastTtt = lastTtt + 1 == Bhs.NO_TAG ? 0 : lastTtt + 1;
                answers.ping(lastTtt);
                transport.flush();
            }
        }
        watchSilence();
    }

    @Override
    public String toString() { return session.toString(); }
}
