package lunar.initiator.internal.lun;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.LongConsumer;
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
import lunar.scsi.Bytes;
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
    private final KnownVerifier known;
    private final VerifierQuery verifier;
    private final Runnable whenEnded;
    private final Command.Ending ended = this::ended;
    private volatile LunTraits traits;
    private volatile boolean hasNoCache;

    /**
     * @param name name of the unit and its session, for messages
     * @param known the unit's write verifier, of all its sessions
     * @param whenEnded called after each submitted request
     */
    public LunRequests(SessionEngine session, Lun lun, LunTraits traits, CacheMode cache,
            WriteLedger writes, KnownVerifier known, String name, Runnable whenEnded) {
        this.session = session;
        this.traits = traits;
        this.cache = cache;
        this.writes = writes;
        this.known = known;
        verifier = new VerifierQuery(session, lun);
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
            beginWrite(state);
        }
        return state;
    }

    /** Notes what the end of a write is compared with; also when it is sent again: what is acknowledged last counts. */
    private void beginWrite(LunRequest state) {
        state.lossesBefore = writes.losses();
        state.wasVolatile |= cache.isVolatile();
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
                isRepeatable(state, request), session);
        if (pauseMs != RetryPolicy.NEVER) {
            if (!command.isLost() && !isFlush(state, request)) {
                beginWrite(state);
            }
            CommandRetries.submit(command, pauseMs, tasks);
            return;
        }
        if (reportsLostWrites(command, state, request)) {
            lostWrites(command, state, request);
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
        if (failure != null) {
            finish(command, state, request, failure);
        } else if (!known.isChecking() || !isFlush(state, request)
                || !known.defers(() -> later(() -> vouchAndFinish(command, state, request)))) {
            vouchAndFinish(command, state, request);
        }
    }

    private void vouchAndFinish(Command command, LunRequest state, BlockRequest request) {
        finish(command, state, request, vouch(command, state, request));
    }

    /** Ends a request that has waited for another session. */
    private void later(Runnable end) {
        try {
            session.loop().execute(end);
        } catch (RejectedExecutionException _) {
            end.run();
        }
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
        if (isFlush(state, request) && failure instanceof NotSupportedException) {
            // A device without the command has no volatile cache (SBC-4 section 5.33).
            if (!hasNoCache) {
                hasNoCache = true;
                LOG.log(System.Logger.Level.INFO, "{0}: assuming that it has no volatile cache",
                        failure.getMessage());
            }
            return null;
        }
        return failure;
    }

    private static boolean isFlush(LunRequest state, BlockRequest request) {
        return state.flushing || request.operation() == Operation.FLUSH;
    }

    /** Whether the present command may be executed twice; COMPARE AND WRITE would compare with what it has written. */
    private static boolean isRepeatable(LunRequest state, BlockRequest request) {
        return state.flushing || request.operation() != Operation.COMPARE_AND_WRITE;
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
        } else if (!state.wasVolatile && !cache.isVolatile()) {
            isLost = false;
            if (!request.fua()) {
                writes.acknowledgedStable();
            }
        } else if (request.fua()) { // a flush after it vouches for it alone
            isLost = state.flushing && writes.losses() != state.lossesBefore;
        } else {
            writes.acknowledged(state.lossesBefore);
            isLost = false;
        }
        return isLost ? writes.failure(tasks.describe(command)) : null;
    }

    private boolean hasVerifier() { return traits.writeVerifier().isPresent(); }

    private boolean reportsLostWrites(Command command, LunRequest state, BlockRequest request) {
        return command.isAnswered() && SenseMapping.reportsLostWrites(command.status(),
                command.sense(), isFlush(state, request), hasVerifier());
    }

    /**
     * Whether the verifier shows if a reported loss is recorded already. A medium error of SYNCHRONIZE CACHE without
     * C0h is one that the target has not counted: the verifier is as before.
     */
    private boolean isVerified(Bytes sense) {
        return hasVerifier() && SenseMapping.sense(sense).isLostWrites();
    }

    /** Ends a command that the target has failed because of lost writes; first reads the write verifier, if any. */
    private void lostWrites(Command command, LunRequest state, BlockRequest request) {
        String what = tasks.describe(command);
        String why = what + ": " + SenseMapping.sense(command.sense());
        var failure = new LostWritesException(
                why + "; writes acknowledged since the last successful flush may be lost",
                SenseMapping.failure(command.status(), command.sense(), what));
        long number = request.operation() == Operation.FLUSH ? state.flushNumber : 0;
        if (isVerified(command.sense())) {
            check(known.beginCheck(), number, why,
                    loss -> checked(command, state, request, failure, loss));
        } else {
            state.lossToReport = writes.refused(number, why);
            finish(command, state, request, failure);
        }
    }

    /**
     * Checks by the write verifier whether the target reports a loss that is recorded already, since it has told it to
     * another port of this initiator.
     *
     * @param id of the check
     * @param number of the flush; 0 for another command
     * @param whenEnded takes the loss, or {@link KnownVerifier#RECORDED}
     */
    private void check(long id, long number, String why, LongConsumer whenEnded) {
        long asked = known.generation();
        verifier.ask(now -> {
            long loss = known.refused(number, why, asked, now);
            if (loss == KnownVerifier.OUTDATED) {
                check(id, number, why, whenEnded);
            } else {
                known.endCheck(id);
                whenEnded.accept(loss);
            }
        });
    }

    /**
     * Sends a command again whose loss is recorded already. If it then fails once more, the unit vouches for nothing
     * yet, but has lost no more.
     */
    private void checked(Command command, LunRequest state, BlockRequest request,
            LostWritesException failure, long loss) {
        if (loss == KnownVerifier.RECORDED && !state.isRepeated
                && isRepeatable(state, request)) {
            state.isRepeated = true;
            if (!isFlush(state, request)) {
                beginWrite(state);
            }
            tasks.submit(command);
        } else {
            state.lossToReport = loss == KnownVerifier.RECORDED ? writes.writeLosses() : loss;
            finish(command, state, request, failure);
        }
    }

    /**
     * Accounts for a command that was passed through and has succeeded: a flush of some blocks does not make any write
     * count as stable.
     *
     * @param wasVolatile whether the write cache counted as on when it was sent
     * @param lossesBefore losses when it was sent
     * @param reportedBefore losses that had been reported when it was sent
     */
    public void vouch(byte opcode, boolean wasVolatile, long lossesBefore, long reportedBefore)
            throws LostWritesException {
        if (hasNoCache) {
            return;
        }
        if (BlockCommands.changesBlocks(opcode)) {
            if (wasVolatile || cache.isVolatile()) {
                writes.acknowledged(lossesBefore);
            } else {
                writes.acknowledgedStable();
            }
        } else if (BlockCommands.synchronizesCache(opcode)) {
            var checked = new CompletableFuture<Void>();
            if (known.defers(() -> checked.complete(null))) {
                checked.join();
            }
            long loss = writes.endFlush(0, reportedBefore);
            if (loss != 0) {
                writes.report(loss);
                throw writes.failure(name + ": SYNCHRONIZE CACHE");
            }
        }
    }

    /**
     * Accounts for a command that was passed through, by this device or its session, and has failed. If it has got a
     * report of lost writes, the next flush fails as well: other users of the device wait for such a report. Does not
     * block.
     *
     * @return completes when the report, if it was one, is accounted for: the write verifier may have to be read
     */
    public CompletableFuture<Void> refused(byte opcode, ScsiResult result) {
        var accounted = new CompletableFuture<Void>();
        if (!SenseMapping.reportsLostWrites(result.status(), result.senseData(),
                BlockCommands.synchronizesCache(opcode), hasVerifier())) {
            accounted.complete(null);
            return accounted;
        }
        String why = name + ": a command that was passed through has failed: "
                + SenseMapping.sense(result.senseData());
        if (isVerified(result.senseData())) {
            check(known.beginCheck(), 0, why, _ -> accounted.complete(null));
        } else {
            long _ = writes.refused(0, why);
            accounted.complete(null);
        }
        return accounted;
    }
}
