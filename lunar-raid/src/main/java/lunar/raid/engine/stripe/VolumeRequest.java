package lunar.raid.engine.stripe;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.StorageException;
import lunar.raid.SlotState;
import lunar.raid.engine.member.Member;
import lunar.raid.engine.member.MemberIo;
import lunar.raid.engine.member.Slots;
import lunar.raid.layout.Code;
import lunar.raid.layout.Layout;
import org.jspecify.annotations.Nullable;

/**
 * A request to the volume, in pieces. Reads of units that are available go directly to the members, without a lock: a
 * read concurrent with a write of the same blocks may see either. Everything else goes stripe by stripe. Reused.
 */
public final class VolumeRequest implements MemberIo.Owner, StripeTask.Owner, StripeTasks.Seeker {
    /** Called when the request has ended. */
    public interface Owner {
        void ended(VolumeRequest request, BlockRequest of, @Nullable StorageException failure);
    }

    /** Slices of the buffer that are kept for the next request. */
    private static final int MAX_PIECES = 64;

    private final StripeTasks tasks;
    private final StripeEngine engine;
    private final Layout layout;
    private final Owner owner;
    /** Number of pieces in progress, plus one while pieces are being started. */
    private final AtomicInteger pending = new AtomicInteger();
    /** Ranges of the volume that wait for stripe tasks. Guarded by this. */
    private final RangeQueue ranges = new RangeQueue();
    /** Slices of the buffer, for direct reads. */
    private final SliceCache pieces = new SliceCache(MAX_PIECES);
    private int pieceCount;
    private BlockRequest request = new BlockRequest();
    private volatile @Nullable StorageException failure;
    /** The guard's mark of a flush ({@link lunar.raid.WriteGuard#beginFlush}). */
    private long flushMark;
    /** The losses that had been reported when a flush began. */
    private long lossMark;

    public VolumeRequest(StripeTasks tasks, Owner owner) {
        this.tasks = tasks;
        this.engine = tasks.engine();
        this.layout = engine.layout;
        this.owner = owner;
    }

    /** Begins a request that has been checked. */
    public void start(BlockRequest request) {
        this.request = request;
        failure = null;
        pending.set(1);
        switch (request.operation()) {
            case READ -> read();
            case FLUSH -> flush();
            case WRITE, UNMAP, WRITE_ZEROES ->
                byStripes(request.lba(), request.lba() + request.blockCount());
            case COMPARE_AND_WRITE -> {
                pending.incrementAndGet();
                synchronized (this) {
                    ranges.add(request.lba(), request.lba() + request.blockCount());
                }
                tasks.seek(this);
            }
        }
        pieceDone(null);
    }

    // --- reads ---

    private void read() {
        Slots slots = engine.slots();
        boolean isWhole = slots.isWhole();
        pieceCount = 0;
        long end = request.lba() + request.blockCount();
        for (long block = request.lba(); block < end;) {
            long stripe = block / layout.stripeBlocks();
            long stripeEnd = Math.min(end, (stripe + 1) * layout.stripeBlocks());
            if (isWhole) {
                long next = Math.min(end, block + layout.runBlocks(block));
                readDirect(slots, block, next, 0);
                block = next;
            } else {
                readStripe(slots, stripe, block, stripeEnd);
                block = stripeEnd;
            }
        }
    }

    /** Reads a stripe directly if each wanted unit is available, else with one plan. */
    private void readStripe(Slots slots, long stripe, long from, long end) {
        long unreadable = slots.unreadable(layout, stripe);
        long wanted = 0;
        for (long block = from; block < end; block += layout.runBlocks(block)) {
            wanted |= 1L << unit(block);
        }
        boolean isThere = layout.code() == Code.COPIES
                ? (~unreadable & Layout.all(layout.units())) != 0
                : (wanted & unreadable) == 0;
        if (!isThere) {
            byStripes(from, end);
            return;
        }
        for (long block = from; block < end;) {
            long next = Math.min(end, block + layout.runBlocks(block));
            readDirect(slots, block, next, unreadable);
            block = next;
        }
    }

    private int unit(long block) {
        return (int) (block % layout.stripeBlocks() / layout.chunkBlocks());
    }

    private void readDirect(Slots slots, long block, long end, long unreadable) {
        long stripe = block / layout.stripeBlocks();
        int unit = layout.code() == Code.COPIES
                ? idlest(slots, stripe, unreadable)
                : unit(block);
        Member member = slots.member(layout.slot(stripe, unit));
        if (member == null || member.queue.isLong()) {
            byStripes(block, end);
            return;
        }
        if (engine.losses.overlap(block, end - block)) {
            note(VolumeBadBlocks.failure(request));
            return;
        }
        pending.incrementAndGet();
        long at = layout.memberBlock(stripe, unit) + block % layout.chunkBlocks();
        engine.takeIo().start(this, block, member, Operation.READ, at, end - block,
                piece(block, end), false);
    }

    /** Like {@link #buffer}, but with slices that are reused; only for the thread that begins the request. */
    private MemorySegment piece(long block, long end) {
        return pieces.of(request.buffer(), pieceCount++,
                (block - request.lba()) * engine.blockSize(),
                (end - block) * engine.blockSize());
    }

    /** Returns the copy on the least busy member; equal ones have a region each, so that runs stay runs. */
    private int idlest(Slots slots, long stripe, long unreadable) {
        int units = layout.units();
        int first = (int) (stripe % units);
        int best = -1;
        int least = Integer.MAX_VALUE;
        for (int i = 0; i < units; i++) {
            int unit = (first + i) % units;
            Member member = slots.member(layout.slot(stripe, unit));
            if ((unreadable >>> unit & 1) == 0 && member != null && member.inFlight() < least) {
                least = member.inFlight();
                best = unit;
            }
        }
        return Math.max(best, 0);
    }

