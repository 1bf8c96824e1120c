package lunar.initiator;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest.Operation;
import lunar.block.BlockRequest;
import lunar.block.Capability;
import lunar.block.DeviceGoneException;
import lunar.block.Extent;
import lunar.block.Geometry;
import lunar.block.Identity;
import lunar.block.InvalidRequestException;
import lunar.block.Limits;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import lunar.block.spi.RequestValidation;
import lunar.initiator.internal.lun.CacheMode;
import lunar.initiator.internal.lun.CapacityQuery;
import lunar.initiator.internal.lun.LunExtents;
import lunar.initiator.internal.lun.LunProbe;
import lunar.initiator.internal.lun.LunRequests;
import lunar.initiator.internal.lun.LunTraits;
import lunar.initiator.internal.session.BounceBuffers;
import lunar.initiator.internal.session.SessionEngine;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Lun;

/**
 * A LUN as a block device. Requests in flight share the queue depth of the session; further requests wait in its queue.
 *
 * <p>Retries commands if that is safe and useful, within the deadline of the request and transparently to the caller.
 * Any other failure is a {@link StorageException}.
 *
 * <p>Native buffers and arrays of bytes are sent from and received into in place. Others are copied, including memory
 * of a confined arena, which only requests of {@link #execute} may use.
 *
 * <p>An interrupt ends neither a request nor {@link #close}, and the thread remains interrupted: the target may still
 * write to the buffer. {@link Timeouts#commandMs} limits a request; one that is given up has ended at the target, or
 * its session is lost, before its caller is told.
 */
public final class LunDevice implements BlockDevice {
    private final Session session;
    private final SessionEngine engine;
    private final Lun lun;
    private volatile LunTraits traits;
    private final long verifierAsked;
    private final UnflushedWrites writes;
    private final Runnable whenClosed;
    private final AtomicInteger inFlight = new AtomicInteger();
    private final AtomicBoolean closed = new AtomicBoolean();
    private final CountDownLatch drained = new CountDownLatch(1);
    private final LunRequests requests;
    private final CapacityQuery capacity;
    private final CacheMode cache;
    private final LunExtents extents;
    private volatile Geometry geometry;
    private volatile Consumer<AdditionalSense> attentionListener = _ -> {};

    /** @param verifierAsked generation of the write verifier when that of the traits was asked for */
    LunDevice(Session session, Lun lun, LunTraits traits, long verifierAsked,
            UnflushedWrites writes, Runnable whenClosed) {
        this.session = session;
        engine = session.engine();
        this.lun = lun;
        this.traits = traits;
        this.verifierAsked = verifierAsked;
        this.writes = writes;
        this.whenClosed = whenClosed;
        geometry = traits.geometry();
        extents = new LunExtents(new LunProbe(engine, lun), traits.hasHoles());
        cache = new CacheMode(engine, lun, traits, writes.ledger(), closed::get);
        requests = new LunRequests(engine, lun, traits, cache, writes.ledger(), writes.verifier(),
                toString(), this::leave);
        capacity = new CapacityQuery(engine, lun, new CapacityQuery.Device() {
            @Override
            public int blockSize() { return geometry.blockSize(); }

            @Override
            public long blockCount() { return geometry.blockCount(); }

            @Override
            public void resize(long blockCount) { LunDevice.this.resize(blockCount); }

            @Override
            public boolean isClosed() { return closed.get(); }
        });
    }

    /** Returns the session through which the device is reached. */
    public Session session() {
        return session;
    }

    /**
     * Adopts the unit's responses to another session where it did not respond to this one, so that reported properties
     * of the unit hold in each session, even if optional queries timed out.
     */
    public synchronized void learn(LunDevice other) {
        if (other.equals(this)) {
            return;
        }
        LunTraits known = traits.orElse(other.traits);
        traits = known;
        requests.learn(known);
        extents.learn(known);
        geometry = new Geometry(geometry.blockSize(), geometry.blockCount(),
                known.geometry().physicalBlockSize());
    }

    private synchronized void resize(long blockCount) {
        geometry = new Geometry(geometry.blockSize(), blockCount, geometry.physicalBlockSize());
    }

    /** Returns the device's LUN. */
    public Lun lun() { return lun; }

    /** Sets the listener for unit attentions, replacing any; called on the event loop's thread, must not block. */
    public void onAttention(Consumer<AdditionalSense> listener) {
        attentionListener = listener;
    }

    @Override
    public Geometry geometry() { return geometry; }

    @Override
    public Limits limits() { return traits.limits(); }

    @Override
    public Set<Capability> capabilities() { return traits.capabilities(); }

    @Override
    public Identity identity() { return traits.identity(); }

    @Override
    public boolean readOnly() { return traits.readOnly(); }

    /** {@inheritDoc} The target compares. */
    @Override
    public boolean comparesForAllHosts() { return true; }

    @Override
    public Optional<UUID> writeVerifier() {
        return writes.verifier().value().or(traits::writeVerifier);
    }

