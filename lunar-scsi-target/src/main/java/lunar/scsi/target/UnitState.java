package lunar.scsi.target;

import java.io.IOException;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiPredicate;
import java.util.function.BooleanSupplier;
import lunar.block.AbortedException;
import lunar.block.BusyException;
import org.jspecify.annotations.Nullable;

/**
 * A state of a logical unit that is kept in its {@link StateStore}, by which commands act: reservations, port group
 * states, mode pages. Commands read one immutable value. Where servers share the store, all of them have this state:
 * a change is a compare-and-set in the store, and each server takes over what others have changed.
 *
 * <p>While a change is being saved, others may act by it already, and after a failure it may be unknown whether it has
 * been saved. During that time a {@link View} has it beside the current state, and a command must be admitted by
 * both. Thread-safe.
 *
 * @param <R> the state; immutable
 */
public final class UnitState<R> {
    /** Encodes a state for the store. */
    public interface Format<R> {
        /** Encodes a state; empty for none. */
        byte[] encode(R state);

        /**
         * Decodes what was saved, at least one byte.
         *
         * @throws IOException when it is damaged, with a message for the operator
         */
        R decode(byte[] saved) throws IOException;
    }

    /** States by which commands act at one moment. Immutable. */
    public interface View<R> {
        /** The current state. */
        R value();

        /** A state that other servers may act by already, and which may yet not come about; mostly null. */
        @Nullable
        R proposed();
    }

    /**
     * Decides on a change; tried again on a later state where another one was faster.
     *
     * @param <E> thrown where the change is refused
     */
    @FunctionalInterface
    public interface Step<R, E extends Exception> {
        /**
         * @return null where nothing is to be changed; where the state is shared, a command that has its effect already
         *         returns an equal state, because other servers may not act by it yet
         */
        @Nullable
        R after(R before) throws E;
    }

    /** Told of changes by other servers. */
    @FunctionalInterface
    public interface Follower<R> {
        /**
         * Acts on a change, which commands act by already. Does not wait for changes by this server.
         *
         * @return ends when all effects of the change have taken place here
         */
        CompletableFuture<Void> follow(R before, R after);
    }

    /**
     * A change that was made.
     *
     * @param overtaken whether a server has changed the state since, which was taken over as one change with this one:
     *        what the follower was told may be less than the sum
     */
    public record Change<R>(R before, R after, boolean overtaken) {}

    /** State that is being saved, or may have been; compared by identity. */
    private static final class Proposal<R> {
        final R state;

        Proposal(R state) { this.state = state; }
    }

    /** The state as the store has it; told from others by its identity. */
    private static final class Current<R> implements View<R> {
        final long version;
        final R value;
        final @Nullable Proposal<R> proposal;

        Current(long version, R value, @Nullable Proposal<R> proposal) {
            this.version = version;
            this.value = value;
            this.proposal = proposal;
        }

        @Override
        public R value() { return value; }

        @Override
        public @Nullable R proposed() { return proposal == null ? null : proposal.state; }

        Current<R> proposing(@Nullable Proposal<R> next) {
            return new Current<>(version, value, next);
        }
    }

    private static final System.Logger LOG = System.getLogger("lunar.target");

    /** How often a change is tried that others forestall. */
    private static final int MAX_TRIES = 64;
    private static final long ABORT_CHECK_MS = 50;
    private static final long MIN_PAUSE_MS = 50;
    private static final long MAX_PAUSE_MS = 5_000;

    private final StateStore store;
    private final String name;
    private final R initial;
    private final Format<R> format;
    /** Held while a change is saved. */
    private final ReentrantLock changing = new ReentrantLock();
    private final Object installing = new Object();
    /** Replaced with the lock of {@link #installing}; the version only grows. */
    private volatile Current<R> current;
    private volatile StateStore.@Nullable Subscription subscription;
    private volatile @Nullable Follower<R> follower;
    private volatile boolean ended;
    /** Ends when what other servers have changed has had its effect; guarded by {@link #installing}. */
    private CompletableFuture<Void> followed = CompletableFuture.completedFuture(null);

    /**
     * Reads what was saved.
     *
     * @param name of the state in the store
     * @param initial the state where none was saved
     * @throws IOException when it cannot be read, or is damaged
     */
    public UnitState(StateStore store, String name, R initial, Format<R> format)
            throws IOException {
        this.store = store;
        this.name = name;
        this.initial = initial;
        this.format = format;
        current = read();
    }

    private Current<R> read() throws IOException {
        StateStore.Saved saved = store.read(name);
        return new Current<>(saved.version(), saved.state().length() == 0
                ? initial
                : format.decode(saved.state().toArray()), null);
    }

