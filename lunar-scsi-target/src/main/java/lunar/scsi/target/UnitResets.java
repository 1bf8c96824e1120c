package lunar.scsi.target;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Resets of a logical unit that servers share: a reset by one of them aborts the tasks of all (SAM-5 section 6.3.3).
 * The state in the store is how many there have been, in eight bytes, big-endian. Thread-safe.
 */
final class UnitResets {
    private static final System.Logger LOG = System.getLogger("lunar.target");
    private static final String NAME = "resets";

    private static final UnitState.Format<Long> FORMAT = new UnitState.Format<>() {
        @Override
        public byte[] encode(Long count) {
            return ByteBuffer.allocate(Long.BYTES).putLong(count).array();
        }

        @Override
        public Long decode(byte[] saved) throws IOException {
            if (saved.length != Long.BYTES) {
                throw new IOException(
                        "the number of resets of a unit is damaged; remove the state '"
                                + NAME + "'");
            }
            return ByteBuffer.wrap(saved).getLong();
        }
    };

    private final UnitState<Long> count;

    /** @throws IOException when the state that servers share cannot be read */
    UnitResets(StateStore store) throws IOException {
        count = new UnitState<>(store.isShared() ? store : StateStore.inMemory(), NAME, 0L, FORMAT);
    }

    /**
     * Begins to follow the resets of other servers.
     *
     * @param reset resets the unit here; ends when no task is left that it aborts
     * @throws IOException when the state cannot be read
     */
    void begin(Supplier<CompletableFuture<Void>> reset) throws IOException {
        count.begin((_, _) -> reset.get());
    }

    /** Follows no more resets of other servers. */
    void end() { count.end(); }

    /** Has other servers reset the unit, too; ends when they have, exceptionally where they cannot be told. */
    CompletableFuture<Void> tellOthers() {
        var done = new CompletableFuture<Void>();
        if (!count.isShared()) {
            done.complete(null);
            return done;
        }
        Thread.ofVirtual().name("lunar-reset").start(() -> {
            try {
                var _ = count.change(before -> before + 1, (_, _) -> false);
                done.complete(null);
            } catch (IOException | RuntimeException e) {
                LOG.log(System.Logger.Level.WARNING,
                        "a unit is not reset at the other servers: {0}", e.getMessage());
                done.completeExceptionally(e);
            }
        });
        return done;
    }
}
