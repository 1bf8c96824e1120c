package lunar.initiator.internal.session;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import lunar.block.InvalidRequestException;
import lunar.block.StorageException;
import lunar.initiator.Exchange;
import lunar.initiator.ScsiResult;
import lunar.initiator.SessionNotice;
import lunar.initiator.SessionOptions;
import lunar.initiator.Task;
import lunar.initiator.Timeouts;
import lunar.initiator.internal.retry.SenseMapping;
import lunar.iscsi.login.LoginResult;
import lunar.iscsi.pdu.AsyncEvent;
import lunar.iscsi.pdu.ScsiResponse;
import lunar.iscsi.session.CommandNumbering;
import lunar.iscsi.spi.EventLoop;
import lunar.iscsi.text.TargetAddress;
import lunar.iscsi.text.TextKeys;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Lun;
import org.jspecify.annotations.Nullable;

/**
 * Engine of a running session: creates its parts, which depend on each other in one direction, and passes requests on
 * to them. Thread-safe.
 *
 * <p>{@link Tasks} manages the commands, {@link Connections} the connections with their recovery, {@link Control} the
 * clock and the target's messages, {@link Exchanges} the tasks of callers.
 */
public final class SessionEngine {
    private static final System.Logger LOG = System.getLogger("lunar.initiator");

    /** Time after the logout for the transport to release the data of aborted commands. */
    private static final long RELEASE_MS = 5_000;

    /** Logs in a connection that joins a session. */
    @FunctionalInterface
    public interface Joiner {
        void join(SessionEngine session, int cid, TargetAddress portal, int expStatSn)
                throws IOException;
    }

    /** Called with events, on the event loop's thread. */
    public interface Listener {
        void happened(SessionNotice notice);

        /** Called with each unit attention, whichever command has got it, or a message. */
        void attention(Lun lun, AdditionalSense attention);
    }

    /** Called with each command that has ended; see {@link lunar.initiator.InitiatorMetrics}. */
    @FunctionalInterface
    public interface Meter {
        void ended(Lun lun, int opcode, int status, long bytes, long nanos);
    }

    private final EventLoop loop;
    private final Tasks tasks;
    private final Allegiance allegiance;
    private final ResetWatch resets;
    private final Control control;
    private final Connections connections;
    private final Exchanges exchanges;
    private final SessionOptions options;
    private final LoginResult result;
    private final Joiner joiner;
    private final Listener listener;
    private final BounceBuffers bounces = new BounceBuffers();
    private final AtomicBoolean closing = new AtomicBoolean();

    /**
     * Called on the event loop's thread by the last step of the login.
     *
     * @param meter null for none
     */
    public SessionEngine(Connection first, LoginResult result, CommandNumbering numbering,
            SessionOptions options, Joiner joiner, @Nullable Meter meter, Listener listener) {
        loop = first.loop();
        this.options = options;
        this.result = result;
        this.joiner = joiner;
        this.listener = listener;
        Timeouts timeouts = options.timeouts();
        tasks = new Tasks(loop, result.parameters(), numbering, targetName(),
                options.queueDepth(), timeouts.commandMs(), meter == null ? null : gauge(meter));
        allegiance = new Allegiance(tasks);
        resets = new ResetWatch(targetName());
        var pendingRequests = new PendingRequests(tasks, targetName());
        connections = new Connections(loop, tasks, allegiance, pendingRequests, result, timeouts,
                targetName(), places(), (cid, portal, expStatSn) -> joiner.join(this, cid, portal,
                        expStatSn),
                this::tell);
        control = new Control(loop, tasks, allegiance, pendingRequests, connections, timeouts,
                targetName(), this::tell, listener::attention);
        exchanges = new Exchanges(loop, tasks, allegiance, resets, pendingRequests, control,
                connections, timeouts.abortMs());
        connections.begin(fullFeature(first));
        control.start();
    }

    private FullFeature fullFeature(Connection connection) {
        var made = new FullFeature(connection, tasks, allegiance, resets, control,
                result.parameters().errorRecoveryLevel());
        connection.enter(made);
        return made;
    }

    private static CompletionDispatcher.Gauge gauge(Meter meter) {
        return (command, nanos) -> meter.ended(new Lun(command.lun),
                command.cdb.get(ValueLayout.JAVA_BYTE, 0) & 0xff,
                command.failure == null ? command.status : -1,
                command.dataIn.byteSize() + command.dataOut.byteSize(), nanos);
    }

    // --- connections ---

    /** Adds a connection that has logged in to this session; on the event loop's thread. */
    public void join(Connection connection) {
        connections.joined(fullFeature(connection));
    }

    /** Logs in the further connections; failed ones are retried later. */
    public void addConnections() {
        int wanted = result.tsih() == 0
                ? 1
                : Math.min(options.connections(), result.parameters().maxConnections());
        if (wanted < options.connections()) {
            LOG.log(System.Logger.Level.INFO, "{0} permits only {1} of {2} connections",
                    targetName(),
                    wanted, options.connections());
        }
        List<TargetAddress> places = places();
        for (int cid = 1; cid < wanted; cid++) {
            TargetAddress place = places.get(cid % places.size());
            try {
                joiner.join(this, cid, place, 0);
            } catch (IOException e) {
                LOG.log(System.Logger.Level.WARNING, "{0}: {1}", targetName(), e.getMessage());
                connections.add(cid, place);
            }
        }
    }

