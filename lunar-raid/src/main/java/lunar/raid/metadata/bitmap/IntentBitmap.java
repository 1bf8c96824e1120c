package lunar.raid.metadata.bitmap;

import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.Map;
import lunar.block.StorageException;
import lunar.raid.StripeSet;
import lunar.raid.layout.Layout;
import lunar.raid.metadata.journal.JournalReplay;
import lunar.raid.metadata.page.Broadcast;
import lunar.raid.metadata.page.MemberSet;
import lunar.raid.metadata.page.Page;
import lunar.raid.metadata.page.PageWriter;
import lunar.raid.metadata.page.Waiter;
import lunar.raid.metadata.record.VolumeDescription;
import lunar.raid.metadata.record.VolumeRecord;
import org.jspecify.annotations.Nullable;

/**
 * Records which regions of a volume may differ between its members: one bit for a number of stripes. A region's bit is
 * stable on every member before anything in it is written, and is cleared some time after nothing is written there any
 * more. A region without a bit is the same on all members; so after a crash only regions with a bit are compared, and
 * to a member that was away for a time only these are copied.
 *
 * <p>Bits are cleared by {@link #tick}, for regions that have not been touched since the tick before, after a flush of
 * all members: a write that is only in a member's cache still needs its bit. While a slot is without a member that is
 * in sync no bit is cleared.
 *
 * <p>All intents that wait for bits at the same time share one write of a page to each member. Nothing is allocated.
 */
public final class IntentBitmap {
    /** Most regions of a volume: the bits of a page. */
    public static final int MAX_REGIONS = (Page.BYTES - Offsets.BITS) * Byte.SIZE;

    private static final long MAGIC = Page.magic("LUNARBIT");
    private static final int FORMAT_VERSION = 1;
    private static final int TARGET_REGIONS = 8192;

    /** Offsets on the page. */
    private static final class Offsets {
        static final int REGIONS = 40;
        static final int REGION_STRIPES = 48;
        static final int BITS = 64;
    }

    /** Called when an intent is stable. Must neither block nor throw. */
    @FunctionalInterface
    public interface Ready {
        /** @param failure null where the writes may begin; else no member is left that would take the bits */
        void ready(Intent intent, @Nullable StorageException failure);
    }

    /** An intent to write stripes. Reusable once it has ended. */
    public static final class Intent extends Waiter {
        private final Ready ready;
        private long firstStripe;
        private long stripeCount;

        /** @param ready told where {@link #begin} could not say at once that all is stable */
        public Intent(Ready ready) {
            this.ready = ready;
        }

        /** Sets the stripes. */
        public Intent over(long firstStripe, long stripeCount) {
            this.firstStripe = firstStripe;
            this.stripeCount = stripeCount;
            return this;
        }

        @Override
        public void stable(@Nullable StorageException failure) { ready.ready(this, failure); }
    }

    private final MemberSet members;
    private final PageWriter writer;
    private final Broadcast flush;
    private final long regionStripes;
    private final long stripes;
    private final int regions;

    /** Intents that are under way, by region. */
    private final int[] users;
    /** The bits that the page shall have. */
    private final long[] wanted;
    /** The bits of the stable page. */
    private final long[] stable;
    /** The bits of the page that is being written. */
    private final long[] flying;
    private boolean isFlying;
    /** Regions that a crash or the absence of a member has left to compare or copy. */
    private final long[] unsynced;
    /** Regions that were used since the last tick. */
    private final long[] touched;
    private final long[] clearing;
    private boolean isClearing;
    private boolean held;

    private IntentBitmap(MemberSet members, VolumeRecord volume) {
        this.members = members;
        VolumeDescription what = volume.description();
        regionStripes = what.regionStripes();
        stripes = Layout.of(volume.shape()).stripes();
        regions = regions(stripes, regionStripes);
        users = new int[regions];
        wanted = BitArray.of(regions);
        stable = BitArray.of(regions);
        flying = BitArray.of(regions);
        unsynced = BitArray.of(regions);
        touched = BitArray.of(regions);
        clearing = BitArray.of(regions);
        flush = Broadcast.over(members, this::flushed);
        writer = new PageWriter(this, members, members::active,
                new PageWriter.Location("intent bitmap", MAGIC, FORMAT_VERSION, what.uuid(),
                        what.layout().bitmapBytes()),
                false, new Bits());
    }

