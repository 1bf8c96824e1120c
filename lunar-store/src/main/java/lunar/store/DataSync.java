package lunar.store;

import java.io.IOException;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Makes the data that were written to a file stable, whichever descriptor they were written by: fdatasync(2). */
interface DataSync extends AutoCloseable {
    /** @throws IOException with the operating system's reason; Linux tells of a failed writeback once only */
    void sync() throws IOException;

    @Override
    void close() throws IOException;

    /**
     * A descriptor of its own, kept as long as the device. Linux reports a writeback error once per open file
     * description, and one that is opened later may miss it (errseq_t): so it must not be closed in between. A
     * {@link java.nio.channels.FileChannel} would be closed by an interrupt, which also takes the place of the error
     * that is being reported.
     */
    static DataSync of(Path path) throws IOException {
        AsynchronousFileChannel channel = AsynchronousFileChannel.open(path,
                StandardOpenOption.WRITE);
        return new DataSync() {
            @Override
            public void sync() throws IOException { channel.force(false); }

            @Override
            public void close() throws IOException { channel.close(); }
        };
    }
}
