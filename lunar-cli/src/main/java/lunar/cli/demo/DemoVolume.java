package lunar.cli.demo;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.block.Size;
import lunar.cli.command.Failure;
import lunar.cli.config.OpenDevices;
import lunar.cli.config.Portal;
import lunar.cli.copy.PatternCheck;
import lunar.raid.layout.Level;
import lunar.raid.metadata.Creation;
import lunar.raid.service.RunOptions;
import lunar.raid.service.RunningVolume;
import lunar.raid.service.ScrubResult;
import lunar.raid.service.VolumeHealth;
import lunar.raid.service.VolumeSpec;
import lunar.server.StorageServer;
import org.jspecify.annotations.Nullable;

/** Steps of the demo with a volume of four targets, one of which fails under load and is replaced. */
final class DemoVolume {
    private static final long SEED = 20261105;
    private static final int MEMBERS = 4;
    private static final int THREADS = 2;
    private static final int DEPTH = 16;
    private static final int LOST = 2;
    private static final long CHECK_NS = TimeUnit.MILLISECONDS.toNanos(1500);
    private static final long SHORT_NS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long WAIT_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long LOOK_MS = 10;

    private final DemoLab lab;
    private final List<StorageServer> servers = new ArrayList<>();
    private @Nullable RunningVolume volume;
    private @Nullable PatternCheck check;

    DemoVolume(DemoLab lab) { this.lab = lab; }

    List<DemoSteps.Step> steps() {
        return List.of(new DemoSteps.Step("a RAID 5 volume of four targets", this::create),
                new DemoSteps.Step("verified random I/O on the volume", this::work),
                new DemoSteps.Step("a target fails under I/O", this::lose),
                new DemoSteps.Step("another target replaces it under I/O", this::replace),
                new DemoSteps.Step("a scrub compares every byte", this::scrub),
                new DemoSteps.Step("the volume is stopped and restarted", this::restart));
    }

    private String create() throws IOException, Failure, InterruptedException {
        var members = new ArrayList<Creation.Member>();
        var uris = new ArrayList<String>();
        for (int i = 0; i < MEMBERS; i++) {
            uris.add(serve());
        }
        try (var devices = new OpenDevices()) {
            for (String uri : uris) {
                members.add(new Creation.Member(uri, UUID.randomUUID(), devices.open(uri)));
            }
            var _ = Creation.create(Creation.Wish.of(UUID.randomUUID(), "demo",
                    System.currentTimeMillis(), Level.RAID5, UUID.randomUUID()), members, false);
        }
        var spec = new VolumeSpec(Level.RAID5, "demo", uris, List.of(), Optional.empty(),
                RunOptions.DEFAULT);
        volume = RunningVolume.open(spec, Devices::open);
        await(VolumeHealth.CLEAN);
        check = new PatternCheck(volume(), SEED, DEPTH);
        return Size.format(volume().sizeBytes()) + " of four times " + DemoLab.MEMBER_SIZE
                + ", chunk " + Size.format(volume().status().chunkBytes()) + ", parity true";
    }

    /** Serves another target and returns the URI of its LUN, which fails as soon as the target is gone. */
    private String serve() throws IOException, Failure {
        StorageServer server = lab.member(servers.size());
        servers.add(server);
        return "iscsi://" + Portal.text(server.portals().getFirst()) + "/"
                + server.units().getFirst().iqn() + "/0?no-path-retry=fail";
    }

    private RunningVolume volume() throws Failure {
        if (volume == null) {
            throw new Failure("the volume does not exist");
        }
        return volume;
    }

    private PatternCheck check() throws Failure {
        if (check == null) {
            throw new Failure("the volume does not exist");
        }
        return check;
    }

    private String work() throws Failure, InterruptedException {
        return told(check().run(THREADS, CHECK_NS));
    }

    private static String told(long requests) throws Failure {
        DemoSteps.require(requests > 0, "no request was completed");
        return String.format(Locale.ROOT, "%,d requests, all correct", requests);
    }

    private String lose() throws IOException, Failure, InterruptedException {
        long requests;
        StorageServer server = servers.get(LOST);
        var end = Thread.ofPlatform().unstarted(() -> close(server));
        end.start();
        try {
            requests = check().run(THREADS, CHECK_NS);
        } finally {
            end.join();
        }
        requests += check().run(THREADS, SHORT_NS); // data written before the failure is intact, too
        await(VolumeHealth.DEGRADED);
        return told(requests) + ", slot " + LOST + " failed";
    }

    private static void close(StorageServer server) {
        try {
            server.close();
        } catch (IOException e) {
            System.getLogger("lunar.cli").log(System.Logger.Level.WARNING, e.getMessage());
        }
    }

    private String replace() throws IOException, Failure, InterruptedException {
        long startNs = System.nanoTime();
        volume().replace(LOST, serve(), false);
        long requests = check().run(THREADS, SHORT_NS);
        await(VolumeHealth.CLEAN);
        return told(requests) + String.format(Locale.ROOT, ", rebuilt after %.1f s",
                (System.nanoTime() - startNs) / 1e9);
    }

    private String scrub() throws IOException, Failure, InterruptedException {
        DemoSteps.require(volume().scrub(false), "a scrub is already running");
        long until = System.nanoTime() + WAIT_NS;
        while (volume().status().lastScrub().isEmpty() && System.nanoTime() - until < 0) {
            Thread.sleep(LOOK_MS);
        }
        ScrubResult result = volume().status().lastScrub()
                .orElseThrow(() -> new Failure("the scrub does not end"));
        DemoSteps.require(result.isClean(), "scrub: " + result);
        return String.format(Locale.ROOT, "%,d stripes, no differences", result.stripes());
    }

    private String restart() throws IOException, Failure, InterruptedException {
        VolumeSpec before = volume().spec();
        var members = new ArrayList<String>();
        volume().status().slots().forEach(slot -> members.add(slot.uri()));
        volume().close();
        volume = RunningVolume.open(new VolumeSpec(before.level(), before.name(), members,
                List.of(), Optional.empty(), before.options()), Devices::open);
        DemoSteps.require(volume().status().health() == VolumeHealth.CLEAN,
                "it is " + volume().status().health());
        BlockDevice same = volume();
        String told = told(check().on(same).run(THREADS, SHORT_NS));
        close();
        return told;
    }

    private void await(VolumeHealth wanted) throws Failure, InterruptedException {
        long until = System.nanoTime() + WAIT_NS;
        while (volume().status().health() != wanted) {
            if (System.nanoTime() - until > 0) {
                throw new Failure("the volume is " + volume().status().health() + ", not "
                        + wanted);
            }
            Thread.sleep(LOOK_MS);
        }
    }

    /** Ends the volume, then its targets. */
    void close() throws IOException {
        try {
            if (volume != null) {
                volume.close();
            }
        } finally {
            servers.forEach(DemoVolume::close);
        }
    }
}
