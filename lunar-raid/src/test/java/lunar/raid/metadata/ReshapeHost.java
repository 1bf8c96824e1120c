package lunar.raid.metadata;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import lunar.block.BlockRequest;
import lunar.block.MiscompareException;
import lunar.block.StorageException;
import lunar.raid.BackgroundScan;

/** Writes and reads any blocks of a volume while something goes over it, and knows what they may read as. */
final class ReshapeHost {
    private static final int MAX_OPEN = 4;

    private final TestVolume test;
    /** By block, what it may be now: more than one where writes did not end, or were under way together. */
    private final List<Set<Long>> may = new ArrayList<>();
    private final Set<Long> busy = new TreeSet<>();
    private int open;
    private long lastTag;
    int ended;

    ReshapeHost(TestVolume test) {
        this.test = test;
        for (long block = 0; block < test.volume.blockCount(); block++) {
            may.add(Set.of(0L));
        }
    }

    /** Requests that do not end any more may have been performed, or not. */
    void crash() {
        busy.clear();
        open = 0;
    }

    /** Writes everything, once. */
    void fill() {
        for (long block = 0; block < may.size(); block += 7) {
            write(block, Math.min(7, may.size() - block));
            test.settle();
        }
        assertThat(open).as(test.title()).isZero();
    }

    /** Plays until a scan has ended, or the power is cut. */
    void playUntilEnd(BackgroundScan scan) {
        while (!test.isCut() && (!scan.hasEnded() || open > 0)) {
            if (!scan.hasEnded() && open < MAX_OPEN && test.random.nextInt(6) == 0) {
                request();
            }
            var able = test.disks.stream().filter(disk -> disk.pending() > 0).toList();
            if (able.isEmpty() && (scan.hasEnded() || test.random.nextInt(50) == 0)) {
                assertThat(scan.hasEnded() && open == 0).as(test.title() + ": all stands still")
                        .isTrue();
                return;
            }
            if (!able.isEmpty()) {
                able.get(test.random.nextInt(able.size())).step(test.random);
            }
        }
    }

    private void request() {
        long from = test.random.nextInt(may.size());
        long count = 1 + test.random.nextInt((int) Math.min(40, may.size() - from));
        if (test.random.nextInt(3) == 0) {
            read(from, count);
        } else if (isFree(from, count)) {
            if (test.random.nextInt(4) == 0) {
                compareAndWrite(from, Math.min(count, 8));
            } else {
                write(from, count);
            }
        }
    }

    private boolean isFree(long from, long count) {
        for (long block = from; block < from + count; block++) {
            if (busy.contains(block)) {
                return false;
            }
        }
        return true;
    }

    private void begin(long from, long count, long tag) {
        open++;
        for (long block = from; block < from + count; block++) {
            busy.add(block);
            var more = new TreeSet<>(may.get((int) block));
            more.add(tag);
            may.set((int) block, more);
        }
    }

    private void end(long from, long count, long tag) {
        open--;
        ended++;
        for (long block = from; block < from + count; block++) {
            busy.remove(block);
            may.set((int) block, Set.of(tag));
        }
    }

    private static MemorySegment filled(long count, long tag) {
        MemorySegment data = data(count);
        for (long i = 0; i < count; i++) {
            data.set(JAVA_LONG_UNALIGNED, i * TestVolume.BLOCK, tag);
        }
        return data;
    }

    private static MemorySegment data(long count) {
        return MemorySegment.ofArray(new byte[(int) count * TestVolume.BLOCK]);
    }

    private void write(long from, long count) {
        long tag = ++lastTag;
        begin(from, count, tag);
        test.volume.submit(new BlockRequest().asWrite(from, count, filled(count, tag), true)
                .onCompletion((_, failure) -> {
                    if (!test.isCut()) {
                        assertThat(failure).as(test.title()).isNull();
                        end(from, count, tag);
                    }
                }));
    }

    /** From what all of its blocks are to something else. */
    private void compareAndWrite(long from, long count) {
        Set<Long> first = may.get((int) from);
        for (long block = from; block < from + count; block++) {
            if (first.size() > 1 || !may.get((int) block).equals(first)) {
                return;
            }
        }
        long was = first.iterator().next();
        boolean differs = test.random.nextInt(3) == 0;
        long tag = ++lastTag;
        MemorySegment data = data(2 * count);
        data.copyFrom(filled(count, differs ? was + 1_000_000 : was));
        data.asSlice(data.byteSize() / 2).copyFrom(filled(count, tag));
        begin(from, count, tag);
        test.volume.submit(new BlockRequest().asCompareAndWrite(from, count, data, true)
                .onCompletion((_, failure) -> {
                    if (!test.isCut()) {
                        if (differs) {
                            assertThat(failure).as(test.title())
                                    .isInstanceOf(MiscompareException.class);
                        } else {
                            assertThat(failure).as(test.title()).isNull();
                        }
                        end(from, count, differs ? was : tag);
                    }
                }));
    }

    private void read(long from, long count) {
        var before = new ArrayList<Set<Long>>();
        for (long block = from; block < from + count; block++) {
            if (busy.contains(block)) { // it may be anything in between
                return;
            }
            before.add(may.get((int) block));
        }
        for (long block = from; block < from + count; block++) {
            busy.add(block);
        }
        open++;
        MemorySegment data = data(count);
        test.volume.submit(new BlockRequest().asRead(from, count, data)
                .onCompletion((_, failure) -> {
                    if (!test.isCut()) {
                        assertThat(failure).as(test.title()).isNull();
                        open--;
                        ended++;
                        for (int i = 0; i < count; i++) {
                            busy.remove(from + i);
                            check(from + i, data.get(JAVA_LONG_UNALIGNED, (long) i
                                    * TestVolume.BLOCK), before.get(i));
                        }
                    }
                }));
    }

    private void check(long block, long tag, Set<Long> tags) {
        assertThat(tags).as(test.title() + " block " + block).contains(tag);
        may.set((int) block, Set.of(tag));
    }

    /** Reads everything; what it may not be any more it will not be. */
    void checkAll() {
        for (long from = 0; from < may.size(); from += 64) {
            long count = Math.min(64, may.size() - from);
            MemorySegment data = data(count);
            StorageException failure = test.does(new BlockRequest().asRead(from, count, data));
            assertThat(failure).as(test.title()).isNull();
            for (int i = 0; i < count; i++) {
                check(from + i, data.get(JAVA_LONG_UNALIGNED, (long) i * TestVolume.BLOCK),
                        may.get((int) from + i));
            }
        }
    }
}
