package lunar.lucene;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Phaser;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import lunar.block.BlockDevice;
import lunar.block.NoSpaceException;
import lunar.block.StorageException;
import lunar.block.WriteProtectedException;
import org.apache.lucene.store.BaseDirectory;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.store.IndexOutput;
import org.apache.lucene.store.LockObtainFailedException;
import org.apache.lucene.store.OutputStreamIndexOutput;
import org.apache.lucene.store.ReadOnceHint;
import org.apache.lucene.store.SingleInstanceLockFactory;
import org.jspecify.annotations.Nullable;

/**
 * A crash-safe Lucene directory on a block device: after a power cut the directory, and a Lucene index in it, opens in
 * the state of the last commit or of one that was in progress.
 *
 * <p><b>Durability.</b> {@link #sync}, {@link #syncMetaData} and {@link #close} commit: every file whose output is
 * closed is then on stable storage under its current name, and deletions are durable. Between commits, renames and
 * deletions are not durable, and a new file may be lost in a crash. After a failed write or flush of a commit, the
 * directory rejects further commits, because the device may have lost data that it had accepted; close the directory
 * and open it again.
 *
 * <p><b>One writer.</b> A second directory that writes to the same formatted device in this process is rejected.
 * Another process that opens the same LUN for writing takes it over: the next commit of the previous owner fails. Until
 * then, the previous owner may overwrite data of the new one, so avoid this situation. A read-only device is opened for
 * reading only, by any number of processes, as long as none writes.
 *
 * <p><b>Deletion</b> works as on Unix: a deleted file can still be read by open inputs, and its space is released after
 * these are closed and the deletion is committed. <b>Reading a file that is still being written</b> is rejected with
 * {@link AccessDeniedException}.
 *
 * <p><b>Memory.</b> Reads go through a cache of pages of 16 KiB on the heap, whose size is an option; Lucene's prefetch
 * hints and sequential reads request several pages at once. Each open output has up to four buffers of 64 KiB outside
 * the heap.
 *
 * <p>The caller closes the device, after the directory. Thread-safe.
 */
public final class LunarDirectory extends BaseDirectory {
    /** Default size of the page cache: 64 MiB or an eighth of the maximum heap, whichever is smaller. */
    public static final long DEFAULT_CACHE_BYTES = Math.min(64L << 20,
            Runtime.getRuntime().maxMemory() / 8);

    private static final int OUTPUT_BUFFER_BYTES = 8192;

    /** Images that this process has open: two directories over one would overwrite each other's files. */
    private static final Set<UUID> OPEN = ConcurrentHashMap.newKeySet();

    private final Units units;
    private final MetadataStore metadata;
    private final PageCache cache;
    private final boolean readOnly;
    private final FileWriter.Space space = new Space();

    /** Parties: incomplete writes of outputs, and the directory while it is open. */
    private final Phaser writes = new Phaser(1);

    /** Held by the commit in progress; never acquired by a thread that holds the other lock. */
    private final ReentrantLock commitLock = new ReentrantLock();
    /** Why nothing can be committed any longer. Guarded by the commit lock. */
    private @Nullable IOException failure;

    /** Guards what follows. */
    private final ReentrantLock lock = new ReentrantLock();
    private final TreeMap<String, StoredFile> files = new TreeMap<>();
    private final FreeSpace free;
    /** Deleted files that a table on the device may still name. */
    private List<StoredFile> limbo = new ArrayList<>();
    private long nextId;
    private long nextTemp;
    /** Whether the table differs from the one on the device, and whether data may be in the device's cache. */
    private boolean changed;
    private boolean written;

    private LunarDirectory(Units units, MetadataStore.Opened opened, long cacheBytes) {
        super(new SingleInstanceLockFactory());
        this.units = units;
        this.metadata = opened.store();
        this.cache = new PageCache(units, cacheBytes);
        this.readOnly = units.readOnly();
        this.free = opened.free();
        this.nextId = opened.table().nextId();
        for (FileTable.Entry entry : opened.table().files()) {
            files.put(entry.name(), new StoredFile(entry));
        }
    }

