package lunar.bench.harness;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Random;

/**
 * File of random bytes that both servers serve. It is read into the page cache by requests of 4 KiB, so that it is
 * cached in small folios. Data written or read in large requests is cached in folios of up to megabytes; each small
 * write to such a folio makes the file system check all its blocks, which takes about 50 us in any process and would
 * hide the time of a target.
 */
public final class BackingFile {
    public static final long BYTES = 1L << 30;
    private static final int PIECE_BYTES = 1 << 20;
    private static final int PAGE_BYTES = 4096;
    private static final int TOOL_SECONDS = 180;

    private BackingFile() {}

    /** Makes the file anew, stable. */
    public static Path prepare(Path directory, long seed) throws BenchException {
        return prepare(directory.resolve("backing.img"), BYTES, seed);
    }

    /** Fills another file, of a multiple of 1 MiB. */
    public static Path prepare(Path file, long bytes, long seed) throws BenchException {
        try {
            fill(file, bytes, seed);
            return file;
        } catch (IOException e) {
            throw new BenchException(file + " cannot be created: " + e.getMessage(), e);
        }
    }

    /** Has everything on the disk, so that nothing is written back while something else is measured. */
    public static void writeBack(Path log) throws BenchException, InterruptedException {
        String _ = Processes.run(log, TOOL_SECONDS, List.of("sync"));
    }

    private static void fill(Path file, long bytes, long seed) throws IOException {
        var random = new Random(seed);
        var piece = new byte[PIECE_BYTES];
        try (var channel = FileChannel.open(file, StandardOpenOption.CREATE,
                StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)) {
            for (long at = 0; at < bytes; at += PIECE_BYTES) {
                random.nextBytes(piece);
                for (int page = 0; page < PIECE_BYTES; page += PAGE_BYTES) {
                    var buffer = ByteBuffer.wrap(piece, page, PAGE_BYTES);
                    while (buffer.hasRemaining()) {
                        channel.write(buffer);
                    }
                }
            }
            channel.force(true);
        }
    }
}
