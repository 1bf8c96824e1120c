package lunar.filter;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Capability;
import lunar.block.DeviceGoneException;
import lunar.block.DeviceLabels;
import lunar.block.DeviceRecords;
import lunar.block.InvalidRequestException;
import lunar.block.MiscompareException;
import lunar.block.NotSupportedException;
import lunar.block.StorageException;
import lunar.block.WriteProtectedException;
import lunar.block.spi.RequestCompletion;
import lunar.block.spi.RequestValidation;
import org.jspecify.annotations.Nullable;

/**
 * Encrypts each block by XTS-AES-256 (IEEE 1619), with the block number as tweak, under a key from a file:
 * {@code encrypt=disk.key:file:disk.img}. The file must exist ({@code lunar key create}), unless
 * {@link EncryptOptions#createKey} permits creating it.
 *
 * <p>Blocks of zeroes are stored as zeroes, so that holes and discards work: the store reveals which blocks are empty,
 * as with discard on any encrypted disk.
 *
 * <p>A check value of the key is stored as a label of the device ({@link BlockDevice#labels}), otherwise in the records
 * of the process, so that a wrong key is rejected. A device of an earlier version without one gets that of the first
 * key it is opened with. Without label and record, a wrong key yields garbage (docs/adr/010-check-value-of-a-key.md).
 */
public final class EncryptFilter extends Filter {
    private static final System.Logger LOG = System.getLogger("lunar.block");

    private final KeyFile file;
    private final Optional<DeviceLabels> labels;
    private final Set<Capability> capabilities;
    private final KeysInUse use;
    private volatile Xts xts;
    /** The key in use; guarded by this filter's monitor. */
    private byte[] key;

    /**
     * A filter that owns the device below, with a key that exists.
     *
     * @throws DeviceGoneException if the key file cannot be read or understood, or is not the key of the device
     */
    public EncryptFilter(BlockDevice below, Path keyFile) throws DeviceGoneException {
        this(below, EncryptOptions.of(keyFile), DeviceRecords.NONE);
    }

    /**
     * Creates a filter that owns the device below.
     *
     * @param records store the check value if the device has no labels
     * @throws DeviceGoneException if the key file cannot be read, created or parsed, or is not the key of the device
     */
    public EncryptFilter(BlockDevice below, EncryptOptions options, DeviceRecords records)
            throws DeviceGoneException {
        super(below, Set.of(Capability.TRANSFER_TO));
        file = new KeyFile(options.keyFile());
        labels = below.labels().or(() -> records.labels(below.identity()));
        var more = EnumSet.of(Capability.KEY_ERASURE);
        more.addAll(super.capabilities());
        capabilities = Set.copyOf(more);
        key = checkedKey(options);
        use = use(options.keyFile());
        xts = new Xts(key, below.blockSize());
    }

    /** Counts this device among those of the key file, which must have the key still. */
    private KeysInUse use(Path keyFile) throws DeviceGoneException {
        synchronized (KeysInUse.LOCK) {
            if (!Arrays.equals(file.load(), key)) {
                throw new DeviceGoneException(file + " was replaced while " + below()
                        + " was opened");
            }
            try {
                return KeysInUse.begin(keyFile);
            } catch (IOException e) {
                throw new DeviceGoneException(file + " cannot be read: " + e.getMessage(), e);
            }
        }
    }

    private byte[] checkedKey(EncryptOptions options) throws DeviceGoneException {
        try {
            Optional<KeyCheck> check = options.adoptKey() ? Optional.empty() : storedCheck();
            boolean creates = options.createKey() && !file.exists();
            if (creates) {
                if (check.isPresent()) {
                    throw new DeviceGoneException(file + " does not exist, and " + below()
                            + " is already encrypted: a new key could not read it; specify the key"
                            + " file that it was written with");
                }
                requireNew(options);
                file.create();
            }
            byte[] loaded = file.load();
            if (check.isPresent() && !check.get().matches(loaded)) {
                throw new DeviceGoneException(file + " is not the key of " + below()
                        + ": its check value differs; specify the key file that the device was"
                        + " written with");
            }
            if (check.filter(KeyCheck::isSettled).isEmpty() && !readOnly()) {
                keep(loaded, creates || check.isPresent());
            }
            return loaded;
        } catch (DeviceGoneException e) {
            throw e;
        } catch (IOException | IllegalArgumentException e) {
            throw new DeviceGoneException("the check value of the key of " + below()
                    + " cannot be read: " + e.getMessage() + "; if " + file
                    + " is certainly the right one, open it once with encrypt=" + options.keyFile()
                    + ",check=adopt:", e);
        }
    }

