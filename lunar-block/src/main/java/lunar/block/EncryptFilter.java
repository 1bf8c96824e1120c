package lunar.block;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Encrypts each block by XTS-AES-256 (IEEE 1619), with the block number as tweak, under a key from a file:
 * {@code encrypt=disk.key:file:disk.img}. A key file that is missing is made.
 *
 * <p>Blocks of zeroes are kept as zeroes, so that holes and discards go through: who sees the store sees which blocks
 * are empty, as with discard on any encrypted disk. Nothing tells that a key is the wrong one: blocks then read as
 * noise.
 */
public final class EncryptFilter extends Filter {
    private final KeyFile file;
    private final Set<Capability> capabilities;
    private volatile Xts xts;

    /**
     * A filter that owns the device below.
     *
     * @throws DeviceGoneException when the key file cannot be read, written or understood
     */
    public EncryptFilter(BlockDevice below, Path keyFile) throws DeviceGoneException {
        super(below, Set.of(Capability.TRANSFER_TO));
        file = new KeyFile(keyFile);
        var more = EnumSet.of(Capability.KEY_ERASURE);
        more.addAll(super.capabilities());
        capabilities = Set.copyOf(more);
        xts = new Xts(file.loadOrCreate(), below.blockSize());
    }

    @Override
    public Set<Capability> capabilities() { return capabilities; }

    @Override
    public void eraseKey() throws StorageException {
        if (readOnly()) {
            throw new WriteProtectedException(this + " is read-only");
        }
        xts = new Xts(file.replace(), blockSize());
    }

    @Override
    public void execute(BlockRequest request) throws StorageException {
        request.check(this);
        Xts cipher = xts;
        BlockRequest lower = lower(request, cipher);
        try {
            below().execute(lower);
        } catch (StorageException e) {
            throw told(request, cipher, e);
        }
        finishRead(request, cipher);
    }

    @Override
    public void submit(BlockRequest request) {
        Xts cipher = xts;
        BlockRequest lower;
        try {
            request.check(this);
            lower = lower(request, cipher);
        } catch (StorageException e) {
            request.fail(e);
            return;
        } catch (IllegalStateException | WrongThreadException e) {
            request.fail(new InvalidRequestException(
                    request + ": the buffer cannot be used: " + e.getMessage(), e));
            return;
        }
        below().submit(lower.onCompletion((_, failure) -> end(request, cipher, failure)));
    }

    private void end(BlockRequest request, Xts cipher, @Nullable StorageException failure) {
        if (failure != null) {
            request.fail(told(request, cipher, failure));
            return;
        }
        finishRead(request, cipher);
        request.succeed();
    }

    /** What goes to the device below: data to write are encrypted into memory of our own. */
    private static BlockRequest lower(BlockRequest request, Xts cipher) {
        var lower = new BlockRequest().asCopyOf(request);
        return switch (request.operation()) {
            case READ, FLUSH, UNMAP, WRITE_ZEROES -> lower;
            case WRITE -> {
                MemorySegment data = room(request);
                cipher.encrypt(request.lba(), request.buffer(), data);
                yield lower.asWrite(request.lba(), request.blockCount(), data, request.fua());
            }
            case COMPARE_AND_WRITE -> {
                MemorySegment data = room(request);
                long half = data.byteSize() / 2;
                cipher.encrypt(request.lba(), request.buffer().asSlice(0, half),
                        data.asSlice(0, half));
                cipher.encrypt(request.lba(), request.buffer().asSlice(half),
                        data.asSlice(half));
                yield lower.asCompareAndWrite(request.lba(), request.blockCount(), data,
                        request.fua());
            }
        };
    }

    private static MemorySegment room(BlockRequest request) {
        return MemorySegment.ofArray(new byte[(int) request.buffer().byteSize()]);
    }

    private static void finishRead(BlockRequest request, Xts cipher) {
        if (request.operation() == BlockRequest.Operation.READ) {
            cipher.decrypt(request.lba(), request.buffer(), request.buffer());
        }
    }

    /** The first encrypted byte that differs says in which block; which byte of it does, the plain block says. */
    private StorageException told(BlockRequest request, Xts cipher, StorageException failure) {
        if (!(failure instanceof MiscompareException miscompare)) {
            return failure;
        }
        long index = miscompare.offsetBytes() / blockSize();
        long from = index * blockSize();
        MemorySegment block = MemorySegment.ofArray(new byte[blockSize()]);
        try {
            below().read(request.lba() + index, block);
        } catch (StorageException e) {
            return e;
        }
        cipher.decrypt(request.lba() + index, block, block);
        long differs = from + Math.max(0,
                block.mismatch(request.buffer().asSlice(from, blockSize()))); // it may have changed since
        return new MiscompareException(request + " on " + this + ": byte " + differs + " differs",
                differs);
    }

    @Override
    public String toString() { return "encrypt over " + below(); }
}
