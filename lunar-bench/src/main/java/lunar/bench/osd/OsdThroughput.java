package lunar.bench.osd;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import lunar.bench.harness.BenchException;

/**
 * Throughput of one server in one round.
 *
 * @param server label of the server
 * @param reads whether the clients read; otherwise they write
 * @param bytes size of a message
 * @param clients number of clients, each of which has one command outstanding
 * @param megabytes per second, of all clients, in 10^6 bytes
 */
record OsdThroughput(String server, boolean reads, int bytes, int clients, double megabytes) {
    /** Bytes of the object of each client. */
    static final int OBJECT_BYTES = 16 << 20;

    private static final double BYTES_PER_MEGABYTE = 1e6;

    /** Creates the object of a client and fills it. */
    static void prepare(OsdClient client, long object) throws IOException {
        client.execute(OsdCommand.CREATE, object);
        MemorySegment data = client.memory(1 << 20);
        data.fill((byte) 0x5a);
        for (int at = 0; at < OBJECT_BYTES; at += 1 << 20) {
            client.write(object, at, data);
        }
    }

    /** Measures clients, each of which reads or writes an object of its own, in order and again. */
    static OsdThroughput measure(String server, List<OsdClient> clients, long firstObject,
            boolean reads, int bytes, int seconds)
            throws BenchException, InterruptedException {
        long start = System.nanoTime();
        long end = start + TimeUnit.SECONDS.toNanos(seconds);
        long moved = 0;
        try (var threads = Executors.newFixedThreadPool(clients.size())) {
            var running = new ArrayList<Future<Long>>();
            for (int i = 0; i < clients.size(); i++) {
                OsdClient client = clients.get(i);
                long object = firstObject + i;
                running.add(threads.submit(() -> run(client, object, reads, bytes, end)));
            }
            for (Future<Long> each : running) {
                moved += each.get();
            }
        } catch (ExecutionException e) {
            throw new BenchException("a client has failed", e);
        }
        double took = (System.nanoTime() - start) / (double) TimeUnit.SECONDS.toNanos(1);
        return new OsdThroughput(server, reads, bytes, clients.size(),
                moved / took / BYTES_PER_MEGABYTE);
    }

    private static long run(OsdClient client, long object, boolean reads, int bytes, long end)
            throws IOException {
        MemorySegment memory = client.memory(bytes);
        long moved = 0;
        long offset = 0;
        while (System.nanoTime() < end) {
            if (reads) {
                client.read(object, offset, memory);
            } else {
                client.write(object, offset, memory);
            }
            moved += bytes;
            offset = offset + 2L * bytes > OBJECT_BYTES ? 0 : offset + bytes;
        }
        return moved;
    }
}
