package lunar.bench;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;

/** What both servers serve: a file of random bytes, which the page cache holds. */
final class BackingFile {
    static final long BYTES = 1L << 30;
    private static final int PIECE_BYTES = 1 << 20;

    private BackingFile() {}

    /** Makes the file unless it is there, stable, and reads it once. */
    static Path prepare(Path directory, long seed) throws BenchException {
        return prepare(directory.resolve("backing.img"), BYTES, seed);
    }

    /** The same for another file, of a multiple of 1 MiB. */
    static Path prepare(Path file, long bytes, long seed) throws BenchException {
        try {
            if (!Files.exists(file) || Files.size(file) != bytes) {
                fill(file, bytes, seed);
            }
            var buffer = ByteBuffer.allocateDirect(PIECE_BYTES);
            try (var channel = FileChannel.open(file)) {
                while (channel.read(buffer) >= 0) {
                    buffer.clear();
                }
            }
            return file;
        } catch (IOException e) {
            throw new BenchException(file + " cannot be made: " + e.getMessage(), e);
        }
    }

    private static void fill(Path file, long bytes, long seed) throws IOException {
        var random = new Random(seed);
        var piece = new byte[PIECE_BYTES];
        try (var channel = FileChannel.open(file, StandardOpenOption.CREATE,
                StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)) {
            for (long at = 0; at < bytes; at += PIECE_BYTES) {
                random.nextBytes(piece);
                var buffer = ByteBuffer.wrap(piece);
                while (buffer.hasRemaining()) {
                    channel.write(buffer);
                }
            }
            channel.force(true);
        }
    }
}
