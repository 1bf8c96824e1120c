package lunar.raid;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.StorageException;
import lunar.raid.layout.Code;
import lunar.raid.layout.Layout;
import org.jspecify.annotations.Nullable;

/**
 * A request to the volume, in pieces. What is read from members that have it goes straight to them, without a lock: a
 * read in flight together with a write of the same blocks may see either. Everything else goes stripe by stripe.
 * Reused.
 */
final class VolumeRequest implements MemberIo.Owner, StripeTask.Owner {
    /** Told when the request has ended. */
    interface Owner {
        void ended(VolumeRequest request, BlockRequest of, @Nullable StorageException failure);
    }

    /** Parts of a read that are kept for the next one. */
    private static final int MAX_PIECES = 64;

    private final Engine engine;
    private final Layout layout;
    private final Owner owner;
    /** One for all pieces that run, and one for who begins them. */
    private final AtomicInteger pending = new AtomicInteger();
    /** Ranges of the volume that wait for stripe tasks. Guarded by this. */
    private final RangeQueue ranges = new RangeQueue();
    /** Of the buffer, for what is read directly. */
    private final Slices pieces = new Slices(MAX_PIECES);
    private int pieceCount;
    private BlockRequest request = new BlockRequest();
    private volatile @Nullable StorageException failure;
    /** What the guard has said when a flush began. */
    private long flushMark;
    /** What was reported of lost writes when a flush began. */
    private long lossMark;

    VolumeRequest(Engine engine, Owner owner) {
        this.engine = engine;
        this.layout = engine.layout;
        this.owner = owner;
    }

    /** Begins a request that has been checked. */
    void start(BlockRequest request) {
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
                engine.seek(this);
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

    /** Directly where each unit that is wanted is there, in one plan where one is not. */
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
            note(Losses.failure(request));
            return;
        }
        pending.incrementAndGet();
        long at = layout.memberBlock(stripe, unit) + block % layout.chunkBlocks();
        engine.takeIo().start(this, block, member, Operation.READ, at, end - block,
                piece(block, end), false);
    }

    /** As below, by the one thread that begins the request. */
    private MemorySegment piece(long block, long end) {
        return pieces.of(request.buffer(), pieceCount++,
                (block - request.lba()) * engine.blockSize(),
                (end - block) * engine.blockSize());
    }

    /** The copy whose member has the least to do; of equal ones each has its regions, so that runs stay runs. */
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
            if (!Engine.isMedium(cause)) {
                boolean _ = engine.fail(member, cause);
            }
            byStripes(block, end); // the redundancy may have it
            cause = null;
        }
        pieceDone(cause);
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

    /** A member that cannot flush may have lost writes: the volume goes on without it. */
    private void flushed(Member member, StorageException cause) {
        if (engine.fail(member, cause)) {
            engine.membership.whenStable(this::flushedOrFailed);
        } else {
            StorageException end = engine.membership.end();
            pieceDone(end == null ? cause : end);
        }
    }

    /**
     * Only now a crash would find that a slot has failed which the flush has left out: it would pass for one that has
     * everything, and has lost what was in its cache.
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
            engine.seek(this);
        }
    }

    /** Starts a task on the next stripe; false where that is the last that waits. */
    boolean take(StripeTask task) {
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
        engine.giveBack(task);
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
