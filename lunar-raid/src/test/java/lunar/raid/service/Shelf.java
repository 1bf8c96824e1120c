package lunar.raid.service;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.BusyException;
import lunar.block.DeviceGoneException;
import lunar.block.ForwardingDevice;
import lunar.block.LostWritesException;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import lunar.raid.layout.Level;
import lunar.raid.metadata.Creation;
import lunar.raid.metadata.record.VolumeRecord;
import lunar.testkit.PowerCutDevice;

/**
 * Disks with volatile caches that outlive the volumes that open them: they can be pulled and put back, hang, and lose
 * their power. Only one at a time has a disk open, as with files, unless it has several URIs.
 */
final class Shelf implements MemberOpener {
    /** Of a member without a journal on it. */
    private static final long METADATA_BYTES = 1 << 20;

    private final Map<String, Disk> disks = new ConcurrentHashMap<>();
    private final Random random;
    private final AtomicBoolean isPowered = new AtomicBoolean(true);

    Shelf(Random random) { this.random = random; }

    /** A disk of the shelf. */
    static final class Disk {
        private final AtomicBoolean isPowered;
        private volatile PowerCutDevice content;
        private volatile boolean isPulled;
        private volatile boolean isWorn;
        private volatile boolean hangs;
        private volatile boolean isLatched;
        private final AtomicInteger refusedSyncs = new AtomicInteger();
        private final AtomicInteger reportsLeft = new AtomicInteger();
        private final AtomicLong losses = new AtomicLong();
        private final AtomicInteger changesLeft = new AtomicInteger(Integer.MAX_VALUE);
        private final AtomicInteger requestsLeft = new AtomicInteger(Integer.MAX_VALUE);
        private volatile boolean isLastDone;
        private volatile boolean isShared;
        private boolean isShut;
        private boolean isWaitedFor;
        private Handle open;
        private final List<BlockRequest> hanging = new ArrayList<>();

        Disk(PowerCutDevice content, AtomicBoolean isPowered) {
            this.content = content;
            this.isPowered = isPowered;
        }

        void pull() { isPulled = true; }

        void putBack() {
            changesLeft.set(Integer.MAX_VALUE);
            requestsLeft.set(Integer.MAX_VALUE);
            isWorn = false;
            isPulled = false;
        }

        /**
         * Pulled by itself when the metadata have changed, or were flushed, so many times more.
         *
         * @param hasEffect whether the next one, which fails, is done all the same
         */
        void pullAfter(int changes, boolean hasEffect) {
            isLastDone = hasEffect;
            changesLeft.set(changes);
        }

        /** Pulled by itself at a request, of which so many are done before. */
        void pullAtRequest(int before) {
            requestsLeft.set(before);
        }

        private void count(BlockRequest request) throws StorageException {
            if (requestsLeft.getAndDecrement() == 0) {
                isPulled = true;
            }
            boolean counts = request.operation() != Operation.READ
                    && request.lba() * content.blockSize() < METADATA_BYTES;
            if (counts && changesLeft.getAndDecrement() == 0) {
                isPulled = true;
                if (isLastDone) {
                    content.execute(request);
                }
            }
        }

        boolean isPulled() { return isPulled; }

        private boolean isGone() { return isPulled || !isPowered.get(); }

        /** It can be read, and no more. */
        void wear() { isWorn = true; }

        /**
         * It has lost acknowledged writes, and can vouch for none until that is accepted; as a file whose sync failed.
         */
        void latch() {
            losses.incrementAndGet();
            isLatched = true;
        }

        void acceptLoss() { isLatched = false; }

        /** It has lost its cache, and so many flushes and writes with FUA report that. */
        void lose(int reports) {
            reportsLeft.set(reports);
            losses.incrementAndGet();
        }

        /** Flushes and writes with FUA that it has refused. */
        int refusedSyncs() {
            return refusedSyncs.get();
        }

        /** Requests do not end until the disk is closed. */
        void hang() { hangs = true; }

        /** A caller that blocks for a request waits until the disk is open again. */
        synchronized void shut() {
            isShut = true;
        }

        synchronized void open() {
            isShut = false;
            notifyAll();
        }

        synchronized void awaitSomebodyWaiting() throws InterruptedException {
            while (!isWaitedFor) {
                wait();
            }
        }

