package lunar.cli.browse;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import lunar.block.BlockDevice;
import lunar.fs.CorruptException;
import lunar.fs.FileSystemView;
import lunar.fs.PartitionTable;
import lunar.fs.UnsupportedException;
import lunar.fs.Volume;
import org.jspecify.annotations.Nullable;

/**
 * The volumes of a device and their file systems. Views cache what they have read, and the device may be in use by
 * others, so they are reopened after some time. Thread-safe.
 */
public final class BrowsedDisk {
    private static final long FRESH_NS = TimeUnit.SECONDS.toNanos(2);

    /**
     * A volume.
     *
     * @param volume where it is
     * @param files its file system, where it has one that can be read
     * @param problem why not, empty where it can
     */
    public record Part(Volume volume, Optional<FileSystemView> files, String problem) {
        private static Part open(BlockDevice device, Volume volume) throws IOException {
            try {
                return new Part(volume, Optional.of(FileSystemView.open(device, volume)), "");
            } catch (UnsupportedException | CorruptException e) {
                return new Part(volume, Optional.empty(), String.valueOf(e.getMessage()));
            }
        }

        /** Its files; the exception tells the problem. */
        public FileSystemView requireFiles() throws NoFilesException {
            return files.orElseThrow(() -> new NoFilesException(problem));
        }
    }

    /** A volume without a file system that can be read. */
    public static final class NoFilesException extends IOException {
        private static final long serialVersionUID = 1;

        NoFilesException(String message) { super(message); }
    }

    /**
     * A look at the device.
     *
     * @param table its partitions
     * @param parts the same, opened
     */
    public record Look(PartitionTable table, List<Part> parts) {
        public Look {
            parts = List.copyOf(parts);
        }

        /** Whether there is one volume without a partition table. */
        public boolean isWhole() {
            return table.scheme() == PartitionTable.Scheme.NONE;
        }

        /** The volume with this number. */
        public Optional<Part> part(long number) {
            return parts.stream().filter(part -> part.volume().number() == number).findFirst();
        }
    }

    private final BlockDevice device;
    private @Nullable Look last;
    private long lookedNs;

    /** @param device stays the caller's */
    public BrowsedDisk(BlockDevice device) {
        this.device = device;
    }

    /** Returns the content of the device, at most two seconds old. */
    public synchronized Look look() throws IOException {
        long now = System.nanoTime();
        Look known = last;
        if (known != null && now - lookedNs < FRESH_NS) {
            return known;
        }
        PartitionTable table = PartitionTable.read(device);
        var parts = new ArrayList<Part>();
        for (Volume volume : table.volumes()) {
            parts.add(Part.open(device, volume));
        }
        var look = new Look(table, parts);
        last = look;
        lookedNs = now;
        return look;
    }
}
