package lunar.bench.harness;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Random;

/**
 * File of random bytes that the measured servers serve. It is written by requests of 4 KiB, so that the page cache
 * holds it in small folios. Data written or read in large requests is cached in folios of up to megabytes; each small
 * write to such a folio makes the file system check every block of the folio, which takes about 50 us in any process
 * and would mask the target's own time. Stateless.
 */
public final class BackingFile {
    public static final long BYTES = 1L << 30;
    private static final int PIECE_BYTES = 1 << 20;
    private static final int PAGE_BYTES = 4096;
    private static final int TOOL_SECONDS = 180;

    private BackingFile() {}

    /** Creates or overwrites {@code backing.img} in a directory, on stable storage. */
    public static Path prepare(Path directory, long seed) throws BenchException {
        return prepare(directory.resolve("backing.img"), BYTES, seed);
    }

    /**
     * Creates or overwrites a file, on stable storage.
     *
     * @param bytes a multiple of 1 MiB
     */
    public static Path prepare(Path file, long bytes, long seed) throws BenchException {
        try {
            fill(file, bytes, seed);
            return file;
        } catch (IOException e) {
            throw new BenchException("cannot write " + file + ": " + e.getMessage(), e);
        }
    }

    /** Runs {@code sync}, so that no write-back takes place during the next measurement. */
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
