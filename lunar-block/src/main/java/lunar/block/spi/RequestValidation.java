package lunar.block.spi;

import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.Capability;
import lunar.block.Geometry;
import lunar.block.InvalidRequestException;
import lunar.block.Limits;
import lunar.block.NotSupportedException;
import lunar.block.OutOfRangeException;
import lunar.block.StorageException;
import lunar.block.WriteProtectedException;

/**
 * Validates requests before a device executes them. For implementations of {@link BlockDevice}; a caller need not
 * validate what it submits. Any thread may call; nothing is allocated for a valid request.
 */
public final class RequestValidation {
    private RequestValidation() {}

    /**
     * Checks a request against geometry, limits, capabilities and write protection of a device, and its buffer against
     * its length. A flush is always valid.
     *
     * @throws OutOfRangeException if the range is not on the device
     * @throws InvalidRequestException if a limit is exceeded, the buffer has another size, or a read cannot fill it
     * @throws NotSupportedException if the device lacks the capability
     * @throws WriteProtectedException if the device is read-only and the request is neither read nor flush
     */
    public static void check(BlockRequest request, BlockDevice device) throws StorageException {
        Operation operation = request.operation();
        if (operation == Operation.FLUSH) {
            return;
        }
        long lba = request.lba();
        long blockCount = request.blockCount();
        Geometry geometry = device.geometry();
        if (lba < 0 || blockCount < 0 || lba > geometry.blockCount()
                || blockCount > geometry.blockCount() - lba) {
            throw new OutOfRangeException(
                    request + " on a device of " + geometry.blockCount() + " blocks");
        }
        long max = maxBlocks(request, device);
        if (blockCount > max) {
            throw new InvalidRequestException(
                    request + " is longer than the limit of " + max + " blocks");
        }
        long bytes = switch (operation) {
            case READ, WRITE -> blockCount * geometry.blockSize();
            case COMPARE_AND_WRITE -> 2 * blockCount * geometry.blockSize();
            case FLUSH, UNMAP, WRITE_ZEROES -> 0;
        };
        if (request.buffer().byteSize() != bytes) {
            throw new InvalidRequestException(request + " needs a buffer of " + bytes
                    + " bytes, not " + request.buffer().byteSize());
        }
        if (operation == Operation.READ && request.buffer().isReadOnly()) {
            throw new InvalidRequestException(request + " cannot fill a read-only buffer");
        }
        if (operation != Operation.READ && device.readOnly()) {
            throw new WriteProtectedException(request + ": the device is read-only");
        }
    }

    private static long maxBlocks(BlockRequest request, BlockDevice device)
            throws NotSupportedException {
        Limits limits = device.limits();
        return switch (request.operation()) {
            case READ, WRITE -> request.atomic()
                    ? required(request, device, Capability.ATOMIC_WRITE,
                            limits.maxAtomicWriteBlocks())
                    : limits.maxTransferBlocks();
            case UNMAP -> required(request, device, Capability.UNMAP, limits.maxUnmapBlocks());
            case WRITE_ZEROES -> required(request, device, Capability.WRITE_ZEROES,
                    limits.maxWriteZeroesBlocks());
            case COMPARE_AND_WRITE -> required(request, device, Capability.COMPARE_AND_WRITE,
                    limits.maxCompareAndWriteBlocks());
            case FLUSH -> 0;
        };
    }

    private static long required(BlockRequest request, BlockDevice device, Capability capability,
            long limit) throws NotSupportedException {
        if (!device.supports(capability)) {
            throw new NotSupportedException(request + ": the device has no " + capability);
        }
        return limit;
    }
}
