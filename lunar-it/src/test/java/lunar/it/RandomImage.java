package lunar.it;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;

/** Files with content determined by a seed. */
final class RandomImage {
    private static final int PIECE_BYTES = 1 << 20;

    private RandomImage() {}

    /** Writes a file of so many bytes, a whole number of mebibytes. */
    static Path write(Path file, long bytes, long seed) throws IOException {
        var random = new Random(seed);
        byte[] piece = new byte[PIECE_BYTES];
        try (OutputStream out = Files.newOutputStream(file)) {
            for (long done = 0; done < bytes; done += PIECE_BYTES) {
                random.nextBytes(piece);
                out.write(piece);
            }
        }
        return file;
    }
}
