package lunar.bench.objects;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import lunar.block.StorageException;
import lunar.osd.store.ObjectStore;
import lunar.osd.store.StagedData;
import lunar.osd.store.directory.DirectoryObjectStore;
import lunar.osd.store.directory.StoreOptions;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.attribute.AttributeId;
import lunar.scsi.Bytes;

/**
 * Opens an object store, does some work, and prints how it gets on, a word and a number in each line. Then it keeps the
 * store open until it is killed, or its standard input ends.
 */
final class StoreProcess {
    static final long PARTITION = ObjectId.FIRST;
    private static final ObjectId HOME = ObjectId.ofPartition(PARTITION);
    private static final ObjectId OTHER = ObjectId.ofPartition(PARTITION + 1);
    private static final AttributeId ATTRIBUTE = new AttributeId(0x1_0000, 1);
    private static final Bytes VALUE = Bytes.of(new byte[16]);
    private static final int PAGE = 1000;
    private static final int LOOKUPS = 50_000;
    private static final int LOOK_MS = 200;
    /** Odd, so that no two multiples are alike modulo a power of two. */
    private static final long SCATTER = 0x9e37_79b9_7f4a_7c15L;
    private static final double NANOS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);

    private final ObjectStore store;
    private final PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true,
            StandardCharsets.UTF_8);

    private StoreProcess(ObjectStore store) { this.store = store; }

    /** Takes the directory, the work, the number of objects, that of threads, bytes of data, and the order. */
    public static void main(String[] args)
            throws IOException, InterruptedException, ExecutionException {
        long start = System.nanoTime();
        try (DirectoryObjectStore store = DirectoryObjectStore.open(Path.of(args[0]),
                StoreOptions.CREATE)) {
            var process = new StoreProcess(store);
            process.print("opened", seconds(start));
            long count = Long.parseLong(args[2]);
            switch (args[1]) {
                case "create" -> process.create(count, Integer.parseInt(args[3]),
                        Integer.parseInt(args[4]), args[5].equals("random"));
                case "list" -> process.list(count, args[5].equals("random"));
                case "remove" -> process.remove(store);
                default -> throw new IllegalArgumentException(args[1]);
            }
            process.print("ended", 0);
            while (System.in.read() >= 0) {
                // input has no meaning
            }
        }
    }

    private static double seconds(long start) {
        return (System.nanoTime() - start) / NANOS_PER_SECOND;
    }

    private void print(String word, double number) { out.println(word + " " + number); }

    private static ObjectId object(long number, boolean scattered) {
        return new ObjectId(PARTITION,
                ObjectId.FIRST + (scattered ? (number * SCATTER) & Long.MAX_VALUE : number));
    }

    private void create(long count, int threads, int bytes, boolean scattered)
            throws StorageException, InterruptedException, ExecutionException {
        store.change(objects -> {
            objects.create(HOME, ObjectType.PARTITION, 1);
            return true;
        });
        var next = new AtomicLong();
        var done = new AtomicLong();
        MemorySegment data = MemorySegment.ofArray(new byte[bytes]);
        try (var pool = Executors.newFixedThreadPool(threads)) {
            List<Future<Boolean>> running = IntStream.range(0, threads)
                    .mapToObj(_ -> pool.submit(() -> {
                        for (long i; (i = next.getAndIncrement()) < count; done.incrementAndGet()) {
                            create(object(i, scattered), data);
                        }
                        return true;
                    })).toList();
            while (!running.stream().allMatch(Future::isDone)) {
                Thread.sleep(LOOK_MS);
                print("created", (double) done.get());
            }
            for (Future<Boolean> each : running) {
                each.get();
            }
        }
    }

    private void create(ObjectId object, MemorySegment data) throws StorageException {
        try (StagedData staged = store.stage()) {
            staged.write(0, data);
            store.change(objects -> {
                objects.create(object, staged, 1);
                objects.setAttribute(object, ATTRIBUTE, VALUE);
                return true;
            });
        }
    }

    /** Lists all in pages, and looks for some at random. */
    private void list(long count, boolean scattered) throws StorageException {
        long start = System.nanoTime();
        long listed = 0;
        long from = 0;
        for (;;) {
            long first = from;
            List<Long> ids = store.query(objects -> objects.objects(PARTITION,
                    ObjectType.USER_OBJECT, first, PAGE));
            if (ids.isEmpty()) {
                break;
            }
            listed += ids.size();
            from = ids.getLast() + 1;
        }
        print("listed", (double) listed);
        print("list-seconds", seconds(start));
        start = System.nanoTime();
        for (int i = 0; i < LOOKUPS; i++) {
            ObjectId object = object(ThreadLocalRandom.current().nextLong(count), scattered);
            if (store.<Bytes, RuntimeException>query(
                    objects -> objects.attribute(object, ATTRIBUTE)).length() != VALUE.length()) {
                throw new IllegalStateException(object + " is not there");
            }
        }
        print("lookups-per-second", LOOKUPS / seconds(start));
    }

    /** Removes the partition, while another thread creates objects in another one, until its space is reclaimed. */
    private void remove(DirectoryObjectStore directory)
            throws StorageException, InterruptedException {
        store.change(objects -> {
            objects.create(OTHER, ObjectType.PARTITION, 1);
            return true;
        });
        var ended = new AtomicBoolean();
        var longest = new AtomicLong();
        var created = new AtomicLong();
        Thread other = Thread.ofPlatform().start(() -> {
            while (!ended.get()) {
                long start = System.nanoTime();
                create(OTHER, created.getAndIncrement());
                longest.accumulateAndGet(System.nanoTime() - start, Math::max);
            }
        });
        Thread.sleep(LOOK_MS);
        long start = System.nanoTime();
        store.change(objects -> {
            objects.remove(HOME);
            return true;
        });
        print("remove-seconds", seconds(start));
        while (directory.isReclaiming()) {
            Thread.sleep(LOOK_MS);
        }
        print("reclaim-seconds", seconds(start));
        print("created-meanwhile", (double) created.get());
        ended.set(true);
        other.join();
        print("longest-wait-seconds", longest.get() / NANOS_PER_SECOND);
    }

    private void create(ObjectId partition, long number) {
        try {
            store.change(objects -> {
                objects.create(new ObjectId(partition.partition(), ObjectId.FIRST + number),
                        ObjectType.USER_OBJECT, 1);
                return true;
            });
        } catch (StorageException e) {
            throw new IllegalStateException(e);
        }
    }
}
