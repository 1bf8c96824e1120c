package lunar.initiator.internal.lun;

import java.lang.foreign.MemorySegment;
import lunar.initiator.internal.retry.Backoff;
import lunar.initiator.internal.retry.RetryPolicy;
import lunar.initiator.internal.retry.SenseMapping;
import lunar.initiator.internal.session.Command;
import lunar.initiator.internal.session.SessionEngine;
import lunar.initiator.internal.session.Tasks;
import lunar.scsi.Cdb;
import lunar.scsi.Lun;
import lunar.scsi.MalformedDataException;

/**
 * Queries something of a unit again that may have changed, without blocking. One query is in progress at a time; after
 * a failed query the next one is delayed with backoff, and so is one that was requested while a repeated query was in
 * progress, because a unit may answer each query with the unit attention that triggers further queries, here and on
 * other paths. Thread-safe.
 */
final class BackgroundQuery {
    private static final System.Logger LOG = System.getLogger("lunar.initiator");
    private static final long FIRST_REST_MS = 1_000;
    private static final long MAX_REST_MS = 256_000;

    /** What is asked, and what becomes of the response. */
    interface Subject {
        /** Returns the command; called each time when it is sent, also again. */
        Cdb begin();

        /** Takes the response to the latest command. */
        void adopt(MemorySegment response) throws MalformedDataException;

        /** Describes what remains true without a valid response, for the log. */
        String withoutResponse();

        /** Whether nobody uses the unit any more. */
        boolean isClosed();
    }

    private final SessionEngine session;
    private final Tasks tasks;
    private final Lun lun;
    private final int responseBytes;
    private final Subject subject;
    /** Of the question in progress. */
    private final RetryPolicy retries = new RetryPolicy();
    /** Whether a query is in progress, and whether to repeat it afterwards; guarded by this. */
    private boolean asks;
    private boolean asksAgain;
    /** Whether the query in progress is a repetition; guarded by this. */
    private boolean isRepeated;
    /** Rests after questions in a row without a good and final answer; guarded by this. */
    private final Backoff rests = new Backoff(FIRST_REST_MS, MAX_REST_MS);

    /** @param responseBytes size of the buffer for the response */
    BackgroundQuery(SessionEngine session, Lun lun, int responseBytes, Subject subject) {
        this.session = session;
        this.lun = lun;
        this.responseBytes = responseBytes;
        this.subject = subject;
        tasks = session.tasks();
    }

    /** Sends a query; the subject adopts the response. */
    void ask() {
        synchronized (this) {
            if (asks) {
                asksAgain = true; // the answer in progress may be outdated
                return;
            }
            asks = true;
        }
        retries.begin();
        Command ask = tasks.take();
        ask.prepare(lun.value(), MemorySegment.ofArray(new byte[responseBytes]),
                MemorySegment.NULL, this::ended);
        send(ask, 0);
    }

    /** Sends the command, perhaps again: it is executed after what others have asked for until now. */
    private void send(Command command, long pauseMs) {
        synchronized (this) {
            asksAgain = false;
        }
        command.encode(subject.begin());
        CommandRetries.submit(command, pauseMs, tasks);
    }

    private void ended(Command command) {
        long pauseMs = CommandRetries.pauseMs(command, retries, true, session);
        if (pauseMs != RetryPolicy.NEVER) {
            send(command, pauseMs);
            return;
        }
        boolean isAnswered = false;
        try {
            if (command.isGood()) {
                subject.adopt(command.dataIn());
                isAnswered = true;
            } else if (session.isOpen()) {
                LOG.log(System.Logger.Level.WARNING, "{0}: no valid response; {1}: {2}",
                        tasks.describe(command), subject.withoutResponse(),
                        String.valueOf(command.failure() == null
                                ? SenseMapping.failure(command.status(), command.sense(), "it")
                                        .getMessage()
                                : command.failure().getMessage()));
            }
        } catch (MalformedDataException | RuntimeException e) {
            LOG.log(System.Logger.Level.WARNING, "{0}/{1}: invalid response; {2}: {3}",
                    session.targetName(), lun, subject.withoutResponse(), e.toString());
        } finally {
            tasks.give(command);
            rest(isAnswered);
        }
    }

    /** Leaves the unit alone for a while after a question without a good and final answer. */
    private void rest(boolean isAnswered) {
        long restMs = 0;
        synchronized (this) {
            if (isAnswered && !(isRepeated && asksAgain)) {
                rests.reset();
            } else {
                restMs = rests.nextMs();
            }
        }
        if (restMs > 0 && session.isOpen()) {
            session.loop().schedule(this::asked, restMs);
        } else {
            asked();
        }
    }

    /** Permits the next query, and sends it if it was requested meanwhile. */
    private void asked() {
        boolean again;
        synchronized (this) {
            asks = false;
            again = asksAgain && !subject.isClosed() && session.isOpen();
            asksAgain = false;
            isRepeated = again;
        }
        if (again) {
            ask();
        }
    }
}
