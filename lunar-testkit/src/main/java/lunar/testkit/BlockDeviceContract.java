package lunar.testkit;

import static lunar.testkit.DeviceCalls.DEADLINE_SECONDS;
import static lunar.testkit.DeviceCalls.blocks;
import static lunar.testkit.DeviceCalls.inParallel;
import static lunar.testkit.DeviceCalls.readBlocks;
import static lunar.testkit.DeviceCalls.requireFailure;
import static lunar.testkit.DeviceCalls.runAllOnce;
import static lunar.testkit.DeviceCalls.sink;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Capability;
import lunar.block.DeviceGoneException;
import lunar.block.InvalidRequestException;
import lunar.block.MiscompareException;
import lunar.block.NotSupportedException;
import lunar.block.OutOfRangeException;
import lunar.block.StorageException;
import lunar.block.WriteProtectedException;
import org.junit.jupiter.api.Test;

/**
 * Contract tests of {@link BlockDevice}. A subclass creates the device; its capabilities select the tests, and missing
 * ones must be rejected.
 */
public abstract class BlockDeviceContract extends ExtentContract {
    private static final int DEPTH = 64;

    /** For subclasses. */
    protected BlockDeviceContract() {}

    /**
     * Closes the device as in a crash, if possible, and reopens the storage to check flushed data. Empty if nothing
     * survives a close.
     */
    protected Optional<BlockDevice> reopen(BlockDevice device) throws Exception {
        return Optional.empty();
    }

    /** A device that refuses changes; empty if the kind has none. */
    protected Optional<BlockDevice> createReadOnly(long blockCount) throws Exception {
        return Optional.empty();
    }

    @Test
    void shouldMatchModelUnderRandomOperations() throws Exception {
        BlockDevice device = open(1024);
        var model = DeviceModel.readFrom(device, 1024);
        for (int step = 0; step < 400; step++) {
            String last = model.applyRandom(random, step);
            if (step % 20 == 19) {
                model.requireEqual("seed %d step %d: %s".formatted(seed, step, last));
            }
        }
    }

    @Test
    void shouldAcceptHeapAndNativeBuffersOfAnyAlignment() throws Exception {
        BlockDevice device = open(64);
        int bytes = 4 * device.blockSize();
        MemorySegment odd = MemorySegment.ofArray(new byte[bytes + 1]).asSlice(1);
        List<MemorySegment> buffers = List.of(MemorySegment.ofArray(new byte[bytes]), odd,
                MemorySegment.ofArray(new long[bytes / 8]), Arena.ofAuto().allocate(bytes, 4096),
                Arena.ofAuto().allocate(bytes + 1).asSlice(1));
        for (MemorySegment buffer : buffers) {
            MemorySegment data = randomBlocks(device, 4);
            buffer.copyFrom(data);
            device.write(7, buffer);
            buffer.fill((byte) 0);
            device.read(7, buffer);
            assertThat(buffer.mismatch(data)).as("seed %d, %s", seed, buffer).isEqualTo(-1);
            device.write(3, data.asReadOnly());
            device.submitRead(3, buffer).get(DEADLINE_SECONDS, TimeUnit.SECONDS);
            assertThat(buffer.mismatch(data)).as("seed %d, %s", seed, buffer).isEqualTo(-1);
        }
    }

    @Test
    void shouldCompleteEachQueuedRequestExactlyOnce() throws Exception {
        BlockDevice device = open(DEPTH * 4L);
        for (int round = 0; round < 4; round++) {
            List<MemorySegment> written = new ArrayList<>();
            List<MemorySegment> read = new ArrayList<>();
            for (int i = 0; i < DEPTH; i++) {
                written.add(randomBlocks(device, 4));
                read.add(blocks(device, 4));
            }
            runAllOnce(device, DEPTH,
                    i -> new BlockRequest().asWrite(i * 4L, 4, written.get(i), false));
            runAllOnce(device, DEPTH, i -> new BlockRequest().asRead(i * 4L, 4, read.get(i)));
            for (int i = 0; i < DEPTH; i++) {
                assertThat(read.get(i).mismatch(written.get(i))).as("seed %d slot %d", seed, i)
                        .isEqualTo(-1);
            }
        }
    }

