package lunar.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.testkit.SteppedDevice;
import org.jspecify.annotations.Nullable;

/**
 * Random requests through a filter over a device in which a seed determines when each request takes effect, when it
 * completes, and how; overlapping ones, too. Each read must return what the device held at one moment while the read
 * was in progress. After each write, the device must have held its data at such a moment.
 */
final class Interleaving {
    static final int BLOCKS = 64;
    private static final int MAX_OPEN = 10;
    private static final int LONGS_PER_BLOCK = SteppedDevice.BLOCK_BYTES / Long.BYTES;

    private final Random random;
    private final String name;
    private final SteppedDevice below = new SteppedDevice(BLOCKS);
    private final BlockDevice device;
    private final boolean resizing;
    /** The tag of each block after each change of the device; a block that is not there has tag -1. */
    private final List<long[]> history = new ArrayList<>();
    private int open;
    private int ended;
    private long lastTag;
    private int cursor;

    /** Puts a filter over the device. */
    @FunctionalInterface
    interface Maker {
        BlockDevice over(SteppedDevice below);
    }

    Interleaving(long seed, Maker filter, boolean resizing) {
        random = new Random(seed);
        name = "seed " + seed;
        device = filter.over(below);
        this.resizing = resizing;
        history.add(tags());
    }

    /** Returns the requests that have ended. */
    int run(int steps) throws StorageException {
        for (int step = 0; step < steps; step++) {
            int what = random.nextInt(100);
            if (what < 45 && open < MAX_OPEN) {
                begin();
            } else if (what == 99 && resizing) {
                resize();
            } else if (!below.pending().isEmpty()) {
                proceed();
            }
        }
        while (!below.pending().isEmpty()) {
            proceed();
        }
        assertThat(open).as("%s: requests that never end", name).isZero();
        requireSame();
        return ended;
    }

    BlockDevice device() { return device; }

    private long[] tags() {
        var tags = new long[BLOCKS];
        Arrays.fill(tags, -1);
        for (int i = 0; i < below.blockCount(); i++) {
            tags[i] = tag(below.content(), i);
        }
        return tags;
    }

    /** The number that fills a block. */
    private long tag(MemorySegment data, int block) {
        long first = data.get(ValueLayout.JAVA_LONG_UNALIGNED,
                (long) block * SteppedDevice.BLOCK_BYTES);
        for (int i = 1; i < LONGS_PER_BLOCK; i++) {
            assertThat(data.get(ValueLayout.JAVA_LONG_UNALIGNED,
                    (long) block * SteppedDevice.BLOCK_BYTES + i * (long) Long.BYTES))
                    .as("%s: parts of a block", name).isEqualTo(first);
        }
        return first;
    }

    /** Advances one of the device's requests by a step. */
    private void proceed() {
        List<SteppedDevice.Step> pending = below.pending();
        SteppedDevice.Step step = pending.get(random.nextInt(pending.size()));
        if (random.nextInt(20) == 0) {
            step.fail(new MediumException(step.request() + ": as the seed wants"));
        } else if (step.isDone()) {
            step.end();
        } else {
            step.run();
            noteChange();
        }
    }

    private void noteChange() {
        long[] now = tags();
        if (!Arrays.equals(now, history.getLast())) {
            history.add(now);
        }
    }

    private void resize() throws StorageException {
        below.resize(BLOCKS - random.nextInt(4) * 7);
        noteChange();
        device.refresh();
    }

    private void begin() {
        int count = 1 + random.nextInt(8);
        int lba = random.nextInt(BLOCKS - count + 1);
        if (random.nextInt(3) == 0) { // in order, so that there is something to read ahead
            lba = cursor + count > BLOCKS ? 0 : cursor;
        }
        int kind = random.nextInt(20);
        if (kind < 12) {
            cursor = lba + count;
        }
        MemorySegment data = MemorySegment.ofArray(new byte[count * SteppedDevice.BLOCK_BYTES]);
        switch (kind) {
            case 12, 13, 14, 15 ->
                submit(new BlockRequest().asWrite(lba, count, fill(data), random.nextBoolean()));
            case 16 -> submit(new BlockRequest().asUnmap(lba, count));
            case 17 -> submit(new BlockRequest().asWriteZeroes(lba, count, false));
            case 18 -> submit(compareAndWrite(lba, count, data));
            case 19 -> submit(new BlockRequest().asFlush());
            default -> submit(new BlockRequest().asRead(lba, count, data));
        }
    }

    private MemorySegment fill(MemorySegment data) {
        lastTag++;
        for (long at = 0; at < data.byteSize(); at += Long.BYTES) {
            data.set(ValueLayout.JAVA_LONG_UNALIGNED, at, lastTag);
        }
        return data;
    }

    /** It expects what is there now, which may have changed when it is done. */
    private BlockRequest compareAndWrite(int lba, int count, MemorySegment data) {
        MemorySegment both = MemorySegment.ofArray(new byte[2 * (int) data.byteSize()]);
        long from = (long) lba * SteppedDevice.BLOCK_BYTES;
        long there = Math.clamp(below.content().byteSize() - from, 0, data.byteSize());
        MemorySegment.copy(below.content(), Math.min(from, below.content().byteSize()), both, 0,
                there);
        both.asSlice(data.byteSize()).copyFrom(fill(data));
        return new BlockRequest().asCompareAndWrite(lba, count, both, false);
    }

    private void submit(BlockRequest request) {
        open++;
        int before = history.size() - 1;
        device.submit(request.onCompletion((_, failure) -> end(request, before, failure)));
    }

    private void end(BlockRequest request, int before, @Nullable StorageException failure) {
        open--;
        ended++;
        if (failure != null || request.operation() == Operation.FLUSH) {
            return;
        }
        int count = (int) request.blockCount();
        var found = new long[count];
        for (int i = 0; i < count; i++) {
            found[i] = switch (request.operation()) {
                case READ, WRITE -> tag(request.buffer(), i);
                case COMPARE_AND_WRITE -> tag(request.buffer(), count + i);
                case UNMAP, WRITE_ZEROES, FLUSH -> 0;
            };
        }
        int lba = (int) request.lba();
        boolean held = history.subList(before, history.size()).stream()
                .anyMatch(tags -> Arrays.equals(tags, lba, lba + count, found, 0, count));
        assertThat(held).as("%s: %s found %s, of %s", name, request, Arrays.toString(found),
                history.subList(before, history.size()).stream()
                        .map(tags -> Arrays.toString(Arrays.copyOfRange(tags, lba, lba + count)))
                        .toList())
                .isTrue();
    }

    private void requireSame() throws StorageException {
        for (int lba = 0; lba < below.blockCount(); lba++) {
            MemorySegment block = MemorySegment.ofArray(new byte[SteppedDevice.BLOCK_BYTES]);
            device.read(lba, block);
            assertThat(tag(block, 0)).as("%s: block %d at the end", name, lba)
                    .isEqualTo(tag(below.content(), lba));
            below.endAll();
        }
    }
}
