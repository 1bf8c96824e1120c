package lunar.initiator;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import lunar.block.DeadlineException;
import lunar.iscsi.AsyncEvent;
import lunar.iscsi.AsyncMessage;
import lunar.iscsi.Bhs;
import lunar.iscsi.InitiatorPdu;
import lunar.iscsi.LogoutReason;
import lunar.iscsi.LogoutRequest;
import lunar.iscsi.LogoutResponse;
import lunar.iscsi.LogoutResponseCode;
import lunar.iscsi.NopIn;
import lunar.iscsi.NopOut;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.TargetPdu;
import lunar.iscsi.TaskManagementFunction;
import lunar.iscsi.TaskManagementRequest;
import lunar.iscsi.TaskManagementResponse;
import lunar.iscsi.TaskManagementResponseCode;
import lunar.iscsi.spi.EventLoop;
import lunar.scsi.Lun;
import lunar.scsi.Sense;
import org.jspecify.annotations.Nullable;

/**
 * What a session does beside SCSI commands: pings both ways, aborts, logout, text, asynchronous messages, and the
 * clock behind all timeouts. Lives on the loop's thread, but for what is said otherwise.
 */
final class Control {
    private static final System.Logger LOG = System.getLogger("lunar.initiator");

    /** Tags of exchanges have this low half, which no task slot has. */
    private static final int TAG = 0x8000;
    private static final int COUNTER_SHIFT = 16;
    private static final int COUNTER_MASK = 0xffff;

    private final Connection connection;
    private final EventLoop loop;
    private final Tasks tasks;
    private final Timeouts timeouts;
    private final String target;
    private final List<Exchange> exchanges = new ArrayList<>();
    private final CountDownLatch ended = new CountDownLatch(1);
    private final CompletableFuture<Void> over = new CompletableFuture<>();
    private int counter;
    private long heardMs;
    private boolean pinging;
    private boolean loggingOut;
    private volatile boolean isClosed;
    /** When the target wants us gone, although commands are still there; 0 if it does not want that. */
    private long drainUntilMs;

    Control(Connection connection, Tasks tasks, Timeouts timeouts, String target) {
        this.connection = connection;
        this.loop = connection.loop();
        this.tasks = tasks;
        this.timeouts = timeouts;
        this.target = target;
    }

    /** Starts the clock. */
    void start() {
        heardMs = loop.nowMs();
        loop.schedule(this::tick, timeouts.tickMs());
    }

    /** Whether the connection is there; any thread may ask. */
    boolean isOpen() {
        return !isClosed;
    }

    /** Falls when the connection has ended and every command of it; any thread may wait. */
    CountDownLatch ended() {
        return ended;
    }

    /** Done when the connection has ended and every command of it. */
    CompletableFuture<Void> over() {
        return over;
    }

    /** The target has sent something. */
    void heard() { heardMs = loop.nowMs(); }

    // --- the clock ---

    private void tick() {
        if (isClosed) {
            return;
        }
        long nowMs = loop.nowMs();
        tasks.expire(nowMs).forEach(this::abort);
        for (Exchange exchange : List.copyOf(exchanges)) {
            if (exchange.deadlineMs <= nowMs && exchanges.remove(exchange)) {
                exchange.failed(new IOException(
                        target + " did not answer a " + exchange.name + " in time"));
            }
        }
        if (!pinging && !loggingOut && nowMs - heardMs >= timeouts.keepAliveMs()) {
            ping(nowMs);
        }
        if (drainUntilMs != 0 && (tasks.isIdle() || nowMs >= drainUntilMs)) {
            logout();
        }
        if (!isClosed) {
            loop.schedule(this::tick, timeouts.tickMs());
        }
    }

    // --- questions ---

    /** Asks the target something. The PDU is made for a tag, with the session's lock held. */
    void ask(Exchange exchange, IntFunction<InitiatorPdu> pdu, MemorySegment data) {
        if (isClosed) {
            exchange.failed(new IOException("the connection to " + target + " has ended"));
            return;
        }
        counter = (counter + 1) & COUNTER_MASK;
        exchange.itt = counter << COUNTER_SHIFT | TAG;
        exchanges.add(exchange);
        send(() -> pdu.apply(exchange.itt), data);
    }

    /** Sends a PDU, which is made with the session's lock held, so that its numbers are the latest. */
    void send(Supplier<InitiatorPdu> pdu, MemorySegment data) {
        tasks.lock();
        try {
            connection.send(pdu.get(), data);
        } finally {
            tasks.unlock();
        }
        connection.flushUnlessInBatch();
    }

    /** CmdSN of an immediate PDU; with the lock held. */
    private int cmdSn() {
        return tasks.numbering().current();
    }

    private void ping(long nowMs) {
        pinging = true;
        ask(new Exchange("ping", nowMs + timeouts.keepAliveMs()) {
            @Override
            boolean answered(TargetPdu pdu, MemorySegment data) {
                pinging = false;
                return true;
            }

            @Override
            void failed(IOException why) { connection.end(why); }
        }, itt -> new NopOut(true, Lun.ZERO, itt, Bhs.NO_TAG, cmdSn(), connection.expStatSn()),
                MemorySegment.NULL);
    }

