package lunar.initiator.internal.session;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;
import java.util.function.Consumer;
import lunar.block.AbortedException;
import lunar.block.DeadlineException;
import lunar.block.StorageException;
import lunar.initiator.SessionNotice;
import lunar.initiator.Timeouts;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.SerialNumbers;
import lunar.iscsi.login.InitiatorText;
import lunar.iscsi.login.LoginLimits;
import lunar.iscsi.pdu.AsyncEvent;
import lunar.iscsi.pdu.AsyncMessage;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.NopIn;
import lunar.iscsi.pdu.NopOut;
import lunar.iscsi.pdu.TargetPdu;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.iscsi.pdu.TaskManagementRequest;
import lunar.iscsi.pdu.TaskManagementResponse;
import lunar.iscsi.pdu.TaskManagementResponseCode;
import lunar.iscsi.pdu.TextRequest;
import lunar.iscsi.pdu.TextResponse;
import lunar.iscsi.spi.EventLoop;
import lunar.iscsi.text.Key;
import lunar.iscsi.text.KeyValue;
import lunar.iscsi.text.TextKeys;
import lunar.iscsi.text.TextTurn;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Lun;
import lunar.scsi.Sense;
import org.jspecify.annotations.Nullable;

/**
 * Handles all of a session except SCSI commands: pings in both directions, aborts, text, asynchronous messages, and the
 * clock for all timeouts. Confined to the event loop's thread.
 */
final class Control implements FullFeature.Upper {
    private static final System.Logger LOG = System.getLogger("lunar.initiator");

    /** Bounds of MaxRecvDataSegmentLength (RFC 7143 section 13.12). */
    private static final int MIN_SEGMENT_BYTES = 512;
    private static final int MAX_SEGMENT_BYTES = (1 << 24) - 1;

    private final EventLoop loop;
    private final Tasks tasks;
    private final Allegiance allegiance;
    private final PendingRequests pendingRequests;
    private final Connections connections;
    private final Timeouts timeouts;
    private final String target;
    private final Consumer<SessionNotice> listener;
    private final Attentions attentions;

    /** Called with each unit attention, whichever command it has answered. */
    @FunctionalInterface
    interface Attentions {
        void came(Lun lun, AdditionalSense attention);
    }

    Control(EventLoop loop, Tasks tasks, Allegiance allegiance, PendingRequests pendingRequests,
            Connections connections,
            Timeouts timeouts, String target, Consumer<SessionNotice> listener,
            Attentions attentions) {
        this.loop = loop;
        this.tasks = tasks;
        this.allegiance = allegiance;
        this.pendingRequests = pendingRequests;
        this.connections = connections;
        this.timeouts = timeouts;
        this.target = target;
        this.listener = listener;
        this.attentions = attentions;
    }

    /** Starts the clock. */
    void start() {
        loop.schedule(this::tick, Connections.tickMs(timeouts));
    }

    @Override
    public void tell(SessionNotice notice) {
        tasks.dispatcher().tell(() -> listener.accept(notice));
    }

    @Override
    public void attention(long lun, AdditionalSense attention) {
        tasks.dispatcher().tell(() -> attentions.came(new Lun(lun), attention));
    }

    private void tick() {
        if (connections.isOver()) {
            return;
        }
        long nowMs = loop.nowMs();
        tasks.expire(nowMs).forEach(this::expired);
        pendingRequests.expire(nowMs);
        connections.tick(nowMs, timeouts.keepAliveMs());
        loop.schedule(this::tick, Connections.tickMs(timeouts));
    }

    // --- questions ---

    /** Returns the CmdSN for an immediate PDU; with the lock held. */
    private int cmdSn() {
        return tasks.numbering().current();
    }

    /** {@inheritDoc} A connection without an answer is ended. */
    @Override
    public void ping(Connection connection) { var _ = ping(connection, () -> {}, connection::end); }

    /** Pings the target. */
    PendingRequest ping(Connection connection, Runnable whenAnswered,
            Consumer<IOException> whenFailed) {
        var pending = new PendingRequest(connection, "ping",
                loop.nowMs() + timeouts.keepAliveMs()) {
            @Override
            boolean answered(TargetPdu pdu, MemorySegment data) {
                whenAnswered.run();
                return true;
            }

            @Override
            void failed(IOException why) { whenFailed.accept(why); }
        };
        pendingRequests.ask(pending, itt -> new NopOut(true, Lun.ZERO, itt, Bhs.NO_TAG, cmdSn(),
                connection.expStatSn()), MemorySegment.NULL);
        return pending;
    }

