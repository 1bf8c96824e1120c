package lunar.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest.Operation;
import lunar.block.Capability;
import lunar.block.StorageException;

/** A device and a model of its first blocks. Random operations are applied to both. */
public final class DeviceModel {
    private final BlockDevice device;
    private final MemorySegment expected;
    private final int blockSize;
    private final List<Operation> operations = new ArrayList<>(
            List.of(Operation.READ, Operation.WRITE, Operation.WRITE, Operation.FLUSH));

    private DeviceModel(BlockDevice device, long blockCount) {
        this.device = device;
        this.blockSize = device.blockSize();
        this.expected = MemorySegment.ofArray(new byte[Math.toIntExact(blockCount * blockSize)]);
        if (device.supports(Capability.UNMAP)) {
            operations.add(Operation.UNMAP);
        }
        if (device.supports(Capability.WRITE_ZEROES)) {
            operations.add(Operation.WRITE_ZEROES);
        }
        if (device.supports(Capability.COMPARE_AND_WRITE)) {
            operations.add(Operation.COMPARE_AND_WRITE);
        }
    }

    /** A model of the first {@code blockCount} blocks, with their present content. */
    public static DeviceModel readFrom(BlockDevice device, long blockCount)
            throws StorageException {
        var model = new DeviceModel(device, blockCount);
        for (long lba = 0; lba < blockCount;) {
            long count = Math.min(blockCount - lba, device.limits().optimalTransferBlocks());
            device.read(lba, model.expected.asSlice(lba * model.blockSize,
                    count * model.blockSize));
            lba += count;
        }
        return model;
    }

    /** Applies an operation the device is capable of to both, in one of its forms, and says which. */
    public String applyRandom(Random random, int step) throws StorageException {
        Operation operation = operations.get(random.nextInt(operations.size()));
        int blockCount = (int) (expected.byteSize() / blockSize);
        int lba = random.nextInt(blockCount);
        int longest = Math.min(blockCount - lba, 64);
        if (operation == Operation.COMPARE_AND_WRITE) {
            longest = Math.min(longest, device.limits().maxCompareAndWriteBlocks());
        }
        int count = 1 + random.nextInt(longest);
        MemorySegment there = expected.asSlice((long) lba * blockSize, (long) count * blockSize);
        switch (operation) {
            case READ -> {
                MemorySegment buffer = buffer(random, count);
                device.read(lba, buffer);
                assertThat(buffer.mismatch(there)).as("step %d: READ lba=%d", step, lba)
                        .isEqualTo(-1);
            }
            case WRITE -> {
                MemorySegment buffer = filled(random, count);
                if (random.nextInt(4) == 0) {
                    device.writeThrough(lba, buffer);
                } else {
                    device.write(lba, buffer);
                }
                there.copyFrom(buffer);
            }
            case FLUSH -> device.flush();
            case UNMAP -> {
                unmap(lba, count, there);
            }
            case WRITE_ZEROES -> {
                device.writeZeroes(lba, count);
                there.fill((byte) 0);
            }
            case COMPARE_AND_WRITE -> {
                MemorySegment buffer = filled(random, 2 * count);
                buffer.copyFrom(there);
                device.compareAndWrite(lba, buffer);
                there.copyFrom(buffer.asSlice(there.byteSize()));
            }
        }
        return operation + " lba=" + lba + " blocks=" + count;
    }

    /**
     * Writes a few blocks, or unmaps many if supported, so that holes are created and filled; returns a description.
     */
    public String applySparse(Random random, int step) throws StorageException {
        int blockCount = (int) (expected.byteSize() / blockSize);
        int lba = random.nextInt(blockCount);
        boolean unmap = device.supports(Capability.UNMAP) && step % 3 == 2;
        int count = 1 + random.nextInt((int) Math.min(blockCount - lba,
                unmap ? device.limits().maxUnmapBlocks() : 32));
        MemorySegment there = expected.asSlice((long) lba * blockSize, (long) count * blockSize);
        if (unmap) {
            unmap(lba, count, there);
        } else {
            there.copyFrom(filled(random, count));
            device.write(lba, there);
        }
        return (unmap ? "UNMAP" : "WRITE") + " lba=" + lba + " blocks=" + count;
    }

    /** Applies an unmap to the model; if it may leave blocks unchanged, adopts those that the device has kept. */
    private void unmap(long lba, int count, MemorySegment there) throws StorageException {
        device.unmap(lba, count);
        if (device.supports(Capability.UNMAP_ZEROES)) {
            there.fill((byte) 0);
            return;
        }
        MemorySegment block = MemorySegment.ofArray(new byte[blockSize]);
        MemorySegment zeroes = MemorySegment.ofArray(new byte[blockSize]);
        for (int i = 0; i < count; i++) {
            device.read(lba + i, block);
            MemorySegment expectedBlock = there.asSlice((long) i * blockSize, blockSize);
            if (block.mismatch(zeroes) < 0) {
                expectedBlock.fill((byte) 0);
            }
            assertThat(block.mismatch(expectedBlock))
                    .as("UNMAP lba=%d: block %d is neither as before nor zero", lba, lba + i)
                    .isEqualTo(-1);
        }
    }

    /** Requires that the part of these blocks that is in the model is zero. */
    public void requireZero(long lba, long blockCount, String description) {
        long from = Math.min(lba * blockSize, expected.byteSize());
        long end = Math.min((lba + blockCount) * blockSize, expected.byteSize());
        MemorySegment zeroes = MemorySegment.ofArray(new byte[(int) (end - from)]);
        assertThat(expected.asSlice(from, end - from).mismatch(zeroes))
                .as(description + ": first byte that is not zero").isEqualTo(-1);
    }

    /** Reads everything and compares. */
    public void requireEqual(String description) throws StorageException {
        MemorySegment buffer = MemorySegment.ofArray(new byte[(int) expected.byteSize()]);
        for (long at = 0; at < buffer.byteSize();) {
            long count = Math.min(buffer.byteSize() - at,
                    (long) device.limits().optimalTransferBlocks() * blockSize);
            device.read(at / blockSize, buffer.asSlice(at, count));
            at += count;
        }
        assertThat(buffer.mismatch(expected)).as(description + ": first byte that differs")
                .isEqualTo(-1);
    }

    private MemorySegment buffer(Random random, int count) {
        int bytes = count * blockSize;
        return random.nextBoolean()
                ? MemorySegment.ofArray(new byte[bytes])
                : Arena.ofAuto().allocate(bytes, random.nextBoolean() ? 4096 : 1);
    }

    private MemorySegment filled(Random random, int count) {
        byte[] bytes = new byte[count * blockSize];
        random.nextBytes(bytes);
        return buffer(random, count).copyFrom(MemorySegment.ofArray(bytes));
    }
}
