package lunar.raid.service;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import lunar.block.BlockRequest;
import lunar.block.MiscompareException;
import lunar.block.StorageException;
import lunar.raid.layout.Level;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Several threads use a volume in every way while it gets three members more, one after the other. */
class RunningReshapeLoadTest extends RunningFixture {
    private static final int THREADS = 4;
    /** Blocks in a row that one thread has; these are no divisor of chunks. */
    private static final int RUN = 24;
    private static final int RATE = 6 << 20;

    private final AtomicBoolean isOver = new AtomicBoolean();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    /** The content of each block; changed by the thread that has it. */
    private int[] tags = {};

    /** Uses the blocks that it has. */
    private final class Host implements Runnable {
        private final int number;
        private final Random choice;
        private final AtomicInteger done = new AtomicInteger();

        Host(int number) {
            this.number = number;
            choice = new Random(seed + number + 1);
        }

        @Override
        public void run() {
            try {
                while (!isOver.get() && failure.get() == null) {
                    one();
                    done.incrementAndGet();
                }
            } catch (Throwable e) {
                failure.compareAndSet(null, e);
            }
        }

        private void one() throws StorageException {
            int runs = tags.length / RUN / THREADS;
            int first = (choice.nextInt(runs) * THREADS + number) * RUN;
            int from = first + choice.nextInt(RUN);
            int count = 1 + choice.nextInt(first + RUN - from);
            int tag = choice.nextInt() | 1;
            boolean fua = choice.nextInt(4) == 0;
            switch (choice.nextInt(8)) {
                case 0, 1, 2 -> {
                    volume.execute(new BlockRequest().asWrite(from, count, of(tag, count), fua));
                    Arrays.fill(tags, from, from + count, tag);
                }
                case 3 -> {
                    volume.execute(new BlockRequest().asWriteZeroes(from, count, fua));
                    Arrays.fill(tags, from, from + count, 0);
                }
                case 4 -> compareAndWrite(from, count, tag);
                case 5 -> {
                    if (choice.nextInt(8) == 0) {
                        volume.flush();
                    }
                }
                default -> readBack(from, count);
            }
        }

        private void compareAndWrite(int from, int count, int tag) throws StorageException {
            MemorySegment data = MemorySegment.ofArray(new byte[2 * count * BLOCK]);
            boolean differs = choice.nextInt(3) == 0;
            for (int i = 0; i < count; i++) {
                fill(data, i, differs && i == count - 1 ? tags[from + i] + 2 : tags[from + i]);
                fill(data, count + i, tag);
            }
            try {
                volume.execute(new BlockRequest().asCompareAndWrite(from, count, data, false));
                assertThat(differs).isFalse();
                Arrays.fill(tags, from, from + count, tag);
            } catch (MiscompareException e) {
                if (!differs) {
                    throw e;
                }
            }
        }

        private void readBack(int from, int count) throws StorageException {
            MemorySegment data = MemorySegment.ofArray(new byte[count * BLOCK]);
            volume.execute(new BlockRequest().asRead(from, count, data));
            for (int i = 0; i < count; i++) {
                requireTag(data, i, from + i);
            }
        }
    }

    private static MemorySegment of(int tag, int count) {
        MemorySegment data = MemorySegment.ofArray(new byte[count * BLOCK]);
        for (int i = 0; i < count; i++) {
            fill(data, i, tag);
        }
        return data;
    }

    private static void fill(MemorySegment data, int block, int tag) {
        for (long at = (long) block * BLOCK; at < (block + 1L) * BLOCK; at += Integer.BYTES) {
            data.set(ValueLayout.JAVA_INT_UNALIGNED, at, tag);
        }
    }

    private void requireTag(MemorySegment data, int at, int block) {
        for (int i = 0; i < BLOCK; i += Integer.BYTES) {
            int found = data.get(ValueLayout.JAVA_INT_UNALIGNED, (long) at * BLOCK + i);
            if (found != tags[block]) {
                throw new AssertionError("seed " + seed + ": block " + block + " has " + found
                        + ", and not " + tags[block]);
            }
        }
    }

    private void checkAll() throws StorageException {
        for (int from = 0; from < tags.length; from += RUN) {
            int count = Math.min(RUN, tags.length - from);
            MemorySegment data = MemorySegment.ofArray(new byte[count * BLOCK]);
            volume.read(from, data);
            for (int i = 0; i < count; i++) {
                requireTag(data, i, from + i);
            }
        }
    }

    private static int done(List<Host> hosts) {
        return hosts.stream().mapToInt(host -> host.done.get()).sum();
    }

    @ParameterizedTest
    @EnumSource(value = Level.class, names = {"RAID0", "RAID5", "RAID6"})
    void shouldKeepEverythingWhileItGrowsThrice(Level level) throws Exception {
        int members = level == Level.RAID0 ? 2 : level.minMembers();
        spec = shelf.create(level, "music", members, MEMBER_BYTES,
                OPTIONS.withRebuildRate(RATE));
        open();
        if (level.isRedundant()) {
            events.awaitThrough(ScanKind.RESYNC);
        }
        tags = new int[(int) volume.blockCount()];
        volume.execute(new BlockRequest().asWriteZeroes(0, tags.length, true));
        var threads = new ArrayList<Thread>();
        var hosts = new ArrayList<Host>();
        for (int i = 0; i < THREADS; i++) {
            hosts.add(new Host(i));
            threads.add(Thread.ofPlatform().start(hosts.getLast()));
        }
        while (failure.get() == null && hosts.stream().anyMatch(host -> host.done.get() == 0)) {
            Thread.sleep(1);
        }
        int before = done(hosts);
        for (int slot = members; slot < members + 3; slot++) {
            shelf.add("disk:" + slot, MEMBER_BYTES);
            volume.grow("disk:" + slot, false);
            events.awaitThrough(ScanKind.RESHAPE);
        }
        int meanwhile = done(hosts) - before;
        isOver.set(true);
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(failure.get()).as("seed " + seed).isNull();
        assertThat(meanwhile).as("requests while it grew").isGreaterThan(10 * THREADS);
        checkAll();
        if (level.isRedundant()) {
            scrub();
            shelf.disk("disk:1").pull();
            checkAll();
        }
    }
}
