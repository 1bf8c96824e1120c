package lunar.raid.engine.member;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import lunar.block.LostWritesException;
import lunar.block.StorageException;
import lunar.raid.SlotState;
import lunar.raid.StripeSet;
import lunar.raid.WriteGuard;
import lunar.raid.layout.Code;
import lunar.raid.layout.Layout;
import org.jspecify.annotations.Nullable;

/**
 * Decides what becomes of members that lost acknowledged writes with a volatile cache. Requests that met such a member
 * wait meanwhile, so that no stale block is returned.
 *
 * <p>Members that have lost writes are identified by a flush of all members: members of one array lose power together,
 * and come back one after the other. Where the volume can do without those that have lost something, they are failed:
 * what they lack is computed from the others, and they are rebuilt when they come back. Otherwise none is but copies
 * that are being rebuilt: with parity, what is computed from a member that has lost writes is wrong, even where nothing
 * was being written. The volume goes on with what its members have, the next flush fails, and a resync restores the
 * redundancy of the stripes that were written since the last flush. What a journal has of before the loss is settled
 * before later changes are logged, and before that resync: replayed beneath these it would bring back data that their
 * parity was computed without.
 *
 * <p>For any thread.
 */
public final class LossCheck implements MemberIo.Owner, MemberIo.LossHandler {
    /** The volume's engine, as far as the check needs it. */
    public interface Host {
        boolean isClosed();

        /** Fails a member; returns false if the volume cannot do without it. */
        boolean fail(Member member, StorageException cause);

        MemberIo takeIo();

        void giveBack(MemberIo io);
    }

    /** A request that waits for the decision, and how it ended. */
    private record Held(MemberIo io, @Nullable StorageException failure) {}

    private final Layout layout;
    private final Membership membership;
    private final WriteGuard guard;
    private final Host host;
    /** Guarded by this, as the next three. */
    private final Map<Member, StorageException> lost = new LinkedHashMap<>();
    private final List<Held> held = new ArrayList<>();
    private int pending;
    private boolean isRunning;
    private final LossCounts tally;

    /**
     * The losses that a volume reports to its own users while it is open; kept when it grows.
     *
     * @param losses how often the volume has lost writes itself
     * @param reported how many of these a flush has reported
     */
    private record LossCounts(AtomicLong losses, AtomicLong reported) {}

    /** @param before the check before the volume has grown, whose losses count here, too; null for a new volume */
    public LossCheck(Layout layout, Membership membership, WriteGuard guard, Host host,
            @Nullable LossCheck before) {
        this.layout = layout;
        this.membership = membership;
        this.guard = guard;
        this.host = host;
        tally = before == null
                ? new LossCounts(new AtomicLong(), new AtomicLong())
                : before.tally;
    }

    // --- what the volume's own users are told ---

    /** Returns how often the volume has lost acknowledged writes. */
    public long losses() {
        return tally.losses.get();
    }

    /** Returns the losses that a flush has reported; flushes that began before the report report them, too. */
    public long reported() {
        return tally.reported.get();
    }

    /** Notes that a flush fails because of these losses. */
    public void report(long loss) {
        tally.reported.accumulateAndGet(loss, Math::max);
    }

    public StorageException failure() {
        return new LostWritesException("more members have lost their write cache than the volume "
                + "can do without: writes since the last successful flush may be lost");
    }

    // --- members that have lost something ---

    @Override
    public boolean concerns(MemberIo io, @Nullable StorageException failure) {
        return (failure instanceof LostWritesException || io.member().hasLostWrites())
                && !io.isOf(this) && !host.isClosed()
                && membership.slots().isUsed(io.member());
    }

    @Override
    public void hold(MemberIo io, @Nullable StorageException failure) {
        synchronized (this) {
            held.add(new Held(io, failure));
            lost.putIfAbsent(io.member(), failure instanceof LostWritesException
                    ? failure
                    : io.member().lossFailure());
        }
        begin();
    }

    /** Takes the failure of a metadata request; returns false if it is an ordinary failure, not a loss of writes. */
    public boolean takes(Member member, StorageException cause) {
        if (!(cause instanceof LostWritesException)) {
            return false;
        }
        if (member.areLossesAccepted()) {
            guard.goOnAfterLoss();
            return true;
        }
        synchronized (this) {
            lost.putIfAbsent(member, cause);
        }
        begin();
        return true;
    }