    /** Aborts a command past its deadline; its buffers are free only after the target has confirmed that. */
    private void expired(Command command) {
        String late = ": no response within " + tasks.patienceMs(command) + " ms";
        String what = tasks.describe(command);
        LOG.log(System.Logger.Level.WARNING, "{0}{1}, aborting it", what, late);
        abort(command, new DeadlineException(what + late + ", aborted"));
    }

    /**
     * Asks the target to abort a command, which then ends with a failure, unless it ends by itself before.
     */
    void abort(Command command, StorageException failure) {
        Connection by = command.connection;
        int taskTag = command.itt;
        int refCmdSn = command.cmdSn;
        long lun = command.lun;
        String what = tasks.describe(command);
        if (by == null) {
            return;
        }
        pendingRequests.ask(
                new PendingRequest(by, "abort of " + what, loop.nowMs() + timeouts.abortMs()) {
                    @Override
                    boolean answered(TargetPdu pdu, MemorySegment data) {
                        int response = pdu instanceof TaskManagementResponse answer
                                ? answer.response()
                                : TaskManagementResponseCode.FUNCTION_REJECTED.code();
                        boolean gone = response == TaskManagementResponseCode.FUNCTION_COMPLETE
                                .code()
                                || response == TaskManagementResponseCode.TASK_DOES_NOT_EXIST
                                        .code();
                        if (gone) {
                            tasks.fail(by, taskTag, failure);
                        } else if (failure instanceof AbortedException) {
                            tasks.goOn(by, taskTag); // the cancellation failed: it may continue
                        } else {
                            failed(new IOException(target + " does not abort " + what + ": "
                                    + TaskManagementResponseCode.describe(response)));
                        }
                        return true;
                    }

                    @Override
                    void failed(IOException why) {
                        // The command may still write into its buffer: only the end of the connection stops that.
                        by.end(why);
                    }
                }, itt -> new TaskManagementRequest(true, TaskManagementFunction.ABORT_TASK.code(),
                        new Lun(lun), itt, taskTag, cmdSn(), by.expStatSn(), refCmdSn, 0),
                MemorySegment.NULL);
    }

    /** Sends a Text Request, and hands over the whole answer. */
    PendingRequest text(Connection connection, TextKeys keys, Consumer<TextKeys> whenAnswered,
            Consumer<IOException> whenFailed) {
        var text = new InitiatorText(keys, connection.maxSendBytes(), LoginLimits.DEFAULT);
        TextTurn first = text.first();
        var pending = new PendingRequest(connection, "text request",
                loop.nowMs() + timeouts.loginMs()) {
            @Override
            boolean answered(TargetPdu pdu, MemorySegment data) throws ProtocolException {
                if (!(pdu instanceof TextResponse response)) {
                    throw new ProtocolException(pdu.describe() + " answers a Text Request");
                }
                return switch (text.receive(
                        new TextTurn(response.isFinal(), response.continues(), data))) {
                    case InitiatorText.Send(TextTurn next) -> {
                        // A negotiation keeps its task tag to the end (RFC 7143 section 11.10.4).
                        pendingRequests.send(connection,
                                () -> request(connection, next, itt, response.ttt()), next.text());
                        yield false;
                    }
                    case InitiatorText.Complete(var answer) -> {
                        whenAnswered.accept(answer);
                        yield true;
                    }
                };
            }

            @Override
            void failed(IOException why) {
                whenFailed.accept(why);
                connection.end(why);
            }
        };
        pendingRequests.ask(pending, itt -> request(connection, first, itt, Bhs.NO_TAG),
                first.text());
        return pending;
    }

    private TextRequest request(Connection connection, TextTurn turn, int itt, int ttt) {
        return new TextRequest(true, turn.isFinal(), turn.more(), Lun.ZERO, itt, ttt, cmdSn(),
                connection.expStatSn());
    }

    // --- messages of the target ---

    @Override
    public void received(Connection by, TargetPdu pdu, MemorySegment data)
            throws ProtocolException {
        switch (pdu) {
            case NopIn nop when nop.itt() == Bhs.NO_TAG -> {
                if (nop.isPing()) {
                    answer(by, nop.lun(), nop.ttt(),
                            MemorySegment.ofArray(data.toArray(ValueLayout.JAVA_BYTE)));
                }
            }
            case AsyncMessage message -> message(by, message, data);
            default -> pendingRequests.answered(by, pdu, data);
        }
    }