    @Test
    void shouldRejectRangesThatAreNotOnTheDevice() throws Exception {
        BlockDevice device = open(64);
        long end = device.blockCount();
        for (long lba : new long[]{-1, end, end - 1, Long.MAX_VALUE, Long.MIN_VALUE}) {
            MemorySegment two = blocks(device, 2);
            requireFailure(device, () -> new BlockRequest().asRead(lba, 2, two),
                    OutOfRangeException.class);
            requireFailure(device, () -> new BlockRequest().asWrite(lba, 2, two, false),
                    OutOfRangeException.class);
        }
        device.read(end - 1, blocks(device, 1));
        device.write(end - 1, blocks(device, 1));
    }

    @Test
    void shouldRejectBuffersOfTheWrongSizeOrKind() throws Exception {
        BlockDevice device = open(64);
        requireFailure(device, () -> new BlockRequest().asRead(0, 2, blocks(device, 1)),
                InvalidRequestException.class);
        requireFailure(device, () -> new BlockRequest().asWrite(0, 1, blocks(device, 2), false),
                InvalidRequestException.class);
        requireFailure(device, () -> new BlockRequest().asRead(0, 1,
                blocks(device, 1).asReadOnly()), InvalidRequestException.class);
        assertThatThrownBy(() -> device.read(0, blocks(device, 1).asSlice(1)))
                .isInstanceOf(InvalidRequestException.class);
    }

    @Test
    void shouldRejectRequestsOverTheLimit() throws Exception {
        BlockDevice small = open(64);
        long tooMany = small.limits().maxTransferBlocks() + 1L;
        assumeTrue(tooMany * small.blockSize() <= 64 << 20, "the limit cannot be reached here");
        BlockDevice device = open(tooMany);
        MemorySegment buffer = blocks(device, tooMany);
        requireFailure(device, () -> new BlockRequest().asRead(0, tooMany, buffer),
                InvalidRequestException.class);
        device.write(0, buffer.asSlice(device.blockSize()));
        device.read(1, buffer.asSlice(device.blockSize()));
    }

    @Test
    void shouldDoNothingForNoBlocks() throws Exception {
        BlockDevice device = open(64);
        MemorySegment before = readBlocks(device, 0, 64);
        device.read(device.blockCount(), blocks(device, 0));
        device.write(0, blocks(device, 0));
        if (device.supports(Capability.WRITE_ZEROES)) {
            device.writeZeroes(0, 0);
        }
        if (device.supports(Capability.UNMAP)) {
            device.unmap(0, 0);
        }
        if (device.supports(Capability.COMPARE_AND_WRITE)) {
            device.compareAndWrite(0, blocks(device, 0));
        }
        assertThat(readBlocks(device, 0, 64).mismatch(before)).isEqualTo(-1);
    }

    @Test
    void shouldRejectWhatItHasNoCapabilityFor() throws Exception {
        BlockDevice device = open(64);
        if (!device.supports(Capability.UNMAP)) {
            requireFailure(device, () -> new BlockRequest().asUnmap(0, 1),
                    NotSupportedException.class);
        }
        if (!device.supports(Capability.WRITE_ZEROES)) {
            requireFailure(device, () -> new BlockRequest().asWriteZeroes(0, 1, false),
                    NotSupportedException.class);
        }
        if (!device.supports(Capability.COMPARE_AND_WRITE)) {
            requireFailure(device,
                    () -> new BlockRequest().asCompareAndWrite(0, 1, blocks(device, 2), false),
                    NotSupportedException.class);
        }
        if (!device.supports(Capability.TRANSFER_TO)) {
            assertThatThrownBy(() -> device.transferTo(0, 1, sink(new ByteArrayOutputStream())))
                    .isInstanceOf(NotSupportedException.class);
        }
    }

    @Test
    void shouldRejectChangesWhenReadOnly() throws Exception {
        Optional<BlockDevice> made = createReadOnly(64);
        assumeTrue(made.isPresent(), "this type has no read-only device");
        BlockDevice device = made.orElseThrow();
        opened.add(device);
        assertThat(device.readOnly()).isTrue();
        requireFailure(device, () -> new BlockRequest().asWrite(0, 1, blocks(device, 1), false),
                WriteProtectedException.class);
        if (device.supports(Capability.WRITE_ZEROES)) {
            requireFailure(device, () -> new BlockRequest().asWriteZeroes(0, 1, false),
                    WriteProtectedException.class);
        }
        device.read(0, blocks(device, 1));
        device.flush();
    }

