package lunar.osd.s3.http;

import java.io.IOException;
import java.io.OutputStream;

/** Writes the body of a response to its client, for a limited time at a time. For the thread of the request. */
final class ClientOutput extends OutputStream {
    /** How an operation on the stream below is called. */
    @FunctionalInterface
    private interface Operation {
        void run() throws IOException;
    }

    private final OutputStream out;
    private final RequestThreads threads;

    ClientOutput(OutputStream out, RequestThreads threads) {
        this.out = out;
        this.threads = threads;
    }

    @Override
    public void write(int value) throws IOException { write(new byte[]{(byte) value}, 0, 1); }

    @Override
    public void write(byte[] from, int at, int length) throws IOException {
        timed(() -> out.write(from, at, length));
    }

    @Override
    public void close() throws IOException { timed(out::close); }

    private void timed(Operation operation) throws IOException {
        threads.beginWait();
        try {
            operation.run();
        } catch (IOException e) {
            throw new ClientException(e);
        } finally {
            threads.endWait();
        }
    }
}