    /**
     * Opens the bitmap of a volume, as its members have it. Of all copies the newest counts; where none can be read,
     * all regions have a bit. Blocks.
     *
     * @param members the members that keep the bitmap
     * @param inSync slots of the members that are in sync, as bits: only their copies count
     * @param unclean whether regions with a bit are to be compared, because of a crash
     */
    public static IntentBitmap open(MemberSet members, VolumeRecord volume, long inSync,
            boolean unclean) {
        var bitmap = new IntentBitmap(members, volume);
        synchronized (bitmap) {
            Map<Integer, Page> pages = bitmap.writer.read();
            Page newest = null;
            for (var entry : pages.entrySet()) {
                if ((inSync & 1L << entry.getKey()) != 0 && bitmap.isMine(entry.getValue())
                        && (newest == null
                                || entry.getValue().generation() > newest.generation())) {
                    newest = entry.getValue();
                }
            }
            bitmap.load(newest, unclean);
        }
        return bitmap;
    }

    private boolean isMine(Page page) {
        ByteBuffer bytes = page.bytes();
        return bytes.getInt(Offsets.REGIONS) == regions
                && bytes.getLong(Offsets.REGION_STRIPES) == regionStripes;
    }

    private void load(@Nullable Page page, boolean unclean) {
        for (int region = 0; region < regions; region++) {
            if (page == null || (page.bytes().get(Offsets.BITS + region / Byte.SIZE)
                    & 1 << region % Byte.SIZE) != 0) {
                BitArray.add(wanted, region);
                if (unclean) {
                    BitArray.add(unsynced, region);
                }
            }
        }
        // Members may have an older page than the newest: only what is written from now on is known to be on all.
    }

    /** A page without a bit, as a new volume has it. */
    public static void fillBlank(VolumeRecord volume, long generation, Page page) {
        VolumeDescription what = volume.description();
        page.clear();
        page.bytes().putInt(Offsets.REGIONS,
                regions(Layout.of(volume.shape()).stripes(), what.regionStripes()));
        page.bytes().putLong(Offsets.REGION_STRIPES, what.regionStripes());
        page.seal(MAGIC, FORMAT_VERSION, generation, what.uuid());
    }

    /** Returns the default number of stripes for a bit, such that the volume has about 8192 regions. */
    public static long regionStripes(long stripes) {
        return Math.max(1, Long.highestOneBit(Math.ceilDiv(stripes, TARGET_REGIONS) * 2 - 1));
    }

    /**
     * Returns the number of stripes for a bit as before, or doubled until there is room for the bits of more stripes.
     */
    public static long regionStripes(long stripes, long before) {
        long regionStripes = before;
        while (Math.ceilDiv(stripes, regionStripes) > MAX_REGIONS) {
            regionStripes *= 2;
        }
        return regionStripes;
    }

    /**
     * Bits for so many stripes.
     *
     * @throws IllegalArgumentException where that is more than {@link #MAX_REGIONS}
     */
    static int regions(long stripes, long regionStripes) {
        long regions = Math.ceilDiv(stripes, regionStripes);
        if (regions > MAX_REGIONS) {
            throw new IllegalArgumentException("regions of " + regionStripes
                    + " stripes are too small for " + stripes + ": the bitmap has room for "
                    + MAX_REGIONS);
        }
        return (int) regions;
    }

