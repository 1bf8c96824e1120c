package lunar.it.faults;

import lunar.block.BlockDevice;
import lunar.block.Devices;

/**
 * Kills a server with SIGKILL under load, and restarts it. What it acknowledged is in the page cache or on disk, so
 * none of it may be missing, flushed or not.
 */
final class KilledServer implements Scenario {
    private static final int BLOCKS = 256;

    private final String kind;

    /** @param kind of {@link Unit} */
    KilledServer(String kind) { this.kind = kind; }

    @Override
    public String name() { return "killed-" + kind; }

    @Override
    public String about() { return "the server of " + kind + ": is killed and started again"; }

    @Override
    public String play(Lab lab, int times) throws Exception {
        Unit unit = Unit.of(kind, lab);
        Gateway gateway = unit.made(lab);
        LunarProcess server = gateway.start();
        BlockDevice device = lab.with(Devices.open(gateway.uri()));
        var history = new BlockHistory(BLOCKS);
        VerifiedLoad load;
        try (var running = VerifiedLoad.start(device, history, lab.seed(), lab.random())) {
            load = running;
            for (int i = 0; i < times; i++) {
                running.progress(lab.between(1, 400), server);
                Thread.sleep(lab.between(0, 20));
                server.kill();
                lab.say("killed at %,d requests", running.done());
                server = gateway.start();
            }
            running.progress(100, server);
        }
        load.failIfBroken();
        load.checkAll();
        device.close();
        server.end();
        String scrub = unit.isVolume() ? ", " + gateway.scrub() : "";
        return times + " kills, " + load.summary() + scrub;
    }
}
