package lunar.raid;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongPredicate;
import java.util.function.UnaryOperator;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/**
 * Changes who is in the slots, and has each change made stable before writes that rely on it are acknowledged. Changes
 * that come while one is being made stable go together in the next.
 */
final class Membership {
    private final StateKeeper keeper;
    private final RaidListener listener;
    private final WriteGuard guard;
    private volatile Slots slots;
    /** Which slots, as bits, may be lost. */
    private volatile LongPredicate promise;
    /** Guarded by this, as the next three: changes so far, and how many of them are stable. */
    private long changes;
    private long stable;
    private boolean keeping;
    private final List<Waiter> waiters = new ArrayList<>();
    private final List<Joiner> joiners = new ArrayList<>();
    /** Why no write is taken any more. */
    private volatile @Nullable StorageException end;

    /** Waits until so many changes are stable. */
    private record Waiter(long change, Runnable work) {}

    /** Waits until a member may be ACTIVE. */
    private record Joiner(Member member, Runnable work) {}

    Membership(LongPredicate promise, Slots slots, RaidOptions options) {
        this.promise = promise;
        this.slots = slots;
        this.keeper = options.keeper();
        this.listener = options.listener();
        this.guard = options.guard();
        if (!slots.isServing()) {
            end = new DeviceGoneException("too few members: " + slots.view());
        }
    }

    Slots slots() { return slots; }

    /** Why no write is taken any more; null while they are. */
    @Nullable
    StorageException end() { return end; }

    /** Whether every block can be had while the members of these slots are lost. */
    boolean survives(long lostSlots) {
        return promise.test(lostSlots);
    }

    /** From now on other slots may be lost. */
    void promise(LongPredicate other) {
        promise = other;
    }

    /**
     * A member is given up. What is read and written from then on does without.
     *
     * @return whether the volume can do without it; if not, it takes no writes from now on, and the loss is not kept:
     *         the member has missed no write that was acknowledged
     */
    boolean fail(Member member, StorageException cause) {
        boolean survives;
        synchronized (this) {
            Slots before = slots;
            if (!before.holds(member) || before.state(member.slot) == SlotState.FAILED) {
                return before.isServing();
            }
            Slots after = before.withState(member.slot, SlotState.FAILED);
            survives = survives(after.incomplete());
            if (survives) {
                slots = after;
                changes++;
            } else {
                slots = after.notServing();
                end = new DeviceGoneException(
                        member + " is gone, and the volume cannot do without it: "
                                + cause.getMessage(),
                        cause);
            }
        }
        if (survives) {
            listener.slotFailed(member.slot, cause);
            releaseJoiners(member);
            keep();
        } else {
            listener.volumeFailed(cause);
            release();
        }
        return survives;
    }

    /** The volume is closed: no write is taken from now on. */
    void close(StorageException why) {
        synchronized (this) {
            end = end == null ? why : end;
        }
        release();
    }

    /** After the end: nobody is to wait for what will not become stable. */
    private void release() {
        StorageException why;
        var go = new ArrayList<Waiter>();
        synchronized (this) {
            why = end;
            go.addAll(waiters);
            waiters.clear();
        }
        go.forEach(waiter -> Trampoline.run(waiter.work));
        releaseJoiners(null);
        if (why != null) {
            guard.abandon(why);
        }
    }

    /** Changes the slots otherwise; the work is run when that is stable. */
    void change(UnaryOperator<Slots> change, Runnable whenStable) {
        synchronized (this) {
            slots = change.apply(slots);
            changes++;
        }
        keep();
        whenStable(whenStable);
    }

    /** Runs work once every change so far is stable: at once, mostly. */
    void whenStable(Runnable work) {
        synchronized (this) {
            if (stable < changes && end == null) {
                waiters.add(new Waiter(changes, work));
                return;
            }
        }
        Trampoline.run(work);
    }

    /** Runs work when a member that is REBUILDING may be ACTIVE, or has failed, or the volume is at its end. */
    void whenJoined(Member member, Runnable work) {
        var joiner = new Joiner(member, work);
        boolean isOver;
        synchronized (this) {
            joiners.add(joiner);
            isOver = end != null || !slots.holds(member)
                    || slots.state(member.slot) == SlotState.FAILED;
        }
        if (isOver) {
            release(joiner);
        } else {
            keeper.whenJoined(member.slot, () -> release(joiner));
        }
    }

    private void release(Joiner joiner) {
        boolean waits;
        synchronized (this) {
            waits = joiners.remove(joiner);
        }
        if (waits) {
            Trampoline.run(joiner.work);
        }
    }

    /** @param member null for all */
    private void releaseJoiners(@Nullable Member member) {
        List<Joiner> go;
        synchronized (this) {
            go = joiners.stream().filter(one -> member == null || one.member.equals(member))
                    .toList();
        }
        go.forEach(this::release);
    }

    private void keep() {
        long upTo;
        Slots now;
        synchronized (this) {
            if (keeping || stable == changes || end != null) {
                return;
            }
            keeping = true;
            upTo = changes;
            now = slots;
        }
        keeper.keep(now.view(), failure -> kept(upTo, failure));
    }

    private void kept(long upTo, @Nullable StorageException failure) {
        List<Runnable> go = new ArrayList<>();
        boolean isEnd = false;
        synchronized (this) {
            keeping = false;
            stable = upTo;
            if (failure != null && end == null) {
                isEnd = true;
                slots = slots.notServing();
                end = failure;
            }
            waiters.removeIf(waiter -> {
                boolean isDone = waiter.change <= upTo || end != null;
                if (isDone) {
                    go.add(waiter.work);
                }
                return isDone;
            });
        }
        go.forEach(Trampoline::run);
        if (isEnd && failure != null) {
            listener.volumeFailed(failure);
            release();
        }
        Trampoline.run(this::keep);
    }
}