    /** Sends a NOP-Out that the target requests, unless it requests ever more of them and takes none. */
    private void answer(Connection by, Lun lun, int ttt, MemorySegment echo)
            throws ProtocolException {
        if (!canPong(by)) {
            by.flush(); // those of one batch have not been sent
            if (!canPong(by)) {
                String why = "the target has sent more than " + Connection.MAX_UNSENT_PONGS
                        + " NOP-Ins or messages without receiving the responses";
                LOG.log(System.Logger.Level.WARNING, "{0}: ending connection {1} at {2}: {3}",
                        target, by.cid(), by.portal(), why);
                throw new ProtocolException(why);
            }
        }
        pendingRequests.send(by,
                () -> new NopOut(true, lun, Bhs.NO_TAG, ttt, cmdSn(), by.expStatSn()),
                echo);
    }

    private boolean canPong(Connection by) {
        tasks.lock();
        try {
            return by.unsentPongs.add(by.queuedBytes() + 1, by.sentBytes());
        } finally {
            tasks.unlock();
        }
    }

    @Override
    public void rejected(Connection by, int itt, IOException why) {
        pendingRequests.rejected(by, itt, why);
    }

    @Override
    public void closed(FullFeature ended, @Nullable IOException why) {
        connections.closed(ended, why);
    }

    private void message(Connection by, AsyncMessage message, MemorySegment data)
            throws ProtocolException {
        String text = AsyncEvent.describe(message.event());
        Optional<Sense> sense = data.byteSize() > 2
                ? Optional.of(Sense.decode(data.asSlice(2)))
                : Optional.empty();
        AsyncEvent event = AsyncEvent.of(message.event()).orElse(AsyncEvent.VENDOR_SPECIFIC);
        LOG.log(event == AsyncEvent.LOGOUT_REQUEST
                ? System.Logger.Level.INFO
                : System.Logger.Level.WARNING, "{0}/{1}: {2} {3}", target, message.lun(), text,
                sense.map(Sense::toString).orElse(""));
        tell(new SessionNotice.MessageCame(message.event(), message.lun(), sense));
        switch (event) {
            case LOGOUT_REQUEST -> connections.leave(by, message.parameter3());
            case CONNECTION_DROP -> connections.dropped(message.parameter1(),
                    message.parameter2(), message.parameter3());
            case SESSION_DROP -> connections.allDropped(message.parameter2(),
                    message.parameter3(), target + ": " + text);
            case TASK_TERMINATION -> {
                for (PendingRequest asked : pendingRequests.endingTasksOf(message.lun())) {
                    int before = asked.beforeCmdSn();
                    allegiance.terminate(message.lun(),
                            SerialNumbers.lessThan(before, message.expCmdSn())
                                    ? before
                                    : message.expCmdSn(),
                            true, asked.name);
                }
                // Commands that came later are performed.
                allegiance.terminate(message.lun(), message.expCmdSn(), false, text);
                // The target waits for the acknowledgement before it reuses resources of the tasks (section 11.9.1).
                answer(by, message.lun(), Bhs.NO_TAG, MemorySegment.NULL);
            }
            case NEGOTIATION_REQUEST -> negotiate(by);
            case SCSI_EVENT, VENDOR_SPECIFIC -> {
            }
        }
    }

    /** Lets the target declare parameters, by an empty Text Request (RFC 7143 section 11.9.1). */
    private void negotiate(Connection by) {
        if (by.negotiating) {
            return; // the one in progress serves, too
        }
        by.negotiating = true;
        var _ = text(by, TextKeys.NONE, answer -> {
            by.negotiating = false;
            declared(by, answer);
        }, why -> LOG.log(System.Logger.Level.DEBUG, "negotiation: {0}", why.toString()));
    }

    private static void declared(Connection by, TextKeys keys) {
        Optional<KeyValue> bytes = keys.first(Key.MAX_RECV_DATA_SEGMENT_LENGTH.text());
        try {
            if (bytes.isPresent()) {
                by.maxSendBytes(Math.clamp(bytes.get().number(), MIN_SEGMENT_BYTES,
                        MAX_SEGMENT_BYTES));
            }
        } catch (ProtocolException e) {
            by.end(e);
        }
    }
}
