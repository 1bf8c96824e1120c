package lunar.bench.objects;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import lunar.bench.harness.BenchException;
import lunar.bench.harness.Server;
import lunar.bench.harness.Settings;
import lunar.bench.osd.OsdClient;
import lunar.initiator.Initiator;

/** Creates and lists objects through the device, over TCP, in a partition that has very many already. */
final class DeviceRun {
    private static final int LIST_BYTES = 1 << 16;
    private static final double NANOS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);

    private DeviceRun() {}

    /** Returns the figures. */
    static Map<String, String> of(Settings settings, Path store, int count, int clients)
            throws BenchException, IOException, InterruptedException {
        var figures = new LinkedHashMap<String, String>();
        try (var initiator = Initiator.create("iqn.2026-11.org.lunar:bench-objects")) {
            try (Server server = start(settings, store, figures, "start")) {
                var sessions = new ArrayList<OsdClient>();
                try {
                    for (int i = 0; i < clients; i++) {
                        sessions.add(OsdClient.open(initiator, server.uri(0)));
                    }
                    figures.put("creation, " + clients + " clients",
                            rate(count, create(sessions, count / clients)) + " objects/s");
                    long start = System.nanoTime();
                    figures.put("list of all",
                            rate(list(sessions.getFirst()), start) + " objects/s");
                } finally {
                    sessions.forEach(OsdClient::close);
                }
            } // which kills it
            start(settings, store, figures, "start after kill -9").close();
        }
        return figures;
    }

    private static Server start(Settings settings, Path store, Map<String, String> figures,
            String what) throws BenchException, InterruptedException {
        long start = System.nanoTime();
        Server server = Server.lunar(settings.lunar(),
                settings.directory().resolve("objects-device.log"), List.of(),
                List.of("osd:" + store));
        figures.put(what + ", with its JVM", String.format(Locale.ROOT, "%.1f s",
                (System.nanoTime() - start) / NANOS_PER_SECOND));
        return server;
    }

    private static String rate(long count, long start) {
        return String.format(Locale.ROOT, "%,.0f",
                count / ((System.nanoTime() - start) / NANOS_PER_SECOND));
    }

    /** Returns when it began. */
    private static long create(List<OsdClient> sessions, int each)
            throws BenchException, InterruptedException {
        long start = System.nanoTime();
        try (var threads = Executors.newFixedThreadPool(sessions.size())) {
            var running = new ArrayList<Future<Boolean>>();
            for (OsdClient client : sessions) {
                running.add(threads.submit(() -> {
                    for (int i = 0; i < each; i++) {
                        client.create();
                    }
                    return true;
                }));
            }
            for (Future<Boolean> one : running) {
                one.get();
            }
        } catch (ExecutionException e) {
            throw new BenchException("a client has failed", e);
        }
        return start;
    }

    private static long list(OsdClient client) throws IOException {
        MemorySegment memory = client.memory(LIST_BYTES);
        long listed = 0;
        for (long from = 0;;) {
            List<Long> ids = client.list(from, memory);
            if (ids.isEmpty()) {
                return listed;
            }
            listed += ids.size();
            from = ids.getLast() + 1;
        }
    }
}
