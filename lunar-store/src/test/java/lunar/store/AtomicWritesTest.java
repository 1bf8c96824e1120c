package lunar.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Random;
import lunar.testkit.PowerCutDevice;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests atomic writes beside plain ones, interrupted at every step: by a power failure, or by the end of the process
 * alone.
 */
class AtomicWritesTest {
    private static final int BLOCK = 512;
    private static final int BLOCKS = 24;
    private static final int LOG_BYTES = AtomicLog.HEADER_BYTES + BLOCKS * BLOCK;
    private static final long IMAGE = 42;
    private static final int RUNS = 3000;

    /** Expected content of the image, and permitted alternatives. */
    private static final class Expected {
        private final byte[][] stable = new byte[BLOCKS][BLOCK];
        private int first;
        private byte[][] inFlight = new byte[0][];
        private boolean atomic;

        void begin(int at, byte[][] blocks, boolean isAtomic) {
            first = at;
            inFlight = blocks;
            atomic = isAtomic;
        }

        void end() {
            System.arraycopy(inFlight, 0, stable, first, inFlight.length);
            inFlight = new byte[0][];
        }

        void assertOn(StableBytes image, String of) throws IOException {
            int old = 0;
            int young = 0;
            for (int i = 0; i < BLOCKS; i++) {
                MemorySegment block = MemorySegment.ofArray(new byte[BLOCK]);
                image.read((long) i * BLOCK, block);
                byte[] there = (byte[]) block.heapBase().orElseThrow();
                boolean written = i >= first && i < first + inFlight.length;
                if (written && Arrays.equals(there, inFlight[i - first])) {
                    young++;
                } else {
                    assertThat(there).as("block %d of %s", i, of).isEqualTo(stable[i]);
                    old += written ? 1 : 0;
                }
            }
            if (atomic) {
                assertThat(Math.min(old, young)).as("new blocks %d and old blocks %d of %s", young,
                        old, of).isZero();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldKeepWritesAtomicAtEveryCut(boolean processOnly) throws IOException {
        long first = Seed.next();
        int recovered = 0;
        for (long seed = first; seed < first + RUNS; seed++) {
            recovered += run(seed, processOnly);
        }
        assertThat(recovered).as("runs in which a write had to be completed")
                .isGreaterThan(RUNS / 50);
    }

    /** Returns 1 where a write was completed after the cut. */
    private static int run(long seed, boolean processOnly) throws IOException {
        var random = new Random(seed);
        var supply = new PoweredBytes.Supply(random.nextInt(60), random);
        var image = new PoweredBytes(PowerCutDevice.create(BLOCKS * BLOCK, random), supply);
        var log = new PoweredBytes(PowerCutDevice.create(LOG_BYTES, random), supply);
        var writes = new AtomicWrites(image, new AtomicLog(log, IMAGE));
        var expected = new Expected();
        work(writes, image, expected, random);
        int recovered = 0;
        // The second time the power is cut while a write is being completed.
        for (int cuts = 0; cuts < 2; cuts++) {
            boolean last = cuts == 1;
            supply = new PoweredBytes.Supply(last ? Integer.MAX_VALUE : random.nextInt(8), random);
            image = new PoweredBytes(processOnly ? image.disk() : image.afterCut(), supply);
            log = new PoweredBytes(processOnly ? log.disk() : log.afterCut(), supply);
            try {
                var again = new AtomicWrites(image, new AtomicLog(log, IMAGE));
                recovered = again.recover() ? 1 : recovered;
            } catch (IOException e) {
                assertThat(supply.isCut()).as("seed %d", seed).isTrue();
                continue;
            }
            expected.assertOn(image, "seed " + seed);
            assertThat(new AtomicLog(log, IMAGE).pending()).as("seed %d", seed).isEmpty();
            if (supply.isCut()) {
                break;
            }
        }
        return recovered;
    }

    private static void work(AtomicWrites writes, StableBytes image, Expected expected,
            Random random) {
        try {
            for (;;) {
                int at = random.nextInt(BLOCKS);
                int count = 1 + random.nextInt(BLOCKS - at);
                byte[] data = new byte[count * BLOCK];
                random.nextBytes(data);
                byte[][] blocks = new byte[count][];
                for (int i = 0; i < count; i++) {
                    blocks[i] = Arrays.copyOfRange(data, i * BLOCK, (i + 1) * BLOCK);
                }
                boolean atomic = random.nextInt(3) > 0;
                expected.begin(at, blocks, atomic);
                if (atomic) {
                    writes.write((long) at * BLOCK, MemorySegment.ofArray(data));
                } else { // and so acknowledged as stable
                    image.write((long) at * BLOCK, MemorySegment.ofArray(data));
                    image.sync();
                }
                expected.end();
            }
        } catch (IOException e) {
            assertThat(e).hasMessage("the power was cut");
        } catch (IllegalStateException e) {
            // In a write whose roll-back found no power.
            assertThat(e).hasMessage("used without power");
        }
    }

    /** An image whose next writes fail, after a part of the data, or its next syncs. */
    private static final class FailingImage implements StableBytes {
        private final byte[] bytes = new byte[BLOCKS * BLOCK];
        private int failures;
        private int syncFailures;

        @Override
        public void read(long offsetBytes, MemorySegment into) {
            into.copyFrom(MemorySegment.ofArray(bytes).asSlice(offsetBytes, into.byteSize()));
        }

        @Override
        public void write(long offsetBytes, MemorySegment from) throws IOException {
            boolean fails = failures > 0;
            long count = fails ? from.byteSize() / 2 : from.byteSize();
            MemorySegment.ofArray(bytes).asSlice(offsetBytes, count)
                    .copyFrom(from.asSlice(0, count));
            if (fails) {
                failures--;
                throw new IOException("Input/output error");
            }
        }

        @Override
        public void sync() throws IOException {
            if (syncFailures > 0) {
                syncFailures--;
                throw new IOException("Input/output error");
            }
        }

        boolean isAll(int value) {
            for (byte each : bytes) {
                if (each != value) {
                    return false;
                }
            }
            return true;
        }
    }

    private static MemorySegment all(int value) {
        return MemorySegment.ofArray(new byte[BLOCKS * BLOCK]).fill((byte) value);
    }

    /** A log that never fails. */
    private static AtomicLog log() throws IOException {
        var supply = new PoweredBytes.Supply(Integer.MAX_VALUE, new Random(1));
        return new AtomicLog(new PoweredBytes(PowerCutDevice.create(LOG_BYTES, supply.random),
                supply), IMAGE);
    }

    @Test
    void shouldRollBackAPartiallyFailedWrite() throws IOException {
        var image = new FailingImage();
        AtomicLog log = log();
        var writes = new AtomicWrites(image, log);
        writes.write(0, all(1));
        image.failures = 1;
        assertThatThrownBy(() -> writes.write(0, all(2))).isInstanceOf(IOException.class);
        assertThat(image.isAll(1)).isTrue();
        assertThat(writes.isBroken()).isFalse();
        assertThat(log.pending()).isEmpty();
    }

    @Test
    void shouldRollBackAWriteWhoseSyncFails() throws IOException {
        var image = new FailingImage();
        AtomicLog log = log();
        var writes = new AtomicWrites(image, log);
        writes.write(0, all(1));
        image.syncFailures = 1;
        assertThatThrownBy(() -> writes.write(0, all(2))).isInstanceOf(IOException.class);
        assertThat(image.isAll(1)).isTrue();
        assertThat(writes.isBroken()).isFalse();
        assertThat(log.pending()).isEmpty();
        image.syncFailures = 3;
        assertThatThrownBy(() -> writes.write(0, all(2))).isInstanceOf(IOException.class);
        assertThat(writes.isBroken()).isTrue();
        assertThat(log.pending()).as("kept for the time when the image can be written").isPresent();
        assertThatThrownBy(writes::recover).isInstanceOf(IOException.class);
        assertThat(log.pending()).isPresent();
        assertThat(writes.recover()).isTrue();
        assertThat(image.isAll(2)).isTrue();
        assertThat(log.pending()).isEmpty();
    }

    @Test
    void shouldReportATornImageUntilItIsCompleted()
            throws IOException {
        var image = new FailingImage();
        AtomicLog log = log();
        var writes = new AtomicWrites(image, log);
        writes.write(0, all(1));
        image.failures = 3;
        assertThatThrownBy(() -> writes.write(0, all(2))).isInstanceOf(IOException.class);
        assertThat(writes.isBroken()).isTrue();
        assertThatThrownBy(writes::recover).isInstanceOf(IOException.class);
        assertThat(writes.isBroken()).isTrue();
        assertThat(writes.recover()).isTrue();
        assertThat(writes.isBroken()).isFalse();
        assertThat(image.isAll(2)).isTrue();
        assertThat(log.pending()).isEmpty();
    }
}
