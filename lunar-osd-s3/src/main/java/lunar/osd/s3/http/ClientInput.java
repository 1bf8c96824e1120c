package lunar.osd.s3.http;

import java.io.IOException;
import java.io.InputStream;

/** Reads the body of a request from its client, for a limited time at a time. For the thread of the request. */
final class ClientInput extends InputStream {
    private final InputStream in;
    private final RequestThreads threads;

    ClientInput(InputStream in, RequestThreads threads) {
        this.in = in;
        this.threads = threads;
    }

    @Override
    public int read() throws IOException {
        var one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int at, int length) throws IOException {
        threads.beginWait();
        try {
            return in.read(into, at, length);
        } catch (IOException e) {
            throw new ClientException(e);
        } finally {
            threads.endWait();
        }
    }
}
