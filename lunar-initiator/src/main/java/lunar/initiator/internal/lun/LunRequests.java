package lunar.initiator.internal.lun;

import java.util.Objects;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.LostWritesException;
import lunar.block.MediumException;
import lunar.block.NotSupportedException;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import lunar.initiator.ScsiResult;
import lunar.initiator.internal.retry.RetryPolicy;
import lunar.initiator.internal.retry.SenseMapping;
import lunar.initiator.internal.session.BounceBuffers;
import lunar.initiator.internal.session.Command;
import lunar.initiator.internal.session.SessionEngine;
import lunar.initiator.internal.session.Tasks;
import lunar.iscsi.pdu.Residual;
import lunar.scsi.Lun;
import lunar.scsi.block.SynchronizeCache;
import org.jspecify.annotations.Nullable;

/**
 * Executes the block requests of a LUN: sends each as a command, evaluates the response, retries if useful, and tracks
 * writes that a volatile cache may lose. Thread-safe; allocates nothing in the steady state.
 */
public final class LunRequests {
    private static final System.Logger LOG = System.getLogger("lunar.initiator");

    private final SessionEngine session;
    private final Tasks tasks;
    private final String name;
    private final BlockCommands commands;
    private final CacheMode cache;
    private final WriteLedger writes;
    private final Runnable whenLost;
    private final Runnable whenEnded;
    private final Command.Ending ended = this::ended;
    private volatile LunTraits traits;
    private volatile boolean hasNoCache;

    /**
     * @param name name of the unit and its session, for messages
     * @param whenLost called after the target has failed a command because of lost writes; must not block
     * @param whenEnded called after each submitted request
     */
    public LunRequests(SessionEngine session, Lun lun, LunTraits traits, CacheMode cache,
            WriteLedger writes, String name, Runnable whenLost, Runnable whenEnded) {
        this.session = session;
        this.traits = traits;
        this.cache = cache;
        this.writes = writes;
        this.whenLost = whenLost;
        this.name = name;
        this.whenEnded = whenEnded;
        tasks = session.tasks();
        commands = new BlockCommands(lun, traits, session.bounces());
    }

    /** Takes over traits of the LUN that have become known. */
    public void learn(LunTraits known) {
        traits = known;
        commands.learn(known);
    }

    /** Performs a request, and waits for its end. */
    public void execute(BlockRequest request) throws StorageException {
        Command command = tasks.take();
        LunRequest state = prepare(command, request);
        command.awaitBy(Thread.currentThread());
        try {
            tasks.submit(command);
            tasks.dispatcher().await(command);
            StorageException failure = command.failure();
            if (failure != null) {
                writes.report(state.lossToReport);
                throw failure;
            }
            if (request.operation() == Operation.READ) {
                BounceBuffers.copyBack(command.dataIn(), request.buffer());
            }
        } finally {
            giveBack(command, state, request);
        }
    }

    /** Performs a request, and completes it. */
    public void submit(BlockRequest request) {
        Command command = tasks.take();
        LunRequest _ = prepare(command, request);
        tasks.submit(command);
    }

    private LunRequest prepare(Command command, BlockRequest request) {
        LunRequest state = LunRequest.of(command);
        state.begin(request);
        commands.prepare(command, state, ended);
        // The counts that the end of the request is compared with.
        if (request.operation() == Operation.FLUSH) {
            state.lossesBefore = writes.reported();
            state.flushNumber = writes.beginFlush();
        } else {
            state.lossesBefore = writes.losses();
        }
        return state;
    }

    private void giveBack(Command command, LunRequest state, BlockRequest request) {
        commands.giveBack(command, request);
        state.clear();
        tasks.give(command);
    }

    // --- from answer to completion ---

    private void ended(Command command) {
        LunRequest state = LunRequest.of(command);
        BlockRequest request = Objects.requireNonNull(state.request);
        long pauseMs = CommandRetries.pauseMs(command, state.retries,
                state.flushing || request.operation() != Operation.COMPARE_AND_WRITE, session);
        if (pauseMs != RetryPolicy.NEVER) {
            if (!command.isLost() && request.operation() != Operation.FLUSH && !state.flushing) {
                state.lossesBefore = writes.losses(); // only what is acknowledged in the end counts
            }
            CommandRetries.submit(command, pauseMs, tasks);
            return;
        }
        StorageException failure = command.failure();
        if (failure == null) {
            failure = judge(command, state, request);
        }
        if (failure == null && !state.flushing && state.needsFlush) {
            state.flushing = true;
            command.continueWith(SynchronizeCache.ALL);
            tasks.submit(command);
            return;
        }
        finish(command, state, request,
                failure == null ? vouch(command, state, request) : failure);
    }

