package lunar.filter;

import java.io.IOException;
import java.nio.channels.WritableByteChannel;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import org.jspecify.annotations.Nullable;

/** Reports every completed request to a listener, or logs it, {@code trace:file:disk.img}. */
public final class TraceFilter extends Filter {
    private static final System.Logger LOG = System.getLogger(TraceFilter.class.getName());

    private final Consumer<Trace> listener;

    /**
     * A request that has ended.
     *
     * @param micros from its arrival to its end
     * @param failure empty if it succeeded
     */
    public record Trace(Operation operation, long lba, long blockCount, long micros,
            Optional<StorageException> failure) {
        @Override
        public String toString() {
            return operation + " lba=" + lba + " blocks=" + blockCount + " us=" + micros + " "
                    + failure.map(e -> e.getClass().getSimpleName()).orElse("ok");
        }
    }

    /** A filter that owns the device below and logs at level INFO. */
    public TraceFilter(BlockDevice below) {
        this(below, trace -> LOG.log(System.Logger.Level.INFO, trace.toString()));
    }

    /** A filter that owns the device below. The listener must neither block nor throw. */
    public TraceFilter(BlockDevice below, Consumer<Trace> listener) {
        super(below, Set.of());
        this.listener = listener;
    }

    @Override
    public void execute(BlockRequest request) throws StorageException {
        long start = System.nanoTime();
        try {
            below().execute(request);
        } catch (StorageException e) {
            tell(request.operation(), request.lba(), request.blockCount(), start, e);
            throw e;
        }
        tell(request.operation(), request.lba(), request.blockCount(), start, null);
    }

    @Override
    public void submit(BlockRequest request) {
        long start = System.nanoTime();
        passOn(request, (_, failure) -> {
            tell(request.operation(), request.lba(), request.blockCount(), start, failure);
            RequestCompletion.complete(request, failure);
        });
    }

    /** {@inheritDoc} It is traced as a read of the blocks it touches. */
    @Override
    public long transferTo(long offsetBytes, long countBytes, WritableByteChannel channel)
            throws IOException {
        long start = System.nanoTime();
        long first = Math.floorDiv(offsetBytes, blockSize());
        long count = Math.ceilDiv(offsetBytes + countBytes, blockSize()) - first;
        StorageException failed = null;
        try {
            return below().transferTo(offsetBytes, countBytes, channel);
        } catch (StorageException e) {
            failed = e;
            throw e;
        } finally {
            tell(Operation.READ, first, count, start, failed);
        }
    }

    private void tell(Operation operation, long lba, long blockCount, long startNanos,
            @Nullable StorageException failure) {
        long micros = TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - startNanos);
        listener.accept(new Trace(operation, lba, blockCount, micros,
                Optional.ofNullable(failure)));
    }

    @Override
    public String toString() { return "trace over " + below(); }
}
