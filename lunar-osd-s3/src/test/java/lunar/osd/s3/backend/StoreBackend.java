package lunar.osd.s3.backend;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import lunar.osd.store.Growth;
import lunar.osd.store.NoSuchObjectException;
import lunar.osd.store.ObjectStore;
import lunar.osd.store.ObjectStores;
import lunar.osd.store.Timestamp;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.page.PartitionAttribute;
import lunar.scsi.Bytes;

/** A backend on an object store in memory, which can fail at any change. */
public final class StoreBackend implements ObjectBackend {
    /** Failure of the device from a change on. */
    public enum Failure {
        /** The change is not made. */
        BEFORE,
        /** The change is made, and reported as failed. */
        AFTER
    }

    private static final int CHUNK = 4096;

    private final ObjectStore store;
    private final AtomicInteger changesLeft = new AtomicInteger(Integer.MAX_VALUE);
    private volatile Failure failure = Failure.BEFORE;
    private final AtomicLong losses = new AtomicLong();
    private volatile Hook beforeFlush = _ -> {};
    private volatile Hook beforeRemoval = _ -> {};

    public StoreBackend() { this(ObjectStores.inMemory()); }

    public StoreBackend(ObjectStore store) { this.store = store; }

    /** A device of the same store: a restart. */
    public StoreBackend restarted() {
        return new StoreBackend(store);
    }

    /** Makes all changes fail after some; the first of them in this way, and then nothing is changed. */
    public void failAfter(int changes, Failure how) {
        failure = how;
        changesLeft.set(changes);
    }

    /** What happens before an object is flushed or removed. */
    @FunctionalInterface
    public interface Hook {
        void run(ObjectId object) throws IOException;
    }

    /** Sets what happens before each flush. */
    public void beforeFlush(Hook hook) {
        beforeFlush = hook;
    }

    /** Sets what happens before each removal. */
    public void beforeRemoval(Hook hook) {
        beforeRemoval = hook;
    }

    /** Makes the device report that it may have lost changes; it has them still. */
    public void reportLoss() {
        losses.incrementAndGet();
    }

    @Override
    public long losses() { return losses.get(); }

    /** Whether changes have failed. */
    public boolean hasFailed() { return changesLeft.get() < 0; }

    /** The number of user objects in a range of identifiers, of all partitions. */
    public long count(long from, long to) throws IOException {
        long count = 0;
        for (Listed partition : partitions(List.of())) {
            count += list(partition.id(), 0x1_0000, Integer.MAX_VALUE, List.of()).stream()
                    .filter(each -> each.id() >= from && each.id() < to).count();
        }
        return count;
    }

    @FunctionalInterface
    private interface Change {
        void run() throws IOException;
    }

    private void change(Change change) throws IOException {
        int left = changesLeft.getAndDecrement();
        if (left > 0) {
            run(change);
            return;
        }
        if (left == 0 && failure == Failure.AFTER) {
            run(change);
        }
        throw new IOException("the device has failed");
    }

    private static void run(Change change) throws IOException {
        try {
            change.run();
        } catch (NoSuchObjectException e) {
            throw new IOException(e);
        }
    }

    @Override
    public List<Listed> partitions(List<AttributeId> attributes) throws IOException {
        return store.query(objects -> {
            var all = new ArrayList<Listed>();
            for (long id : objects.partitions(0, Integer.MAX_VALUE)) {
                var values = new ArrayList<Attribute>();
                for (AttributeId each : attributes) {
                    Bytes value = objects.attribute(ObjectId.ofPartition(id), each);
                    if (each.equals(PartitionAttribute.CREATED.id())) {
                        long time = objects.find(ObjectId.ofPartition(id)).orElseThrow()
                                .time(Timestamp.CREATED);
                        value = Bytes.of((byte) (time >> 40), (byte) (time >> 32),
                                (byte) (time >> 24), (byte) (time >> 16), (byte) (time >> 8),
                                (byte) time);
                    }
                    values.add(new Attribute(each, value));
                }
                all.add(new Listed(id, values));
            }
            return all;
        });
    }

    @Override
    public long createPartition(List<Attribute> attributes) throws IOException {
        var created = new long[1];
        change(() -> created[0] = store.change(objects -> {
            long id = objects.freeIds(0, 1);
            objects.create(ObjectId.ofPartition(id), ObjectType.PARTITION, 1_000);
            for (Attribute each : attributes) {
                objects.setAttribute(ObjectId.ofPartition(id), each.id(), each.value());
            }
            return id;
        }));
        return created[0];
    }

