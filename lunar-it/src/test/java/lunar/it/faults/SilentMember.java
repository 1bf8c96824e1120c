package lunar.it.faults;

import java.util.ArrayList;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.testkit.FreePorts;

/**
 * Silences a member of a served volume under load, and lets it go on: the network before it freezes, or its target is
 * stopped with SIGSTOP. The volume waits for the member or continues without it; writes that were under way arrive
 * afterwards, when their blocks may have been written again or rebuilt, and must not undo that.
 */
final class SilentMember implements Scenario {
    private static final int BLOCKS = 96;

    private final boolean stopped;

    /** @param stopped whether the target is stopped, instead of the network */
    SilentMember(boolean stopped) {
        this.stopped = stopped;
    }

    @Override
    public String name() { return stopped ? "stopped-member" : "frozen-member"; }

    @Override
    public String about() {
        return "a member of a volume: its " + (stopped ? "target is stopped" : "network freezes")
                + ", and goes on";
    }

    @Override
    public String play(Lab lab, int times) throws Exception {
        String level = lab.seed() % 2 == 0 ? "raid1" : "raid5";
        var members = new MemberTargets(lab, level.equals("raid1") ? 2 : 3, "");
        var proxies = new ArrayList<FaultProxy>();
        for (int member = 0; member < members.count(); member++) {
            proxies.add(members.proxy(member));
        }
        members.doWithout(0);
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
                // More often the one that the volume does without.
                int member = Math.max(0, lab.between(-1, members.count() - 1));
                Thread.sleep(lab.between(0, 20));
                if (stopped) {
                    stop(lab, member, members.process(member));
                } else {
                    freeze(lab, member, proxies.get(member));
                }
                running.progress(50, server);
                running.round(server);
                // Else a second member is missing, which is one more than the level survives.
                VolumeWait.untilClean(lab, gateway, running);
            }
        }
        load.failIfBroken();
        load.checkAll();
        String scrub = gateway.scrub();
        load.checkAll();
        device.close();
        server.end();
        long degraded = server.errors().lines()
                .filter(line -> line.contains("the volume is degraded")).count();
        return level + ": " + times + " silences, degraded " + degraded + " times, "
                + load.summary() + ", " + scrub;
    }

    private static void stop(Lab lab, int member, LunarProcess target) throws Exception {
        int ms = length(lab);
        lab.say("the target of member %d is stopped for %d ms", member, ms);
        target.stop();
        Thread.sleep(ms);
        target.resume();
    }

    /** Shorter or longer than the volume waits for the member that it does without. */
    private static int length(Lab lab) {
        return lab.random().nextBoolean() ? lab.between(200, 3_500) : lab.between(6_000, 8_000);
    }

    private static void freeze(Lab lab, int member, FaultProxy proxy) throws Exception {
        int ms = length(lab);
        switch (lab.random().nextInt(4)) {
            case 0 -> {
                lab.say("member %d: cut", member);
                proxy.cut();
            }
            case 1 -> {
                lab.say("member %d: its connections are held for %d ms, new ones pass", member, ms);
                proxy.hold();
                Thread.sleep(ms);
            }
            case 2 -> {
                lab.say("member %d: frozen for %d ms, new connections pass first", member, ms);
                proxy.freeze();
                Thread.sleep(ms);
                proxy.hold();
                Thread.sleep(lab.between(0, 3_000));
            }
            default -> {
                lab.say("member %d: frozen for %d ms", member, ms);
                proxy.freeze();
                Thread.sleep(ms);
            }
        }
        proxy.thaw();
    }
}