        private synchronized void pass() {
            try {
                while (isShut) {
                    isWaitedFor = true;
                    notifyAll();
                    wait();
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static final class Handle extends ForwardingDevice {
        private final Disk disk;
        private volatile boolean isClosed;

        Handle(Disk disk) {
            super(disk.content);
            this.disk = disk;
        }

        private void requireThere(BlockRequest request) throws StorageException {
            if (!disk.isGone()) {
                disk.count(request);
            }
            if (isClosed || disk.isGone()) {
                throw new DeviceGoneException(request + ": gone");
            }
            if (disk.isWorn && request.operation() == Operation.WRITE) {
                throw new MediumException(request + ": worn");
            }
            if ((request.fua() || request.operation() == Operation.FLUSH)
                    && (disk.isLatched
                            || disk.reportsLeft.getAndUpdate(n -> Math.max(0, n - 1)) > 0)) {
                disk.refusedSyncs.incrementAndGet();
                throw new LostWritesException(request + ": writes may be lost");
            }
        }

        @Override
        public long writeLosses() { return disk.losses.get(); }

        @Override
        public void execute(BlockRequest request) throws StorageException {
            disk.pass();
            requireThere(request);
            below().execute(request);
        }

        @Override
        public void submit(BlockRequest request) {
            try {
                requireThere(request);
            } catch (StorageException e) {
                RequestCompletion.fail(request, e);
                return;
            }
            synchronized (disk) {
                if (disk.hangs) {
                    disk.hanging.add(request);
                    return;
                }
            }
            below().submit(request);
        }

        @Override
        public void close() {
            List<BlockRequest> ended;
            synchronized (disk) {
                isClosed = true;
                if (this.equals(disk.open)) {
                    disk.open = null;
                }
                ended = List.copyOf(disk.hanging);
                disk.hanging.clear();
            }
            ended.forEach(
                    request -> RequestCompletion.fail(request, new DeviceGoneException("closed")));
        }
    }

    Disk disk(String uri) { return disks.get(uri); }

    void add(String uri, int bytes) {
        disks.put(uri, new Disk(PowerCutDevice.create(bytes, random), isPowered));
    }

    /** Gives a disk, of this shelf or another one, one more URI; any number may have it open then, as a LUN. */
    void alias(String uri, Disk disk) {
        disk.isShared = true;
        disks.put(uri, disk);
    }

    /** All power is cut, and comes back. */
    void cut() {
        disks.values().forEach(disk -> {
            synchronized (disk) {
                PowerCutDevice after = disk.content.afterCut(Long.MAX_VALUE);
                disk.content.close();
                disk.content = after;
                disk.open = null;
                disk.isPulled = false;
                disk.hangs = false;
            }
        });
        isPowered.set(true);
    }

    /**
     * Nothing is heard of any disk any more until {@link #cut}, from one moment on, as if this process were cut off.
     */
    void pullAll() { isPowered.set(false); }

    int openCount() {
        return (int) disks.values().stream().filter(disk -> disk.open != null).count();
    }

    @Override
    public Handle open(String uri) throws StorageException {
        Disk disk = disks.get(uri);
        if (disk == null || disk.isGone()) {
            throw new DeviceGoneException(uri + ": no answer");
        }
        synchronized (disk) {
            if (disk.open != null && !disk.isShared) {
                throw new BusyException(uri + " is in use");
            }
            disk.open = new Handle(disk);
            return disk.open;
        }
    }

    /** A new volume of disks {@code disk:0} and on. */
    VolumeSpec create(Level level, String name, int members, int memberBytes, RunOptions options)
            throws StorageException {
        return create(level, name, members, memberBytes, List.of(), options);
    }

    /** Returns a spec with disks of this shelf as spares. */
    VolumeSpec create(Level level, String name, int members, int memberBytes, List<String> spares,
            RunOptions options) throws StorageException {
        var uris = new ArrayList<String>();
        var created = new ArrayList<Creation.Member>();
        for (int i = 0; i < members; i++) {
            String uri = "disk:" + i;
            add(uri, memberBytes);
            uris.add(uri);
            created.add(new Creation.Member(uri, UUID.randomUUID(), open(uri)));
        }
        var waiting = new ArrayList<Creation.Member>();
        for (String uri : spares) {
            waiting.add(new Creation.Member(uri, UUID.randomUUID(), open(uri)));
        }
        VolumeRecord _ = Creation.create(Creation.Wish.of(UUID.randomUUID(), name, 0, level,
                UUID.randomUUID()), created, waiting, false);
        created.addAll(waiting);
        for (Creation.Member member : created) {
            member.device().close();
        }
        return new VolumeSpec(level, name, uris, spares, Optional.empty(), options);
    }
}
