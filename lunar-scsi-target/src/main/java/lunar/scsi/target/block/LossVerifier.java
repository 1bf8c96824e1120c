package lunar.scsi.target.block;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import lunar.block.BlockDevice;
import lunar.scsi.target.StateStore;
import org.jspecify.annotations.Nullable;

/**
 * Write verifier of a unit (VPD page C0h): that of its device at the start, or a value of its own that is new in each
 * process, because the caches may be lost with the previous process. Either changes with each loss of acknowledged
 * writes that the device counts or reports, so that a host which had no session at that time learns of the loss at its
 * next login; also after a restart of the server, if the state of the unit outlives it. It does not change with that of
 * the device, whose losses are counted while it is open: an {@code iscsi:} device learns of another verifier without a
 * loss of the hosts' writes.
 *
 * <p>If several servers share the unit, it is that of the device as soon as this has changed, since a host that goes on
 * at another server must find the same one there. Thread-safe.
 */
final class LossVerifier {
    private static final System.Logger LOG = System.getLogger("lunar.target");
    private static final String STATE = "write-losses";
    private static final long END_MS = 10_000;

    private final BlockDevice device;
    private final StateStore store;
    private final UUID base;
    /**
     * Loss counts of the device that the verifier accounts for: counted, and reported to a command. Guarded by this.
     * Losses before the unit was served are news, because hosts may have known the device's verifier at that time.
     */
    private long counted;
    private long reported;
    /** Whether the device has reported a loss without counting it, and no flush has succeeded since. */
    private volatile boolean isUncounted;
    /** Number of such reports. Changed under this object's monitor. */
    private volatile long uncounted;
    /** Changes with each loss; null before the first. Changed under this object's monitor. */
    private volatile @Nullable UUID epoch;
    /** Completes when there is nothing to be saved, or nobody waits for it any longer. Guarded by this. */
    private CompletableFuture<Void> saved = CompletableFuture.completedFuture(null);
    private boolean ended;

    /** @throws IOException if the saved state cannot be read */
    LossVerifier(BlockDevice device, StateStore store) throws IOException {
        this.device = device;
        this.store = store;
        base = device.writeVerifier().orElseGet(UUID::randomUUID);
        epoch = isSaved() ? store.load(STATE).map(LossVerifier::decode).orElse(null) : null;
    }

    /** Whether the epoch is saved. Servers that share a unit have caches of their own. */
    private boolean isSaved() {
        return store.isPersistent() && !store.isShared();
    }

    private static UUID decode(byte[] saved) {
        var bytes = ByteBuffer.wrap(saved);
        return saved.length == 2 * Long.BYTES
                ? new UUID(bytes.getLong(), bytes.getLong())
                : UUID.randomUUID(); // damaged: there was a loss
    }

    private static byte[] encode(UUID value) {
        return ByteBuffer.allocate(2 * Long.BYTES).putLong(value.getMostSignificantBits())
                .putLong(value.getLeastSignificantBits()).array();
    }

    /** Changes the verifier if the device has counted a loss since the last call; returns whether it has. */
    synchronized boolean check() {
        long count = device.writeLosses();
        boolean isNew = count > counted;
        if (isNew) {
            counted = count;
            change();
        }
        return isNew;
    }

    /**
     * Changes the verifier because the device has reported a loss, unless it has reported the same loss before. It may
     * have changed already because the loss was counted; a host may have adopted that value and ended its session
     * before the report. A device that does not count, such as a file with a loss of an earlier process, reports the
     * same loss until a flush succeeds.
     *
     * @param count loss count of the device; 0 if it does not count
     * @return whether the verifier has changed
     */
    synchronized boolean reported(long count) {
        boolean isNew = count == 0 ? !isUncounted : count > reported;
        if (count == 0) {
            uncounted++;
            isUncounted = true;
        }
        if (isNew) {
            counted = Math.max(counted, count);
            reported = Math.max(reported, count);
            change();
        }
        return isNew;
    }

    /** Returns how often the device has reported a loss without counting it, to be passed to {@link #flushed}. */
    long uncounted() {
        return uncounted;
    }

    /**
     * Records that a flush has succeeded.
     *
     * @param uncountedBefore what {@link #uncounted} returned before it was submitted: an older one does not show that
     *        the device has no loss to report any more
     */
    void flushed(long uncountedBefore) {
        if (isUncounted) { // only after a loss
            clear(uncountedBefore);
        }
    }

    private synchronized void clear(long uncountedBefore) {
        if (uncounted == uncountedBefore) {
            isUncounted = false;
        }
    }

    /** Begins an epoch; with the monitor. Saves it in the background, since this may be a device's thread. */
    private void change() {
        epoch = UUID.randomUUID();
        if (isSaved() && saved.isDone() && !ended) {
            var done = new CompletableFuture<Void>();
            saved = done;
            var _ = Thread.ofPlatform().daemon().name("lunar-write-losses")
                    .start(() -> save(done));
        }
    }

    /** Like {@link #end(long)}, with the time that a disk normally needs. */
    CompletableFuture<Void> end() {
        return end(END_MS);
    }

    /**
     * Saves no later epoch than the present one: another instance may use the store from now on. Does not block.
     *
     * @param patienceMs time for a disk to answer; after it, an epoch that waits for an older one is not saved
     * @return completes when the epoch is saved, or the time is over
     */
    CompletableFuture<Void> end(long patienceMs) {
        CompletableFuture<Void> last;
        synchronized (this) {
            ended = true;
            last = saved;
        }
        return last.orTimeout(patienceMs, TimeUnit.MILLISECONDS).exceptionally(_ -> {
            LOG.log(System.Logger.Level.WARNING,
                    "{0}: a loss of acknowledged writes is still being saved", device);
            return null;
        });
    }

    private void save(CompletableFuture<Void> done) {
        UUID last = null;
        for (UUID next = next(last, done); next != null; next = next(last, done)) {
            try {
                store.save(STATE, encode(next));
            } catch (IOException | RuntimeException e) {
                LOG.log(System.Logger.Level.WARNING,
                        "{0}: a loss of acknowledged writes cannot be saved, so hosts that have not"
                                + " flushed since are not told of it after a restart: {1}",
                        device, e.toString());
            }
            last = next;
        }
    }

    /** Returns the epoch to be saved; null if there is none, after which no thread saves. */
    private @Nullable UUID next(@Nullable UUID last, CompletableFuture<Void> done) {
        synchronized (this) {
            UUID now = epoch;
            if (now != null && !now.equals(last) && !done.isDone()) {
                return now;
            }
            saved = CompletableFuture.completedFuture(null);
        }
        done.complete(null); // without the monitor, since others wait for it
        return null;
    }

    /** Returns the verifier. */
    UUID value() {
        UUID now = epoch;
        UUID below = store.isShared() ? device.writeVerifier().orElse(base) : base;
        return now == null || !below.equals(base)
                ? below
                : UUID.nameUUIDFromBytes(ByteBuffer.allocate(4 * Long.BYTES).put(encode(base))
                        .put(encode(now)).array());
    }
}
