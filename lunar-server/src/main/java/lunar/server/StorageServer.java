package lunar.server;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import lunar.block.BlockDevice;
import lunar.block.DeviceUri;
import lunar.block.Size;
import lunar.block.StorageException;
import lunar.target.PortalSpec;
import lunar.target.ServerLimits;
import lunar.target.TargetServer;
import lunar.target.status.SessionStatus;

/**
 * Runs a {@link ServerPlan}: opens its devices, listens on its portals, serves its targets, and registers them at an
 * iSNS server. The plan can be replaced while sessions continue. Closing the server ends sessions, flushes and closes
 * the devices. It installs no shutdown hook, and its threads do not keep the JVM alive: close it before the application
 * ends. Thread-safe.
 *
 * <p>Needs a transport ({@code lunar.tcp}) at run time, and the module of each type of device ({@code lunar.store} for
 * {@code ram:}, {@code file:} and {@code disk:}).
 */
public final class StorageServer implements AutoCloseable {
    /** Time that hosts have to log out when the server stops. */
    private static final Duration GRACE = Duration.ofSeconds(2);

    /** How often sizes are looked at, which others may change. */
    private static final long LOOK_SECONDS = 5;

    private final ServerListener listener;
    private final ServedDevices devices;
    private final TargetServer server;
    private final ScheduledExecutorService watch = Executors.newSingleThreadScheduledExecutor(
            task -> Thread.ofPlatform().daemon().name("lunar-sizes").unstarted(task));
    private final CountDownLatch terminated = new CountDownLatch(1);
    private final IsnsAnnouncement isns;
    /** Used by the thread of {@link #watch} only. */
    private final SpaceWatch space;
    private volatile List<TargetAssembly.Placed> placed;
    /** Changed while this is locked. */
    private volatile RunningPlan running;
    /** Guarded by this, as all below. */
    private PortalAddresses addresses;
    private List<ServedUnit> told;
    /** Devices that the last change has removed. */
    private List<ClosingDevices.Closing> removed = List.of();
    private boolean closed;

    private StorageServer(ServerPlan plan, ServerListener listener, PortalAddresses none,
            ClosingLimits limits)
            throws IOException, InvalidPlanException {
        running = RunningPlan.of(plan);
        addresses = none.of(plan);
        this.listener = new LoggedListener(listener);
        space = new SpaceWatch(this.listener);
        devices = new ServedDevices(plan.state(), this.listener, limits);
        ServedDevices.Round round = devices.round(plan.opener());
        var assembly = new TargetAssembly(round, this.listener);
        boolean started = false;
        try {
            server = builder(plan, addresses.portals(plan), assembly, listener, true).start();
            started = true;
        } catch (IllegalArgumentException e) {
            throw InvalidPlanException.of(e);
        } finally {
            if (!started) {
                round.cancel();
                devices.close();
            }
        }
        var _ = round.keep(CompletableFuture.completedFuture(null));
        placed = List.copyOf(assembly.placed());
        told = units();
        isns = new IsnsAnnouncement(server);
        isns.become(plan.isns());
    }

    /** Like {@link #start(ServerPlan, ServerListener)}; warnings go to the log. */
    public static StorageServer start(ServerPlan plan) throws IOException, InvalidPlanException {
        return start(plan, ServerListener.LOGGING);
    }

    /**
     * Starts a server. Blocks until it listens.
     *
     * @throws java.net.BindException if a portal's address is in use, or does not belong to this machine
     * @throws IOException if a device cannot be opened; those that were opened are closed
     * @throws InvalidPlanException if the plan is invalid; the message is one line
     * @throws IllegalStateException if the plan has no portal, or no transport is available
     */
    public static StorageServer start(ServerPlan plan, ServerListener listener)
            throws IOException, InvalidPlanException {
        return start(plan, listener, PortalAddresses.NONE, ClosingLimits.DEFAULT);
    }

    /**
     * Like {@link #start(ServerPlan, ServerListener)}, with another way to resolve the hosts of portals and other
     * limits for closing devices.
     */
    static StorageServer start(ServerPlan plan, ServerListener listener, PortalAddresses none,
            ClosingLimits limits) throws IOException, InvalidPlanException {
        var running = new StorageServer(plan, listener, none, limits);
        var _ = running.watch.scheduleWithFixedDelay(running::look, LOOK_SECONDS,
                LOOK_SECONDS, TimeUnit.SECONDS);
        return running;
    }

