package lunar.it.faults;

import java.io.IOException;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.testkit.FreePorts;

/**
 * Kills and restarts the server of a file with a volatile write cache. Writes that were not flushed may be gone; the
 * first flush after it fails if there were any, and every flush that succeeds keeps what was acknowledged before it.
 */
final class DroppedFile implements Scenario {
    private static final int BLOCKS = 256;

    @Override
    public String name() { return "dropped-file"; }

    @Override
    public String about() { return "the server of a file loses its write cache, and is back"; }

    @Override
    public String play(Lab lab, int times) throws Exception {
        var gateway = new Gateway(lab, "volatile:file:" + lab.path("disk.img") + "?size=8MiB", "",
                FreePorts.one());
        LunarProcess server = gateway.start();
        BlockDevice device = lab.with(Devices.open(gateway.uri()));
        var history = new BlockHistory(BLOCKS);
        VerifiedLoad load;
        try (var running = VerifiedLoad.start(device, history, lab.seed(), lab.random())) {
            load = running;
            for (int i = 0; i < times; i++) {
                running.progress(lab.between(1, 400), server);
                Thread.sleep(lab.between(0, 20));
                server = drop(lab, gateway, server, history);
                running.progress(50, server);
                running.round(server);
            }
        }
        load.failIfBroken();
        server = dropIdle(lab, gateway, server, history, load);
        device.close();
        server.end();
        return times + 1 + " cache drops, " + load.summary();
    }

    private static LunarProcess drop(Lab lab, Gateway gateway, LunarProcess server,
            BlockHistory history) throws IOException, InterruptedException {
        history.cacheDrops();
        server.kill();
        history.onlyCacheDropped();
        lab.say("%s", "the cache is lost");
        Thread.sleep(lab.between(0, 500));
        return gateway.start();
    }

    /** Nothing is in flight, so it is certain which writes are lost. */
    private static LunarProcess dropIdle(Lab lab, Gateway gateway, LunarProcess server,
            BlockHistory history, VerifiedLoad load) throws Exception {
        load.requireFlush();
        load.checkAll();
        load.writeAll();
        LunarProcess restarted = drop(lab, gateway, server, history);
        load.checkAll();
        if (load.flush()) {
            throw new AssertionError("the first flush after a loss succeeds");
        }
        load.writeAll();
        load.requireFlush();
        load.checkAll();
        return restarted;
    }
}
