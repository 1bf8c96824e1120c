package lunar.raid.meta;

import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.DeadlineException;
import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/**
 * One request to each of several members, in pieces where a member wants that. It is over when each has succeeded or
 * was dropped; a member where it failed, as often as it is tried, or that does not answer, is reported, and waited for
 * until it is dropped. Reusable: one round after the other.
 */
final class Broadcast {
    /** Says what a member shall do. */
    @FunctionalInterface
    interface Preparation {
        void prepare(int slot, BlockDevice device, BlockRequest request);
    }

    /** Every member makes stable what it has taken. */
    static final Preparation FLUSH = (_, _, request) -> request.asFlush();

    /** The request of a slot. */
    private final class Leg implements BlockRequest.Completion {
        private final int slot;
        private final BlockRequest request = new BlockRequest().onCompletion(this);
        private final Pieces pieces = new Pieces(request, this);
        private boolean inFlight;
        private boolean abandoned;
        private boolean stalled;
        private int retriesLeft;
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
            pieces.begin();
            retriesLeft = members.retries();
            startTick = members.now();
        }

        private boolean hasStalled(int now, int ticks) {
            return inFlight && !stalled && now - startTick >= ticks;
        }

        @Override
        public void completed(BlockRequest ended, @Nullable StorageException failure) {
            boolean over = false;
            BlockRequest next = null;
            synchronized (Broadcast.this) {
                if (abandoned) {
                    return;
                }
                if (failure == null && pieces.hasNextAfter(ended)) {
                    next = pieces.next(device);
                    retriesLeft = members.retries();
                    startTick = members.now();
                } else if (failure == null) {
                    waiting &= ~(1L << slot);
                    succeeded |= 1L << slot;
                    over = isOver();
                } else if (failure.retryable() && retriesLeft-- > 0) {
                    next = pieces.next(device);
                }
                inFlight = next != null;
            }
            if (next != null) {
                device.submit(next);
            } else if (failure != null) {
                members.report(slot, failure);
            } else if (over) {
                done.run();
            }
        }
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
    static Broadcast over(MemberSet members, Runnable done) {
        var broadcast = new Broadcast(members, done);
        members.join(broadcast);
        return broadcast;
    }

    /** Begins a round; the one before is over. */
    void start(long slots, Preparation preparation) {
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

    /** Nobody waits for this member any more. A request that it does not end keeps its buffer. */
    void drop(int slot, BlockDevice device) {
        boolean over;
        synchronized (this) {
            Leg leg = legs[slot];
            if (leg != null && !leg.device.equals(device)) { // another one is in the slot already
                return;
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

    /** Nobody waits for any member any more, and none has succeeded. */
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
    synchronized long succeeded() {
        return succeeded;
    }

    /** Whether a buffer was left with a member since this was asked last: it must not be touched any more. */
    synchronized boolean hasLostBuffers() {
        boolean lost = buffersLost;
        buffersLost = false;
        return lost;
    }
}
