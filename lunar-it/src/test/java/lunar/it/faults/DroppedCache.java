package lunar.it.faults;

import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.testkit.FreePorts;

/**
 * Drops the write cache of a served volume's member, which loses power and returns within the time that requests wait
 * for it. The other members have the data: after a flush that succeeds all of them are durable, and no read is stale.
 */
final class DroppedCache implements Scenario {
    private static final int BLOCKS = 256;

    private final String level;

    /** @param level {@code raid1} or {@code raid5} */
    DroppedCache(String level) {
        this.level = level;
    }

    @Override
    public String name() { return "dropped-" + level; }

    @Override
    public String about() {
        return "a member of " + level + ": loses its write cache, and is back";
    }

    @Override
    public String play(Lab lab, int times) throws Exception {
        var members = new MemberTargets(lab, level.equals("raid1") ? 2 : 3, "volatile:");
        members.create(level + ":vol");
        var gateway = new Gateway(lab, level + ":vol", members.config(), FreePorts.one());
        LunarProcess server = gateway.start();
        BlockDevice device = lab.with(Devices.open(gateway.uri()));
        var history = new BlockHistory(BLOCKS);
        VerifiedLoad load;
        try (var running = VerifiedLoad.start(device, history, lab.seed(), lab.random())) {
            load = running;
            for (int i = 0; i < times; i++) {
                running.progress(lab.between(20, 300), server);
                int member = lab.random().nextInt(members.count());
                Thread.sleep(lab.between(0, 20));
                history.cacheDrops();
                members.kill(member);
                history.cacheDropped();
                lab.say("member %d has lost its cache at %,d requests", member, running.done());
                Thread.sleep(lab.between(0, 3_000));
                members.restart(member);
                running.progress(50, server);
                // Else a second loss is one more than the level survives.
                VolumeWait.untilClean(lab, gateway, running);
            }
        }
        load.failIfBroken();
        load.requireFlush();
        load.checkAll();
        String scrub = gateway.scrub();
        load.checkAll();
        device.close();
        server.end();
        return times + " cache drops, " + load.summary() + ", " + scrub;
    }
}