    /**
     * Creates an empty directory on a device. <b>Whatever is on it is lost.</b> Blocks.
     *
     * @throws IllegalArgumentException if the device has less than 2 MiB or more than 4 PiB
     * @throws LockObtainFailedException if this process has a directory on it open
     */
    public static void format(BlockDevice device) throws IOException {
        var units = new Units(device);
        if (isFormatted(device) && OPEN.contains(MetadataStore.layout(units).image())) {
            throw new LockObtainFailedException(device + " is open in this process");
        }
        MetadataStore.format(units);
    }

    /** Whether there is a directory on a device. */
    public static boolean isFormatted(BlockDevice device) throws StorageException {
        try {
            MetadataStore.layout(new Units(device));
            return true;
        } catch (StorageException e) {
            throw e;
        } catch (IOException _) {
            return false;
        }
    }

    /** Opens a directory with a cache of {@link #DEFAULT_CACHE_BYTES}. */
    public static LunarDirectory open(BlockDevice device) throws IOException {
        return open(device, DEFAULT_CACHE_BYTES);
    }

    /**
     * Opens a directory; read-only if the device is read-only. Blocks.
     *
     * @param cacheBytes heap memory for pages; at least 1 MiB
     * @throws org.apache.lucene.index.CorruptIndexException if there is none, or if it is corrupt
     * @throws LockObtainFailedException if it is already open for writing in this process
     */
    public static LunarDirectory open(BlockDevice device, long cacheBytes) throws IOException {
        var units = new Units(device);
        Layout layout = MetadataStore.layout(units);
        boolean exclusive = !device.readOnly();
        if (exclusive && !OPEN.add(layout.image())) {
            throw new LockObtainFailedException(device + " is already open in this process");
        }
        boolean success = false;
        try {
            MetadataStore.Opened opened = MetadataStore.open(units, layout);
            if (exclusive) {
                opened.store().own();
            }
            var directory = new LunarDirectory(units, opened, cacheBytes);
            success = true;
            return directory;
        } finally {
            if (exclusive && !success) {
                OPEN.remove(layout.image());
            }
        }
    }

    /** Returns the bytes available to new files. Space of deleted files is added by the next commit. */
    public long freeBytes() {
        lock.lock();
        try {
            return free.units() * Layout.UNIT_BYTES;
        } finally {
            lock.unlock();
        }
    }

    // --- names ---

    @Override
    public String[] listAll() {
        ensureOpen();
        lock.lock();
        try {
            return files.keySet().toArray(String[]::new);
        } finally {
            lock.unlock();
        }
    }

    /** The file of a name. The lock is held. */
    private StoredFile file(String name) throws NoSuchFileException {
        assert lock.isHeldByCurrentThread();
        StoredFile file = files.get(name);
        if (file == null) {
            throw new NoSuchFileException(name, null, "not on " + units);
        }
        return file;
    }