    @Override
    public long writeLosses() { return writes.writeLosses(); }

    /** Returns what the unit has reported of resets by this session. */
    public ReportedReset resetTold() {
        return engine.resets().told(lun);
    }

    /**
     * Called once, before requests use the device, if it was opened with the tracker of a unit that other sessions have
     * opened, or will. Records a loss unless there is evidence that the unit has kept its cache: it reports the same
     * write verifier as before; or, without a verifier, it reports an I_T nexus loss (29h/07h) rather than a reset, or
     * an older session still reaches it. May block.
     *
     * @param witness whether an older session reaches the unit; may block
     * @throws StorageException if the unit no longer answers
     */
    public void reopened(BooleanSupplier witness) throws StorageException {
        writes.reopened(toString(), resetTold(),
                new UnflushedWrites.VerifierReading(verifierAsked, traits.writeVerifier()),
                new LunProbe(engine, lun)::writeVerifier, witness);
    }

    /** Passes a command through: see {@link Session#execute}. */
    public ScsiResult execute(byte[] cdb, MemorySegment dataIn, MemorySegment dataOut)
            throws StorageException {
        enter();
        try {
            boolean wasVolatile = cache.isVolatile();
            long lossesBefore = writes.ledger().losses();
            long reportedBefore = writes.reported();
            ScsiResult result = session.execute(lun, cdb, dataIn, dataOut);
            if (result.isSuccess()) {
                requests.vouch(cdb[0], wasVolatile, lossesBefore, reportedBefore);
            }
            return result;
        } finally {
            leave();
        }
    }

    @Override
    public void execute(BlockRequest request) throws StorageException {
        engine.tasks().dispatcher().refuseOnLoop();
        enter();
        try {
            RequestValidation.check(request, this);
            if (!isNothing(request)) {
                requests.execute(request);
            }
        } finally {
            leave();
        }
    }

    @Override
    public void submit(BlockRequest request) {
        try {
            enter();
        } catch (DeviceGoneException e) {
            RequestCompletion.fail(request, e);
            return;
        }
        StorageException failure = null;
        try {
            RequestValidation.check(request, this);
            if (request.buffer().byteSize() > 0 && !BounceBuffers.isShared(request.buffer())) {
                failure = new InvalidRequestException(
                        request + ": the buffer's arena is closed, or confined to a thread");
            }
        } catch (StorageException e) {
            failure = e;
        }
        if (failure != null) {
            RequestCompletion.fail(request, failure);
            leave();
        } else if (isNothing(request)) {
            RequestCompletion.succeed(request);
            leave();
        } else {
            requests.submit(request);
        }
    }

    @Override
    public Extent extent(long lba) throws StorageException {
        enter();
        try {
            return extents.within(BlockDevice.super.extent(lba));
        } finally {
            leave();
        }
    }

    private static boolean isNothing(BlockRequest request) {
        return request.blockCount() == 0 && request.operation() != Operation.FLUSH;
    }

    /** Accounts for a command of the session that has failed, and may have got a report of lost writes. */
    CompletableFuture<Void> refused(byte opcode, ScsiResult result) {
        return requests.refused(opcode, result);
    }

    // --- a device that grows ---

    /** Takes a unit attention of this unit. */
    void attention(AdditionalSense additional) {
        attentionListener.accept(additional);
        if (additional.equals(AdditionalSense.CAPACITY_DATA_HAS_CHANGED)) {
            capacity.ask();
        }
        cache.refresh();
    }

    /** Reads the Caching mode page again if it may have changed since. Does not block. */
    void refreshCacheMode() {
        cache.refresh();
    }

    /**
     * Queries the capacity of the unit, which may have grown, and adopts the response when it arrives. Does not block.
     * A unit reports a change by a unit attention in each session, with the next command.
     */
    public void askCapacity() { capacity.ask(); }

    // --- closing ---

    private void enter() throws DeviceGoneException {
        inFlight.incrementAndGet();
        if (closed.get()) {
            leave();
            throw new DeviceGoneException(
                    session.targetName() + "/" + lun + " is closed", null);
        }
    }

    private void leave() {
        if (inFlight.decrementAndGet() == 0 && closed.get()) {
            drained.countDown();
        }
    }

    /** Waits for the requests in flight, then lets go of the LUN. The session stays. */
    @Override
    public void close() throws StorageException {
        if (closed.compareAndSet(false, true) && inFlight.get() == 0) {
            drained.countDown();
        }
        if (!engine.loop().inLoop()) {
            awaitRequests();
        }
        engine.resets().closed(lun, writes);
        session.forget(this);
        whenClosed.run();
    }

    /** Waits for the requests in flight, despite interrupts: their buffers are in use, and every one has a deadline. */
    private void awaitRequests() {
        boolean interrupted = false;
        while (true) {
            try {
                drained.await();
                break;
            } catch (InterruptedException _) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public String toString() {
        return session.targetName() + "/" + lun + " at " + session.portal();
    }
}
