package lunar.initiator;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.Capability;
import lunar.block.DeviceGoneException;
import lunar.block.Extent;
import lunar.block.Geometry;
import lunar.block.Identity;
import lunar.block.InvalidRequestException;
import lunar.block.Limits;
import lunar.block.LostWritesException;
import lunar.block.MediumException;
import lunar.block.NotSupportedException;
import lunar.block.StorageException;
import lunar.iscsi.Residual;
import lunar.iscsi.ScsiResponse;
import lunar.scsi.AdditionalSense;
import lunar.scsi.CapacityData16;
import lunar.scsi.Lun;
import lunar.scsi.MalformedDataException;
import lunar.scsi.ReadCapacity16;
import lunar.scsi.Status;
import lunar.scsi.SynchronizeCache;
import org.jspecify.annotations.Nullable;

/**
 * A LUN as a block device. Requests in flight share the queue depth of the session; more wait in its queue.
 *
 * <p>Retries commands as {@link RetryPolicy} decides, within the deadline of the request and unseen by the caller. Any
 * other failure is a {@link StorageException}.
 *
 * <p>Native buffers and arrays of bytes are sent from and received into in place. Others are copied, and so is
 * memory of a confined arena, which only a request that {@link #execute} waits for may have.
 */
public final class LunDevice implements BlockDevice {
    private static final System.Logger LOG = System.getLogger("lunar.initiator");
    private static final int CAPACITY_BYTES = 32;
    private static final long FIRST_REST_MS = 1000;
    private static final int MAX_REST_DOUBLINGS = 8;

    private final Session session;
    private final Tasks tasks;
    private final Lun lun;
    private volatile LunTraits traits;
    private final BlockCommands commands;
    private final UnflushedWrites writes;
    private final Runnable whenClosed;
    private final AtomicInteger inFlight = new AtomicInteger();
    private final AtomicBoolean closed = new AtomicBoolean();
    private final CountDownLatch drained = new CountDownLatch(1);
    private final Command.Ending ended = this::ended;
    private final LunExtents extents;
    private volatile Geometry geometry;
    /** Whether the unit is being asked for its capacity, and is to be asked again afterwards; guarded by this. */
    private boolean asksCapacity;
    private boolean asksAgain;
    /** Capacity questions in a row without a good answer; after each the unit is not asked for a while. */
    private int unansweredQuestions;
    private volatile boolean hasNoCache;
    private volatile Consumer<AdditionalSense> attentionListener = _ -> {};

    LunDevice(Session session, Lun lun, LunTraits traits, UnflushedWrites writes,
            Runnable whenClosed) {
        this.session = session;
        this.tasks = session.tasks();
        this.lun = lun;
        this.traits = traits;
        this.writes = writes;
        this.whenClosed = whenClosed;
        geometry = traits.geometry();
        commands = new BlockCommands(lun, traits, session.bounces());
        extents = new LunExtents(new LunProbe(session, lun),
                traits.hasHoles());
    }

    /** Returns the session through which the device is reached. */
    public Session session() {
        return session;
    }

