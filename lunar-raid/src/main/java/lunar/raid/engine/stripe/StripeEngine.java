package lunar.raid.engine.stripe;

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
import lunar.raid.engine.member.HalfWrittenStripes;
import lunar.raid.engine.member.LossCheck;
import lunar.raid.engine.member.Member;
import lunar.raid.engine.member.MemberIo;
import lunar.raid.engine.member.Membership;
import lunar.raid.engine.member.Progress;
import lunar.raid.engine.member.Slots;
import lunar.raid.layout.Layout;
import lunar.raid.layout.Planner;
import org.jspecify.annotations.Nullable;

/**
 * The state that requests and scans of a volume share in one layout: slots, locks, bad blocks, and reusable requests to
 * members. A volume that is being reshaped has an engine for each of its two layouts, with the same members.
 */
public final class StripeEngine implements MemberIo.Context, LossCheck.Host {
    /** Requests that wait before more are refused. */
    private static final int MAX_WAITING = 1 << 16;

    public final Layout layout;
    public final Planner planner;
    public final RaidOptions options;
    public final StripeLocks locks = new StripeLocks();
    public final Membership membership;
    public final VolumeBadBlocks losses;
    private final LossCheck lossCheck;
    private final int blockSize;
    private final int changeBlocks;
    private final AtomicInteger scans = new AtomicInteger();
    private volatile boolean closed;
    private volatile int now;

    /** Guarded by itself: every request to a member that was ever made, to find those that stall. */
    private final List<MemberIo> ios = new ArrayList<>();
    /** Guarded by itself. */
    private final ArrayDeque<MemberIo> freeIos = new ArrayDeque<>();
    private volatile @Nullable MemorySegment zeroes;

    /**
     * The engine of a volume.
     *
     * @param promise which slots, as bits, may be lost
     * @param before the engine before the volume has grown; null for a new volume
     */
    public StripeEngine(Layout layout, Planner planner, List<RaidMember> members,
            RaidOptions options,
            LongPredicate promise, @Nullable StripeEngine before) {
        this(layout, planner, new Membership(promise,
                Slots.of(members, options.stale(), layout, promise), options), options,
                engine -> new LossCheck(layout, engine.membership, options.guard(), engine,
                        before == null ? null : before.lossCheck));
        if (before != null) {
            slots().goOnFrom(before.slots());
        }
    }

    /** Creates another engine over the same members, possibly only the first of them. */
    public StripeEngine(Layout layout, Planner planner, StripeEngine same) {
        this(layout, planner, same.membership, same.options, _ -> same.lossCheck);
    }

    private StripeEngine(Layout layout, Planner planner, Membership membership, RaidOptions options,
            Function<StripeEngine, LossCheck> lossCheck) {
        this.layout = layout;
        this.planner = planner;
        this.options = options;
        this.membership = membership;
        this.blockSize = layout.shape().blockSize();
        losses = new VolumeBadBlocks(layout, options.badBlocks());
        this.lossCheck = lossCheck.apply(this);
        changeBlocks = changeBlocks(options.guard().maxBytes());
    }

    public Slots slots() { return membership.slots(); }

    @Override
    public FailurePolicy policy() { return options.policy(); }

    @Override
    public int blockSize() { return blockSize; }

    @Override
    public Executor pauses() { return options.pauses(); }

    @Override
    public boolean isUsed(Member member) { return slots().isUsed(member); }

    @Override
    public MemberIo.LossHandler losses() { return lossCheck; }

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

    @Override
    public int now() { return now; }

    @Override
    public boolean isClosed() { return closed; }

    /** Ends the engine: no request begins, failures are not counted against members, nothing waits for metadata. */
    public void close() {
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

    public StorageException gone(Object what) {
        return new DeviceGoneException(what + ": the volume is closed");
    }

    public void scanBegins() { scans.incrementAndGet(); }

    public void scanEnds() { scans.decrementAndGet(); }

    public boolean hasScans() { return scans.get() > 0; }

    // --- failures ---

    /** Whether the range is at fault, not the member. */
    static boolean isMedium(StorageException failure) {
        return failure instanceof MediumException || failure instanceof MiscompareException;
    }

    /** Returns the check that decides about members that lost writes. */
    public LossCheck lossCheck() {
        return lossCheck;
    }

    /** Fails a member, if there is any redundancy; returns false if the volume cannot do without it. */
    @Override
    public boolean fail(Member member, StorageException cause) {
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
    public static boolean isNoSpace(StorageException failure) {
        return failure instanceof NoSpaceException;
    }

    /** Notes that a write has left a stripe half written: its redundancy is wrong until a resync. */
    void noteHalfWritten(long stripe) {
        boolean isFirst = slots().halfWritten().isEmpty();
        slots().halfWritten().add(stripe);
        announceResync(isFirst);
    }

    /**
     * Notes that a resync has not restored a stripe.
     *
     * @param isWrong whether its redundancy is known to be wrong, not just suspect
     * @return false if too many are noted
     */
    public boolean noteLeft(long stripe, boolean isWrong) {
        boolean isFirst = slots().halfWritten().isEmpty();
        boolean isNoted = slots().halfWritten().addLeft(stripe, isWrong);
        announceResync(isFirst);
        return isNoted;
    }

    /** Tells the state keeper that a resync is due. */
    private void announceResync(boolean isFirst) {
        if (isFirst) {
            membership.change(same -> same, () -> {});
        }
    }

    /** Returns the resync that is due, of stripes that are stale or half written; null if none is. */
    public @Nullable Progress dueResync() {
        HalfWrittenStripes all = slots().halfWritten();
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
    public void tick() {
        int time = now + 1;
        options.guard().watch();
        lookForStalls(time);
    }

    /** Like {@link #tick}, but without the guard, and at a given time. */
    public void lookForStalls(int time) {
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

    public static void closeQuietly(Member member) {
        try {
            member.device.close();
        } catch (StorageException _) {
            // It has failed already.
        }
    }

    // --- pools ---

    public MemberIo newIo() {
        var io = new MemberIo(this);
        synchronized (ios) {
            ios.add(io);
        }
        return io;
    }

    @Override
    public MemberIo takeIo() {
        synchronized (freeIos) {
            MemberIo free = freeIos.poll();
            if (free != null) {
                return free;
            }
        }
        return newIo();
    }

    @Override
    public void giveBack(MemberIo io) {
        synchronized (freeIos) {
            freeIos.push(io);
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

    public static StorageException busy(Object what) {
        return new BusyException(what + ": " + MAX_WAITING + " requests wait already");
    }

    public static boolean isTooMany(int waiting) { return waiting >= MAX_WAITING; }
}
