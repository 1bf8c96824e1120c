package lunar.store;

import java.io.IOException;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Makes data written to a file stable, regardless of the descriptor it was written by: fdatasync(2). */
interface DataSync extends AutoCloseable {
    /** @throws IOException with the operating system's reason; Linux reports a failed writeback only once */
    void sync() throws IOException;

    @Override
    void close() throws IOException;

    /**
     * Opens a separate descriptor, kept as long as the device. Linux reports a writeback error once per open file
     * description, and a description opened later may miss it (errseq_t), so it must stay open. A
     * {@link java.nio.channels.FileChannel} would be closed by an interrupt, which would also hide an error that is
     * being reported.
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