    /** The state by which commands act. */
    public R value() { return current.value; }

    /** The state with the proposed one. Read apart, they may miss a change that turns from one into the other. */
    public View<R> view() {
        return current;
    }

    /** Whether other servers change the state, too: a change then blocks. */
    public boolean isShared() {
        return store.isShared();
    }

    // --- changes of this server ---

    /**
     * Changes the state. Blocks while this change or another one is saved, and until other servers that share it
     * follow.
     *
     * @param kept whether a change is saved where the state is not shared: its state before and after
     * @return the change; null where the step wants none
     * @throws IOException when it cannot be saved; commands act by the state that the store has, as soon as that is
     *         known
     */
    public <E extends Exception> @Nullable Change<R> change(Step<R, E> step,
            BiPredicate<R, R> kept) throws IOException, E {
        return change(step, kept, () -> false);
    }

    /**
     * Like {@link #change(Step, BiPredicate)}, for a command that may be aborted: it must not wait then for another
     * one, which may itself wait for servers that wait for the end of the aborted command.
     *
     * @param aborted whether the command is aborted
     * @throws AbortedException if it was before its change was begun to be saved
     */
    public <E extends Exception> @Nullable Change<R> change(Step<R, E> step,
            BiPredicate<R, R> kept, BooleanSupplier aborted) throws IOException, E {
        awaitTurn(aborted);
        try {
            requireGoingOn(aborted);
            return store.isShared() ? saveShared(step) : saveUnshared(step, kept);
        } finally {
            changing.unlock();
        }
    }