    /**
     * Takes over the unit's answers to another session, where it did not answer this one: what callers have learned of
     * the unit holds for each of its sessions, even where optional questions timed out.
     *
     * @param other null for none
     */
    public synchronized void learn(@Nullable LunDevice other) {
        if (other == null || other.equals(this)) {
            return;
        }
        LunTraits known = traits.orElse(other.traits);
        traits = known;
        commands.learn(known);
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

    @Override
    public Optional<UUID> writeVerifier() { return traits.writeVerifier(); }

    @Override
    public long writeLosses() { return writes.writeLosses(); }

    /** Returns what the unit has reported of resets by this session. */
    public ResetTold resetTold() {
        return tasks.resets().told(lun);
    }

    /** Passes a command through: see {@link Session#execute}. */
    public ScsiResult execute(byte[] cdb, MemorySegment dataIn, MemorySegment dataOut)
            throws StorageException {
        enter();
        try {
            long lossesBefore = writes.losses();
            long reportedBefore = writes.reported();
            ScsiResult result = session.execute(lun, cdb, dataIn, dataOut);
            if (result.isSuccess() && hasVolatileCache()) {
                vouch(cdb[0], lossesBefore, reportedBefore);
            }
            return result;
        } finally {
            leave();
        }
    }

    @Override
    public void execute(BlockRequest request) throws StorageException {
        session.refuseOnLoop();
        enter();
        try {
            request.check(this);
            if (!isNothing(request)) {
                run(request);
            }
        } finally {
            leave();
        }
    }

    private void run(BlockRequest request) throws StorageException {
        Command command = tasks.take();
        commands.prepare(command, request, ended);
        count(command, request);
        command.waiter = Thread.currentThread();
        try {
            tasks.submit(command);
            tasks.dispatcher().await(command);
            StorageException failure = command.failure;
            if (failure != null) {
                writes.report(command.lossToReport);
                throw failure;
            }
            if (request.operation() == Operation.READ) {
                Bounces.copyBack(command.dataIn, request.buffer());
            }
        } finally {
            commands.giveBack(command, request);
            tasks.give(command);
        }
    }

    @Override
    public void submit(BlockRequest request) {
        try {
            enter();
        } catch (DeviceGoneException e) {
            request.fail(e);
            return;
        }
        StorageException failure = null;
        try {
            request.check(this);
            if (request.buffer().byteSize() > 0 && !Bounces.isShared(request.buffer())) {
                failure = new InvalidRequestException(
                        request + ": the buffer's arena is closed, or confined to a thread");
            }
        } catch (StorageException e) {
            failure = e;
        }
        if (failure != null) {
            request.fail(failure);
            leave();
        } else if (isNothing(request)) {
            request.succeed();
            leave();
        } else {
            Command command = tasks.take();
            commands.prepare(command, request, ended);
            count(command, request);
            tasks.submit(command);
        }
    }

    /** Notes, when a request is submitted, the counts that {@link #vouch} needs. */
    private void count(Command command, BlockRequest request) {
        if (request.operation() == Operation.FLUSH) {
            command.lossesBefore = writes.reported();
            command.flushNumber = writes.beginFlush();
        } else {
            command.lossesBefore = writes.losses();
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

    // --- from answer to completion ---

    private void ended(Command command) {
        BlockRequest request = Objects.requireNonNull(command.request);
        long pauseMs = isGood(command)
                ? RetryPolicy.NEVER
                : pauseMs(command, command.flushing
                        || request.operation() != Operation.COMPARE_AND_WRITE);
        if (pauseMs != RetryPolicy.NEVER) {
            if (!command.lost && request.operation() != Operation.FLUSH && !command.flushing) {
                command.lossesBefore = writes.losses(); // only what is acknowledged in the end counts
            }
            again(command, pauseMs);
            return;
        }
        StorageException failure = command.failure;
        if (failure == null) {
            failure = judge(command, request);
        }
        if (failure == null && !command.flushing && command.needsFlush) {
            command.flushing = true;
            command.dataOut = MemorySegment.NULL;
            command.encode(SynchronizeCache.ALL);
            tasks.submit(command);
            return;
        }
        finish(command, request, failure == null ? vouch(command, request) : failure);
    }

    private static boolean isGood(Command command) {
        return command.failure == null && command.response == ScsiResponse.COMPLETED
                && command.status == Status.GOOD.code();
    }

    /** Returns the pause before a command is sent again, or {@link RetryPolicy#NEVER}. */
    private long pauseMs(Command command, boolean idempotent) {
        long leftMs = command.deadlineMs - session.loop().nowMs();
        if (command.lost) {
            return session.isOpen()
                    ? command.retries.pauseAfterLossMs(idempotent)
                    : RetryPolicy.NEVER;
        }
        if (command.terminated) {
            return command.retries.pauseAfterTerminationMs(idempotent, leftMs);
        }
        if (command.failure != null || command.response != ScsiResponse.COMPLETED) {
            return RetryPolicy.NEVER;
        }
        return command.retries.pauseMs(command.status, command.sense, idempotent, leftMs);
    }

    private void again(Command command, long pauseMs) {
        if (pauseMs == 0) {
            tasks.submit(command);
        } else {
            tasks.rest(command, pauseMs);
        }
    }

    /** Notes an acknowledged write; returns the failure of a flush or FUA write that cannot vouch for its data. */
    private @Nullable StorageException vouch(Command command, BlockRequest request) {
        if (request.operation() == Operation.READ || !hasVolatileCache()) {
            return null;
        }
        boolean isLost;
        if (request.operation() == Operation.FLUSH) {
            command.lossToReport = writes.endFlush(command.flushNumber, command.lossesBefore);
            isLost = command.lossToReport != 0;
        } else if (request.fua()) { // a flush after it vouches for it alone
            isLost = command.flushing && writes.losses() != command.lossesBefore;
        } else {
            writes.acknowledged(command.lossesBefore);
            isLost = false;
        }
        return isLost ? writes.failure(tasks.describe(command)) : null;
    }

    /** Accounts for a passed-through command: a flush of some blocks does not make any write count as stable. */
    private void vouch(byte opcode, long lossesBefore, long reportedBefore)
            throws LostWritesException {
        if (BlockCommands.changesBlocks(opcode)) {
            writes.acknowledged(lossesBefore);
        } else if (BlockCommands.synchronizesCache(opcode)) {
            long loss = writes.endFlush(0, reportedBefore);
            if (loss != 0) {
                writes.report(loss);
                throw writes.failure(this + ": SYNCHRONIZE CACHE");
            }
        }
    }

    private boolean hasVolatileCache() { return traits.hasVolatileCache() && !hasNoCache; }

    private @Nullable StorageException judge(Command command, BlockRequest request) {
        if (command.response != ScsiResponse.COMPLETED) {
            return SenseMapping.targetFailure(command.response, tasks.describe(command));
        }
        if (SenseMapping.isSuccess(command.status, command.sense)) {
            // A read or write of whole blocks leaves nothing over; where it does, data are missing.
            return command.residual.kind() == Residual.Kind.NONE
                    ? null
                    : new MediumException(tasks.describe(command) + ": residual "
                            + command.residual + " of " + command.expectedBytes() + " bytes", null);
        }
        StorageException failure = SenseMapping.failure(command.status, command.sense,
                tasks.describe(command));
        boolean flush = command.flushing || request.operation() == Operation.FLUSH;
        if (flush && failure instanceof NotSupportedException) {
            // A device without the command has no volatile cache (SBC-4 section 5.33).
            if (!hasNoCache) {
                hasNoCache = true;
                LOG.log(System.Logger.Level.INFO, "{0}: taken as having no cache",
                        failure.getMessage());
            }
            return null;
        }
        return failure;
    }

    private void finish(Command command, BlockRequest request, @Nullable StorageException failure) {
        if (command.waiter != null) {
            command.failure = failure;
            command.wake();
            return;
        }
        if (failure == null && request.operation() == Operation.READ) {
            Bounces.copyBack(command.dataIn, request.buffer());
        }
        writes.report(command.lossToReport); // before the owner can ask for the next flush
        commands.giveBack(command, request);
        tasks.give(command);
        try {
            if (failure == null) {
                request.succeed();
            } else {
                request.fail(failure);
            }
        } catch (RuntimeException e) {
            // A completion must not throw; one that does must not end the connection for all requests.
            LOG.log(System.Logger.Level.ERROR, "completion of " + request, e);
        } finally {
            leave();
        }
    }

    // --- a device that grows ---

    /** Takes a unit attention of this unit. */
    void attention(AdditionalSense additional) {
        attentionListener.accept(additional);
        if (additional.equals(AdditionalSense.CAPACITY_DATA_HAS_CHANGED)) {
            askCapacity();
        }
    }

    /**
     * Asks the unit for its capacity, since it may have grown, and adopts the answer when it comes. Does not block. A
     * unit reports a change by a unit attention in each session with it, with the next command there.
     */
    public void askCapacity() {
        synchronized (this) {
            if (asksCapacity) {
                asksAgain = true; // the answer under way may be outdated
                return;
            }
            asksCapacity = true;
        }
        Command ask = tasks.take();
        ask.prepare(lun.value(), MemorySegment.ofArray(new byte[CAPACITY_BYTES]),
                MemorySegment.NULL, this::capacityCame);
        ask.encode(new ReadCapacity16(CAPACITY_BYTES));
        tasks.submit(ask);
    }

    private void capacityCame(Command command) {
        long pauseMs = isGood(command) ? RetryPolicy.NEVER : pauseMs(command, true);
        if (pauseMs != RetryPolicy.NEVER) {
            again(command, pauseMs);
            return;
        }
        boolean isAnswered = false;
        try {
            if (isGood(command)) {
                CapacityData16 capacity = CapacityData16.decode(command.dataIn);
                if (capacity.blockSize() == geometry.blockSize()) {
                    resize(capacity.lastLba() + 1);
                    LOG.log(System.Logger.Level.INFO, "{0}/{1} has {2} blocks now",
                            session.targetName(), lun, geometry.blockCount());
                }
                isAnswered = true;
            } else if (session.isOpen()) {
                LOG.log(System.Logger.Level.WARNING, "{0}: not answered, and has {1} blocks as"
                        + " before: {2}", tasks.describe(command), geometry.blockCount(),
                        String.valueOf(command.failure == null
                                ? SenseMapping.failure(command.status, command.sense, "it")
                                        .getMessage()
                                : command.failure.getMessage()));
            }
        } catch (MalformedDataException | IllegalArgumentException e) {
            LOG.log(System.Logger.Level.WARNING, "{0}/{1}: new capacity: {2}",
                    session.targetName(), lun, e.getMessage());
        } finally {
            tasks.give(command);
        }
        int unanswered;
        synchronized (this) {
            unansweredQuestions = isAnswered ? 0 : unansweredQuestions + 1;
            unanswered = unansweredQuestions;
        }
        if (unanswered > 0 && session.isOpen()) {
            // It may answer each question with the attention that triggers further ones, here and by other paths.
            session.loop().schedule(this::askedCapacity,
                    FIRST_REST_MS << Math.min(unanswered - 1, MAX_REST_DOUBLINGS));
        } else {
            askedCapacity();
        }
    }

    /** Allows the next capacity question, and asks it if there was cause for it since the last one. */
    private void askedCapacity() {
        boolean again;
        synchronized (this) {
            asksCapacity = false;
            again = asksAgain && !closed.get() && session.isOpen();
            asksAgain = false;
        }
        if (again) {
            askCapacity();
        }
    }

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
        if (!session.loop().inLoop()) {
            try {
                drained.await(); // every request has a deadline
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt();
            }
        }
        tasks.resets().closed(lun, writes);
        session.forget(this);
        whenClosed.run();
    }

    @Override
    public String toString() {
        return session.targetName() + "/" + lun + " at " + session.portal();
    }
}
