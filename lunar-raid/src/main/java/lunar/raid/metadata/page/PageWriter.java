package lunar.raid.metadata.page;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.LongSupplier;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a page of metadata on several members: one write at a time, and all requests for a write while one is under way
 * share the next one. The owner's lock guards it; {@link #advance} is called without it, and calls back without it.
 */
public final class PageWriter {
    /** The location and the name of a page. */
    public record Location(String title, long magic, int version, UUID volume, long offsetBytes) {}

    /** The content of the page. Called with the lock. */
    public interface Content {
        /** A write begins, with what is so now. */
        default void begin() {}

        /** Fills in all but the head; the page is all zeroes. */
        void fill(int slot, Page page);

        /** The write that began last is stable, or no member took it. */
        default void end(boolean stable) {}
    }

    /**
     * The state of a page on a device that is to come into a slot.
     *
     * @param generation of its newest page, 0 where it has none
     */
    public record Known(PageWriter writer, BlockDevice device, PagePair pair, long generation) {
        /** Later writes to the slot go to the place of the older page, with a higher generation. */
        public void install(int slot) {
            synchronized (writer.lock) {
                writer.pairs[slot] = pair;
                writer.pairDevices[slot] = device;
                writer.generation = Math.max(writer.generation, generation);
            }
        }
    }

    private enum State {
        IDLE, FLUSHING, FLUSHED, WRITING, WRITTEN
    }

    private final Object lock;
    private final MemberSet members;
    private final LongSupplier slots;
    private final Location place;
    private final boolean flushFirst;
    private final Content content;
    private final Broadcast broadcast;
    private final Broadcast.Preparation preparation = this::prepare;
    private final @Nullable Page[] pages;
    private final @Nullable PagePair[] pairs;
    private final @Nullable BlockDevice[] pairDevices;
    /** The targets of the write under way: a slot may get another device meanwhile. */
    private final @Nullable PagePair[] prepared;

    private State state = State.IDLE;
    private boolean draining;
    private boolean wanted;
    /** The slots of the write under way, as bits. */
    private long targets;
    private final WaiterQueue gathering = new WaiterQueue();
    private final WaiterQueue flying = new WaiterQueue();
    private final WaiterQueue ready = new WaiterQueue();
    private @Nullable StorageException failure;
    private long generation;

    /**
     * @param slots the slots that have the page, as bits; asked with the lock
     * @param flushFirst whether all that was written to the members before must be stable before the page is
     */
    public PageWriter(Object lock, MemberSet members, LongSupplier slots, Location place,
            boolean flushFirst,
            Content content) {
        this.lock = lock;
        this.members = members;
        this.slots = slots;
        this.place = place;
        this.flushFirst = flushFirst;
        this.content = content;
        broadcast = Broadcast.over(members, this::broadcasted);
        pages = new @Nullable Page[members.slots()];
        pairs = new @Nullable PagePair[members.slots()];
        pairDevices = new @Nullable BlockDevice[members.slots()];
        prepared = new @Nullable PagePair[members.slots()];
    }

    /**
     * The newest page of each member that has one; later writes go to the other place, with a higher generation.
     * Blocks; before anything is written.
     */
    public Map<Integer, Page> read() {
        var found = new HashMap<Integer, Page>();
        for (long left = members.active(); left != 0; left &= left - 1) {
            int slot = Long.numberOfTrailingZeros(left);
            BlockDevice device = members.device(slot);
            if (device == null) {
                continue;
            }
            try {
                Page page = pair(slot, device).read(this::isMine);
                if (page != null) {
                    found.put(slot, page);
                    generation = Math.max(generation, page.generation());
                }
            } catch (StorageException _) {
                // As good as a page that is not there. A member that is gone will be told when it is written to.
            }
        }
        return found;
    }

    private boolean isMine(Page page) {
        return page.hasMagic(place.magic()) && page.isWhole() && page.version() == place.version()
                && page.generation() < Page.MAX_GENERATION
                && page.volume().equals(place.volume());
    }

