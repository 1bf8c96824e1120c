package lunar.initiator.internal.lun;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import lunar.initiator.internal.retry.RetryPolicy;
import lunar.initiator.internal.session.Command;
import lunar.initiator.internal.session.SessionEngine;
import lunar.initiator.internal.session.Tasks;
import lunar.scsi.Lun;
import lunar.scsi.MalformedDataException;
import lunar.scsi.vpd.Inquiry;
import lunar.scsi.vpd.VpdPage;
import lunar.scsi.vpd.WriteVerifier;

/**
 * Reads the write verifier of a unit again, without blocking, after the target has reported lost writes by failing a
 * command. Each report has a query of its own, which begins after it. Thread-safe.
 */
final class VerifierQuery {
    private static final System.Logger LOG = System.getLogger("lunar.initiator");
    private static final int VPD_BYTES = 256;
    /** Flushes of all paths wait for the verifier; without one, the report counts as a loss. */
    private static final int PATIENCE_MS = 5_000;

    private final SessionEngine session;
    private final Tasks tasks;
    private final Lun lun;

    VerifierQuery(SessionEngine session, Lun lun) {
        this.session = session;
        this.lun = lun;
        tasks = session.tasks();
    }

    /**
     * Sends a query.
     *
     * @param whenEnded called once, on the event loop's thread or before the method returns: with the verifier, or
     *        empty if there is no valid response in time, even if the path is stalled
     */
    void ask(Consumer<Optional<UUID>> whenEnded) {
        var hasEnded = new AtomicBoolean();
        Consumer<Optional<UUID>> once = verifier -> {
            if (!hasEnded.getAndSet(true)) {
                whenEnded.accept(verifier);
            }
        };
        var retries = new RetryPolicy();
        Command ask = tasks.take();
        ask.prepare(lun.value(), MemorySegment.ofArray(new byte[VPD_BYTES]), MemorySegment.NULL,
                command -> ended(command, retries, once));
        ask.encode(new Inquiry(true, WriteVerifier.CODE, VPD_BYTES));
        tasks.submit(ask);
        try {
            session.loop().schedule(() -> once.accept(Optional.empty()), PATIENCE_MS);
        } catch (RejectedExecutionException _) {
            once.accept(Optional.empty()); // the initiator was closed
        }
    }

    private void ended(Command command, RetryPolicy retries,
            Consumer<Optional<UUID>> whenEnded) {
        long pauseMs = CommandRetries.pauseMs(command, retries, true, session);
        if (pauseMs != RetryPolicy.NEVER) {
            CommandRetries.submit(command, pauseMs, tasks);
            return;
        }
        Optional<UUID> verifier = command.isGood() ? decode(command.dataIn()) : Optional.empty();
        tasks.give(command);
        whenEnded.accept(verifier);
    }

    private Optional<UUID> decode(MemorySegment response) {
        try {
            if (VpdPage.decode(response) instanceof WriteVerifier verifier) {
                return Optional.of(verifier.value());
            }
        } catch (MalformedDataException | IllegalArgumentException e) {
            LOG.log(System.Logger.Level.WARNING, "{0}/{1}: invalid write verifier: {2}",
                    session.targetName(), lun, e.getMessage());
        }
        return Optional.empty();
    }
}
