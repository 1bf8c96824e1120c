package lunar.initiator;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import lunar.block.DeviceGoneException;
import lunar.block.InvalidRequestException;
import lunar.block.StorageException;
import lunar.iscsi.AsyncEvent;
import lunar.iscsi.CommandNumbering;
import lunar.iscsi.DiscoveredTarget;
import lunar.iscsi.LoginResult;
import lunar.iscsi.OperationalParameters;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.ScsiResponse;
import lunar.iscsi.SendTargets;
import lunar.iscsi.TargetAddress;
import lunar.iscsi.TextKeys;
import lunar.iscsi.spi.EventLoop;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Lun;
import lunar.scsi.LunList;
import lunar.scsi.MalformedDataException;
import lunar.scsi.ReportLuns;

/**
 * A session with a target: opens its LUNs, and passes commands through to them. Thread-safe.
 *
 * <p>It may have several connections, over which commands are spread; their order is kept (RFC 7143 section 4.2.2). The
 * effect of a lost connection depends on the negotiated ErrorRecoveryLevel (section 7.1.5): at 2 its tasks go on over
 * another, or over a new one where all are lost. Below, tasks that the target had received end there, and reads and
 * writes of a {@link LunDevice} are sent again as long as the session has a connection; without one it has ended, and
 * its user logs in again for another.
 *
 * <p>Closing it logs out. Commands that are then still at the target end with {@link DeviceGoneException}, as does
 * everything afterwards.
 */
