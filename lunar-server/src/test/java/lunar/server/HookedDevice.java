package lunar.server;

import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.DeviceRecords;
import lunar.block.Devices;
import lunar.block.ForwardingDevice;
import lunar.block.Identity;
import lunar.block.StorageException;

/** A disk in memory, whose identity, flush and close a test chooses. */
final class HookedDevice extends ForwardingDevice {
    /** What a flush does, or a close before that of the memory. */
    interface Hook {
        void run() throws StorageException;
    }

    private static final int WAIT_MINUTES = 5;

    private final Identity identity;
    private final Hook flush;
    private final Hook close;
    final CountDownLatch flushed = new CountDownLatch(1);
    final CountDownLatch closing = new CountDownLatch(1);
    final CountDownLatch closed = new CountDownLatch(1);

    HookedDevice(UUID identity, Hook flush, Hook close) throws StorageException {
        super(Devices.open("ram:1MiB", DeviceRecords.NONE));
        this.identity = Identity.of("hooked", identity);
        this.flush = flush;
        this.close = close;
    }

    /** A disk with an identity of its own. */
    static HookedDevice of(Hook flush, Hook close) throws StorageException {
        return new HookedDevice(UUID.randomUUID(), flush, close);
    }

    /** Waits for a latch; longer than any thread stalls. */
    static void await(CountDownLatch latch) {
        try {
            if (!latch.await(WAIT_MINUTES, TimeUnit.MINUTES)) {
                throw new AssertionError("timeout");
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public Identity identity() { return identity; }

    @Override
    public void execute(BlockRequest request) throws StorageException { below().execute(request); }

    @Override
    public void submit(BlockRequest request) { below().submit(request); }

    @Override
    public void flush() throws StorageException {
        flush.run();
        flushed.countDown();
    }

    @Override
    public void close() throws StorageException {
        closing.countDown();
        try (BlockDevice _ = below()) {
            close.run();
        } finally {
            closed.countDown();
        }
    }
}