    /** Notes that metadata of a member that the volume does not use, or not yet, were lost: they are not sent again. */
    public void missed(int slot, @Nullable Member member, StorageException cause) {
        if (cause instanceof LostWritesException
                && (member == null || !membership.slots().isUsed(member))) {
            guard.failedAfterLoss(slot);
        }
    }

    /** Flushes the members, unless that is under way. */
    private void begin() {
        var asked = new ArrayList<Member>();
        synchronized (this) {
            if (isRunning) {
                return;
            }
            isRunning = true;
            pending = 1;
            Slots slots = membership.slots();
            for (int slot = 0; slot < slots.count(); slot++) {
                Member member = slots.member(slot);
                if (member != null && slots.state(slot) != SlotState.FAILED) {
                    asked.add(member);
                    pending++;
                }
            }
        }
        for (Member member : asked) {
            host.takeIo().startFlushFirst(this, member);
        }
        asked();
    }

    @Override
    public void ended(MemberIo io) {
        Member member = io.member();
        StorageException cause = io.failure();
        host.giveBack(io);
        if (cause instanceof LostWritesException || member.hasLostWrites()) {
            synchronized (this) {
                lost.putIfAbsent(member, cause instanceof LostWritesException
                        ? cause
                        : member.lossFailure());
            }
        } else if (cause != null) {
            boolean _ = host.fail(member, cause);
        }
        asked();
    }

    private void asked() {
        synchronized (this) {
            if (--pending > 0) {
                return;
            }
        }
        Trampoline.run(this::decide);
    }

    private void decide() {
        Map<Member, StorageException> members;
        List<Held> waiting;
        synchronized (this) {
            members = new LinkedHashMap<>(lost);
            waiting = List.copyOf(held);
            lost.clear();
            held.clear();
        }
        // A request in flight during the last round may report a loss that was decided in it.
        boolean isAny = !members.isEmpty();
        members.keySet().removeIf(Member::areLossesAccepted);
        if (members.isEmpty() && isAny) {
            guard.goOnAfterLoss();
        }
        Slots slots = membership.slots();
        long bits = 0;
        for (Member member : members.keySet()) {
            bits |= slots.isUsed(member) ? 1L << member.slot : 0;
        }
        var failed = new LinkedHashMap<>(members);
        if (bits != 0 && !mustFail(slots, bits)) {
            // A copy that is being rebuilt is failed all the same: what was rebuilt since its last flush may be lost.
            failed.keySet().removeIf(member -> slots.state(member.slot) != SlotState.REBUILDING);
            members.keySet().removeAll(failed.keySet());
            goOn(members);
        }
        failed.forEach((member, cause) -> {
            boolean _ = membership.fail(member, cause);
            guard.failedAfterLoss(member.slot);
        });
        for (Held one : waiting) {
            boolean fails = failed.containsKey(one.io.member());
            Trampoline.run(() -> one.io.decided(one.failure, fails));
        }
        boolean isMore;
        synchronized (this) {
            isRunning = false;
            isMore = !lost.isEmpty();
        }
        if (isMore) {
            begin();
        }
    }

    /** Whether these slots are to be failed: the volume can do without them, or cannot go on with them either. */
    private boolean mustFail(Slots slots, long bits) {
        if (!layout.shape().level().isRedundant()) {
            return false;
        }
        return membership.survives(slots.incomplete() | bits)
                || (layout.code() != Code.COPIES && slots.incomplete() != 0);
    }

    private void goOn(Map<Member, StorageException> members) {
        var losses = new LinkedHashMap<Member, Long>(); // stripes written before any further one are suspect
        members.keySet().forEach(member -> losses.put(member, member.device.writeLosses()));
        tally.losses.incrementAndGet();
        if (layout.shape().level().isRedundant()) { // before reads of these members go on
            StripeSet suspect = guard.suspect();
            membership.change(slots -> slots.stale(suspect), guard::suspectKept);
        }
        losses.forEach(Member::acceptLosses);
        guard.goOnAfterLoss();
    }
}
