package lunar.raid.metadata.page;

import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.BusyException;
import lunar.block.DeadlineException;
import lunar.block.DeviceGoneException;
import lunar.block.LostWritesException;
import lunar.block.NoSpaceException;
import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/**
 * Sends one request to each of several members, in pieces where a member wants that. It is over when each has succeeded
 * or was dropped; a member where all tries failed, or that does not answer, is reported, and waited for until it is
 * dropped. Reusable: one round after the other.
 *
 * <p>A member that is busy, or has no space, is not broken: its request waits for the next tick, for {@link #MAX_WAITS}
 * of them.
 */
public final class Broadcast {
    /** Prepares the request to a member. */
    @FunctionalInterface
    public interface Preparation {
        void prepare(int slot, BlockDevice device, BlockRequest request);
    }

    /** Every member makes stable what it has taken. */
    public static final Preparation FLUSH = (_, _, request) -> request.asFlush();

    /** Ticks that a request waits for a member that is busy, or has no space. */
    public static final int MAX_WAITS = 60;

    /** Losses that a request survives; a member with more is not to be trusted, such as a file after a failed sync. */
    private static final int MAX_LOSSES = 3;

    /** The request of a slot. */
    private final class Leg implements BlockRequest.Completion {
        private final int slot;
        private final BlockRequest request = new BlockRequest().onCompletion(this);
        private final RequestPieces pieces = new RequestPieces(request, this);
        private boolean inFlight;
        private boolean abandoned;
        private boolean stalled;
        /** The last request failed because the member lost writes, and was not sent again. */
        private boolean lost;
        /** How often that has happened to this request. */
        private int losses;
        private boolean isWaiting;
        private int retriesLeft;
        private boolean hasWaited;
        /** The tick since which it has waited. */
        private int waitingSince;
        private int startTick;
        private BlockDevice device;

        Leg(int slot, BlockDevice device) {
            this.slot = slot;
            this.device = device;
        }

        private void begin(BlockDevice to) {
            device = to;
            inFlight = true;
            stalled = false;
            lost = false;
            losses = 0;
            pieces.begin();
            isWaiting = false;
            hasWaited = false;
            patient();
        }

        private boolean mayWait() {
            waitingSince = hasWaited ? waitingSince : members.now();
            hasWaited = true;
            return members.now() - waitingSince < MAX_WAITS;
        }

        private void patient() {
            retriesLeft = members.retries();
            startTick = members.now();
        }

        private boolean hasStalled(int now, int ticks) {
            return inFlight && !stalled && now - startTick >= ticks;
        }

        @Override
        public void completed(BlockRequest ended, @Nullable StorageException outcome) {
            boolean over = false;
            boolean waits = false;
            BlockRequest next = null;
            StorageException failure = outcome;
            if (failure == null && members.hasLostWrites(slot, device)) {
                failure = new LostWritesException(device + " has lost acknowledged writes");
            }
            synchronized (Broadcast.this) {
                if (abandoned) {
                    return;
                }
                if (failure instanceof LostWritesException && losses++ == MAX_LOSSES) {
                    failure = new DeviceGoneException(
                            device + " vouches for nothing: " + failure.getMessage(), failure);
                }
                if (failure == null && pieces.hasNextAfter(ended)) {
                    next = pieces.next(device);
                    hasWaited = false;
                    patient();
                } else if (failure == null) {
                    waiting &= ~(1L << slot);
                    succeeded |= 1L << slot;
                    over = isOver();
                } else if (failure.retryable() && retriesLeft-- > 0) {
                    next = pieces.next(device);
                } else {
                    waits = passes(failure) && mayWait() && (waiting & 1L << slot) != 0;
                    isWaiting = waits;
                }
                inFlight = next != null;
                lost = !inFlight && failure instanceof LostWritesException;
            }
            if (next != null) {
                device.submit(next);
            } else if (failure != null && !waits) {
                members.report(slot, failure);
            } else if (over) {
                done.run();
            }
        }
    }

    private static boolean passes(StorageException failure) {
        return failure instanceof BusyException || failure instanceof NoSpaceException;
    }

    private final MemberSet members;
    private final Runnable done;
    private final @Nullable Leg[] legs;
    private boolean running;
    private boolean starting;
    /** Slots, as bits. */
    private long waiting;
    private long succeeded;
    private boolean buffersLost;

    private Broadcast(MemberSet members, Runnable done) {
        this.members = members;
        this.done = done;
        legs = new @Nullable Leg[members.slots()];
    }

    /**
     * A broadcast to these members.
     *
     * @param done what to do when a round is over; called without a lock
     */
    public static Broadcast over(MemberSet members, Runnable done) {
        var broadcast = new Broadcast(members, done);
        members.join(broadcast);
        return broadcast;
    }

