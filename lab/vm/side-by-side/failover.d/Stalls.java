import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import com.sun.nio.file.ExtendedOpenOption;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/**
 * Writes 4 KiB again and again by several threads, and prints a line {@code stall START DURATION} for each write that
 * took long, in milliseconds, the start since the epoch. The device is a file of the kernel, opened with O_DIRECT.
 */
final class Stalls {
    private static final int WRITERS = 4;
    private static final int BYTES = 4096;
    private static final int BLOCKS_EACH = 256;
    private static final int PAUSE_MS = 5;
    private static final int LONG_MS = 200;

    /** Writes 4096 bytes of a buffer at an offset in bytes, and returns when they are acknowledged. */
    interface Writer {
        void write(long offset, ByteBuffer from) throws Exception;
    }

    private Stalls() {}

    public static void main(String[] arguments) throws Exception {
        try (var disk = FileChannel.open(Path.of(arguments[0]), READ, WRITE,
                ExtendedOpenOption.DIRECT)) {
            watch(() -> (offset, from) -> disk.write(from, offset));
        }
    }

    /** A writer for each thread. */
    interface Writers {
        Writer next() throws Exception;
    }

    /** Writes until the process is killed. */
    static void watch(Writers writers) throws Exception {
        for (int i = 1; i < WRITERS; i++) {
            int number = i;
            Writer writer = writers.next();
            Thread.ofPlatform().start(() -> write(writer, number));
        }
        System.out.println("writing");
        write(writers.next(), 0);
    }

    private static void write(Writer writer, int number) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(2 * BYTES).alignedSlice(BYTES);
        for (int i = 0;; i++) {
            buffer.clear().limit(BYTES);
            long offset = (long) (number * BLOCKS_EACH + i % BLOCKS_EACH) * BYTES;
            long startMs = System.currentTimeMillis();
            long startNanos = System.nanoTime();
            try {
                writer.write(offset, buffer);
                Thread.sleep(PAUSE_MS);
            } catch (Exception e) {
                System.out.println("error " + startMs + " " + e);
                System.exit(1);
            }
            long ms = (System.nanoTime() - startNanos) / 1_000_000 - PAUSE_MS;
            if (ms >= LONG_MS) {
                System.out.println("stall " + startMs + " " + ms);
            }
        }
    }
}