    /** Returns the regions for a journal's replay, which queries and marks them before anything else is written. */
    public JournalReplay.Regions forReplay() {
        return new JournalReplay.Regions() {
            @Override
            public boolean mayBeWritten(long stripe) {
                return stripe < 0 || stripe >= stripes || isMarked(stripe);
            }

            @Override
            public void mark(Collection<Long> changed) throws StorageException {
                synchronized (IntentBitmap.this) {
                    for (long stripe : changed) {
                        if (stripe >= 0 && stripe < stripes) {
                            BitArray.add(wanted, (int) (stripe / regionStripes));
                        }
                    }
                    writer.writeNow();
                }
            }
        };
    }

    /** The page. */
    private final class Bits implements PageWriter.Content {
        @Override
        public void begin() {
            System.arraycopy(wanted, 0, flying, 0, wanted.length);
            isFlying = true;
        }

        @Override
        public void fill(int slot, Page page) {
            ByteBuffer bytes = page.bytes();
            bytes.putInt(Offsets.REGIONS, regions).putLong(Offsets.REGION_STRIPES, regionStripes);
            for (int region = BitArray.next(flying, 0); region >= 0; region = BitArray.next(flying,
                    region + 1)) {
                int at = Offsets.BITS + region / Byte.SIZE;
                bytes.put(at, (byte) (bytes.get(at) | 1 << region % Byte.SIZE));
            }
        }

        @Override
        public void end(boolean isStable) {
            if (isStable) {
                System.arraycopy(flying, 0, stable, 0, flying.length);
            }
            isFlying = false;
        }
    }

    /**
     * Begins an intent to write stripes.
     *
     * @return whether the writes may begin at once; if not, the intent is told, which may be before this returns
     */
    public boolean begin(Intent intent) {
        synchronized (this) {
            boolean gather = false;
            boolean flight = false;
            int last = last(intent);
            for (int region = first(intent); region <= last; region++) {
                users[region]++;
                BitArray.add(touched, region);
                BitArray.add(wanted, region);
                boolean onPage = BitArray.has(stable, region);
                if (isFlying) {
                    // The page under way may be on the medium already, or not yet.
                    boolean onNext = BitArray.has(flying, region);
                    gather |= !onNext;
                    flight |= !onPage;
                } else {
                    gather |= !onPage;
                }
            }
            if (gather) {
                writer.join(intent);
            } else if (flight) {
                writer.joinFlight(intent);
            } else {
                return true;
            }
        }
        writer.advance();
        return false;
    }

    /** Ends an intent: the writes to its stripes are over, whether they succeeded or not. */
    public synchronized void end(Intent intent) {
        int last = last(intent);
        for (int region = first(intent); region <= last; region++) {
            users[region]--;
            BitArray.add(touched, region);
        }
    }

    private int first(Intent intent) {
        if (intent.firstStripe < 0 || intent.stripeCount <= 0
                || intent.stripeCount > stripes - intent.firstStripe) {
            throw new IllegalArgumentException("stripes " + intent.firstStripe + " and on, "
                    + intent.stripeCount + " of " + stripes);
        }
        return (int) (intent.firstStripe / regionStripes);
    }

    private int last(Intent intent) {
        return (int) ((intent.firstStripe + intent.stripeCount - 1) / regionStripes);
    }

    /** Stripes were written otherwise: to a member that is away, and comes back, they must be copied. */
    public synchronized void written(long firstStripe, long stripeCount) {
        for (long stripe = firstStripe; stripe < firstStripe + stripeCount; stripe++) {
            BitArray.add(wanted, (int) (stripe / regionStripes));
            BitArray.add(touched, (int) (stripe / regionStripes));
        }
    }

    /** Time has passed, some seconds since the last tick: what is not in use any more may lose its bit. */
    public void tick() {
        boolean missing = false;
        boolean any = false;
        synchronized (this) {
            for (int i = 0; i < wanted.length; i++) { // such as an earlier run has left
                missing |= !isFlying && (wanted[i] & ~stable[i]) != 0;
            }
            if (missing) {
                writer.join(null);
            }
            if (!isClearing && mayClear()) {
                for (int i = 0; i < wanted.length; i++) {
                    clearing[i] = wanted[i] & stable[i] & ~unsynced[i] & ~touched[i];
                }
                for (int region = BitArray.next(clearing, 0); region >= 0; region = BitArray
                        .next(clearing, region + 1)) {
                    if (users[region] > 0) {
                        BitArray.remove(clearing, region);
                    } else {
                        any = true;
                    }
                }
            }
            for (int i = 0; i < touched.length; i++) {
                clearing[i] &= ~touched[i]; // of a flush that takes longer than from tick to tick
                touched[i] = 0;
            }
            isClearing |= any;
        }
        if (missing) {
            writer.advance();
        }
        if (any) {
            flush.start(members.active(), Broadcast.FLUSH);
        }
    }