    @Test
    void shouldKeepWhatWasFlushedOrForced() throws Exception {
        BlockDevice device = open(64);
        MemorySegment flushed = randomBlocks(device, 8);
        MemorySegment forced = randomBlocks(device, 8);
        device.write(0, flushed);
        device.flush();
        device.writeThrough(16, forced);
        Optional<BlockDevice> again = reopen(device);
        assumeTrue(again.isPresent(), "nothing survives a close here");
        opened.add(again.orElseThrow());
        assertThat(again.orElseThrow().identity()).isEqualTo(device.identity());
        assertThat(readBlocks(again.orElseThrow(), 0, 8).mismatch(flushed)).isEqualTo(-1);
        assertThat(readBlocks(again.orElseThrow(), 16, 8).mismatch(forced)).isEqualTo(-1);
    }

    @Test
    void shouldReadZeroesAfterUnmapAndWriteZeroes() throws Exception {
        BlockDevice device = open(2048);
        for (Capability capability : List.of(Capability.UNMAP_ZEROES, Capability.WRITE_ZEROES)) {
            if (device.supports(capability)) {
                MemorySegment data = randomBlocks(device, 2048);
                device.write(0, data);
                if (capability == Capability.UNMAP_ZEROES) {
                    device.unmap(3, 2042);
                } else {
                    device.writeZeroes(3, 2042);
                }
                data.asSlice(3L * device.blockSize(), 2042L * device.blockSize()).fill((byte) 0);
                assertThat(readBlocks(device, 0, 2048).mismatch(data))
                        .as("%s seed %d", capability, seed).isEqualTo(-1);
            }
        }
    }

    /** The hint may be followed partially; data older than the last write must not reappear. */
    @Test
    void shouldReadWhatWasThereOrZeroesAfterAnUnmap() throws Exception {
        BlockDevice device = open(256);
        assertThat(device.supports(Capability.UNMAP) || !device.supports(Capability.UNMAP_ZEROES))
                .as("an unmap that zeroes is one").isTrue();
        assumeTrue(device.supports(Capability.UNMAP), "no unmap");
        device.write(0, randomBlocks(device, 256));
        device.flush();
        MemorySegment data = randomBlocks(device, 256);
        device.write(0, data);
        device.unmap(3, 250);
        MemorySegment after = readBlocks(device, 0, 256);
        MemorySegment zeroes = blocks(device, 1);
        for (int i = 0; i < 256; i++) {
            MemorySegment block = after.asSlice((long) i * device.blockSize(), device.blockSize());
            boolean isZero = i >= 3 && i < 253 && block.mismatch(zeroes) < 0;
            boolean isAsBefore = block.mismatch(
                    data.asSlice((long) i * device.blockSize(), device.blockSize())) < 0;
            assertThat(isZero || isAsBefore).as("seed %d block %d", seed, i).isTrue();
        }
    }

    @Test
    void shouldIncrementACounterAtomicallyByCompareAndWrite() throws Exception {
        BlockDevice device = open(64);
        assumeTrue(device.supports(Capability.COMPARE_AND_WRITE), "no compare-and-write");
        device.write(9, blocks(device, 1));
        int perThread = 25;
        inParallel(8, _ -> {
            MemorySegment buffer = blocks(device, 2);
            MemorySegment next = buffer.asSlice(device.blockSize());
            for (int done = 0; done < perThread;) {
                device.read(9, buffer.asSlice(0, device.blockSize()));
                next.copyFrom(buffer.asSlice(0, device.blockSize()));
                next.set(ValueLayout.JAVA_INT, 0, buffer.get(ValueLayout.JAVA_INT, 0) + 1);
                try {
                    device.compareAndWrite(9, buffer);
                    done++;
                } catch (MiscompareException _) {
                    // Another thread was faster: read its value and try again.
                }
            }
        });
        assertThat(readBlocks(device, 9, 1).get(ValueLayout.JAVA_INT, 0)).isEqualTo(8 * perThread);
    }