    /** Asks the target to end a command whose time is over; its buffers are ours again only after the answer. */
    private void abort(Command command) {
        int taskTag = command.itt;
        int refCmdSn = command.cmdSn;
        long lun = command.lun;
        String what = tasks.describe(command);
        LOG.log(System.Logger.Level.WARNING, "{0}: no answer within {1} ms, aborting it", what,
                timeouts.commandMs());
        ask(new Exchange("abort of " + what, loop.nowMs() + timeouts.abortMs()) {
            @Override
            boolean answered(TargetPdu pdu, MemorySegment data) throws ProtocolException {
                int response = pdu instanceof TaskManagementResponse answer
                        ? answer.response()
                        : TaskManagementResponseCode.FUNCTION_REJECTED.code();
                if (response != TaskManagementResponseCode.FUNCTION_COMPLETE.code()
                        && response != TaskManagementResponseCode.TASK_DOES_NOT_EXIST.code()) {
                    failed(new IOException(target + " does not abort " + what + ": "
                            + TaskManagementResponseCode.describe(response)));
                    return true;
                }
                tasks.fail(taskTag, new DeadlineException(
                        what + ": no answer within " + timeouts.commandMs() + " ms, aborted"));
                return true;
            }

            @Override
            void failed(IOException why) {
                // The command may still write into its buffer: only the end of the connection stops it.
                connection.end(why);
            }
        }, itt -> new TaskManagementRequest(true, TaskManagementFunction.ABORT_TASK.code(),
                new Lun(lun), itt, taskTag, cmdSn(), connection.expStatSn(), refCmdSn, 0),
                MemorySegment.NULL);
    }

    /** Ends the session in order: logout, then the connection. */
    void logout() {
        if (loggingOut || isClosed) {
            return;
        }
        loggingOut = true;
        drainUntilMs = 0;
        ask(new Exchange("logout", loop.nowMs() + timeouts.logoutMs()) {
            @Override
            boolean answered(TargetPdu pdu, MemorySegment data) {
                if (pdu instanceof LogoutResponse answer && answer.response() != 0) {
                    LOG.log(System.Logger.Level.WARNING, "logout from {0}: {1}", target,
                            LogoutResponseCode.describe(answer.response()));
                }
                connection.close();
                return true;
            }

            @Override
            void failed(IOException why) {
                LOG.log(System.Logger.Level.WARNING, "logout: {0}", why.getMessage());
                connection.close();
            }
        }, itt -> new LogoutRequest(true, LogoutReason.CLOSE_SESSION, itt, 0, cmdSn(),
                connection.expStatSn()), MemorySegment.NULL);
    }

    // --- what the target says ---

    void received(TargetPdu pdu, MemorySegment data) throws ProtocolException {
        switch (pdu) {
            case NopIn nop when nop.itt() == Bhs.NO_TAG -> {
                if (nop.isPing()) {
                    MemorySegment echo = MemorySegment.ofArray(data.toArray(ValueLayout.JAVA_BYTE));
                    send(() -> new NopOut(true, nop.lun(), Bhs.NO_TAG, nop.ttt(), cmdSn(),
                            connection.expStatSn()), echo);
                }
            }
            case AsyncMessage message -> message(message, data);
            default -> answered(pdu, data);
        }
    }

    private void answered(TargetPdu pdu, MemorySegment data) throws ProtocolException {
        for (Exchange exchange : List.copyOf(exchanges)) {
            if (exchange.itt == pdu.itt()) {
                if (exchange.answered(pdu, data)) {
                    exchanges.remove(exchange);
                }
                return;
            }
        }
        LOG.log(System.Logger.Level.DEBUG, "{0} answers nothing that was asked", pdu.describe());
    }

    /** One of our PDUs which is not a SCSI command was rejected. */
    void rejected(int itt, IOException why) {
        for (Exchange exchange : List.copyOf(exchanges)) {
            if (exchange.itt == itt && exchanges.remove(exchange)) {
                exchange.failed(why);
            }
        }
    }

    private void message(AsyncMessage message, MemorySegment data) {
        String text = AsyncEvent.describe(message.event());
        switch (AsyncEvent.of(message.event()).orElse(AsyncEvent.VENDOR_SPECIFIC)) {
            case LOGOUT_REQUEST -> {
                LOG.log(System.Logger.Level.INFO, "{0}: {1} within {2} s", target, text,
                        message.parameter3());
                // What is at the target may end while there is time; half of it is left for the logout.
                drainUntilMs = loop.nowMs() + Math.max(1, message.parameter3() * 500L);
                tasks.refuse(target + " asked us to log out", null);
            }
            case CONNECTION_DROP, SESSION_DROP ->
                connection.end(new IOException(target + ": " + text));
            case SCSI_EVENT -> LOG.log(System.Logger.Level.WARNING, "{0}/{1}: {2} {3}", target,
                    message.lun(), text, data.byteSize() > 2 ? Sense.decode(data.asSlice(2)) : "");
            case NEGOTIATION_REQUEST, TASK_TERMINATION, VENDOR_SPECIFIC ->
                LOG.log(System.Logger.Level.WARNING, "{0}/{1}: {2}", target, message.lun(), text);
        }
    }

    /** The connection has ended. */
    void closed(@Nullable IOException why) {
        isClosed = true;
        IOException cause = why == null ? new IOException("the session is closed") : why;
        try {
            tasks.lost(String.valueOf(cause.getMessage()), why);
            List<Exchange> open = List.copyOf(exchanges);
            exchanges.clear();
            open.forEach(exchange -> exchange.failed(cause));
        } finally {
            ended.countDown();
            over.complete(null);
        }
    }
}