    @Override
    public long fileLength(String name) throws IOException {
        ensureOpen();
        lock.lock();
        try {
            return file(name).length;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void deleteFile(String name) throws IOException {
        requireWritable();
        lock.lock();
        try {
            StoredFile file = file(name);
            files.remove(name);
            file.deleted = true;
            if (file.committed) {
                limbo.add(file);
                changed = true;
            } else {
                freeIfUnused(file);
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void rename(String source, String dest) throws IOException {
        requireWritable();
        requireName(dest);
        lock.lock();
        try {
            StoredFile file = file(source);
            if (files.containsKey(dest)) {
                throw new FileAlreadyExistsException(dest, null,
                        "cannot rename " + source + " on " + units);
            }
            files.remove(source);
            files.put(dest, file);
            file.name = dest;
            changed = true;
        } finally {
            lock.unlock();
        }
    }

    /** Returns an empty set: a deleted file is removed immediately, even while it is being read. */
    @Override
    public Set<String> getPendingDeletions() { return Set.of(); }

    private static void requireName(String name) throws IOException {
        int bytes = name.getBytes(StandardCharsets.UTF_8).length;
        if (bytes == 0 || bytes > FileTable.MAX_NAME_BYTES) {
            throw new IOException("a name must have 1 to " + FileTable.MAX_NAME_BYTES
                    + " bytes: '" + name + "'");
        }
    }

    private void requireWritable() throws WriteProtectedException {
        ensureOpen();
        if (readOnly) {
            throw new WriteProtectedException(units + " is opened read-only");
        }
    }

    /** Gives back the units of a file that is no longer reachable. The lock is held. */
    private void freeIfUnused(StoredFile file) {
        assert lock.isHeldByCurrentThread();
        if (file.deleted && !file.committed && file.inputs == 0
                && file.state != StoredFile.State.WRITING) {
            file.runs().forEach(free::free);
        }
    }

    // --- writing ---

    @Override
    public IndexOutput createOutput(String name, IOContext context) throws IOException {
        requireWritable();
        requireName(name);
        lock.lock();
        try {
            if (files.containsKey(name)) {
                throw new FileAlreadyExistsException(name, null, "already exists on " + units);
            }
            return output(name);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public IndexOutput createTempOutput(String prefix, String suffix, IOContext context)
            throws IOException {
        requireWritable();
        lock.lock();
        try {
            String name;
            do {
                name = getTempFileName(prefix, suffix, nextTemp++);
            } while (files.containsKey(name));
            requireName(name);
            return output(name);
        } finally {
            lock.unlock();
        }
    }

    private IndexOutput output(String name) {
        var file = new StoredFile(nextId++, name);
        files.put(name, file);
        return new OutputStreamIndexOutput("LunarIndexOutput(" + name + " on " + units + ")", name,
                new FileWriter(units, space, file), OUTPUT_BUFFER_BYTES);
    }

    /** Where outputs get their units. */
    private final class Space implements FileWriter.Space {
        @Override
        public void requireOpen() throws IOException {
            if (!isOpen) {
                throw directoryClosed();
            }
        }

        @Override
        public void beginWrite() throws IOException {
            if (writes.register() < 0) {
                throw directoryClosed();
            }
            if (!isOpen) {
                endWrite();
                throw directoryClosed();
            }
        }

        @Override
        public void endWrite() { int _ = writes.arriveAndDeregister(); }

        private IOException directoryClosed() {
            return new IOException(units + ": the directory was closed before its outputs");
        }

        @Override
        public UnitRun extend(StoredFile file, long wanted) throws IOException {
            UnitRun run = tryExtend(file, wanted);
            if (run == null && hasLimbo()) {
                commit(); // frees the units of deleted files
                run = tryExtend(file, wanted);
            }
            if (run == null) {
                throw new NoSpaceException(units + " is full: " + file.name + " cannot grow beyond "
                        + file.length + " bytes");
            }
            return run;
        }

        private @Nullable UnitRun tryExtend(StoredFile file, long wanted) {
            lock.lock();
            try {
                UnitRun run = free.allocate(wanted, file.after());
                if (run != null) {
                    file.add(run);
                }
                return run;
            } finally {
                lock.unlock();
            }
        }

        private boolean hasLimbo() {
            lock.lock();
            try {
                return !limbo.isEmpty();
            } finally {
                lock.unlock();
            }
        }

        @Override
        public void ended(StoredFile file, boolean whole) {
            lock.lock();
            try {
                if (whole) {
                    file.trim().forEach(free::free);
                    file.seal();
                    written = true;
                    changed |= !file.deleted;
                } else {
                    file.state = StoredFile.State.BROKEN;
                }
                freeIfUnused(file);
            } finally {
                lock.unlock();
            }
        }
    }

    // --- commits ---

    @Override
    public void sync(Collection<String> names) throws IOException {
        requireWritable();
        lock.lock();
        try {
            for (String name : names) {
                if (file(name).state != StoredFile.State.WHOLE) {
                    throw new IOException(name + " cannot be made durable: its output "
                            + (file(name).state == StoredFile.State.BROKEN ? "failed" : "is open"));
                }
            }
        } finally {
            lock.unlock();
        }
        commit();
    }

    @Override
    public void syncMetaData() throws IOException {
        requireWritable();
        commit();
    }

    /** Makes all complete files, renames and deletions durable. */
    private void commit() throws IOException {
        commitLock.lock();
        try {
            ensureOpen(); // it may have been closed meanwhile
            if (failure != null) {
                throw new IOException("an earlier commit failed; close the directory and open it "
                        + "again", failure);
            }
            commitChanges();
        } finally {
            commitLock.unlock();
        }
    }

    private void commitChanges() throws IOException {
        FileTable table;
        List<StoredFile> gone;
        boolean flush;
        lock.lock();
        try {
            if (!changed) {
                return;
            }
            table = table();
            metadata.requireRoom(table);
            for (StoredFile file : files.values()) {
                file.committed |= file.state == StoredFile.State.WHOLE;
            }
            gone = limbo;
            limbo = new ArrayList<>();
            flush = written;
            written = false;
            changed = false;
        } finally {
            lock.unlock();
        }
        try {
            if (flush) {
                units.flush();
            }
            metadata.commit(table);
        } catch (IOException | RuntimeException e) {
            failure = e instanceof IOException io ? io : new IOException(e);
            throw e;
        }
        lock.lock();
        try {
            for (StoredFile file : gone) {
                file.committed = false;
                freeIfUnused(file);
            }
        } finally {
            lock.unlock();
        }
    }

    private FileTable table() {
        List<FileTable.Entry> entries = new ArrayList<>();
        for (StoredFile file : files.values()) {
            if (file.state == StoredFile.State.WHOLE) {
                entries.add(file.entry());
            }
        }
        return new FileTable(metadata.nextGeneration(), nextId, entries);
    }

    // --- reading ---

    @Override
    public IndexInput openInput(String name, IOContext context) throws IOException {
        ensureOpen();
        StoredFile file;
        lock.lock();
        try {
            file = file(name);
            switch (file.state) {
                case WHOLE -> file.inputs++;
                case WRITING ->
                    throw new AccessDeniedException(name, null, "is still being written");
                case BROKEN -> throw new IOException(name + " was not written completely");
            }
        } finally {
            lock.unlock();
        }
        boolean eager = context.context() == IOContext.Context.MERGE
                || context.hints().contains(ReadOnceHint.INSTANCE);
        return new StoredInput("LunarIndexInput(" + name + " on " + units + ")",
                new OpenFile(file), 0, file.length, true, eager);
    }

    /** Keeps a file's units its own until it is closed. */
    private final class OpenFile implements StoredInput.OpenFile {
        private final StoredFile file;
        private final AtomicBoolean open = new AtomicBoolean(true);

        OpenFile(StoredFile file) { this.file = file; }

        @Override
        public StoredFile file() { return file; }

        @Override
        public PageCache cache() { return cache; }

        @Override
        public boolean isOpen() { return LunarDirectory.this.isOpen && open.get(); }

        @Override
        public void close() {
            if (open.compareAndSet(true, false)) {
                lock.lock();
                try {
                    file.inputs--;
                    freeIfUnused(file);
                } finally {
                    lock.unlock();
                }
            }
        }
    }

    // --- closing ---

    /**
     * Commits, waits for writes in flight, then gives up ownership of the device: a later write could overwrite data of
     * the next directory. Open inputs are invalidated; files of open outputs are lost. Idempotent.
     *
     * @throws IOException if its commit failed; the directory is closed nevertheless. After an earlier commit has
     *         failed, it closes without a commit and without an exception
     */
    @Override
    public void close() throws IOException {
        commitLock.lock();
        try {
            if (!isOpen) {
                return;
            }
            boolean committed = false;
            try {
                if (!readOnly && failure == null) {
                    commitChanges();
                    committed = true;
                }
            } finally {
                isOpen = false;
                int _ = writes.awaitAdvance(writes.arriveAndDeregister());
                release(committed);
            }
        } finally {
            commitLock.unlock();
        }
    }

    private void release(boolean committed) throws IOException {
        try {
            if (committed) {
                metadata.disown();
            }
        } finally {
            cache.clear();
            if (!readOnly) {
                OPEN.remove(metadata.layout().image());
            }
        }
    }

    @Override
    public String toString() { return "LunarDirectory(" + units + ")"; }
}