    @Test
    void shouldNameTheFirstByteThatMiscomparesAndWriteNothing() throws Exception {
        BlockDevice device = open(64);
        assumeTrue(device.supports(Capability.COMPARE_AND_WRITE), "no compare-and-write");
        int count = Math.min(4, device.limits().maxCompareAndWriteBlocks());
        MemorySegment present = randomBlocks(device, count);
        device.write(5, present);
        long offset = random.nextInt(count * device.blockSize());
        MemorySegment request = blocks(device, 2L * count);
        request.copyFrom(present);
        request.set(ValueLayout.JAVA_BYTE, offset,
                (byte) ~request.get(ValueLayout.JAVA_BYTE, offset));
        assertThatThrownBy(() -> device.compareAndWrite(5, request)).as("seed %d", seed)
                .isInstanceOfSatisfying(MiscompareException.class,
                        e -> assertThat(e.offsetBytes()).isEqualTo(offset));
        assertThat(readBlocks(device, 5, count).mismatch(present)).isEqualTo(-1);
    }

    @Test
    void shouldTransferToAChannelWhatItReads() throws Exception {
        BlockDevice device = open(2048);
        assumeTrue(device.supports(Capability.TRANSFER_TO), "no transfer-to");
        device.write(0, randomBlocks(device, 1024));
        byte[] all = readBlocks(device, 0, 2048).toArray(ValueLayout.JAVA_BYTE);
        for (int i = 0; i < 20; i++) {
            int offset = random.nextInt(all.length);
            int count = random.nextInt(all.length - offset + 1);
            var received = new ByteArrayOutputStream();
            assertThat(device.transferTo(offset, count, sink(received))).isEqualTo(count);
            assertThat(ByteBuffer.wrap(received.toByteArray())).as("seed %d", seed)
                    .isEqualTo(ByteBuffer.wrap(all, offset, count));
        }
        assertThatThrownBy(() -> device.transferTo(device.sizeBytes() - 1, 2,
                sink(new ByteArrayOutputStream()))).isInstanceOf(OutOfRangeException.class);
        assertThatThrownBy(() -> device.transferTo(-1, 2, sink(new ByteArrayOutputStream())))
                .isInstanceOf(OutOfRangeException.class);
    }

    @Test
    void shouldKeepConcurrentWritersOfDisjointBlocksApart() throws Exception {
        BlockDevice device = open(8 * 64);
        MemorySegment expected = readBlocks(device, 0, 8 * 64);
        inParallel(8, thread -> {
            var own = new Random(seed + thread);
            for (int i = 0; i < 40; i++) {
                // Thread t owns the blocks that are t modulo 8, so that neighbours belong to others.
                long lba = own.nextInt(64) * 8L + thread;
                MemorySegment data = blocks(device, 1);
                data.fill((byte) own.nextInt());
                device.write(lba, data);
                expected.asSlice(lba * device.blockSize(), device.blockSize()).copyFrom(data);
                MemorySegment back = readBlocks(device, lba, 1);
                assertThat(back.mismatch(data)).as("seed %d lba %d", seed, lba).isEqualTo(-1);
            }
        });
        assertThat(readBlocks(device, 0, 8 * 64).mismatch(expected)).as("seed %d", seed)
                .isEqualTo(-1);
    }

    @Test
    void shouldEndRequestsInFlightBeforeCloseReturns() throws Exception {
        BlockDevice device = open(DEPTH);
        List<CompletableFuture<Void>> inFlight = new ArrayList<>();
        for (int i = 0; i < DEPTH; i++) {
            inFlight.add(device.submitWrite(i, blocks(device, 1)));
        }
        device.close();
        for (CompletableFuture<Void> future : inFlight) {
            assertThat(future).isDone();
            if (future.isCompletedExceptionally()) {
                assertThat(future.exceptionNow()).isInstanceOf(StorageException.class);
            }
        }
    }

    @Test
    void shouldFailAfterRepeatedClose() throws Exception {
        BlockDevice device = open(64);
        device.close();
        device.close();
        requireFailure(device, () -> new BlockRequest().asRead(0, 1, blocks(device, 1)),
                DeviceGoneException.class);
        requireFailure(device, () -> new BlockRequest().asWrite(0, 1, blocks(device, 1), false),
                DeviceGoneException.class);
        requireFailure(device, () -> new BlockRequest().asFlush(), DeviceGoneException.class);
        assertThatThrownBy(() -> device.extent(0)).isInstanceOf(DeviceGoneException.class);
        if (device.supports(Capability.TRANSFER_TO)) {
            assertThatThrownBy(() -> device.transferTo(0, 1, sink(new ByteArrayOutputStream())))
                    .isInstanceOf(DeviceGoneException.class);
        }
    }
}
