package lunar.raid.engine;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.MiscompareException;
import lunar.block.StorageException;
import lunar.raid.Completion;
import lunar.raid.ReshapeState;
import lunar.raid.engine.member.Trampoline;
import lunar.raid.engine.scan.ResyncScan;
import lunar.raid.engine.stripe.StripeEngine;
import lunar.raid.engine.stripe.StripeTasks;
import lunar.raid.engine.stripe.VolumeRequest;
import lunar.raid.layout.Planner;
import lunar.raid.layout.ReshapeMap;
import org.jspecify.annotations.Nullable;

/**
 * A volume between two layouts. Blocks before a boundary are in the new layout, all others in the old one; each layout
 * has an engine, and both have the same members. The boundary advances when a {@link ReshapeScan} has moved some
 * blocks: meanwhile requests for these wait.
 */
final class Migration implements ResyncScan.Engines {
    /** Called when a request has ended. */
    public interface Owner {
        void ended(BlockRequest request, @Nullable StorageException failure);
    }

    final ReshapeState state;
    final ReshapeMap map;
    final StripeEngine before;
    final StripeEngine after;
    final StripeTasks tasksBefore;
    private final StripeTasks tasksAfter;
    final RangeGate gate = new RangeGate();
    /** Rows that are in place. */
    private volatile long rows;

    Migration(ReshapeState state, ReshapeMap map, StripeTasks tasks) {
        this.state = state;
        this.map = map;
        tasksAfter = tasks;
        after = tasks.engine();
        before = new StripeEngine(map.before(), Planner.of(map.before()), after);
        tasksBefore = new StripeTasks(before);
        rows = state.rows();
    }

    /**
     * Returns the number of rows in place; changed only by a reshape, which has exclusive use of the blocks that it
     * moves.
     */
    long rows() { return rows; }

    /** Notes that rows up to this one are in place, and written whole. */
    void moved(long end) {
        for (long stripe = rows; stripe < end && !map.keepsStripes(); stripe++) {
            after.slots().halfWritten().remove(stripe); // it was that of a stripe that is moved
        }
        rows = end;
    }

    private long boundary() { return map.blocks(rows); }

    /** Blocks that a compare-and-write may have. */
    int compareBlocks() {
        return Math.min(before.layout.stripeBlocks(), after.layout.stripeBlocks());
    }

    /** Begins a request that has been checked. */
    void start(BlockRequest request, Owner owner) {
        if (request.operation() == Operation.FLUSH) {
            new VolumeRequest(tasksAfter, (_, of, failure) -> owner.ended(of, failure))
                    .start(request);
        } else {
            new Passage(request, owner).enter(false);
        }
    }

    /** Advances the time: requests that wait for a volume that takes no writes any more are refused. */
    void tick() {
        before.lookForStalls(after.now());
        StorageException end = after.membership.end();
        if (end != null) {
            gate.shut(end);
        }
    }

    void close() {
        before.close();
        gate.shut(after.gone("the volume"));
    }

    private StripeEngine engine(long block) { return block < boundary() ? after : before; }

    @Override
    public long stripes() { return before.layout.stripes(); }

    /** Returns the engine that has a stripe, where stripes have the same number in both layouts. */
    @Override
    public StripeEngine engineOf(long stripe) {
        return engine(stripe * before.layout.stripeBlocks());
    }

    /** A request on its way through one engine or both. */
    private final class Passage {
        private final BlockRequest request;
        private final Owner owner;
        private final long from;
        private final long end;
        private RangeGate.Pass pass = new RangeGate.Pass(0, 0, false, _ -> {});

        Passage(BlockRequest request, Owner owner) {
            this.request = request;
            this.owner = owner;
            from = request.lba();
            end = from + request.blockCount();
        }

        void enter(boolean isAlone) {
            pass = new RangeGate.Pass(from, end, isAlone, refusal -> {
                if (refusal != null) {
                    owner.ended(request, refusal);
                } else {
                    go(isAlone);
                }
            });
            gate.enter(pass);
        }

        /** Runs the request: the boundary does not move over the range, nor into it, until it is left. */
        private void go(boolean isAlone) {
            long boundary = boundary();
            boolean isSplit = from < boundary && boundary < end;
            if (!isSplit) {
                new VolumeRequest(from < boundary() ? tasksAfter : tasksBefore,
                        (_, _, failure) -> leave(failure)).start(request);
            } else if (request.operation() != Operation.COMPARE_AND_WRITE) {
                both(request.operation(), request.buffer(), boundary, this::leave);
            } else if (isAlone) {
                compareAndWrite(boundary);
            } else { // the locks of two engines know nothing of each other
                gate.leave(pass);
                enter(true);
            }
        }

        private void compareAndWrite(long boundary) {
            MemorySegment all = request.buffer();
            long half = all.byteSize() / 2;
            MemorySegment found = MemorySegment.ofArray(new byte[(int) half]);
            both(Operation.READ, found, boundary, failure -> {
                long differs = failure == null ? found.mismatch(all.asSlice(0, half)) : -1;
                if (failure != null) {
                    leave(failure);
                } else if (differs >= 0) {
                    leave(new MiscompareException(request + ": byte " + differs + " differs",
                            differs));
                } else {
                    both(Operation.WRITE, all.asSlice(half), boundary, this::leave);
                }
            });
        }

        private void both(Operation how, MemorySegment buffer, long boundary,
                Completion ended) {
            var pending = new AtomicInteger(2);
            var first = new AtomicReference<@Nullable StorageException>();
            VolumeRequest.Owner one = (_, _, failure) -> {
                if (failure != null) {
                    first.compareAndSet(null, failure);
                }
                if (pending.decrementAndGet() == 0) {
                    ended.completed(first.get());
                }
            };
            new VolumeRequest(tasksAfter, one).start(part(how, buffer, from, boundary));
            new VolumeRequest(tasksBefore, one).start(part(how, buffer, boundary, end));
        }

        private BlockRequest part(Operation how, MemorySegment buffer, long first, long next) {
            int blockSize = after.blockSize();
            MemorySegment data = buffer.byteSize() == 0
                    ? buffer
                    : buffer.asSlice((first - from) * blockSize, (next - first) * blockSize);
            var part = new BlockRequest();
            return switch (how) {
                case READ -> part.asRead(first, next - first, data);
                case WRITE -> part.asWrite(first, next - first, data, request.fua());
                case UNMAP -> part.asUnmap(first, next - first);
                case WRITE_ZEROES -> part.asWriteZeroes(first, next - first, request.fua());
                case FLUSH, COMPARE_AND_WRITE -> throw new IllegalStateException(how + " in parts");
            };
        }

        /** Leaves the gate and ends the request; passes that are admitted by that go on afterwards. */
        private void leave(@Nullable StorageException failure) {
            Trampoline.run(() -> {
                gate.leave(pass);
                owner.ended(request, failure);
            });
        }
    }
}