    /**
     * Applies another plan without disturbing unaffected sessions. A device that it does not contain is flushed and
     * closed in the background, after its commands; the listener is warned of a failure, and {@link #close} throws it.
     * Changes of LUNs ({@link #change}) are kept on top of the plan, except for those that it contains already. Portals
     * whose host and port stay the same keep their addresses, and their hosts are not resolved again. Changes of the
     * connection limit, the number of loops and the state directory take effect at the next start, which the listener
     * is told. Blocks until new devices are open. No effect after {@link #close}.
     *
     * @return the configuration before and after
     * @throws IOException if a device or a portal cannot be opened; then nothing has changed
     * @throws ContradictedChangeException if it contradicts a change of a LUN; then nothing has changed
     * @throws InvalidPlanException if the plan is invalid; then nothing has changed
     */
    public synchronized ServerChange reload(ServerPlan wanted)
            throws IOException, InvalidPlanException {
        return reload(running.reconfigured(wanted));
    }

    /**
     * Like {@link #reload(ServerPlan)}, but discards all changes of LUNs. A device that was grown cannot be shrunk by
     * this: the plan is refused unless it has the new size.
     */
    public synchronized ServerChange reloadDiscarding(ServerPlan wanted)
            throws IOException, InvalidPlanException {
        return reload(running.discarding(wanted));
    }

    private ServerChange reload(RunningPlan next) throws IOException, InvalidPlanException {
        if (closed) {
            return new ServerChange(List.of(), List.of(), List.of(), List.of());
        }
        ServerPlan before = running.configured();
        ServerPlan wanted = next.configured();
        ServerChange change = apply(next, true);
        if (!wanted.state().equals(before.state())) {
            listener.warned("the change of the 'state' directory takes effect at the next start",
                    null);
        }
        if (wanted.limits().connections() != before.limits().connections()) {
            listener.warned("the change of the 'connections' limit takes effect at the next start",
                    null);
        }
        if (!wanted.limits().loops().equals(before.limits().loops())) {
            listener.warned("the change of 'loops', 'poll' or 'rdma-provider' takes effect at the"
                    + " next start", null);
        }
        return change;
    }

    /**
     * Adds, removes or resizes a LUN until the server ends, as a reload of a plan with this change would. Later reloads
     * keep the change on top of their plans. An initiator sees a new LUN if its table of LUNs is absent or lists it.
     * Blocks until a new device is open, or up to 2 s until a removed one is closed. The listener is warned, on this
     * thread, if a removed device could not be flushed or still is, and if the next start needs another size in the
     * plan.
     *
     * @return the LUN, and the configuration before and after
     * @throws IOException if a device cannot be opened; then nothing has changed
     * @throws NotServedException if the request names a target or a LUN that is not served
     * @throws InvalidPlanException if the request cannot be fulfilled, or the server is closed; then nothing has
     *         changed
     */
    public synchronized ChangedLun change(LunRequest request)
            throws IOException, InvalidPlanException {
        if (closed) {
            throw new InvalidPlanException("the server is stopping");
        }
        int lun = running.lun(request);
        RunningPlan next = running.with(request, lun);
        if (request instanceof LunRequest.Add add) {
            check(next.plan(), add.device().uri());
        } else if (request instanceof LunRequest.Resize resize) {
            requireWholeBlocks(resize);
        }
        RunningPlan before = running;
        ServerChange change = apply(next, false);
        if (request instanceof LunRequest.Resize resize) {
            requireGrown(resize, change, before);
            warnOfSize(resize, next);
        } else if (request instanceof LunRequest.Remove) {
            devices.warnOf(removed);
        }
        running = next.settled();
        return new ChangedLun(request.iqn(), lun, change);
    }

    private void check(ServerPlan plan, String uri) throws IOException, InvalidPlanException {
        plan.opener().check(uri);
        var check = new PlanCheck(plan, addresses, listener);
        for (ServerPlan.Target target : plan.targets()) {
            for (var lun : target.luns().entrySet()) {
                check.unit(target, lun.getKey(), lun.getValue());
            }
        }
    }

    private void requireWholeBlocks(LunRequest.Resize resize) throws InvalidPlanException {
        for (TargetAssembly.Placed each : placed) {
            if (each.lun() == resize.lun() && each.iqn().equalsIgnoreCase(resize.iqn())
                    && each.source() instanceof ServedSource.Disk(BlockDevice device)
                    && resize.sizeBytes() % device.blockSize() != 0) {
                throw new InvalidPlanException("cannot resize to " + resize.sizeBytes()
                        + " bytes: the size must be a multiple of its blocks of "
                        + device.blockSize());
            }
        }
    }

