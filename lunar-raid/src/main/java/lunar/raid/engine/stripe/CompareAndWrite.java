package lunar.raid.engine.stripe;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.MiscompareException;
import lunar.block.StorageException;
import lunar.raid.engine.member.Trampoline;
import lunar.raid.layout.Layout;
import org.jspecify.annotations.Nullable;

/**
 * A compare-and-write: under the exclusive locks of its stripes it reads, compares, and writes where all is equal.
 * Reads that take no lock may see a part of the write, if it is in more than one unit.
 */
public final class CompareAndWrite implements StripeTask.Owner {
    /** Bytes of the longest request: at most two stripes are concerned. */
    public static final int MAX_BYTES = 64 << 10;

    private final StripeEngine engine;
    private final StripeTask task;
    private final BlockRequest request;
    private final StripeTask.Owner owner;
    private final MemorySegment found;
    private final MemorySegment expected;
    private final MemorySegment replacement;
    private final long lastStripe;
    private final ArrayDeque<Long> toLock = new ArrayDeque<>();
    private final StripeLocks.Holder firstLock = new StripeLocks.Holder(this::lock);
    private final StripeLocks.Holder secondLock = new StripeLocks.Holder(this::lock);
    private Operation operation = Operation.READ;
    private long stripe;
    private int locked;

    CompareAndWrite(StripeEngine engine, StripeTask task, BlockRequest request,
            StripeTask.Owner owner) {
        this.engine = engine;
        this.task = task;
        this.request = request;
        this.owner = owner;
        long bytes = request.blockCount() * engine.blockSize();
        found = Arena.ofAuto().allocate(bytes, 4096);
        expected = request.buffer().asSlice(0, bytes);
        replacement = request.buffer().asSlice(bytes);
        Layout layout = engine.layout;
        stripe = request.lba() / layout.stripeBlocks();
        lastStripe = (request.lba() + request.blockCount() - 1) / layout.stripeBlocks();
        toLock.add(stripe);
        if (lastStripe != stripe) {
            boolean isAscending = StripeLocks.order(stripe) < StripeLocks.order(lastStripe);
            if (isAscending) {
                toLock.addLast(lastStripe);
            } else {
                toLock.addFirst(lastStripe);
            }
        }
    }

    void start() { Trampoline.run(this::lock); }

    /** Takes the locks one after the other, then begins. */
    private void lock() {
        for (Long next = toLock.poll(); next != null; next = toLock.poll()) {
            StripeLocks.Holder holder = locked++ == 0 ? firstLock : secondLock;
            if (!engine.locks.acquire(holder, next, true)) {
                return;
            }
        }
        task.underLockOfCaller(true);
        work();
    }

    /** Reads or writes what is in the stripe. */
    private void work() {
        long stripeBlocks = engine.layout.stripeBlocks();
        long first = Math.max(request.lba(), stripe * stripeBlocks);
        long end = Math.min(request.lba() + request.blockCount(), (stripe + 1) * stripeBlocks);
        MemorySegment all = operation == Operation.READ ? found : replacement;
        task.start(this, operation, stripe, (int) (first - stripe * stripeBlocks),
                (int) (end - first), all.asSlice((first - request.lba()) * engine.blockSize(),
                        (end - first) * engine.blockSize()),
                request.fua());
    }

    @Override
    public void stripeDone(StripeTask done, @Nullable StorageException failure) {
        if (failure != null) {
            end(failure);
        } else if (stripe < lastStripe) {
            stripe++;
            work();
        } else if (operation == Operation.READ) {
            long differs = found.mismatch(expected);
            if (differs >= 0) {
                end(new MiscompareException(request + ": byte " + differs + " differs", differs));
                return;
            }
            operation = Operation.WRITE;
            stripe = request.lba() / engine.layout.stripeBlocks();
            work();
        } else {
            end(null);
        }
    }

    private void end(@Nullable StorageException failure) {
        engine.locks.release(firstLock);
        if (locked > 1) {
            engine.locks.release(secondLock);
        }
        task.underLockOfCaller(false);
        owner.stripeDone(task, failure);
    }
}
