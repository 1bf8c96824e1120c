package lunar.raid.service;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Capability;
import lunar.block.DeadlineException;
import lunar.block.Devices;
import lunar.block.Fencing;
import lunar.block.ForwardingDevice;
import lunar.block.ReservationConflictException;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import lunar.raid.layout.Level;
import lunar.raid.metadata.Creation;
import lunar.raid.metadata.record.VolumeRecord;
import lunar.raid.metadata.superblock.OwnerRecordStore;

/** Disks in memory that any number of gateways may have open at once, as LUNs of an array. */
final class SharedDisks {
    private static final String SIZE = "ram:4MiB";

    private final Map<String, BlockDevice> disks = new ConcurrentHashMap<>();
    /** The process that may write to a disk; 0 if all may. */
    private final Map<String, AtomicLong> holders = new ConcurrentHashMap<>();
    private final boolean reserves;

    /** @param reserves whether they know reservations */
    SharedDisks(boolean reserves) {
        this.reserves = reserves;
    }

    VolumeSpec create(Level level, int members, RunOptions options) throws StorageException {
        var uris = new ArrayList<String>();
        var created = new ArrayList<Creation.Member>();
        for (int i = 0; i < members; i++) {
            String uri = "disk:" + i;
            disks.put(uri, Devices.open(SIZE));
            holders.put(uri, new AtomicLong());
            uris.add(uri);
            created.add(new Creation.Member(uri, UUID.randomUUID(), disks.get(uri)));
        }
        VolumeRecord _ = Creation.create(Creation.Wish.of(UUID.randomUUID(), "music", 0, level,
                UUID.randomUUID()), created, List.of(), false);
        return new VolumeSpec(level, "music", uris, List.of(), Optional.empty(), options);
    }

    /** The disk itself. */
    BlockDevice disk(String uri) { return disks.get(uri); }

    AtomicLong holder(String uri) { return holders.get(uri); }

    /** The disks as one gateway sees them. */
    final class Gateway implements MemberOpener {
        private volatile boolean isCut;
        private volatile boolean isPreempted;
        private volatile boolean isSilent;

        /** Nothing that it asks for is answered from now on. */
        void cut() { isCut = true; }

        /** Another host has reserved all disks with a key of its own. */
        void preempt(long other) {
            isPreempted = true;
            holders.values().forEach(holder -> holder.set(other));
        }

        /** Whether requests for owner records time out. */
        void silence(boolean silent) {
            isSilent = silent;
        }

        @Override
        public BlockDevice open(String uri) { return new Handle(uri); }

        private final class Handle extends ForwardingDevice implements Fencing {
            private final AtomicLong holder;
            private volatile long key;

            Handle(String uri) {
                super(disks.get(uri));
                holder = holders.get(uri);
            }

            private void require(BlockRequest request) throws ReservationConflictException {
                boolean changes = request.operation() != BlockRequest.Operation.READ
                        && request.operation() != BlockRequest.Operation.FLUSH;
                if (changes && holder.get() != 0 && (key == 0 || isPreempted)) {
                    throw new ReservationConflictException(request + ": reserved");
                }
            }

            @Override
            public void execute(BlockRequest request) throws StorageException {
                if (isSilent && request.lba() == OwnerRecordStore.AT_BYTES / blockSize()) {
                    throw new DeadlineException(request + ": late");
                }
                require(request);
                below().execute(request);
            }

            @Override
            public void submit(BlockRequest request) {
                if (isCut) {
                    return;
                }
                try {
                    require(request);
                } catch (ReservationConflictException e) {
                    RequestCompletion.fail(request, e);
                    return;
                }
                below().submit(request);
            }

            @Override
            public boolean supports(Capability capability) { return below().supports(capability); }

            @Override
            public Optional<Fencing> fencing() {
                return reserves ? Optional.of(this) : Optional.empty();
            }

            @Override
            public void join(long mine) { key = mine; }

            @Override
            public void rejoin(long mine) { key = holder.get() == mine ? mine : 0; }

            @Override
            public void seize(long mine, Keys others) throws ReservationConflictException {
                long before = holder.get();
                if (before != 0 && before != mine && !others.contains(before)) {
                    throw new ReservationConflictException("reserved by " + before);
                }
                holder.set(mine);
            }

            @Override
            public boolean holds(long mine) throws ReservationConflictException {
                long now = holder.get();
                if (now != 0 && now != mine) {
                    key = 0;
                    throw new ReservationConflictException("reserved by " + now);
                }
                return now == mine;
            }

            @Override
            public void leave(long mine) {
                boolean _ = holder.compareAndSet(mine, 0);
                key = 0;
            }

            @Override
            public void close() {}
        }
    }
}