    /** Goes back to the plan of before if the device could not be grown, of which the listener has been told. */
    private void requireGrown(LunRequest.Resize resize, ServerChange change, RunningPlan before)
            throws IOException, InvalidPlanException {
        for (ServedUnit unit : change.units()) {
            if (unit.lun() == resize.lun() && unit.iqn().equalsIgnoreCase(resize.iqn())
                    && unit.sizeBytes() < resize.sizeBytes()) {
                var _ = apply(before, false);
                throw new InvalidPlanException(DeviceUri.withoutSecret(unit.uri())
                        + " could not be resized and still has " + Size.format(unit.sizeBytes())
                        + "; the log has the cause");
            }
        }
    }

    private void warnOfSize(LunRequest.Resize resize, RunningPlan next) {
        for (LunChange change : next.changes()) {
            if (change.isAt(resize.iqn(), resize.lun())
                    && change.kind() == LunChange.Kind.RESIZED) {
                change.configured().flatMap(change::size)
                        .ifPresent(size -> listener.warned("LUN " + change.lun() + " of "
                                + change.iqn() + " is configured with " + Size.format(size)
                                + ": change that before the next start", null));
            }
        }
    }

    /** Returns the LUNs that are not served as configured, since they were changed while the server runs. */
    public List<LunChange> changes() {
        return running.changes();
    }

    /** Serves another plan; or else throws, and nothing has changed. */
    private ServerChange apply(RunningPlan next, boolean renewsCertificates)
            throws IOException, InvalidPlanException {
        ServerPlan wanted = next.plan();
        PortalAddresses at = addresses.of(wanted);
        List<ServedPortal> portalsBefore = servedPortals();
        ServedDevices.Round round = devices.round(wanted.opener());
        var assembly = new TargetAssembly(round, listener);
        boolean done = false;
        try {
            CompletableFuture<Void> ended = server.reconfigure(builder(wanted,
                    at.portals(wanted), assembly, listener, renewsCertificates));
            done = true;
            removed = round.keep(ended);
        } catch (IllegalArgumentException e) {
            throw InvalidPlanException.of(e);
        } finally {
            if (!done) {
                round.cancel();
            }
        }
        running = next;
        addresses = at;
        isns.become(wanted.isns());
        placed = List.copyOf(assembly.placed());
        server.checkCapacities();
        List<ServedUnit> before = told;
        told = units();
        return new ServerChange(before, told, portalsBefore, servedPortals());
    }

    private static TargetServer.Builder builder(ServerPlan plan, List<PortalSpec> portals,
            TargetAssembly assembly, ServerListener listener, boolean renewsCertificates)
            throws IOException, InvalidPlanException {
        if (renewsCertificates) {
            PortalFiles.check(plan, listener);
        }
        TargetServer.Builder builder = TargetServer.builder()
                .renewCertificates(renewsCertificates)
                .limits(ServerLimits.DEFAULT.withMaxConnections(plan.limits().connections())
                        .withMaxConnectionsPerAddress(plan.limits().connectionsPerAddress()))
                .sessionLimits(plan.limits().sessions())
                .loops(plan.limits().loops())
                .announceResets(plan.announceResets())
                .offer(TargetServer.DEFAULT_OFFER
                        .withMaxConnections(plan.limits().connectionsPerSession())
                        .withHeaderDigest(plan.headerDigest())
                        .withDataDigest(plan.dataDigest()));
        Exposure.requireAuthentication(plan, portals);
        portals.forEach(builder::portal);
        for (ServerPlan.Target target : plan.targets()) {
            builder.target(assembly.spec(target, Exposure.isExposed(target, portals)));
        }
        assembly.discoveryChap(plan.discoveryChap(), plan.chapAlgorithms(),
                !Exposure.isLoopback(portals))
                .ifPresent(builder::discoveryChap);
        return builder;
    }

    /** Returns the addresses that the portals listen on. */
    public List<InetSocketAddress> portals() {
        return server.portals();
    }

    /** Returns where and by which transports it listens. */
    public List<ServedPortal> servedPortals() {
        return server.listening().stream()
                .map(portal -> new ServedPortal(portal.transport(), portal.address())).toList();
    }

