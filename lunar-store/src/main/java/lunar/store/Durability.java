package lunar.store;

import java.io.IOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import lunar.block.LostWritesException;
import org.jspecify.annotations.Nullable;

/**
 * Makes a file's completed writes stable, and remembers failures. The kernel marks pages clean that it could not write
 * and reports the error only once: a second fdatasync(2) succeeds although the data is not on the disk (PostgreSQL's
 * "fsyncgate" of 2018). Therefore, after the first failure every {@link #force} fails, for every caller and also after
 * a restart, until an operator has accepted the loss by removing the {@link LostWritesMarker}. The sync itself is still
 * called, for data that can be stored.
 *
 * <p>Callers share syncs: one runs at a time, and a caller that arrives while it runs waits for the next one. Therefore
 * no caller returns while another sync, which may get the error, is in progress. Thread-safe.
 */
final class Durability implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(Durability.class.getName());

    private final DataSync data;
    private final String uri;
    /** Null if it cannot be stored, for example for a disk. */
    private final @Nullable LostWritesMarker marker;
    private final Runnable dropCache;

    private final Object lock = new Object();
    /** Rounds of sync that have begun and ended, and whether one is in progress; guarded by the lock. */
    private long begun;
    private long ended;
    private boolean running;
    /** The last round that has failed, and how. */
    private long failedRound;
    private @Nullable Throwable roundFailure;

    /** Null while nothing is lost. Changed under this object's monitor. */
    private volatile @Nullable Loss loss;

    /** Number of failures since creation, including repeated ones; modified under this object's monitor. */
    private volatile long losses;

    /** A reported failure; compared by identity. */
    private static final class Loss {
        /** Describes the failure and the remedy in one line. */
        private final String message;
        /** Whether the marker has been written, so that its absence is the operator's word. */
        private final boolean marked;
        private final @Nullable Throwable cause;

        Loss(String message, boolean marked, @Nullable Throwable cause) {
            this.message = message;
            this.marked = marked;
            this.cause = cause;
        }
    }

    /**
     * @param data closed together with this object
     * @param uri URI by which an operator knows the device
     * @param dropCache drops the page cache, so that reads return the stored data
     */
    Durability(DataSync data, String uri, @Nullable LostWritesMarker marker, Runnable dropCache) {
        this.data = data;
        this.uri = uri;
        this.marker = marker;
        this.dropCache = dropCache;
        if (marker != null && marker.exists()) {
            String what;
            try {
                what = marker.text();
            } catch (IOException e) {
                what = marker + " cannot be read: " + e.getMessage();
            }
            Loss known = new Loss(message(what, true), true, null);
            loss = known;
            LOG.log(System.Logger.Level.WARNING, known.message);
        }
    }

    /**
     * Makes all writes stable that completed before the call.
     *
     * @throws LostWritesException if that is not certain for all acknowledged writes, because of this or an earlier
     *        failure
     */
    void force() throws LostWritesException {
        Throwable _ = syncInTurn();
        check();
    }

    /**
     * Makes every write stable that was completed before the call, whether or not others were lost earlier.
     *
     * @throws LostWritesException if it has failed now
     */
    void sync() throws LostWritesException {
        Throwable failure = syncInTurn();
        if (failure != null) {
            check();
            throw new LostWritesException(uri + ": " + failure.getMessage(), failure); // accepted meanwhile
        }
    }

    /** Whether acknowledged writes may be lost. */
    boolean isLost() { return loss != null; }

    /**
     * How often writing back has failed since the file was opened. It grows before the callers that wait for the sync
     * return, and also while an earlier failure is not accepted yet: each may have lost other writes.
     */
    long losses() { return losses; }

    /** A write that was to be stable by itself has failed, perhaps with what the disk still had to store. */
    void stableWriteFailed(String reason) {
        lost(reason, null);
    }

    /** @throws LostWritesException while acknowledged writes may be lost */
    void check() throws LostWritesException {
        Loss now = loss;
        if (now != null) {
            throw new LostWritesException(now.message, now.cause);
        }
    }

    private String message(String what, boolean marked) {
        return uri + ": acknowledged writes may be lost: " + what
                + "; every flush and every write with FUA fails until the loss is accepted:"
                + " check the disk and the data of all hosts, then "
                + (marked ? "run 'lunar accept-loss " + uri + "'" : "restart the server");
    }

    /**
     * Joins the first round that begins after this call, or runs it. Interrupts are deferred.
     *
     * @return failure of a round since the call; null if none has failed
     */
    private @Nullable Throwable syncInTurn() {
        boolean interrupted = false;
        long mine;
        synchronized (lock) {
            mine = begun + 1;
            while (running && ended < mine) {
                try {
                    lock.wait();
                } catch (InterruptedException _) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
            if (ended >= mine) {
                return failedRound >= mine ? roundFailure : null;
            }
            running = true;
            begun++;
        }
        Throwable failure = new IllegalStateException("the sync has not ended");
        try {
            failure = round();
        } finally {
            synchronized (lock) {
                running = false;
                ended = begun;
                if (failure != null) {
                    failedRound = ended;
                    roundFailure = failure;
                }
                lock.notifyAll();
            }
        }
        return failure;
    }

    private @Nullable Throwable round() {
        Loss before = loss;
        boolean accepted = isAccepted(before);
        try {
            data.sync();
        } catch (IOException | RuntimeException e) {
            lost(String.valueOf(e.getMessage()), e);
            return e;
        }
        if (accepted) {
            accept(before);
        }
        return null;
    }

    private boolean isAccepted(@Nullable Loss known) {
        return known != null && known.marked && marker != null && marker.isGone();
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // under the monitor
    private synchronized void lost(String reason, @Nullable Throwable cause) {
        losses++;
        if (loss != null && !isAccepted(loss)) {
            return; // the first failure is the one to tell of
        }
        String what = "writeback failed at " + Instant.now().truncatedTo(ChronoUnit.SECONDS)
                + ": " + reason;
        // Log before the marker is written, which may take long on a failing disk.
        loss = new Loss(message(what, false), false, cause);
        boolean marked = false;
        String unmarked = "";
        if (marker != null) {
            boolean interrupted = Thread.interrupted(); // or the marker could not be written
            try {
                marker.write(what);
                marked = true;
            } catch (IOException e) {
                unmarked = " (" + marker
                        + " cannot be written, so the loss is not remembered after a restart: "
                        + e + ")";
            } finally {
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
        }
        Loss known = new Loss(message(what, marked), marked, cause);
        loss = known;
        LOG.log(System.Logger.Level.ERROR, known.message + unmarked);
    }

    private synchronized void accept(@Nullable Loss accepted) {
        if (loss != accepted) {
            return; // there is another one by now
        }
        dropCache.run();
        loss = null;
        LOG.log(System.Logger.Level.WARNING,
                "{0}: the loss of acknowledged writes was accepted; flushes succeed again",
                uri);
    }

    @Override
    public void close() throws IOException { data.close(); }
}
