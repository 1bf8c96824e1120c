package lunar.it.faults;

import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.testkit.FreePorts;

/**
 * Drops the write caches of more members of a served volume than its level survives, like those of a rack that loses
 * power, and brings the members back one after the other. Writes that were not flushed may be gone, and a flush must
 * report that; every flush that succeeds keeps what was acknowledged before it.
 */
final class DroppedCaches implements Scenario {
    private static final int BLOCKS = 256;

    @Override
    public String name() { return "dropped-both"; }

    @Override
    public String about() { return "several members of a volume lose their caches, and are back"; }

    @Override
    public String play(Lab lab, int times) throws Exception {
        String level = lab.seed() % 2 == 0 ? "raid1" : "raid5";
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
                drop(lab, members, history);
                running.progress(50, server);
                running.round(server);
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
        return level + ": " + times + " drops of several caches, " + load.summary() + ", " + scrub;
    }

    private static void drop(Lab lab, MemberTargets members, BlockHistory history)
            throws Exception {
        List<Integer> hurt = IntStream.range(0, members.count()).boxed()
                .collect(Collectors.toList());
        Collections.shuffle(hurt, lab.random());
        hurt = hurt.subList(0, lab.between(2, members.count()));
        Thread.sleep(lab.between(0, 20));
        history.cacheDrops();
        for (int member : hurt) {
            members.kill(member);
            Thread.sleep(lab.between(0, 1) * lab.between(0, 200));
        }
        history.cacheDropped();
        lab.say("members %s have lost their caches", hurt);
        Collections.shuffle(hurt, lab.random());
        for (int member : hurt) {
            Thread.sleep(lab.between(0, 1_500));
            members.restart(member);
        }
    }
}