    private @Nullable StorageException judge(Command command, LunRequest state,
            BlockRequest request) {
        if (!command.isAnswered()) {
            return SenseMapping.targetFailure(command.response(), tasks.describe(command));
        }
        if (SenseMapping.isSuccess(command.status(), command.sense())) {
            // A read or write of whole blocks leaves nothing over; where it does, data are missing.
            return command.residual().kind() == Residual.Kind.NONE
                    ? null
                    : new MediumException(tasks.describe(command) + ": residual "
                            + command.residual() + " of " + command.expectedBytes() + " bytes",
                            null);
        }
        StorageException failure = SenseMapping.failure(command.status(), command.sense(),
                tasks.describe(command));
        boolean flush = state.flushing || request.operation() == Operation.FLUSH;
        if (flush && failure instanceof NotSupportedException) {
            // A device without the command has no volatile cache (SBC-4 section 5.33).
            if (!hasNoCache) {
                hasNoCache = true;
                LOG.log(System.Logger.Level.INFO, "{0}: assuming that it has no volatile cache",
                        failure.getMessage());
            }
            return null;
        }
        if (!SenseMapping.reportsLostWrites(command.status(), command.sense(), flush,
                traits.writeVerifier().isPresent())) {
            return failure;
        }
        String why = tasks.describe(command) + ": " + SenseMapping.sense(command.sense());
        state.lossToReport = writes.refused(
                request.operation() == Operation.FLUSH ? state.flushNumber : 0, why);
        whenLost.run();
        return new LostWritesException(
                why + "; writes acknowledged since the last successful flush may be lost", failure);
    }

    private void finish(Command command, LunRequest state, BlockRequest request,
            @Nullable StorageException failure) {
        if (command.isAwaited()) {
            command.wake(failure);
            return;
        }
        if (failure == null && request.operation() == Operation.READ) {
            BounceBuffers.copyBack(command.dataIn(), request.buffer());
        }
        writes.report(state.lossToReport); // before the owner can ask for the next flush
        giveBack(command, state, request);
        try {
            if (failure == null) {
                RequestCompletion.succeed(request);
            } else {
                RequestCompletion.fail(request, failure);
            }
        } catch (RuntimeException e) {
            // A completion must not throw; one that does must not end the connection for all requests.
            LOG.log(System.Logger.Level.ERROR, "completion handler of " + request + " failed", e);
        } finally {
            whenEnded.run();
        }
    }

    // --- the volatile cache ---

    /** Notes an acknowledged write; returns the failure of a flush or FUA write that cannot vouch for its data. */
    private @Nullable StorageException vouch(Command command, LunRequest state,
            BlockRequest request) {
        if (request.operation() == Operation.READ || hasNoCache) {
            return null;
        }
        boolean isLost;
        if (request.operation() == Operation.FLUSH) { // the cache may have been on since the last one
            state.lossToReport = writes.endFlush(state.flushNumber, state.lossesBefore);
            isLost = state.lossToReport != 0;
        } else if (!cache.isVolatile()) {
            isLost = false;
        } else if (request.fua()) { // a flush after it vouches for it alone
            isLost = state.flushing && writes.losses() != state.lossesBefore;
        } else {
            writes.acknowledged(state.lossesBefore);
            isLost = false;
        }
        return isLost ? writes.failure(tasks.describe(command)) : null;
    }

    /**
     * Accounts for a command that was passed through and has succeeded: a flush of some blocks does not make any write
     * count as stable.
     *
     * @param lossesBefore losses when it was sent
     * @param reportedBefore losses that had been reported when it was sent
     */
    public void vouch(byte opcode, long lossesBefore, long reportedBefore)
            throws LostWritesException {
        if (hasNoCache) {
            return;
        }
        if (BlockCommands.changesBlocks(opcode)) {
            if (cache.isVolatile()) {
                writes.acknowledged(lossesBefore);
            }
        } else if (BlockCommands.synchronizesCache(opcode)) {
            long loss = writes.endFlush(0, reportedBefore);
            if (loss != 0) {
                writes.report(loss);
                throw writes.failure(name + ": SYNCHRONIZE CACHE");
            }
        }
    }

    /**
     * Accounts for a command that was passed through and has failed. If it has got a report of lost writes, the next
     * flush fails as well: other users of the device wait for such a report.
     */
    public void refused(byte opcode, ScsiResult result) {
        if (SenseMapping.reportsLostWrites(result.status(), result.senseData(),
                BlockCommands.synchronizesCache(opcode), traits.writeVerifier().isPresent())) {
            long _ = writes.refused(0, name + ": a command that was passed through has failed: "
                    + SenseMapping.sense(result.senseData()));
            whenLost.run();
        }
    }
}