    /** Begins a round; the one before is over. */
    public void start(long slots, Preparation preparation) {
        long left;
        synchronized (this) {
            if (running) {
                throw new IllegalStateException("a round is under way");
            }
            running = true;
            starting = true;
            succeeded = 0;
            waiting = members.isAbandoned() ? 0 : slots & members.active();
            left = waiting;
        }
        for (; left != 0; left &= left - 1) {
            submit(Long.numberOfTrailingZeros(left), preparation);
        }
        boolean over;
        synchronized (this) {
            starting = false;
            over = isOver();
        }
        if (over) {
            done.run();
        }
    }

    private void submit(int slot, Preparation preparation) {
        Leg leg;
        BlockDevice device = members.device(slot);
        synchronized (this) {
            if (device == null || (waiting & 1L << slot) == 0) {
                waiting &= ~(1L << slot);
                return;
            }
            leg = legs[slot];
            if (leg == null) {
                leg = new Leg(slot, device);
                legs[slot] = leg;
            }
            leg.begin(device);
        }
        preparation.prepare(slot, device, leg.request);
        device.submit(leg.pieces.next(device));
    }

    /** A tick has passed: members that were busy are asked again. */
    void askAgain() {
        for (int slot = 0; slot < legs.length; slot++) {
            BlockDevice device = null;
            BlockRequest next = null;
            synchronized (this) {
                Leg leg = legs[slot];
                if (leg != null && leg.isWaiting && (waiting & 1L << slot) != 0) {
                    leg.isWaiting = false;
                    leg.inFlight = true;
                    leg.patient();
                    device = leg.device;
                    next = leg.pieces.next(device);
                }
            }
            if (device != null && next != null) {
                device.submit(next);
            }
        }
    }

    /** Reports the members that have taken so many ticks or more, once. */
    void reportStalled(int now, int ticks) {
        for (int slot = 0; slot < legs.length; slot++) {
            boolean isLate;
            synchronized (this) {
                Leg leg = legs[slot];
                isLate = leg != null && leg.hasStalled(now, ticks);
                if (leg != null && isLate) {
                    leg.stalled = true;
                }
            }
            if (isLate) {
                members.report(slot, new DeadlineException("slot " + slot
                        + " has not answered a request for metadata for " + ticks + " ticks"));
            }
        }
    }

    /** Whether a request of a slot waits for what the volume decides of a member that lost writes. */
    synchronized boolean isLost(int slot) {
        Leg leg = legs[slot];
        return leg != null && leg.lost && (waiting & 1L << slot) != 0;
    }

    /** Sends again what failed because a member lost writes. */
    void sendLostAgain() {
        for (int slot = 0; slot < legs.length; slot++) {
            Leg leg;
            synchronized (this) {
                leg = legs[slot];
                if (leg == null || !leg.lost || (waiting & 1L << slot) == 0) {
                    continue;
                }
                leg.lost = false;
                leg.inFlight = true;
                leg.startTick = members.now();
            }
            leg.device.submit(leg.pieces.next(leg.device));
        }
    }

    /** Stops waiting for this member. A request that it does not end keeps its buffer. */
    void drop(int slot, BlockDevice device) {
        boolean over;
        synchronized (this) {
            Leg leg = legs[slot];
            if (leg != null && !leg.device.equals(device)
                    && (leg.inFlight || leg.isWaiting || leg.lost)) {
                return; // another one is in the slot already
            }
            if (leg != null && leg.inFlight) {
                leg.abandoned = true;
                legs[slot] = null;
                buffersLost = true;
            }
            waiting &= ~(1L << slot);
            over = isOver();
        }
        if (over) {
            done.run();
        }
    }

    /** Stops waiting for all members; none has succeeded. */
    void abandon() {
        boolean over;
        synchronized (this) {
            for (int slot = 0; slot < legs.length; slot++) {
                Leg leg = legs[slot];
                if (leg != null && leg.inFlight) {
                    leg.abandoned = true;
                    legs[slot] = null;
                    buffersLost = true;
                }
            }
            waiting = 0;
            succeeded = 0;
            over = isOver();
        }
        if (over) {
            done.run();
        }
    }

    /** Whether it has just ended: true once a round. */
    private boolean isOver() {
        if (running && !starting && waiting == 0) {
            running = false;
            return true;
        }
        return false;
    }

    /** The slots where the last round succeeded, as bits. */
    public synchronized long succeeded() {
        return succeeded;
    }

    /** Whether a buffer was left with a member since this was asked last: it must not be touched any more. */
    public synchronized boolean hasLostBuffers() {
        boolean lost = buffersLost;
        buffersLost = false;
        return lost;
    }
}
