package lunar.raid.engine.member;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongPredicate;
import java.util.function.UnaryOperator;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import lunar.raid.RaidListener;
import lunar.raid.RaidOptions;
import lunar.raid.SlotState;
import lunar.raid.StateKeeper;
import lunar.raid.WriteGuard;
import org.jspecify.annotations.Nullable;

/**
 * Changes the members and states of the slots, and has each change made stable before writes that rely on it are
 * acknowledged. Changes that come while one is being made stable are combined in the next.
 */
public final class Membership {
    private final StateKeeper keeper;
    private final RaidListener listener;
    private final WriteGuard guard;
    private volatile Slots slots;
    /** Which slots, as bits, may be lost. */
    private volatile LongPredicate promise;
    /** Guarded by this, as are the next four: the number of changes so far, and how many of them are stable. */
    private long changes;
    private long stable;
    private boolean keeping;
    private final List<Waiter> waiters = new ArrayList<>();
    private final List<Joiner> joiners = new ArrayList<>();
    /** Why no write is taken any more. */
    private volatile @Nullable StorageException end;

    /** Work that waits until this many changes are stable. */
    private record Waiter(long change, Runnable work) {}

    /** Work that waits until a member may be ACTIVE. */
    private record Joiner(Member member, Runnable work) {}

    public Membership(LongPredicate promise, Slots slots, RaidOptions options) {
        this.promise = promise;
        this.slots = slots;
        this.keeper = options.keeper();
        this.listener = options.listener();
        this.guard = options.guard();
        if (!slots.isServing()) {
            end = new DeviceGoneException("too few members: " + slots.view());
        }
    }

    public Slots slots() { return slots; }

    /** Returns why no write is taken any more; null while writes are taken. */
    public @Nullable StorageException end() {
        return end;
    }

    /** Returns why something fails that needs writes to be taken; null while they are. */
    public @Nullable StorageException end(Object what) {
        StorageException why = end;
        return why == null ? null : new DeviceGoneException(what + ": " + why.getMessage(), why);
    }

    /** Whether every block can be had while the members of these slots are lost. */
    public boolean survives(long lostSlots) {
        return promise.test(lostSlots);
    }

    /** Sets which slots may be lost from now on. */
    public void promise(LongPredicate other) {
        promise = other;
    }

    /**
     * Fails a member. Reads and writes from then on do without it.
     *
     * @return whether the volume can do without it; if not, it takes no writes from now on, and the loss is not kept:
     *         the member has missed no write that was acknowledged
     */
    public boolean fail(Member member, StorageException cause) {
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

    /** Closes the membership: no write is taken from now on. */
    public void close(StorageException why) {
        synchronized (this) {
            end = end == null ? why : end;
        }
        release();
    }

    /** Releases all waiters after the end, since nothing becomes stable any more. */
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

    /** Applies any other change to the slots; runs the work when it is stable. */
    public void change(UnaryOperator<Slots> change, Runnable whenStable) {
        synchronized (this) {
            slots = change.apply(slots);
            changes++;
        }
        keep();
        whenStable(whenStable);
    }

    /** Runs work once every change so far is stable, which is usually at once. */
    public void whenStable(Runnable work) {
        synchronized (this) {
            if (stable < changes && end == null) {
                waiters.add(new Waiter(changes, work));
                return;
            }
        }
        Trampoline.run(work);
    }

    /**
     * Runs work when a member that is REBUILDING may become ACTIVE, or has failed, or the volume takes no more writes.
     */
    public void whenJoined(Member member, Runnable work) {
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