    /** Returns the portals of its group, its own first: no others accept its connections (RFC 7143 section 4.1.1). */
    private List<TargetAddress> places() {
        var places = new ArrayList<TargetAddress>();
        TargetAddress portal = options.portal();
        places.add(new TargetAddress(portal.host(), portal.port(), OptionalInt.empty()));
        for (TargetAddress other : options.otherPortals()) {
            var bare = new TargetAddress(other.host(), other.port(), OptionalInt.empty());
            boolean same = other.portalGroupTag().isPresent()
                    && other.portalGroupTag().equals(result.portalGroupTag());
            if (same && !places.contains(bare)) {
                places.add(bare);
            }
        }
        return places;
    }

    /** Returns the numbering for the login of a further connection. */
    public LoginPhase.Numbers numbers() {
        return new LoginPhase.Numbers() {
            @Override
            public int cmdSn() {
                tasks.lock();
                try {
                    return tasks.numbering().current();
                } finally {
                    tasks.unlock();
                }
            }

            @Override
            public void update(int expCmdSn, int maxCmdSn) {
                tasks.lock();
                try {
                    boolean _ = tasks.numbering().update(expCmdSn, maxCmdSn);
                } finally {
                    tasks.unlock();
                }
            }
        };
    }

    private void tell(SessionNotice notice) {
        if (notice instanceof SessionNotice.MessageCame(var event, var lun, var sense)
                && event == AsyncEvent.SCSI_EVENT.code() && sense.isPresent()) {
            resets.heard(lun.value(), sense.get().additional());
            listener.attention(lun, sense.get().additional());
        }
        listener.happened(notice);
    }

    // --- state ---

    public EventLoop loop() { return loop; }

    public Tasks tasks() { return tasks; }

    /** Returns the watch that sees all unit attentions. */
    public ResetWatch resets() {
        return resets;
    }

    public BounceBuffers bounces() { return bounces; }

    public SessionOptions options() { return options; }

    public LoginResult loginResult() { return result; }

    /** Returns the target's iSCSI name; "discovery" in a discovery session. */
    public String targetName() {
        return result.targetName().orElse("discovery");
    }

    /** Whether the session takes commands: neither closed nor lost. */
    public boolean isOpen() {
        return !closing.get() && !connections.isOver();
    }

    /** Runs an action when the session has ended in any way. */
    public void onEnd(Runnable what) {
        var _ = connections.over().thenRun(what);
    }

    /** Returns how long to wait after this session before the next login, in milliseconds. */
    public long time2WaitMs() {
        return connections.waitMs();
    }

    // --- requests ---

    public <R> Task<R> start(Exchange<R> exchange) { return exchanges.start(exchange); }

    /**
     * Executes a command, with any SCSI status as its result, and waits for its end.
     *
     * @param saysWrite whether the PDU has the W bit without any data-out, which RFC 7143 section 11.3.1 allows
     */
    public ScsiResult execute(Lun lun, byte[] cdb, MemorySegment dataIn, MemorySegment dataOut,
            boolean saysWrite, int timeoutMs) throws StorageException {
        if (cdb.length < 6 || cdb.length > Exchange.Scsi.MAX_CDB_BYTES) {
            throw new InvalidRequestException("invalid CDB length: " + cdb.length + " bytes");
        }
        tasks.dispatcher().refuseOnLoop();
        MemorySegment in = bounces.into(dataIn);
        MemorySegment out = bounces.outOf(dataOut);
        Command command = tasks.take();
        try {
            command.prepare(lun.value(), in, out, Command::wake);
            command.cdb.fill((byte) 0);
            MemorySegment.copy(MemorySegment.ofArray(cdb), 0, command.cdb, 0, cdb.length);
            command.cdbLength = cdb.length;
            command.saysWrite = saysWrite;
            command.patienceMs = timeoutMs;
            command.waiter = Thread.currentThread();
            tasks.submit(command);
            tasks.dispatcher().await(command);
            StorageException failure = command.failure;
            if (failure != null) {
                throw failure;
            }
            if (command.response != ScsiResponse.COMPLETED) {
                throw SenseMapping.targetFailure(command.response, tasks.describe(command));
            }
            BounceBuffers.copyBack(in, dataIn);
            return command.result();
        } finally {
            tasks.give(command);
            bounces.give(in, dataIn);
            bounces.give(out, dataOut);
        }
    }

    /** Sends a Text Request over the first connection; returns a future of the whole answer. */
    public CompletableFuture<TextKeys> ask(TextKeys keys) {
        var answer = new CompletableFuture<TextKeys>();
        loop.execute(() -> {
            var _ = control.text(tasks.connections().getFirst(), keys, answer::complete,
                    answer::completeExceptionally);
        });
        return answer;
    }

    // --- the end ---

    /** Logs out and ends the connections; waits for that, within the time for a logout. Idempotent. */
    public void close() {
        if (closing.compareAndSet(false, true)) {
            tasks.refuse("the session is closed", null);
            try {
                loop.execute(connections::logOut);
            } catch (RejectedExecutionException e) {
                LOG.log(System.Logger.Level.DEBUG, "logout from {0} failed: {1}", targetName(), e);
            }
        }
        if (loop.inLoop()) {
            return; // what follows is this thread's own work
        }
        try {
            if (!connections.ended().await(options.timeouts().logoutMs() + RELEASE_MS,
                    TimeUnit.MILLISECONDS) || !tasks.awaitNone(RELEASE_MS)) {
                LOG.log(System.Logger.Level.ERROR, "the session with {0} does not end",
                        targetName());
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
