package lunar.scsi.target.block;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.UUID;
import lunar.block.BlockDevice;
import lunar.scsi.target.StateStore;
import org.jspecify.annotations.Nullable;

/**
 * Write verifier of a unit (VPD page C0h): that of its device at the start, or a value of its own that is new in each
 * process, because the caches may be lost with the previous process. Either changes with each loss of acknowledged
 * writes that the device counts or reports, so that a host which had no session at that time learns of the loss at its
 * next login; also after a restart of the server, if the state of the unit outlives it. It does not change with that of
 * the device, whose losses are counted while it is open: an {@code iscsi:} device learns of another verifier without a
 * loss of the hosts' writes. Thread-safe.
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
    /** Changes with each loss; null before the first. Changed under this object's monitor. */
    private volatile @Nullable UUID epoch;
    /** Saves the epoch; null while nothing is to be saved. Guarded by this, as the end of saving. */
    private @Nullable Thread saver;
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
            isUncounted = true;
        }
        if (isNew) {
            counted = Math.max(counted, count);
            reported = Math.max(reported, count);
            change();
        }
        return isNew;
    }

    /** Records that a flush has succeeded. */
    void flushed() {
        if (isUncounted) { // only after a loss
            isUncounted = false;
        }
    }

    /** Begins an epoch; with the monitor. Saves it in the background, since this may be a device's thread. */
    private void change() {
        epoch = UUID.randomUUID();
        if (isSaved() && saver == null && !ended) {
            saver = Thread.ofPlatform().daemon().name("lunar-write-losses").start(this::save);
        }
    }

    /**
     * Waits until the epoch is saved, and saves no later one: another instance may use the store from now on. Does not
     * wait forever for a disk that does not answer.
     */
    void end() {
        Thread last;
        synchronized (this) {
            ended = true;
            last = saver;
        }
        try {
            if (last != null && !last.join(Duration.ofMillis(END_MS))) {
                LOG.log(System.Logger.Level.WARNING,
                        "{0}: a loss of acknowledged writes is still being saved", device);
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private void save() {
        UUID saved = null;
        for (UUID next = next(saved); next != null; next = next(saved)) {
            try {
                store.save(STATE, encode(next));
            } catch (IOException | RuntimeException e) {
                LOG.log(System.Logger.Level.WARNING,
                        "{0}: a loss of acknowledged writes cannot be saved, so hosts that have not"
                                + " flushed since are not told of it after a restart: {1}",
                        device, e.toString());
            }
            saved = next;
        }
    }

    /** Returns the epoch to be saved; null if it is that which was saved last, after which no thread saves. */
    private synchronized @Nullable UUID next(@Nullable UUID saved) {
        UUID now = epoch;
        if (now == null || now.equals(saved)) {
            saver = null;
            return null;
        }
        return now;
    }

    /** Returns the verifier. */
    UUID value() {
        UUID now = epoch;
        return now == null
                ? base
                : UUID.nameUUIDFromBytes(ByteBuffer.allocate(4 * Long.BYTES).put(encode(base))
                        .put(encode(now)).array());
    }
}