    /** Returns the logical units, in the order of the plan, with their sizes now. */
    public List<ServedUnit> units() {
        return placed.stream().map(each -> new ServedUnit(each.iqn(), each.lun(), each.uri(),
                each.source().sizeBytes())).toList();
    }

    /** Returns the logical units with their counts of commands, in the order of the plan. Does not block for long. */
    public List<UnitStatus> unitStatuses() {
        RunningPlan plan = running;
        return placed.stream().map(each -> new UnitStatus(
                new ServedUnit(each.iqn(), each.lun(), each.uri(), each.source().sizeBytes()),
                each.source().identity(), each.planned().readOnly(), each.planned().limit(),
                each.source().usage(),
                each.source() instanceof ServedSource.Disk(BlockDevice device)
                        ? Optional.of(device)
                        : Optional.empty(),
                server.commands(each.iqn(), each.lun()),
                plan.isChanged(each.iqn(), each.lun()))).toList();
    }

    /** Returns the normal sessions, by TSIH. */
    public List<SessionStatus> sessions() {
        return server.sessions();
    }

    /**
     * Asks the initiator of a session to log out, and ends the session if it has not done so in time. The initiator may
     * log in again.
     *
     * @param tsih TSIH of the session
     * @return completes when the session has ended; empty if there is no such session
     */
    public Optional<CompletableFuture<Void>> logOut(int tsih, Duration within) {
        return server.logOut(tsih, within);
    }

    /**
     * Drains the server: refuses logins and logs all sessions out; see {@link TargetServer#drain(Duration)}. Reloads do
     * not end it.
     *
     * @param within time that initiators have to log out
     * @return each completes when one of these sessions has ended
     */
    public List<CompletableFuture<Void>> drain(Duration within) { return server.drain(within); }

    /**
     * Drains a target alone; otherwise like {@link #drain(Duration)}.
     *
     * @throws NotServedException if there is no such target
     */
    public List<CompletableFuture<Void>> drain(String iqn, Duration within)
            throws NotServedException {
        try {
            return server.drain(iqn, within);
        } catch (IllegalArgumentException _) {
            throw RunningPlan.noTarget(iqn);
        }
    }

    /** Accepts logins again, to all targets. */
    public void endDrain() { server.endDrain(); }

    /**
     * Accepts logins to a target again, unless the whole server is drained.
     *
     * @throws NotServedException if there is no such target
     */
    public void endDrain(String iqn) throws NotServedException {
        try {
            server.endDrain(iqn);
        } catch (IllegalArgumentException _) {
            throw RunningPlan.noTarget(iqn);
        }
    }

    /** Whether the whole server is drained. */
    public boolean isDraining() {
        return server.isDraining();
    }

    /** Returns the names of the targets that are drained on their own, in lower case. */
    public Set<String> drainedTargets() {
        return server.drainedTargets();
    }

    /** Returns the number of open connections, in any phase. */
    public int connectionCount() {
        return server.connectionCount();
    }

    private void look() {
        lookAtSizes();
        space.look(placed);
    }

    /** Checks the sizes of the devices; reports changes to initiators and the listener. */
    private void lookAtSizes() {
        server.checkCapacities();
        synchronized (this) {
            if (closed) {
                return;
            }
            List<ServedUnit> before = told;
            told = units();
            if (!told.equals(before)) {
                listener.resized(new ServerChange(before, told, servedPortals(),
                        servedPortals()));
            }
        }
    }

    /** Returns the number of sessions that are logged in. */
    public int sessionCount() {
        return server.sessionCount();
    }

    /** Returns the memory that is lent to commands, in bytes. */
    public long bufferBytesInUse() {
        return server.bufferBytesInUse();
    }

    /** Waits until the server is closed. */
    public void awaitTermination() throws InterruptedException {
        terminated.await();
    }

    /**
     * Stops the server. Hosts have two seconds to log out; then all devices are flushed and closed, concurrently. A
     * device that is not flushed within 40 s is closed nevertheless, and one that is not closed within four minutes
     * is left to its thread. Blocks. A second call has no effect.
     *
     * @throws StorageException if a device could not be flushed or closed in time, also one that was removed while the
     *         server ran; the first such failure, with the others suppressed
     */
    @Override
    public synchronized void close() throws StorageException {
        if (closed) {
            return;
        }
        closed = true;
        try (devices) {
            watch.shutdown();
            isns.close(); // no initiator shall look for them here any longer
            server.shutDown(GRACE);
        } finally {
            terminated.countDown();
        }
    }
}
