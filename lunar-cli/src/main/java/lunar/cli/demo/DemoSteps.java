package lunar.cli.demo;

import lunar.cli.bench.Bench;
import lunar.cli.bench.Figures;
import lunar.cli.bench.Workload;
import lunar.cli.command.Failure;
import lunar.cli.config.OpenDevices;
import lunar.cli.config.Portal;
import lunar.cli.copy.DeviceComparison;
import lunar.cli.copy.DeviceCopy;
import lunar.cli.copy.PatternCheck;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import lunar.block.BlockDevice;
import lunar.block.Size;
import lunar.initiator.LunDevice;
import lunar.initiator.Session;
import lunar.initiator.SessionOptions;
import lunar.iscsi.LoginException;
import lunar.iscsi.login.ChapCredentials;
import lunar.iscsi.login.DigestChoice;
import lunar.iscsi.login.Secret;
import lunar.scsi.Lun;
import lunar.server.StorageServer;

/** Steps of the demo, in order. Each step throws on failure. */
final class DemoSteps {
    private static final long SEED = 20261101;
    private static final int DEPTH = 32;
    private static final int THREADS = 4;
    private static final long CHECK_NS = TimeUnit.SECONDS.toNanos(2);
    private static final long RAMP_NS = TimeUnit.MILLISECONDS.toNanos(1000);
    /** The code is slow at first: the first of the two speeds would pay for both. */
    private static final long FIRST_RAMP_NS = TimeUnit.SECONDS.toNanos(3);
    private static final long BENCH_NS = TimeUnit.MILLISECONDS.toNanos(1500);
    private static final int CHUNK_BYTES = 1 << 20;

    /** Runs a step and returns its results. */
    @FunctionalInterface
    interface Work {
        String run() throws IOException, Failure, InterruptedException;
    }

    /**
     * A step.
     *
     * @param title what it shows
     */
    record Step(String title, Work work) {}

    private final DemoLab lab;
    private final DemoVolume volume;
    private final List<Figures> measured = new ArrayList<>();

    DemoSteps(DemoLab lab) {
        this.lab = lab;
        volume = new DemoVolume(lab);
    }

    List<Step> all() {
        var steps = new ArrayList<>(List.of(new Step("two targets on the loopback", this::serve),
                new Step("discovery finds them", this::discover),
                new Step("CHAP accepts the right secret", this::rightSecret),
                new Step("CHAP rejects a wrong secret", this::wrongSecret),
                new Step("an unknown target is rejected", this::unknownTarget),
                new Step("verified random I/O, 512-byte blocks", () -> verify(0, false)),
                new Step("verified random I/O, 4096-byte blocks, digests", () -> verify(1, true)),
                new Step("verified random I/O, a file", () -> verify(2, false)),
                new Step("copy to a LUN and compare", this::copy),
                new Step("speed without digests", () -> measure(false)),
                new Step("speed with CRC32C digests", () -> measure(true))));
        steps.addAll(volume.steps());
        steps.add(new Step("sessions end and all resources are released", this::end));
        return steps;
    }

    /** Ends what a step that failed may have left. */
    void close() throws IOException {
        volume.close();
    }

    /** The table at the end. */
    List<Figures> measured() { return List.copyOf(measured); }

    private String serve() throws IOException, Failure {
        StorageServer server = lab.start();
        return server.units().size() + " LUNs on " + lab.portal();
    }

    private String discover() throws IOException, Failure {
        var found = lab.initiator().discover(lab.portal());
        var names = found.stream().map(target -> target.name()).sorted().toList();
        require(names.equals(List.of(DemoLab.GUARDED, DemoLab.OPEN)), "found " + names);
        return names.size() + " targets";
    }

    private SessionOptions options(String target) {
        Portal portal = Portal.parse(lab.portal());
        return SessionOptions.of(portal.host(), portal.port(), target);
    }

    private Session login(boolean digests) throws IOException, Failure {
        DigestChoice choice = digests ? DigestChoice.REQUIRE_CRC32C : DigestChoice.NONE;
        var options = options(DemoLab.OPEN);
        Session session = lab.initiator().login(
                options.withOffer(options.offer().withHeaderDigest(choice).withDataDigest(choice)));
        require(session.parameters().headerDigest() == digests
                && session.parameters().dataDigest() == digests,
                "digests were not negotiated as requested");
        return session;
    }