    /** Refuses to take a device for one without a key because it has no check value. */
    private void requireNew(EncryptOptions options) throws DeviceGoneException {
        String byHand = "; if the device is new, create its key with 'lunar key create "
                + options.keyFile()
                + "'";
        if (labels.isEmpty() || readOnly()) {
            throw new DeviceGoneException(
                    file + " does not exist, and create-key=yes does not create it: "
                            + below() + " cannot store a check value, so a lost key would not"
                            + " be detected (serve --state can store it)" + byHand);
        }
        boolean isBlank;
        try {
            isBlank = options.adoptKey() || BlankCheck.isBlank(below());
        } catch (StorageException e) {
            throw new DeviceGoneException(
                    below() + " cannot be read to check whether it is new: " + e.getMessage(), e);
        }
        if (!isBlank) {
            throw new DeviceGoneException(file
                    + " does not exist, and create-key=yes does not create it: "
                    + below()
                    + " contains data, which a new key could not read; specify the key file that"
                    + " it was written with" + byHand);
        }
    }

    private Optional<KeyCheck> storedCheck() throws IOException {
        return labels.isEmpty()
                ? Optional.empty()
                : labels.get().read(KeyCheck.LABEL).map(KeyCheck::parse);
    }

    /** Stores the check value of a key, or logs that this is not possible. */
    private void keep(byte[] used, boolean fresh) {
        if (labels.isEmpty()) {
            LOG.log(System.Logger.Level.WARNING, "no check value of the key of {0} can be stored"
                    + " with it: a wrong key is not detected; a state directory (serve --state)"
                    + " can store it", below());
            return;
        }
        try {
            labels.get().write(KeyCheck.LABEL, KeyCheck.of(used).toString());
            if (!fresh) {
                LOG.log(System.Logger.Level.INFO,
                        "{0} is recorded as the key of {1}; other keys are rejected from now on",
                        file,
                        below());
            }
        } catch (IOException e) {
            LOG.log(System.Logger.Level.WARNING, "the check value of the key of {0} cannot be"
                    + " stored ({1}): a wrong key is not detected", below(), e.getMessage());
        }
    }

    @Override
    public Set<Capability> capabilities() { return capabilities; }

    /** {@inheritDoc} The names differ from those of the device below, which has another key. */
    @Override
    public Optional<DeviceLabels> labels() { return labels.map(PlainLabels::new); }

    private record PlainLabels(DeviceLabels below) implements DeviceLabels {
        @Override
        public Optional<String> read(String name) throws IOException {
            return below.read("plain-" + name);
        }

        @Override
        public void write(String name, String value) throws IOException {
            below.write("plain-" + name, value);
        }
    }

    /**
     * {@inheritDoc}
     *
     * @throws NotSupportedException if another open device of this process uses the key file: it would be destroyed
     */
    @Override
    public synchronized void eraseKey() throws StorageException {
        if (readOnly()) {
            throw new WriteProtectedException(this + " is read-only");
        }
        synchronized (KeysInUse.LOCK) { // no device may begin to use the file meanwhile
            if (!use.isSole()) {
                throw new NotSupportedException(file + " is also the key of another open device,"
                        + " which a new key would destroy; use a separate key for each device");
            }
            replaceKey(KeyFile.freshKey());
        }
    }

    private void replaceKey(byte[] after) throws StorageException {
        try {
            if (labels.isPresent()) { // a crash leaves either key in the file
                labels.get().write(KeyCheck.LABEL, KeyCheck.ofEither(key, after).toString());
            }
        } catch (IOException e) {
            throw new DeviceGoneException("the check value of the key of " + below()
                    + " cannot be written: " + e.getMessage(), e);
        }
        file.replace(after);
        key = after;
        xts = new Xts(after, blockSize());
        try {
            use.replaced();
        } catch (IOException e) {
            LOG.log(System.Logger.Level.WARNING, "{0} cannot be read: {1}", file, e.getMessage());
        }
        if (labels.isPresent()) {
            keep(after, true);
        }
    }

    @Override
    public void close() throws StorageException {
        try {
            super.close();
        } finally {
            use.end();
        }
    }

