package lunar.lucene;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import lunar.block.NoSpaceException;
import lunar.block.StorageException;
import org.apache.lucene.index.CorruptIndexException;

/**
 * Reads and writes the metadata of a device: superblock, owner and file table. Not thread-safe: one commit at a time.
 */
final class MetadataStore {
    /** The content of a device when it was opened. */
    record Opened(MetadataStore store, FileTable table, FreeSpace free) {}

    private static final System.Logger LOG = System.getLogger("lunar.lucene");

    private final Units units;
    private final Layout layout;
    /** Of the table that is on stable storage. */
    private long generation;
    /** Empty where the directory was opened for reading alone. */
    private Optional<Owner> owner = Optional.empty();

    private MetadataStore(Units units, Layout layout, long generation) {
        this.units = units;
        this.layout = layout;
        this.generation = generation;
    }

    Layout layout() { return layout; }

    /** Creates an empty directory. Existing content is unreadable as soon as this begins. */
    static void format(Units units) throws StorageException {
        Layout layout = Layout.of(UUID.randomUUID(), units.count());
        byte[] zeroes = new byte[Layout.UNIT_BYTES];
        units.write(0, zeroes);
        units.write(layout.superblockCopyUnit(), zeroes);
        units.flush();
        units.write(layout.areaUnit(0), zeroes);
        units.write(layout.areaUnit(1), FileTable.empty().encode(layout.image()));
        units.write(Layout.OWNER_UNIT, zeroes);
        units.write(layout.superblockCopyUnit(), layout.encode());
        units.flush();
        units.write(0, layout.encode());
        units.flush();
    }

    /** Reads the superblock, or its copy. */
    static Layout layout(Units units) throws IOException {
        if (units.count() < Layout.MIN_UNITS) {
            throw new CorruptIndexException("a device of " + units.count()
                    + " units is too small for a directory", units.toString());
        }
        IOException first = null;
        for (long unit : new long[]{0, units.count() - 1}) {
            try {
                return Layout.decode(units.read(unit, 1), units.count(), units.toString());
            } catch (IOException e) {
                if (first != null) {
                    first.addSuppressed(e);
                } else {
                    first = e;
                }
            }
        }
        throw Objects.requireNonNull(first);
    }

    /** Takes the newer of the tables that are whole. */
    static Opened open(Units units, Layout layout) throws IOException {
        List<Opened> whole = new ArrayList<>();
        var failures = new CorruptIndexException("no metadata area contains a valid file table",
                units.toString());
        for (int area = 0; area < 2; area++) {
            try {
                whole.add(read(units, layout, area));
            } catch (IOException e) {
                failures.addSuppressed(e);
            }
        }
        return whole.stream()
                .max(Comparator.comparingLong(one -> one.table().generation()))
                .orElseThrow(() -> failures);
    }

    private static Opened read(Units units, Layout layout, int area) throws IOException {
        byte[] first = units.read(layout.areaUnit(area), 1);
        int bytes = FileTable.encodedBytes(first, layout, units.toString());
        int count = Math.ceilDiv(bytes, Layout.UNIT_BYTES);
        byte[] all = count == 1 ? first : units.read(layout.areaUnit(area), count);
        var free = new FreeSpace(layout.data());
        FileTable table = FileTable.decode(all, bytes, free, units.toString());
        if ((table.generation() & 1) != area) {
            throw new CorruptIndexException("generation " + table.generation() + " in area " + area,
                    units.toString());
        }
        return new Opened(new MetadataStore(units, layout, table.generation()), table, free);
    }

    /** Writes this process's name into the owner record, over that of another which may still be alive. */
    void own() throws StorageException {
        Owner.decode(units.read(Layout.OWNER_UNIT, 1), layout.image()).filter(Owner::isOpen)
                .ifPresent(before -> LOG.log(Level.WARNING,
                        "{0} was not closed by {1}; if that is still running, its next commit will fail",
                        units, before.name()));
        var mine = new Owner(UUID.randomUUID(), true, System.currentTimeMillis(),
                ProcessHandle.current().pid() + " of " + System.getProperty("user.name", "?"));
        units.write(Layout.OWNER_UNIT, mine.encode(layout.image()));
        units.flush();
        owner = Optional.of(mine);
    }

    /** Says that the directory was closed in good order, unless it is another's by now. */
    void disown() throws StorageException {
        if (owner.isPresent() && isOwned()) {
            Owner mine = owner.get();
            var closed = new Owner(mine.opening(), false, mine.sinceMs(), mine.name());
            units.write(Layout.OWNER_UNIT, closed.encode(layout.image()));
            units.flush();
        }
    }

    private boolean isOwned() throws StorageException {
        Optional<Owner> there = Owner.decode(units.read(Layout.OWNER_UNIT, 1), layout.image());
        return there.map(Owner::opening).equals(owner.map(Owner::opening));
    }

    long nextGeneration() { return generation + 1; }

    /**
     * Looks whether a table can be committed at all.
     *
     * @throws NoSpaceException if it is longer than a metadata area
     */
    void requireRoom(FileTable table) throws NoSpaceException {
        if (table.encodedBytes() > layout.areaBytes()) {
            throw new NoSpaceException(units + ": the file table of " + table.files().size()
                    + " files does not fit into " + layout.areaBytes()
                    + " bytes of metadata; merge segments or delete files");
        }
    }

    /**
     * Commits a table. The data that it refers to must already be on stable storage. Overwrites the area of the table
     * before the current one, which is no longer needed.
     *
     * @throws IOException if it failed: which of the two tables is valid is unknown until the device is read again
     */
    void commit(FileTable table) throws IOException {
        if (!isOwned()) {
            throw new IOException(units + " was opened for writing by another process: "
                    + Owner.decode(units.read(Layout.OWNER_UNIT, 1), layout.image())
                            .map(Owner::name).orElse("unknown"));
        }
        units.write(layout.areaUnit((int) (table.generation() & 1)),
                table.encode(layout.image()));
        units.flush();
        generation = table.generation();
    }
}
