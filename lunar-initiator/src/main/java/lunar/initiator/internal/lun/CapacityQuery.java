package lunar.initiator.internal.lun;

import java.lang.foreign.MemorySegment;
import lunar.initiator.internal.retry.Backoff;
import lunar.initiator.internal.retry.RetryPolicy;
import lunar.initiator.internal.retry.SenseMapping;
import lunar.initiator.internal.session.Command;
import lunar.initiator.internal.session.SessionEngine;
import lunar.initiator.internal.session.Tasks;
import lunar.scsi.Lun;
import lunar.scsi.MalformedDataException;
import lunar.scsi.block.CapacityData16;
import lunar.scsi.block.ReadCapacity16;

/**
 * Queries the capacity of a unit, which may have changed, without blocking. One query is in progress at a time; after a
 * failed query the next one is delayed with backoff, because a unit may answer each query with the unit attention that
 * triggers further queries, here and on other paths. Thread-safe.
 */
public final class CapacityQuery {
    private static final System.Logger LOG = System.getLogger("lunar.initiator");
    private static final int CAPACITY_BYTES = 32;
    private static final long FIRST_REST_MS = 1_000;
    private static final long MAX_REST_MS = 256_000;

    private final SessionEngine session;
    private final Tasks tasks;
    private final Lun lun;
    private final Device device;
    /** Of the question in progress. */
    private final RetryPolicy retries = new RetryPolicy();
    /** Whether a query is in progress, and whether to repeat it afterwards; guarded by this. */
    private boolean asks;
    private boolean asksAgain;
    /** Rests after questions in a row without a good answer; guarded by this. */
    private final Backoff rests = new Backoff(FIRST_REST_MS, MAX_REST_MS);

    /** The device whose capacity it is. */
    public interface Device {
        int blockSize();

        long blockCount();

        void resize(long blockCount);

        boolean isClosed();
    }

    public CapacityQuery(SessionEngine session, Lun lun, Device device) {
        this.session = session;
        this.lun = lun;
        this.device = device;
        tasks = session.tasks();
    }

    /** Sends a query, and makes the device adopt the response. */
    public void ask() {
        synchronized (this) {
            if (asks) {
                asksAgain = true; // the answer in progress may be outdated
                return;
            }
            asks = true;
        }
        retries.begin();
        Command ask = tasks.take();
        ask.prepare(lun.value(), MemorySegment.ofArray(new byte[CAPACITY_BYTES]),
                MemorySegment.NULL, this::ended);
        ask.encode(new ReadCapacity16(CAPACITY_BYTES));
        tasks.submit(ask);
    }

    private void ended(Command command) {
        long pauseMs = CommandRetries.pauseMs(command, retries, true, session);
        if (pauseMs != RetryPolicy.NEVER) {
            CommandRetries.submit(command, pauseMs, tasks);
            return;
        }
        boolean isAnswered = false;
        try {
            if (command.isGood()) {
                adopt(CapacityData16.decode(command.dataIn()));
                isAnswered = true;
            } else if (session.isOpen()) {
                LOG.log(System.Logger.Level.WARNING,
                        "{0}: no valid response; keeping the capacity of {1}"
                                + " blocks: {2}",
                        tasks.describe(command), device.blockCount(),
                        String.valueOf(command.failure() == null
                                ? SenseMapping.failure(command.status(), command.sense(), "it")
                                        .getMessage()
                                : command.failure().getMessage()));
            }
        } catch (MalformedDataException | IllegalArgumentException e) {
            LOG.log(System.Logger.Level.WARNING, "{0}/{1}: new capacity: {2}",
                    session.targetName(), lun, e.getMessage());
        } finally {
            tasks.give(command);
        }
        rest(isAnswered);
    }

    /** Leaves the unit alone for a while after a question without a good answer. */
    private void rest(boolean isAnswered) {
        long restMs = 0;
        synchronized (this) {
            if (isAnswered) {
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

    private void adopt(CapacityData16 capacity) {
        if (capacity.blockSize() == device.blockSize()) {
            device.resize(capacity.lastLba() + 1);
            LOG.log(System.Logger.Level.INFO, "{0}/{1} has {2} blocks now", session.targetName(),
                    lun, device.blockCount());
        }
    }

    /** Permits the next query, and sends it if it was requested meanwhile. */
    private void asked() {
        boolean again;
        synchronized (this) {
            asks = false;
            again = asksAgain && !device.isClosed() && session.isOpen();
            asksAgain = false;
        }
        if (again) {
            ask();
        }
    }
}