    @Override
    public void execute(BlockRequest request) throws StorageException {
        RequestValidation.check(request, this);
        Xts cipher = xts;
        BlockRequest lower = lower(request, cipher);
        try {
            below().execute(lower);
        } catch (StorageException e) {
            throw e instanceof MiscompareException differs ? told(request, cipher, differs) : e;
        }
        finishRead(request, cipher);
    }

    private MiscompareException told(BlockRequest request, Xts cipher,
            MiscompareException differs) {
        MemorySegment block = oneBlock();
        try {
            below().execute(present(request, differs, block));
        } catch (StorageException e) {
            return unlocated(request, differs, e);
        }
        return located(request, cipher, differs, block);
    }

    @Override
    public void submit(BlockRequest request) {
        Xts cipher = xts;
        BlockRequest lower;
        try {
            RequestValidation.check(request, this);
            lower = lower(request, cipher);
        } catch (StorageException e) {
            RequestCompletion.fail(request, e);
            return;
        } catch (IllegalStateException | WrongThreadException e) {
            RequestCompletion.fail(request, new InvalidRequestException(
                    request + ": the buffer cannot be used: " + e.getMessage(), e));
            return;
        }
        below().submit(lower.onCompletion((_, failure) -> end(request, cipher, failure)));
    }

    private void end(BlockRequest request, Xts cipher, @Nullable StorageException failure) {
        if (failure instanceof MiscompareException differs) {
            MemorySegment block = oneBlock(); // to wait for it here would block the device below
            below().submit(present(request, differs, block)
                    .onCompletion((_, unread) -> RequestCompletion.fail(request, unread == null
                            ? located(request, cipher, differs, block)
                            : unlocated(request, differs, unread))));
            return;
        }
        if (failure != null) {
            RequestCompletion.fail(request, failure);
            return;
        }
        finishRead(request, cipher);
        RequestCompletion.succeed(request);
    }

    /** Returns the request for the device below; data to write are encrypted into memory of its own. */
    private static BlockRequest lower(BlockRequest request, Xts cipher) {
        var lower = new BlockRequest().asCopyOf(request);
        return switch (request.operation()) {
            case READ, FLUSH, UNMAP, WRITE_ZEROES -> lower;
            case WRITE -> {
                MemorySegment data = room(request);
                cipher.encrypt(request.lba(), request.buffer(), data);
                yield lower.asCopyOf(request, data);
            }
            case COMPARE_AND_WRITE -> {
                MemorySegment data = room(request);
                long half = data.byteSize() / 2;
                cipher.encrypt(request.lba(), request.buffer().asSlice(0, half),
                        data.asSlice(0, half));
                cipher.encrypt(request.lba(), request.buffer().asSlice(half),
                        data.asSlice(half));
                yield lower.asCopyOf(request, data);
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

    // --- the first differing encrypted byte identifies the block; the plain block identifies the byte ---

    private MemorySegment oneBlock() { return MemorySegment.ofArray(new byte[blockSize()]); }

    private BlockRequest present(BlockRequest request, MiscompareException differs,
            MemorySegment block) {
        return new BlockRequest().asRead(request.lba() + differs.offsetBytes() / blockSize(), 1,
                block);
    }

    private MiscompareException located(BlockRequest request, Xts cipher,
            MiscompareException differs, MemorySegment block) {
        long index = differs.offsetBytes() / blockSize();
        long from = index * blockSize();
        cipher.decrypt(request.lba() + index, block, block);
        try {
            long found = block.mismatch(request.buffer().asSlice(from, blockSize()));
            return miscompare(request, from + Math.max(0, found), null); // it may have changed since
        } catch (IllegalStateException | WrongThreadException e) { // the buffer is another thread's
            return miscompare(request, from, e);
        }
    }

    /** The block cannot be read; that the comparison has failed is certain (SBC-4 section 5.3). */
    private MiscompareException unlocated(BlockRequest request, MiscompareException differs,
            StorageException unread) {
        return miscompare(request, differs.offsetBytes() / blockSize() * blockSize(), unread);
    }

    private MiscompareException miscompare(BlockRequest request, long offsetBytes,
            @Nullable Exception why) {
        var told = new MiscompareException(
                request + " on " + this + ": byte " + offsetBytes + " differs", offsetBytes);
        if (why != null) {
            told.addSuppressed(why);
        }
        return told;
    }

    @Override
    public String toString() { return "encrypt over " + below(); }
}