    @Override
    public boolean removePartition(long partition) throws IOException {
        var removed = new boolean[1];
        change(() -> removed[0] = store.change(objects -> {
            if (objects.objectCount(partition, ObjectType.USER_OBJECT) > 0) {
                return false;
            }
            objects.remove(ObjectId.ofPartition(partition));
            return true;
        }));
        return removed[0];
    }

    @Override
    public List<Listed> list(long partition, long from, int max, List<AttributeId> attributes)
            throws IOException {
        return store.query(objects -> {
            var all = new ArrayList<Listed>();
            for (long id : objects.objects(partition, ObjectType.USER_OBJECT, from, max)) {
                var values = new ArrayList<Attribute>();
                for (AttributeId each : attributes) {
                    values.add(new Attribute(each,
                            objects.attribute(new ObjectId(partition, id), each)));
                }
                all.add(new Listed(id, values));
            }
            return all;
        });
    }

    @Override
    public Optional<List<Attribute>> attributes(ObjectId object, List<AttributeId> attributes)
            throws IOException {
        return store.query(objects -> {
            if (objects.find(object).isEmpty()) {
                return Optional.<List<Attribute>>empty();
            }
            var values = new ArrayList<Attribute>();
            for (AttributeId each : attributes) {
                values.add(new Attribute(each, objects.attribute(object, each)));
            }
            return Optional.of(List.copyOf(values));
        });
    }

    @Override
    public void create(ObjectId object, List<Attribute> attributes) throws IOException {
        change(() -> createNow(object, attributes));
    }

    private void createNow(ObjectId object, List<Attribute> attributes) throws IOException {
        boolean created = store.change(objects -> {
            if (objects.find(object).isPresent()) {
                return false;
            }
            objects.create(object, ObjectType.USER_OBJECT, 1_000);
            for (Attribute each : attributes) {
                objects.setAttribute(object, each.id(), each.value());
            }
            return true;
        });
        if (!created) {
            throw new ExistsException(object + " exists", new IOException("exists"));
        }
    }

    @Override
    public void set(ObjectId object, List<Attribute> attributes) throws IOException {
        change(() -> store.change(objects -> {
            objects.find(object).orElseThrow(() -> new NoSuchObjectException(object));
            for (Attribute each : attributes) {
                objects.setAttribute(object, each.id(), each.value());
            }
            return null;
        }));
    }

    @Override
    public OutputStream write(ObjectId object, List<Attribute> attributes) throws IOException {
        return new OutputStream() {
            private final ByteArrayOutputStream chunk = new ByteArrayOutputStream();
            private boolean created;
            private long at;
            private boolean closed;

            @Override
            public void write(int value) throws IOException {
                write(new byte[]{(byte) value}, 0, 1);
            }

            @Override
            public void write(byte[] from, int offset, int length) throws IOException {
                chunk.write(from, offset, length);
                if (chunk.size() >= CHUNK) {
                    send();
                }
            }

            private void send() throws IOException {
                byte[] bytes = chunk.toByteArray();
                chunk.reset();
                if (!created) {
                    change(() -> createNow(object, attributes));
                    created = true;
                }
                change(() -> store.write(object, at, MemorySegment.ofArray(bytes),
                        Growth.UNLIMITED));
                at += bytes.length;
            }

            @Override
            public void close() throws IOException {
                if (!closed) {
                    closed = true;
                    send();
                }
            }
        };
    }

    @Override
    public InputStream read(ObjectId object, long offset, long length) throws IOException {
        return new InputStream() {
            private long at = offset;

            @Override
            public int read() throws IOException {
                var one = new byte[1];
                return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
            }

            @Override
            public int read(byte[] into, int start, int count) throws IOException {
                int wanted = (int) Math.min(Math.min(count, CHUNK), length - (at - offset));
                if (wanted == 0) {
                    return -1;
                }
                try {
                    int got = store.read(object, at,
                            MemorySegment.ofArray(into).asSlice(start, wanted));
                    at += got;
                    return got == 0 ? -1 : got;
                } catch (NoSuchObjectException e) {
                    throw new IOException(e);
                }
            }
        };
    }

    @Override
    public void remove(ObjectId object) throws IOException {
        beforeRemoval.run(object);
        change(() -> store.change(objects -> {
            if (objects.find(object).isPresent()) {
                objects.remove(object);
            }
            return null;
        }));
    }

    @Override
    public boolean flush(ObjectId object) throws IOException {
        beforeFlush.run(object);
        change(() -> {});
        return object.object() == 0 || attributes(object, List.of()).isPresent();
    }
}
