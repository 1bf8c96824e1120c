package lunar.raid.engine;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.LongPredicate;
import lunar.block.BusyException;
import lunar.block.DeadlineException;
import lunar.block.DeviceGoneException;
import lunar.block.LostWritesException;
import lunar.block.MediumException;
import lunar.block.MiscompareException;
import lunar.block.NoSpaceException;
import lunar.block.StorageException;
import lunar.raid.FailurePolicy;
import lunar.raid.RaidMember;
import lunar.raid.RaidOptions;
import lunar.raid.layout.Layout;
import lunar.raid.layout.Planner;
import org.jspecify.annotations.Nullable;

/**
 * The state that requests and scans of a volume share: layout, slots, locks, a bounded pool of stripe tasks, and
 * reusable member requests. A request that finds no free stripe task waits, first come, first served.
 */
public final class Engine {
    /** Requests that wait before more are refused. */
    private static final int MAX_WAITING = 1 << 16;

    public final Layout layout;
    final Planner planner;
    final RaidOptions options;
    final StripeLocks locks = new StripeLocks();
    public final Membership membership;
    final Losses losses;
    private final LossCheck lossCheck;
    private final int blockSize;
    private final int changeBlocks;
    private final AtomicInteger scans = new AtomicInteger();
    private volatile boolean closed;
    private volatile int now;

    /** Guarded by itself: every request to a member that was ever made, to find those that stall. */
    private final List<MemberIo> ios = new ArrayList<>();
    /** Guarded by itself, as the next two. */
    private final ArrayDeque<StripeTask> freeTasks = new ArrayDeque<>();
    private final ArrayDeque<VolumeRequest> seekers = new ArrayDeque<>();
    private int madeTasks;
    /** Guarded by itself. */
    private final ArrayDeque<MemberIo> freeIos = new ArrayDeque<>();
    private volatile @Nullable MemorySegment zeroes;

    /**
     * The engine of a volume.
     *
     * @param promise which slots, as bits, may be lost
     * @param before the engine before the volume has grown; null for a new volume
     */
    Engine(Layout layout, Planner planner, List<RaidMember> members, RaidOptions options,
            LongPredicate promise, @Nullable Engine before) {
        this(layout, planner, new Membership(promise,
                Slots.of(members, options.stale(), layout, promise), options), options,
                engine -> new LossCheck(engine, before == null ? null : before.lossCheck));
        if (before != null) {
            slots().goOnFrom(before.slots());
        }
    }

    /** Creates another engine over the same members, possibly only the first of them. */
    Engine(Layout layout, Planner planner, Engine same) {
        this(layout, planner, same.membership, same.options, _ -> same.lossCheck);
    }

    private Engine(Layout layout, Planner planner, Membership membership, RaidOptions options,
            Function<Engine, LossCheck> lossCheck) {
        this.layout = layout;
        this.planner = planner;
        this.options = options;
        this.membership = membership;
        this.blockSize = layout.shape().blockSize();
        losses = new Losses(layout, options.lost());
        this.lossCheck = lossCheck.apply(this);
        changeBlocks = changeBlocks(options.guard().maxBytes());
    }

    Slots slots() { return membership.slots(); }

    FailurePolicy policy() { return options.policy(); }

    int blockSize() { return blockSize; }

    private int changeBlocks(int maxBytes) {
        int parities = layout.units() - layout.dataUnits();
        long whole = layout.stripeBlocks() + (long) parities * layout.chunkBlocks();
        return whole * blockSize <= maxBytes
                ? layout.stripeBlocks()
                : Math.max(1, maxBytes / blockSize / (1 + parities));
    }

    /** Blocks of data that a change of a stripe with parity may have which is not a full stripe. */
    int changeBlocks() {
        return changeBlocks;
    }

    int now() { return now; }

    boolean isClosed() { return closed; }

    /** Ends the engine: no request begins, failures are not counted against members, nothing waits for metadata. */
    void close() {
        closed = true;
        membership.close(new DeviceGoneException("the volume is closed"));
        Slots last = slots();
        for (int slot = 0; slot < last.count(); slot++) {
            Member member = last.member(slot);
            if (member != null) {
                member.queue.giveUp(gone(member));
            }
        }
    }

    StorageException gone(Object what) {
        return new DeviceGoneException(what + ": the volume is closed");
    }

    void scanBegins() { scans.incrementAndGet(); }

    void scanEnds() { scans.decrementAndGet(); }

    boolean hasScans() { return scans.get() > 0; }

    // --- failures ---

    /** Whether the range is at fault, not the member. */
    static boolean isMedium(StorageException failure) {
        return failure instanceof MediumException || failure instanceof MiscompareException;
    }

    /** Returns the check that decides about members that lost writes. */
    LossCheck lossCheck() {
        return lossCheck;
    }

    /** Fails a member, if there is any redundancy; returns false if the volume cannot do without it. */
    boolean fail(Member member, StorageException cause) {
        if (closed || !layout.shape().level().isRedundant()) {
            return false;
        }
        if (cause instanceof LostWritesException && slots().isUsed(member)) {
            return false; // the volume goes on with what the member has: see LossCheck
        }
        boolean survives = membership.fail(member, cause);
        member.queue.giveUp(cause);
        return survives;
    }

