package lunar.it.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.testkit.FreePorts;

/**
 * Fills up the file system of a thinly provisioned file or member of a volume under load, and frees space again. Writes
 * fail meanwhile; no acknowledged write is lost, no member is failed, and writes succeed afterwards.
 */
final class FullDisk implements Scenario {
    private static final int BLOCKS = 48 << 10;

    private final boolean volume;

    /** @param volume whether a RAID 1 with one member on the full file system is served, instead of a file on it */
    FullDisk(boolean volume) {
        this.volume = volume;
    }

    @Override
    public String name() { return volume ? "full-raid1" : "full-file"; }

    @Override
    public String about() {
        return "the file system of " + (volume ? "a member of raid1:" : "a file")
                + " fills up, and has space again";
    }

    @Override
    public String missing() {
        return System.getProperty("user.name").equals("root")
                ? ""
                : "to mount a small file system takes root";
    }

    @Override
    public String play(Lab lab, int times) throws Exception {
        Path small = Files.createDirectories(lab.path("small"));
        mount(small);
        try {
            return playOn(lab, small, times);
        } finally {
            lab.stopAll();
            run("umount", small.toString());
        }
    }

    private String playOn(Lab lab, Path small, int times) throws Exception {
        String config = lab.path("lunar.toml").toString();
        String thin = "file:" + small.resolve("disk.img") + "?size=40MiB";
        if (volume) {
            lab.run("raid", "create", "raid1:vol", thin,
                    "file:" + lab.path("m1") + "?size=40MiB", "--assume-clean", "--config", config);
        }
        var gateway = new Gateway(lab, volume ? "raid1:vol" : thin, volume ? config : "",
                FreePorts.one());
        LunarProcess server = gateway.start();
        BlockDevice device = lab.with(Devices.open(gateway.uri()));
        var history = new BlockHistory(BLOCKS);
        VerifiedLoad load;
        try (var running = VerifiedLoad.start(device, history, lab.seed(), lab.random())) {
            load = running;
            for (int i = 0; i < times; i++) {
                running.progress(lab.between(20, 200), server);
                Path ballast = small.resolve("ballast");
                fill(ballast);
                lab.say("full at %,d requests", running.done());
                Thread.sleep(lab.between(50, 400));
                Files.delete(ballast);
            }
            running.progress(100, server);
        }
        load.failIfBroken();
        load.checkAll();
        device.close();
        if (volume) {
            VolumeWait.untilClean(lab, gateway, load);
        }
        server.end();
        return times + " times full, " + load.summary();
    }

    private static void fill(Path ballast) throws IOException {
        byte[] piece = new byte[64 << 10];
        try (var out = Files.newOutputStream(ballast)) {
            while (true) {
                out.write(piece);
            }
        } catch (IOException _) {
            // it is full, as it is meant to be
        }
    }

    private static void mount(Path small) throws IOException, InterruptedException {
        run("mount", "-t", "tmpfs", "-o", "size=48m", "none", small.toString());
    }

    private static void run(String... words) throws IOException, InterruptedException {
        if (new ProcessBuilder(words).inheritIO().start().waitFor() != 0) {
            throw new IOException(String.join(" ", words) + " has failed");
        }
    }
}