    /** Examines a device before it comes into a slot. Blocks. */
    public Known know(BlockDevice device) {
        var pair = new PagePair(device, place.offsetBytes());
        Page page = null;
        try {
            page = pair.read(this::isMine);
        } catch (StorageException _) {
            // As good as a page that is not there.
        }
        return new Known(this, device, pair, page == null ? 0 : page.generation());
    }

    private PagePair pair(int slot, BlockDevice device) {
        PagePair pair = pairs[slot];
        if (pair == null || !device.equals(pairDevices[slot])) {
            pair = new PagePair(device, place.offsetBytes());
            pairs[slot] = pair;
            pairDevices[slot] = device;
        }
        return pair;
    }

    /** Writes the page to all members that have it, before any other write. Blocks. */
    public void writeNow() throws StorageException {
        synchronized (lock) {
            begin();
            for (long left = targets; left != 0; left &= left - 1) {
                int slot = Long.numberOfTrailingZeros(left);
                pair(slot, Objects.requireNonNull(members.device(slot)))
                        .write(Objects.requireNonNull(pages[slot]));
            }
            content.end(true);
        }
    }

    /** Requests a write of the page as it is now, for which the waiter, if any, waits. The caller holds the lock. */
    public void join(@Nullable Waiter waiter) {
        wanted = true;
        if (waiter != null) {
            gathering.add(waiter);
        }
    }

    /** Waits for the write that is under way. The caller holds the lock. */
    public void joinFlight(Waiter waiter) {
        flying.add(waiter);
    }

    /** Performs the pending steps. Only one thread at a time does so; it takes over the steps of others. */
    public void advance() {
        synchronized (lock) {
            if (draining) {
                return;
            }
            draining = true;
        }
        boolean more = true;
        while (more) {
            more = step();
        }
    }

    private boolean step() {
        Waiter told;
        StorageException why;
        State next;
        long targets;
        synchronized (lock) {
            if (state == State.WRITTEN) {
                end();
            }
            told = ready.poll();
            why = failure;
            next = State.IDLE;
            if (told == null) {
                if (state == State.IDLE && wanted) {
                    begin();
                } else if (state != State.FLUSHED) {
                    draining = false;
                    return false;
                }
                next = flushFirst && state == State.IDLE ? State.FLUSHING : State.WRITING;
                state = next;
            }
            targets = this.targets;
        }
        if (told != null) {
            told.stable(why);
        } else if (next == State.FLUSHING) {
            broadcast.start(targets, Broadcast.FLUSH);
        } else {
            broadcast.start(targets, preparation);
        }
        return true;
    }

    private void begin() {
        wanted = false;
        flying.takeAll(gathering);
        generation++;
        content.begin();
        targets = slots.getAsLong() & members.active();
        for (long left = targets; left != 0; left &= left - 1) {
            int slot = Long.numberOfTrailingZeros(left);
            Page page = pages[slot];
            if (page == null) {
                page = new Page();
                pages[slot] = page;
            }
            content.fill(slot, page.clear());
            page.seal(place.magic(), place.version(), generation, place.volume());
        }
    }

    private void end() {
        long succeeded = broadcast.succeeded();
        for (long left = succeeded; left != 0; left &= left - 1) {
            PagePair pair = prepared[Long.numberOfTrailingZeros(left)];
            if (pair != null) {
                pair.written();
            }
        }
        if (broadcast.hasLostBuffers()) {
            Arrays.fill(pages, null);
        }
        boolean stable = succeeded != 0;
        failure = stable ? null : members.gone(place.title());
        content.end(stable);
        ready.takeAll(flying);
        state = State.IDLE;
    }

    private void prepare(int slot, BlockDevice device, BlockRequest request) {
        synchronized (lock) {
            PagePair pair = pair(slot, device);
            prepared[slot] = pair;
            pair.prepare(Objects.requireNonNull(pages[slot]), request);
        }
    }

    private void broadcasted() {
        synchronized (lock) {
            state = state == State.FLUSHING ? State.FLUSHED : State.WRITTEN;
        }
        advance();
    }
}
