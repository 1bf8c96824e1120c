package lunar.initiator;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import lunar.initiator.internal.lun.LunProbe;
import lunar.initiator.internal.lun.LunTraits;
import lunar.initiator.internal.session.Connection;
import lunar.initiator.internal.session.LoginPhase;
import lunar.initiator.internal.session.SessionEngine;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.login.LoginResult;
import lunar.iscsi.login.OperationalParameters;
import lunar.iscsi.session.CommandNumbering;
import lunar.iscsi.text.DiscoveredTarget;
import lunar.iscsi.text.SendTargets;
import lunar.iscsi.text.TargetAddress;
import lunar.iscsi.text.TextKeys;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Lun;
import lunar.scsi.mode.ModeSelect;

/**
 * A session with a target: opens its LUNs, and passes commands through to them. Thread-safe.
 *
 * <p>It may have several connections, over which commands are distributed in order (RFC 7143 section 4.2.2). The effect
 * of a lost connection depends on the negotiated ErrorRecoveryLevel (section 7.1.5): at level 2 its tasks continue on
 * another connection, or on a new one if all are lost. At lower levels, tasks that the target has received are aborted,
 * and reads and writes of a {@link LunDevice} are retried as long as the session has a connection; without one the
 * session has ended, and its user must log in again.
 *
 * <p>Closing it logs out. Commands that are still at the target then fail with {@link DeviceGoneException}, like all
 * later requests.
 */
