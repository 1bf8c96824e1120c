package lunar.raid.metadata;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import lunar.block.BlockRequest;
import lunar.raid.engine.VolumeEngine;
import lunar.testkit.SteppedDevice;

/** A host of a volume whose members lose their caches, or have no space: it knows what each block may have. For one thread. */
final class LossyHost {
    /** The stripes that it writes. */
    static final int STRIPES = 3;
    private static final int MAX_BLOCKS = 4;
    private static final int BLOCK = SteppedDevice.BLOCK_BYTES;

    /** A write of a block; the first one of each block is what it had at the start. */
    private static final class Written {
        final long content;
        final int begun;
        /** When it was acknowledged. */
        int acknowledged = Integer.MAX_VALUE;

        Written(long content, int begun) {
            this.content = content;
            this.begun = begun;
        }
    }

    private final VolumeEngine volume;
    private final Random random;
    private final List<List<Written>> blocks = new ArrayList<>();
    private final Set<Long> inFlight = new HashSet<>();
    private int now = 1;
    private int lastLoss;
    private int losses;
    private int failures;

    /** @param volume one of zeroes */
    LossyHost(VolumeEngine volume, Random random) {
        this.volume = volume;
        this.random = random;
        for (int block = 0; block < STRIPES * volume.layout().stripeBlocks(); block++) {
            blocks.add(new ArrayList<>(List.of(new Written(0, 0))));
        }
    }

    /** How often members have lost their caches. */
    int losses() { return losses; }

    /** How many writes have failed. */
    int failures() { return failures; }

    /** The blocks that it writes, from the first one on. */
    int blocks() { return blocks.size(); }

    /** The contents that a block may have after a crash now. */
    List<Long> contents(int block) {
        return blocks.get(block).stream().map(one -> one.content).toList();
    }

    /** The members have lost their caches. */
    void lost() {
        lastLoss = now++;
        losses++;
    }

    /** Begins a write, at times of a whole stripe, unless one is under way there. */
    void write() {
        int stripeBlocks = volume.layout().stripeBlocks();
        boolean isWhole = random.nextInt(8) == 0;
        int count = isWhole ? stripeBlocks : 1 + random.nextInt(MAX_BLOCKS);
        long lba = isWhole
                ? (long) random.nextInt(STRIPES) * stripeBlocks
                : random.nextInt(STRIPES * stripeBlocks - count);
        MemorySegment data = MemorySegment.ofArray(new byte[count * BLOCK]);
        var written = new ArrayList<Written>();
        for (int i = 0; i < count; i++) {
            if (inFlight.contains(lba + i)) {
                return;
            }
        }
        for (int i = 0; i < count; i++) {
            var one = new Written(random.nextLong(), now);
            written.add(one);
            blocks.get((int) lba + i).add(one);
            inFlight.add(lba + i);
            data.set(JAVA_LONG_UNALIGNED, (long) i * BLOCK, one.content);
        }
        now++;
        volume.submit(new BlockRequest().asWrite(lba, count, data, false)
                .onCompletion((_, failure) -> {
                    for (int i = 0; i < count; i++) {
                        inFlight.remove(lba + i);
                        if (failure == null) {
                            written.get(i).acknowledged = now;
                        }
                    }
                    failures += failure == null ? 0 : 1;
                    now++;
                }));
    }

    /** Begins a flush; if it succeeds, what was acknowledged before is stable, unless it was lost before that. */
    void flush() {
        int begun = now++;
        volume.submit(new BlockRequest().asFlush().onCompletion((_, failure) -> {
            for (List<Written> block : failure == null ? blocks : List.<List<Written>>of()) {
                int stable = 0;
                for (int i = 0; i < block.size(); i++) {
                    Written one = block.get(i);
                    stable = one.acknowledged < begun && one.begun > lastLoss ? i : stable;
                }
                block.subList(0, stable).clear();
            }
        }));
    }
}
