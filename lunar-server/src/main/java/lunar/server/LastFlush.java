package lunar.server;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lunar.block.BlockDevice;
import lunar.block.DeadlineException;
import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/**
 * The last flush of a device, and its close. The flush runs on its own thread, because a device without a path may wait
 * for one without limit ({@code no-path-retry=queue}), and only its close fails what waits.
 */
final class LastFlush {
    /** Limit for the flush to return after the close, which has ended it. */
    private static final Duration RETURN = Duration.ofSeconds(10);

    private LastFlush() {}

    /**
     * Flushes and closes a device. Closes it even if the flush fails, or does not end within a limit. Blocks.
     *
     * @throws DeadlineException if the flush did not end in time, nor succeeded during the close
     * @throws StorageException if the device could not be flushed or closed
     */
    static void close(BlockDevice device, Duration limit) throws StorageException {
        CompletableFuture<Optional<StorageException>> flush;
        try (device) {
            flush = begin(device);
            if (ClosingLimits.hasEnded(flush, limit)) {
                requireDone(flush);
                return;
            }
        }
        if (!ClosingLimits.hasEnded(flush, RETURN)) {
            throw late(device, limit, null);
        }
        Optional<StorageException> failure = flush.join();
        if (failure.isPresent()) {
            throw late(device, limit, failure.get());
        }
    }

    private static CompletableFuture<Optional<StorageException>> begin(BlockDevice device) {
        return CompletableFuture.supplyAsync(() -> {
            try {
                device.flush();
                return Optional.empty();
            } catch (StorageException e) {
                return Optional.of(e);
            }
        }, task -> Thread.ofPlatform().daemon().name("lunar-flush").start(task));
    }

    private static void requireDone(CompletableFuture<Optional<StorageException>> flush)
            throws StorageException {
        Optional<StorageException> failure = flush.join();
        if (failure.isPresent()) {
            throw failure.get();
        }
    }

    private static DeadlineException late(BlockDevice device, Duration limit,
            @Nullable StorageException cause) {
        return new DeadlineException(device + " could not be flushed within " + limit.toSeconds()
                + " s; data that it acknowledged may be lost", cause);
    }
}