    /** Whether a member has no space for a write: it is as good as before, and so is all that it has. */
    static boolean isNoSpace(StorageException failure) {
        return failure instanceof NoSpaceException;
    }

    /** Notes that the redundancy of a stripe is wrong until a resync; returns false if there are too many already. */
    boolean noteHalfWritten(long stripe) {
        return noteInconsistent(stripe, true);
    }

    /** Notes that the redundancy of a stripe may be wrong until a resync; returns false if too many are noted. */
    boolean noteSuspect(long stripe) {
        return noteInconsistent(stripe, false);
    }

    private boolean noteInconsistent(long stripe, boolean isWrong) {
        HalfWritten all = slots().halfWritten();
        boolean isFirst = all.isEmpty();
        boolean isNoted = isWrong ? all.add(stripe) : all.addSuspect(stripe);
        if (isFirst) { // the state keeper is told that a resync is due
            membership.change(same -> same, () -> {});
        }
        return isNoted;
    }

    /** Returns the resync that is due, of stripes that are stale or half written; null if none is. */
    @Nullable
    Progress dueResync() {
        HalfWritten all = slots().halfWritten();
        if (slots().resync() != null || all.isEmpty()) {
            return slots().resync();
        }
        var progress = new Progress(all.snapshot(), 0);
        membership.change(slots -> slots.resyncing(progress), () -> {});
        return slots().resync();
    }

    /** Counts a repair; too many repairs fail the member. */
    void repaired(Member member, long memberBlock, long blocks) {
        options.listener().repaired(member.slot, memberBlock, blocks);
        if (member.repaired() > policy().maxRepairs()) {
            boolean _ = fail(member, new MediumException(
                    member + " had to be repaired more than " + policy().maxRepairs() + " times"));
        }
    }

    /**
     * Advances the time: fails members that have not answered for too long, and closes them, which ends their requests.
     */
    void tick() {
        int time = now + 1;
        options.guard().watch();
        lookForStalls(time);
    }

    /** Like {@link #tick}, but without the guard, and at a given time. */
    void lookForStalls(int time) {
        now = time;
        int ticks = policy().stallTicks();
        if (ticks == 0) {
            return;
        }
        var stalled = new ArrayList<Member>();
        synchronized (ios) {
            for (MemberIo io : ios) {
                if (io.hasStalled(time, ticks) && !stalled.contains(io.member())) {
                    stalled.add(io.member());
                }
            }
        }
        Executor closer = options.closer();
        for (Member member : stalled) {
            var cause = new DeadlineException(member + " has not answered for " + ticks + " ticks");
            if (fail(member, cause) || membership.end() != null) {
                closer.execute(() -> closeQuietly(member));
            }
        }
    }

    static void closeQuietly(Member member) {
        try {
            member.device.close();
        } catch (StorageException _) {
            // It has failed already.
        }
    }

    // --- pools ---

    MemberIo newIo() {
        var io = new MemberIo(this);
        synchronized (ios) {
            ios.add(io);
        }
        return io;
    }

    MemberIo takeIo() {
        synchronized (freeIos) {
            MemberIo free = freeIos.poll();
            if (free != null) {
                return free;
            }
        }
        return newIo();
    }

    void giveBack(MemberIo io) {
        synchronized (freeIos) {
            freeIos.push(io);
        }
    }

    /** Gives a request stripe tasks for all its ranges, now or as they become free. */
    void seek(VolumeRequest request) {
        while (true) {
            StripeTask task;
            synchronized (freeTasks) {
                if (!seekers.isEmpty()) {
                    seekers.add(request);
                    return;
                }
                task = freeTasks.poll();
                if (task == null && madeTasks == options.stripeTasks()) {
                    seekers.add(request);
                    return;
                }
                if (task == null) {
                    madeTasks++;
                }
            }
            if (!request.take(task == null ? new StripeTask(this) : task)) {
                return;
            }
        }
    }

    /** Returns a task to the pool, or hands it to the first request that waits. */
    void giveBack(StripeTask task) {
        VolumeRequest next;
        synchronized (freeTasks) {
            next = seekers.poll();
            if (next == null) {
                freeTasks.push(task);
                return;
            }
        }
        if (next.take(task)) {
            synchronized (freeTasks) {
                seekers.addFirst(next);
            }
            feed();
        }
    }

    /** Hands free tasks to waiting requests: a task may have become free while no request was in the queue. */
    private void feed() {
        while (true) {
            StripeTask task;
            VolumeRequest next;
            synchronized (freeTasks) {
                if (seekers.isEmpty() || freeTasks.isEmpty()) {
                    return;
                }
                task = freeTasks.remove();
                next = seekers.remove();
            }
            if (next.take(task)) {
                synchronized (freeTasks) {
                    seekers.addFirst(next);
                }
            }
        }
    }

    /** Returns zeroes for the data of a whole stripe. */
    MemorySegment zeroes() {
        MemorySegment there = zeroes;
        if (there == null) {
            there = Arena.ofAuto().allocate((long) layout.stripeBlocks() * blockSize, 4096)
                    .asReadOnly();
            zeroes = there;
        }
        return there;
    }

    static StorageException busy(Object what) {
        return new BusyException(what + ": " + MAX_WAITING + " requests wait already");
    }

    static boolean isTooMany(int waiting) { return waiting >= MAX_WAITING; }
}