    private void awaitTurn(BooleanSupplier aborted) throws AbortedException {
        try {
            while (!changing.tryLock(ABORT_CHECK_MS, TimeUnit.MILLISECONDS)) {
                requireGoingOn(aborted);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AbortedException("interrupted", e);
        }
    }

    private static void requireGoingOn(BooleanSupplier aborted) throws AbortedException {
        if (aborted.getAsBoolean()) {
            throw new AbortedException("the command was aborted");
        }
    }

    /**
     * Changes the state of a unit that is not shared, and saves nothing. Does not wait for a change that is being
     * saved, which is decided anew after this one, and must then neither be refused nor void: it may be in the store
     * already.
     */
    public <E extends Exception> @Nullable Change<R> changeUnsaved(Step<R, E> step) throws E {
        if (store.isShared()) {
            throw new IllegalStateException("the state '" + name + "' is shared");
        }
        while (true) {
            Current<R> before = current;
            R after = step.after(before.value);
            if (after == null) {
                return null;
            }
            if (install(before, after)) {
                return new Change<>(before.value, after, false);
            }
        }
    }

    private <E extends Exception> @Nullable Change<R> saveUnshared(Step<R, E> step,
            BiPredicate<R, R> kept) throws IOException, E {
        for (int tries = 1; tries < MAX_TRIES; tries++) {
            Current<R> before = current;
            R after = step.after(before.value);
            if (after == null) {
                return null;
            }
            if (saveUnshared(before, after, kept)) {
                return new Change<>(before.value, after, false);
            }
        }
        synchronized (installing) { // the others have to wait this time
            R before = current.value;
            R after = step.after(before);
            return after != null && saveUnshared(current, after, kept)
                    ? new Change<>(before, after, false)
                    : null;
        }
    }

    private boolean saveUnshared(Current<R> before, R after, BiPredicate<R, R> kept)
            throws IOException {
        if (kept.test(before.value, after)) {
            store.replace(name, before.version, format.encode(after));
        }
        return install(before, after);
    }

    private <E extends Exception> @Nullable Change<R> saveShared(Step<R, E> step)
            throws IOException, E {
        for (int tries = 0; tries < MAX_TRIES; tries++) {
            Current<R> before = settled();
            R after = step.after(before.value);
            if (after == null) {
                return null;
            }
            var proposal = new Proposal<>(after);
            OptionalLong version = propose(before, proposal)
                    ? replace(before, proposal)
                    : OptionalLong.empty();
            if (version.isPresent()) {
                return new Change<>(before.value, after,
                        !installSaved(after, version.getAsLong()));
            }
        }
        throw new BusyException(
                "the state '" + name + "' is changed by other servers all the time");
    }

    /** Returns the current state, after it is known what has become of a change whose saving failed. */
    private Current<R> settled() throws IOException {
        Proposal<R> left = current.proposal;
        if (left != null) {
            settle(left);
        }
        return current;
    }

    private void settle(Proposal<R> left) throws IOException {
        takeOver();
        withdraw(left);
    }

    /** Saves a proposal; empty where another server has changed the state, after that change was taken over. */
    private OptionalLong replace(Current<R> before, Proposal<R> proposal) throws IOException {
        try {
            OptionalLong version = store.replace(name, before.version,
                    format.encode(proposal.state));
            if (version.isEmpty()) {
                settle(proposal);
            }
            return version;
        } catch (IOException | RuntimeException | Error e) {
            try {
                settle(proposal);
            } catch (IOException | RuntimeException unreadable) {
                e.addSuppressed(unreadable);
                LOG.log(System.Logger.Level.WARNING,
                        "it is not known whether the state ''{0}'' of a unit was saved: {1};"
                                + " commands that depend on it wait until the store can be read",
                        name, e.getMessage());
                settleLater(proposal);
            }
            throw e;
        }
    }

    /** Reads the store until it tells what has become of a change. */
    private void settleLater(Proposal<R> left) {
        Thread.ofVirtual().name("lunar-state").start(() -> {
            for (long pauseMs = MIN_PAUSE_MS; isProposed(left) && !ended; pauseMs = Math
                    .min(MAX_PAUSE_MS, 2 * pauseMs)) {
                try {
                    Thread.sleep(pauseMs);
                    settle(left);
                } catch (IOException | RuntimeException e) {
                    LOG.log(System.Logger.Level.DEBUG, "reading the state '" + name + "'", e);
                } catch (InterruptedException _) {
                    return;
                }
            }
        });
    }

    /** Waits until it is known whether each change of this server was made, or the unit is not served any more. */
    public void awaitKnown() throws InterruptedException {
        synchronized (installing) {
            while (current.proposal != null && !ended) {
                installing.wait();
            }
        }
    }

    // --- the current state ---

    private boolean isProposed(Proposal<R> what) { return current.proposal == what; }

    private boolean propose(Current<R> before, Proposal<R> after) {
        synchronized (installing) {
            if (current != before) {
                return false;
            }
            current = before.proposing(after);
            return true;
        }
    }

    private void withdraw(Proposal<R> what) {
        synchronized (installing) {
            if (isProposed(what)) {
                current = current.proposing(null);
                installing.notifyAll();
            }
        }
    }

    private boolean install(Current<R> before, R after) {
        synchronized (installing) {
            if (current != before) {
                return false;
            }
            current = new Current<>(before.version, after, null);
            return true;
        }
    }

    /** Makes the proposal that was saved the current state; false where the store was read meanwhile. */
    private boolean installSaved(R after, long version) {
        synchronized (installing) {
            boolean isLatest = current.version < version;
            current = isLatest ? new Current<>(version, after, null) : current.proposing(null);
            installing.notifyAll();
            return isLatest;
        }
    }

    // --- changes of other servers ---

    /**
     * Begins to follow the changes of other servers, where the state is shared.
     *
     * @throws IOException when the state cannot be read
     */
    public void begin(Follower<R> by) throws IOException {
        if (!store.isShared()) {
            return;
        }
        follower = by;
        subscription = store.subscribe(changed -> changed.equals(name)
                ? follow()
                : CompletableFuture.completedFuture(null));
        try {
            takeOver(); // what has changed since it was read
        } catch (IOException | RuntimeException e) {
            end();
            throw e;
        }
    }

    /** Follows no more changes of other servers: the unit is not served any more. */
    public void end() {
        synchronized (installing) {
            ended = true;
            installing.notifyAll();
        }
        StateStore.Subscription mine = subscription;
        if (mine != null) {
            mine.close();
        }
    }

    private CompletableFuture<Void> follow() {
        try {
            takeOver();
        } catch (IOException e) {
            return CompletableFuture.failedFuture(e);
        }
        synchronized (installing) {
            return followed;
        }
    }

    /** Takes over what the store has; {@link #followed} ends when that has had its effect here. */
    private void takeOver() throws IOException {
        R before;
        R after;
        var effect = new CompletableFuture<Void>();
        synchronized (installing) {
            Current<R> saved = read();
            if (saved.version <= current.version) {
                return;
            }
            before = current.value;
            after = saved.value;
            current = saved.proposing(current.proposal);
            followed = CompletableFuture.allOf(followed, effect);
        }
        Follower<R> here = follower;
        if (here == null) { // no nexus has the unit yet
            effect.complete(null);
            return;
        }
        try {
            var _ = here.follow(before, after).whenComplete((_, failure) -> {
                if (failure == null) {
                    effect.complete(null);
                } else {
                    effect.completeExceptionally(failure);
                }
            });
        } catch (RuntimeException | Error e) {
            effect.completeExceptionally(e);
            throw e;
        }
    }
}