public final class Session implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("lunar.initiator");

    private final SessionEngine engine;
    private final SessionListener listener;
    private final Set<LunDevice> devices = ConcurrentHashMap.newKeySet();
    /** Number of unit attentions that reported a new capacity of any unit. */
    private final AtomicInteger capacityChanges = new AtomicInteger();

    /** Called on the event loop's thread by the last step of the login. */
    Session(Connection first, LoginResult result, CommandNumbering numbering,
            SessionOptions options, InitiatorOptions initiator,
            SessionEngine.Joiner joiner) {
        listener = initiator.listener();
        engine = new SessionEngine(first, result, numbering, options, joiner,
                initiator.metrics().map(this::meter).orElse(null), new SessionEngine.Listener() {
                    @Override
                    public void happened(SessionNotice notice) { tell(notice); }

                    @Override
                    public void attention(Lun lun, AdditionalSense attention) {
                        noteAttention(lun, attention);
                    }
                });
    }

    private SessionEngine.Meter meter(InitiatorMetrics metrics) {
        return (lun, opcode, status, bytes, nanos) -> metrics.commandEnded(this, lun, opcode,
                status, bytes, nanos);
    }

    /** Logs in the further connections; failed ones are retried later. */
    void addConnections() {
        engine.addConnections();
    }

    private void tell(SessionNotice notice) {
        try {
            listener.happened(this, notice);
        } catch (RuntimeException e) {
            LOG.log(System.Logger.Level.ERROR, "session listener failed", e);
        }
    }

    /** Handles a unit attention, from an answer to any command or from an asynchronous message. */
    private void noteAttention(Lun lun, AdditionalSense attention) {
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

    /**
     * Returns how long to wait after this session before the next login, in milliseconds: as the target has requested
     * at its end, or the negotiated DefaultTime2Wait (RFC 7143 sections 7.5, 11.9.1 and 13.15).
     */
    public long time2WaitMs() { return engine.time2WaitMs(); }

    /** Starts an exchange with the target. Does not block; any thread. */
    public <R> Task<R> start(Exchange<R> exchange) {
        if (!(exchange instanceof Exchange.Scsi scsi)) {
            return engine.start(exchange);
        }
        int opcode = scsi.cdb().at(0);
        boolean selectsModes = selectsModes(opcode);
        if (selectsModes) {
            engine.resets().modesChanged(scsi.lun().value());
        }
        Task<R> task = engine.start(exchange);
        var _ = task.future().whenComplete((result, _) -> {
            if (selectsModes) {
                selectedModes(scsi.lun());
            }
            if (result instanceof ScsiResult answer) {
                var _ = accountFor(scsi.lun(), opcode, answer);
            }
        });
        return task;
    }

    /** Tells the devices of a unit of a command that has failed: it may have got a report of lost writes. */
    private CompletableFuture<Void> accountFor(Lun lun, int opcode, ScsiResult result) {
        return result.isSuccess()
                ? CompletableFuture.completedFuture(null)
                : CompletableFuture.allOf(devices.stream()
                        .filter(device -> device.lun().equals(lun))
                        .map(device -> device.refused((byte) opcode, result))
                        .toArray(CompletableFuture[]::new));
    }

    /** Whether a command is MODE SELECT, after which a unit reports changed parameters to other sessions only. */
    private static boolean selectsModes(int opcode) {
        return opcode == ModeSelect.SELECT_6 || opcode == ModeSelect.SELECT_10;
    }

    private void selectedModes(Lun lun) {
        engine.resets().modesChanged(lun.value());
        devices.stream().filter(device -> device.lun().equals(lun))
                .forEach(LunDevice::refreshCacheMode);
    }

    /** Returns the number of present connections: 0 where all are lost, while another is being made. */
    public int connectionCount() {
        return engine.tasks().connections().size();
    }

    /** Returns the target's iSCSI name; "discovery" in a discovery session. */
    public String targetName() {
        return engine.targetName();
    }

    /** Returns the portal of the session: after a redirection not the requested one. */
    public TargetAddress portal() {
        return engine.options().portal();
    }

    /** Returns the negotiated parameters. */
    public OperationalParameters parameters() {
        return engine.loginResult().parameters();
    }

    /** Returns the result of the login. */
    public LoginResult loginResult() {
        return engine.loginResult();
    }

    /** Returns the options of the session. */
    public SessionOptions options() {
        return engine.options();
    }

    /** Whether the session takes commands: neither closed nor lost. */
    public boolean isOpen() {
        return engine.isOpen();
    }

    /** Runs an action when the session has ended in any way; on an event loop's thread, where it must not block. */
    public void onEnd(Runnable what) {
        engine.onEnd(what);
    }

    /**
     * Whether the session ended with unanswered commands at the target that change blocks. They may be executed as long
     * as the session exists at the target; a login with its ISID ends it there (RFC 7143 section 6.3.5). False while
     * the session is open.
     */
    public boolean leftUnanswered() { return engine.tasks().leftUnanswered(); }

    /** Returns the resets that unit attentions of a unit have reported so far over this session. */
    public ReportedReset resetTold(Lun lun) {
        return engine.resets().told(lun);
    }

    /**
     * Returns how often a unit has reported over this session that it may have lost a volatile cache: by a unit
     * attention (power on, reset of the device) or a deferred error. Counted before the command that had the report
     * ends.
     */
    public long cacheLosses(Lun lun) { return engine.resets().losses(lun); }

    /** Returns the running session behind this one. */
    SessionEngine engine() { return engine; }

    void forget(LunDevice device) { devices.remove(device); }

    /**
     * Opens a LUN that is a disk. Closing the device leaves the session open.
     *
     * @throws StorageException if there is no such LUN, or it is no disk, or it does not answer
     */
    public LunDevice open(Lun lun) throws StorageException { return open(lun, () -> {}); }

    /**
     * Opens a LUN that other sessions have opened, or will.
     *
     * @param writes tracks the unit's unflushed writes over all its sessions; the caller must then call
     *        {@link LunDevice#reopened}
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
        long verifierAsked = writes.verifier().generation();
        LunTraits traits = LunProbe.probe(engine, lun);
        engine.resets().opened(lun, writes);
        var device = new LunDevice(this, lun, traits, verifierAsked, writes, whenDeviceClosed);
        devices.add(device);
        if (capacityChanges.get() != changesBefore) {
            device.askCapacity(); // of this unit or another, before or after its capacity was asked for
        }
        device.refreshCacheMode();
        return device;
    }

    /** Returns the target's LUNs, of any device type (REPORT LUNS). */
    public List<Lun> luns() throws StorageException {
        return LunProbe.luns(engine);
    }

    /**
     * Passes a command through. Returns any SCSI status, which the caller must check; nothing is retried. If the target
     * reports lost writes, the next flush of the unit's devices fails as well. An interrupt does not end it.
     *
     * @param cdb 6 to 260 bytes
     * @param dataIn buffer for data from the target; {@link MemorySegment#NULL} for none
     * @param dataOut data for the target; {@link MemorySegment#NULL} for none
     * @throws StorageException if the command did not complete: timeout, session gone
     */
    public ScsiResult execute(Lun lun, byte[] cdb, MemorySegment dataIn, MemorySegment dataOut)
            throws StorageException {
        boolean selectsModes = cdb.length > 0 && selectsModes(cdb[0]);
        if (selectsModes) { // before: other commands may meet the new values before its status is here
            engine.resets().modesChanged(lun.value());
        }
        try {
            ScsiResult result = engine.execute(lun, cdb, dataIn, dataOut, false,
                    options().timeouts().commandMs());
            accountFor(lun, cdb[0], result).join();
            return result;
        } finally {
            if (selectsModes) {
                selectedModes(lun);
            }
        }
    }

    /** Returns the targets that the portal of a discovery session reports. */
    List<DiscoveredTarget> sendTargets() throws IOException {
        TextKeys keys = LoginPhase.await(engine.ask(new SendTargets.All().request()),
                options().timeouts().loginMs(), portal(), "discovery");
        var leftOut = new ArrayList<ProtocolException>();
        List<DiscoveredTarget> targets = SendTargets.parse(keys, leftOut::add);
        if (!leftOut.isEmpty()) {
            LOG.log(System.Logger.Level.WARNING, "discovery at {0}: {1} malformed names or"
                    + " addresses of targets ignored, the first: {2}", portal(),
                    leftOut.size(), leftOut.getFirst().getMessage());
        }
        return targets;
    }

    /**
     * Logs out and ends the connection; waits for that, within the time for a logout. An interrupt ends the wait only.
     * Idempotent.
     */
    @Override
    public void close() { engine.close(); }

    @Override
    public String toString() { return targetName() + " at " + portal(); }
}