    private MemorySegment buffer(long block, long end) {
        MemorySegment all = request.buffer();
        return end - block == request.blockCount() || all.byteSize() == 0
                ? all
                : all.asSlice((block - request.lba()) * engine.blockSize(),
                        (end - block) * engine.blockSize());
    }

    @Override
    public void ended(MemberIo io) {
        StorageException cause = io.failure();
        long block = io.tag();
        long end = block + io.blocks();
        Member member = io.member();
        engine.giveBack(io);
        if (cause != null && request.operation() == Operation.FLUSH) {
            flushed(member, cause);
            return;
        }
        if (cause != null && layout.code() != Code.NONE && !engine.isClosed()) {
            if (!StripeEngine.isMedium(cause)) {
                boolean _ = engine.fail(member, cause);
            }
            byStripes(block, end); // redundancy may recover it
            cause = null;
        } else if (cause == null && request.operation() == Operation.READ
                && engine.losses.overlap(block, end - block)) {
            cause = VolumeBadBlocks.failure(request); // lost since the read began, and perhaps zeroed
        } else if (cause == null && request.operation() == Operation.READ
                && isUncertain(member.slot, block, end)) {
            byStripes(block, end);
        }
        pieceDone(cause);
    }

    private boolean isUncertain(int slot, long block, long end) {
        Slots slots = engine.slots();
        if (slots.isWhole()) {
            return false;
        }
        boolean is = false;
        long last = (end - 1) / layout.stripeBlocks();
        for (long stripe = block / layout.stripeBlocks(); stripe <= last; stripe++) {
            is |= slots.isUncertain(layout, stripe, layout.unit(stripe, slot));
        }
        return is;
    }

    // --- flushes ---

    private void flush() {
        lossMark = engine.lossCheck().reported();
        flushMark = engine.options.guard().beginFlush();
        Slots slots = engine.slots();
        StorageException end = engine.membership.end();
        if (end != null) {
            note(end);
            return;
        }
        boolean isOneLeftOut = false;
        for (int slot = 0; slot < slots.count(); slot++) {
            Member member = slots.member(slot);
            if (member == null || slots.state(slot) == SlotState.FAILED) {
                isOneLeftOut = true;
            } else {
                pending.incrementAndGet();
                engine.takeIo().start(this, 0, member, Operation.FLUSH, 0, 0, MemorySegment.NULL,
                        false);
            }
        }
        if (isOneLeftOut) {
            pending.incrementAndGet();
            engine.membership.whenStable(this::flushedOrFailed);
        }
    }

    /** Fails a member that cannot flush, since it may have lost writes. */
    private void flushed(Member member, StorageException cause) {
        if (engine.fail(member, cause)) {
            engine.membership.whenStable(this::flushedOrFailed);
        } else {
            StorageException end = engine.membership.end();
            pieceDone(end == null ? cause : end);
        }
    }

    /**
     * Ends a flush that has left out a failed slot only now that its failure is stable: after a crash the slot would
     * otherwise count as complete, though it has lost what was in its cache.
     */
    private void flushedOrFailed() { pieceDone(engine.membership.end()); }

    // --- stripes ---

    private void byStripes(long from, long end) {
        long stripes = (end - 1) / layout.stripeBlocks() - from / layout.stripeBlocks() + 1;
        pending.addAndGet((int) stripes);
        boolean isFirst;
        synchronized (this) {
            isFirst = ranges.isEmpty();
            ranges.add(from, end);
        }
        if (isFirst) { // else it is waiting already, or being served
            tasks.seek(this);
        }
    }

    @Override
    public boolean take(StripeTask task) {
        long from;
        long next;
        boolean isMore;
        synchronized (this) {
            from = ranges.from();
            long end = ranges.end();
            next = request.operation() == Operation.COMPARE_AND_WRITE
                    ? end
                    : Math.min(end,
                            (from / layout.stripeBlocks() + 1) * layout.stripeBlocks());
            ranges.advance(next);
            isMore = !ranges.isEmpty();
        }
        if (request.operation() == Operation.COMPARE_AND_WRITE) {
            new CompareAndWrite(engine, task, request, this).start();
        } else {
            long stripe = from / layout.stripeBlocks();
            task.start(this, request.operation(), stripe,
                    (int) (from - stripe * layout.stripeBlocks()), (int) (next - from),
                    buffer(from, next), request.fua());
        }
        return isMore;
    }

    @Override
    public void stripeDone(StripeTask task, @Nullable StorageException failure) {
        tasks.giveBack(task);
        pieceDone(failure);
    }

    // --- the end ---

    private void note(StorageException cause) {
        if (failure == null) {
            failure = cause;
        }
    }

    private void pieceDone(@Nullable StorageException cause) {
        if (cause != null) {
            note(cause);
        }
        if (pending.decrementAndGet() == 0) {
            BlockRequest of = request;
            if (of.operation() == Operation.FLUSH) {
                long loss = engine.lossCheck().losses();
                if (loss > lossMark && failure == null) {
                    failure = engine.lossCheck().failure();
                }
                if (failure == null) {
                    engine.options.guard().endFlush(flushMark);
                }
                engine.lossCheck().report(loss); // before the host can ask for the next flush
            }
            owner.ended(this, of, failure);
        }
    }
}