public final class Session implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("lunar.initiator");

    /** How long, beyond the logout, the transport may take to release the data of aborted commands. */
    private static final long RELEASE_MS = 5_000;
    private static final int FIRST_LUN_LIST_BYTES = 4096;
    private static final int MAX_LUN_LIST_BYTES = 8 + 8 * 16_384;

    /** Logs in a connection that joins a session. */
    @FunctionalInterface
    interface Joiner {
        void join(Session session, int cid, TargetAddress portal, int expStatSn)
                throws IOException;
    }

    private final EventLoop loop;
    private final Tasks tasks;
    private final Control control;
    private final Connections connections;
    private final Exchanges exchanges;
    private final SessionOptions options;
    private final LoginResult result;
    private final Joiner joiner;
    private final Consumer<Session> whenClosed;
    private final SessionListener listener;
    private final Set<LunDevice> devices = ConcurrentHashMap.newKeySet();
    private final Bounces bounces = new Bounces();
    /** Number of unit attentions that reported a new capacity of any unit. */
    private final AtomicInteger capacityChanges = new AtomicInteger();
    private final AtomicBoolean closing = new AtomicBoolean();

    /** Called on the event loop's thread by the last step of the login. */
    Session(Connection first, LoginResult result, CommandNumbering numbering,
            SessionOptions options, Consumer<Session> whenClosed, InitiatorOptions initiator,
            Joiner joiner) {
        loop = first.loop();
        this.options = options;
        this.result = result;
        this.whenClosed = whenClosed;
        this.joiner = joiner;
        listener = initiator.listener();
        tasks = new Tasks(loop, result.parameters(), numbering, targetName(),
                options.queueDepth(), options.timeouts().commandMs(),
                initiator.metrics().map(this::gauge).orElse(null));
        var pendingRequests = new PendingRequests(tasks, targetName());
        connections = new Connections(loop, tasks, pendingRequests, result, options.timeouts(),
                targetName(), places(), (cid, portal, expStatSn) -> joiner.join(this, cid, portal,
                        expStatSn),
                this::tell);
        control = new Control(loop, tasks, pendingRequests, connections, options.timeouts(),
                targetName(), this::tell, this::attention);
        exchanges = new Exchanges(this, tasks, pendingRequests, control, connections);
        connections.begin(fullFeature(first));
        control.start();
    }

    private FullFeature fullFeature(Connection connection) {
        var made = new FullFeature(connection, tasks, control,
                result.parameters().errorRecoveryLevel());
        connection.enter(made);
        return made;
    }

    private CompletionDispatcher.Gauge gauge(InitiatorMetrics metrics) {
        return (command, nanos) -> metrics.commandEnded(this, new Lun(command.lun),
                command.cdb.get(ValueLayout.JAVA_BYTE, 0) & 0xff,
                command.failure == null ? command.status : -1,
                command.dataIn.byteSize() + command.dataOut.byteSize(), nanos);
    }

    /** Adds a connection that has logged in to this session; on the event loop's thread. */
    Session join(Connection connection, LoginResult joined) {
        connections.joined(fullFeature(connection));
        return this;
    }

    /** Logs in the connections beside the first; those that fail now are tried again later. */
    void addConnections() {
        int wanted = result.tsih() == 0
                ? 1
                : Math.min(options.connections(), parameters().maxConnections());
        if (wanted < options.connections()) {
            LOG.log(System.Logger.Level.INFO, "{0} allows {1} connections of {2}", targetName(),
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
        places.add(new TargetAddress(portal().host(), portal().port(), OptionalInt.empty()));
        for (TargetAddress other : options.otherPortals()) {
            var bare = new TargetAddress(other.host(), other.port(), OptionalInt.empty());
            boolean same = other.portalGroupTag().isPresent()
                    && other.portalGroupTag().getAsInt() == result.portalGroupTag();
            if (same && !places.contains(bare)) {
                places.add(bare);
            }
        }
        return places;
    }

    private void tell(SessionNotice notice) {
        if (notice instanceof SessionNotice.MessageCame(var event, var lun, var sense)
                && event == AsyncEvent.SCSI_EVENT.code() && sense.isPresent()) {
            tasks.resets().heard(lun.value(), sense.get().additional());
            attention(lun, sense.get().additional());
        }
        try {
            listener.happened(this, notice);
        } catch (RuntimeException e) {
            LOG.log(System.Logger.Level.ERROR, "listener of sessions", e);
        }
    }

    /** Handles a unit attention, from an answer to any command or from an asynchronous message. */
    private void attention(Lun lun, AdditionalSense attention) {
        LOG.log(System.Logger.Level.DEBUG, "{0}/{1}: unit attention {2}", targetName(), lun,
                attention);
        if (attention.equals(AdditionalSense.CAPACITY_DATA_HAS_CHANGED)) {
            capacityChanges.incrementAndGet();
        }
        devices.stream().filter(device -> device.lun().equals(lun))
                .forEach(device -> device.attention(attention));
        if (attention.equals(AdditionalSense.REPORTED_LUNS_DATA_HAS_CHANGED)) {
            tell(new SessionNotice.LunsChanged());
        }
    }

    /** Returns the numbering for the login of a further connection. */
    LoginPhase.Numbers numbers() {
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

    /**
     * Returns how long to wait after this session before the next login, in milliseconds: as the target has requested
     * at its end, or the negotiated DefaultTime2Wait (RFC 7143 sections 7.5, 11.9.1 and 13.15).
     */
    public long time2WaitMs() { return connections.waitMs(); }

    /** Starts an exchange with the target. Does not block; any thread. */
    public <R> Task<R> start(Exchange<R> exchange) {
        return exchanges.start(exchange);
    }

    /** Returns the number of present connections: 0 where all are lost, while another is being made. */
    public int connectionCount() {
        return tasks.connections().size();
    }

    /** Returns the target's iSCSI name; "discovery" in a discovery session. */
    public String targetName() {
        return result.targetName().orElse("discovery");
    }

    /** Returns the portal of the session: after a redirection not the requested one. */
    public TargetAddress portal() {
        return options.portal();
    }

    /** Returns the negotiated parameters. */
    public OperationalParameters parameters() {
        return result.parameters();
    }

    /** Returns the result of the login. */
    public LoginResult loginResult() { return result; }

    /** Returns the options of the session. */
    public SessionOptions options() { return options; }

    /** Whether the session takes commands: neither closed nor lost. */
    public boolean isOpen() {
        return !closing.get() && !connections.isOver();
    }

    /** Runs an action when the session has ended in any way; on an event loop's thread, where it must not block. */
    public void onEnd(Runnable what) {
        var _ = connections.over().thenRun(what);
    }

    /**
     * Whether the session ended with unconfirmed commands at the target that change blocks. They may be performed as
     * long as the target has the session; a login with its ISID ends it there (RFC 7143 section 6.3.5). False while the
     * session is open.
     */
    public boolean leftUnanswered() { return tasks.leftUnanswered(); }

    Tasks tasks() { return tasks; }

    EventLoop loop() { return loop; }

    void forget(LunDevice device) { devices.remove(device); }

    Bounces bounces() { return bounces; }

    /**
     * Opens a LUN that is a disk. Closing the device leaves the session open.
     *
     * @throws StorageException when there is no such LUN, or it is no disk, or it does not answer
     */
    public LunDevice open(Lun lun) throws StorageException { return open(lun, () -> {}); }

    /**
     * Opens a LUN that other sessions have opened, or will.
     *
     * @param writes tracks the unit's unflushed writes over all its sessions; the caller must then call its
     *        {@link UnflushedWrites#reopened}
     */
    public LunDevice open(Lun lun, UnflushedWrites writes) throws StorageException {
        return open(lun, writes, () -> {});
    }

    /** Opens a LUN with an action that runs when the device is closed. */
    LunDevice open(Lun lun, Runnable whenDeviceClosed) throws StorageException {
        return open(lun, new UnflushedWrites(), whenDeviceClosed);
    }

    private LunDevice open(Lun lun, UnflushedWrites writes, Runnable whenDeviceClosed)
            throws StorageException {
        int changesBefore = capacityChanges.get();
        LunTraits traits = LunProbe.probe(this, lun);
        tasks.resets().opened(lun, writes);
        var device = new LunDevice(this, lun, traits, writes, whenDeviceClosed);
        devices.add(device);
        if (capacityChanges.get() != changesBefore) {
            device.askCapacity(); // of this unit or another, before or after its capacity was asked for
        }
        return device;
    }

    /** Returns the target's LUNs, of any device type (REPORT LUNS). */
    public List<Lun> luns() throws StorageException {
        var probe = new LunProbe(this, Lun.ZERO);
        try {
            MemorySegment list = probe.ask(new ReportLuns(0, FIRST_LUN_LIST_BYTES),
                    FIRST_LUN_LIST_BYTES);
            long length = LunList.fullLength(list);
            if (length > FIRST_LUN_LIST_BYTES) {
                int bytes = (int) Math.min(length, MAX_LUN_LIST_BYTES);
                list = probe.ask(new ReportLuns(0, bytes), bytes);
            }
            return LunList.decode(list).luns();
        } catch (MalformedDataException e) {
            throw new DeviceGoneException(targetName() + " answers REPORT LUNS with nonsense: "
                    + e.getMessage(), e);
        }
    }

    /**
     * Passes a command through. Returns any SCSI status, which the caller judges; nothing is retried.
     *
     * @param cdb 6 to 260 bytes
     * @param dataIn buffer for data from the target; {@link MemorySegment#NULL} for none
     * @param dataOut data for the target; {@link MemorySegment#NULL} for none
     * @throws StorageException when the command did not complete: timeout, session gone
     */
    public ScsiResult execute(Lun lun, byte[] cdb, MemorySegment dataIn, MemorySegment dataOut)
            throws StorageException {
        return execute(lun, cdb, dataIn, dataOut, false, options.timeouts().commandMs());
    }

    /**
     * Executes a command with a time limit of its own.
     *
     * @param saysWrite whether the PDU has the W bit without any data-out, which RFC 7143 section 11.3.1 allows
     */
    ScsiResult execute(Lun lun, byte[] cdb, MemorySegment dataIn, MemorySegment dataOut,
            boolean saysWrite, int timeoutMs) throws StorageException {
        if (cdb.length < 6 || cdb.length > Command.MAX_CDB_BYTES) {
            throw new InvalidRequestException("a CDB of " + cdb.length + " bytes");
        }
        refuseOnLoop();
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
            Bounces.copyBack(in, dataIn);
            return command.result();
        } finally {
            tasks.give(command);
            bounces.give(in, dataIn);
            bounces.give(out, dataOut);
        }
    }

    /** Refuses a blocking call on the event loop's thread, which would wait for itself forever. */
    void refuseOnLoop() throws InvalidRequestException {
        if (loop.inLoop()) {
            throw new InvalidRequestException(
                    "a completion must not wait for another request: submit it instead");
        }
    }

    /** Returns the targets that the portal of a discovery session reports. */
    List<DiscoveredTarget> sendTargets() throws IOException {
        var answer = new CompletableFuture<TextKeys>();
        loop.execute(() -> {
            var _ = control.text(tasks.connections().getFirst(),
                    new SendTargets.All().request(), answer::complete,
                    answer::completeExceptionally);
        });
        TextKeys keys = Initiator.await(answer, options.timeouts().loginMs(), portal(),
                "discovery");
        var leftOut = new ArrayList<ProtocolException>();
        List<DiscoveredTarget> targets = SendTargets.parse(keys, leftOut::add);
        if (!leftOut.isEmpty()) {
            LOG.log(System.Logger.Level.WARNING, "discovery at {0}: {1} malformed names or"
                    + " addresses of targets are left out, the first: {2}", portal(),
                    leftOut.size(), leftOut.getFirst().getMessage());
        }
        return targets;
    }

    /** Logs out and ends the connection; waits for that, within the time for a logout. Idempotent. */
    @Override
    public void close() {
        if (closing.compareAndSet(false, true)) {
            tasks.refuse("the session is closed", null);
            try {
                loop.execute(connections::logOut);
            } catch (RejectedExecutionException e) {
                LOG.log(System.Logger.Level.DEBUG, "logout from {0}: {1}", targetName(), e);
            }
        }
        if (loop.inLoop()) {
            return; // what follows is this thread's own work
        }
        try {
            if (!connections.ended().await(options.timeouts().logoutMs() + RELEASE_MS,
                    TimeUnit.MILLISECONDS) || !tasks.awaitNone(RELEASE_MS)) {
                LOG.log(System.Logger.Level.ERROR, "session with {0} does not end", targetName());
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        whenClosed.accept(this);
    }

    @Override
    public String toString() { return targetName() + " at " + portal(); }
}