    private boolean mayClear() { return !held && members.isWhole(); }

    private void flushed() {
        synchronized (this) {
            isClearing = false;
            boolean all = flush.succeeded() == Layout.all(members.slots());
            boolean any = false;
            if (all && mayClear()) {
                for (int region = BitArray.next(clearing, 0); region >= 0; region = BitArray
                        .next(clearing, region + 1)) {
                    if (users[region] == 0 && !BitArray.has(touched, region)
                            && !BitArray.has(unsynced, region)) {
                        BitArray.remove(wanted, region);
                        any = true;
                    }
                }
            }
            if (!any) {
                return;
            }
            writer.join(null);
        }
        writer.advance();
    }

    /** Whether bits stay although all members are there, since one of them does not have all data yet. */
    public synchronized void hold(boolean hold) {
        held = hold;
    }

    /** Writes the page to all members as they are now, also where no bit has changed. */
    public void write(Runnable stable) {
        synchronized (this) {
            writer.join(new Waiter() {
                @Override
                public void stable(@Nullable StorageException failure) { stable.run(); }
            });
        }
        writer.advance();
    }

    public PageWriter writer() { return writer; }

    /** Stripes of a region. */
    public long regionStripes() { return regionStripes; }

    /** Whether a stripe's region has a bit. */
    public synchronized boolean isMarked(long stripe) {
        return BitArray.has(wanted, (int) (stripe / regionStripes));
    }

    /** Regions with a bit. */
    public synchronized int marked() { return BitArray.count(wanted); }

    /** Regions, with a bit or without. */
    public int regions() { return regions; }

    /** Returns the first stripe from {@code from} on in a region with a bit; -1 where there is none. */
    public synchronized long nextMarked(long from) {
        return next(wanted, from);
    }

    /** Returns the first stripe from {@code from} on in a region that is to be compared; -1 where there is none. */
    public synchronized long nextUnsynced(long from) {
        return next(unsynced, from);
    }

    private long next(long[] set, long from) {
        if (from >= stripes) {
            return -1;
        }
        int region = BitArray.next(set, (int) (from / regionStripes));
        return region < 0 ? -1 : Math.max(from, region * regionStripes);
    }

    /** The stripes of all regions that are to be compared, as they are now. */
    public synchronized StripeSet unsynced() {
        return stripesOf(unsynced.clone());
    }

    /** The stripes of all regions with a bit, as they are now. */
    public synchronized StripeSet markedStripes() {
        return stripesOf(wanted.clone());
    }

    private StripeSet stripesOf(long[] then) {
        return from -> {
            long next = next(then, from);
            return next < 0 ? StripeSet.NONE : next;
        };
    }

    /** All regions with a bit are to be compared; their stripes. */
    public synchronized StripeSet suspect() {
        for (int i = 0; i < wanted.length; i++) {
            unsynced[i] |= wanted[i];
        }
        return stripesOf(unsynced.clone());
    }

    /** All regions have been compared. */
    public synchronized void allSynced() {
        for (int i = 0; i < unsynced.length; i++) {
            touched[i] |= unsynced[i];
            unsynced[i] = 0;
        }
    }

    /** The region of this stripe has been compared from its first stripe to its last; its bit may go when unused. */
    public synchronized void synced(long stripe) {
        int region = (int) (stripe / regionStripes);
        BitArray.remove(unsynced, region);
        BitArray.add(touched, region);
    }
}