    private String rightSecret() throws IOException {
        var options = options(DemoLab.GUARDED)
                .withChap(new ChapCredentials(DemoLab.USER, Secret.of(lab.secret())));
        try (Session session = lab.initiator().login(options);
                LunDevice lun = session.open(Lun.of(0))) {
            return "LUN 0 has " + Size.format(lun.sizeBytes());
        }
    }

    private String wrongSecret() throws IOException, Failure {
        return refused(options(DemoLab.GUARDED)
                .withChap(new ChapCredentials(DemoLab.USER, Secret.of("not the secret"))));
    }

    private String unknownTarget() throws IOException, Failure {
        return refused(options("iqn.2026-11.org.lunar:demo.nothing"));
    }

    private String refused(SessionOptions options) throws IOException, Failure {
        try (Session _ = lab.initiator().login(options)) {
            throw new Failure("the login was not rejected");
        } catch (LoginException e) {
            require(e.statusClass() == 2, "rejected for another reason: " + e.getMessage());
            return String.format("status %02x%02x", e.statusClass(), e.statusDetail());
        }
    }

    private String verify(int lun, boolean digests)
            throws IOException, Failure, InterruptedException {
        try (Session session = login(digests); LunDevice device = session.open(Lun.of(lun))) {
            long requests = new PatternCheck(device, SEED + lun, DEPTH).run(THREADS, CHECK_NS);
            device.flush();
            require(requests > 0, "no request was completed");
            return String.format(Locale.ROOT, "%,d requests, %d threads at depth %d, all correct",
                    requests, THREADS, DEPTH);
        }
    }

    private String copy() throws IOException, Failure, InterruptedException {
        String image = "file:" + lab.file("image.img") + "?size=48MiB";
        try (var devices = new OpenDevices()) {
            BlockDevice source = devices.open(image);
            byte[] noise = new byte[16 << 20];
            new Random(SEED).nextBytes(noise);
            source.write(0, MemorySegment.ofArray(noise));
            BlockDevice lun = devices.open(lab.uri(1) + "?header-digest=crc32c&data-digest=crc32c");
            var copy = new DeviceCopy(source, lun, 8, CHUNK_BYTES, true, false, _ -> {});
            long startNs = System.nanoTime();
            copy.run();
            lun.flush();
            double seconds = (System.nanoTime() - startNs) / 1e9;
            new DeviceComparison(source, lun, 8, CHUNK_BYTES, _ -> {}).run();
            return String.format(Locale.ROOT, "%s, of it %s zeroes, %.0f MB/s, no differences",
                    Size.format(source.sizeBytes()), Size.format(copy.zeroBytes()),
                    source.sizeBytes() / 1e6 / seconds);
        } finally {
            Files.deleteIfExists(lab.file("image.img"));
        }
    }

    private String measure(boolean digests) throws IOException, Failure, InterruptedException {
        try (Session session = login(digests); LunDevice device = session.open(Lun.of(0))) {
            String with = digests ? ", CRC32C" : "";
            Figures small = bench(device, "4 KiB random read, depth 32" + with,
                    Workload.Pattern.RANDREAD, 4096, DEPTH);
            Figures large = bench(device, "256 KiB sequential read, depth 8" + with,
                    Workload.Pattern.READ, 256 << 10, 8);
            return String.format(Locale.ROOT, "%,.0f IOPS of 4 KiB, %,.0f MB/s", small.iops(),
                    large.megabytesPerSecond());
        }
    }

    private Figures bench(BlockDevice device, String name, Workload.Pattern pattern,
            int requestBytes, int depth) throws IOException, Failure, InterruptedException {
        long rampNs = measured.isEmpty() ? FIRST_RAMP_NS : RAMP_NS;
        var work = new Workload(pattern, requestBytes, depth, 1, 100, rampNs, BENCH_NS);
        Figures figures = new Bench(work, 0).add(name, device).run().devices().getFirst();
        require(figures.operations() > 0, "no operation completed in time");
        measured.add(figures);
        return figures;
    }

    private String end() throws IOException, Failure {
        lab.initiator().close();
        StorageServer server = lab.server();
        server.close();
        require(server.sessionCount() == 0, server.sessionCount() + " sessions are left");
        require(server.bufferBytesInUse() == 0, server.bufferBytesInUse()
                + " bytes of buffers are left");
        return "0 sessions, 0 bytes of buffers";
    }

    static void require(boolean held, String otherwise) throws Failure {
        if (!held) {
            throw new Failure(otherwise);
        }
    }
}
