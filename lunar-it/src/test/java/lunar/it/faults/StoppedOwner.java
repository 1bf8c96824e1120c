package lunar.it.faults;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.block.StorageException;
import lunar.testkit.FreePorts;

/**
 * Stops the gateway that runs a volume with SIGSTOP, like a machine that hangs; a second gateway takes the volume over
 * and serves it; then the first is continued, with hosts' writes in its queues. It must answer with errors, write
 * nothing, and return no stale data.
 */
final class StoppedOwner implements Scenario {
    private static final int BLOCKS = 128;

    @Override
    public String name() { return "stopped-owner"; }

    @Override
    public String about() {
        return "a gateway is stopped, another one takes the volume over, the first one goes on";
    }

    @Override
    public String play(Lab lab, int times) throws Exception {
        var members = new MemberTargets(lab, 2, "");
        members.create("raid1:vol");
        var ports = FreePorts.several(2);
        var history = new BlockHistory(BLOCKS);
        var refused = new AtomicLong();
        int owner = 0;
        LunarProcess running = gateway(lab, members, ports.get(owner)).start();
        String done = "";
        for (int i = 0; i < times; i++) {
            Gateway old = gateway(lab, members, ports.get(owner));
            Gateway next = gateway(lab, members, ports.get(1 - owner));
            try (BlockDevice by = open(old)) {
                VerifiedLoad load;
                try (var loaded = VerifiedLoad.start(by, history, lab.seed(), lab.random())) {
                    load = loaded;
                    loaded.progress(lab.between(20, 300), running);
                    running.stop();
                    lab.say("stopped the gateway on port %d", old.port());
                    Thread.sleep(lab.between(0, 500));
                }
                load.failIfBroken();
                done = load.summary();
                LunarProcess taken = next.takeOver();
                lab.say("the gateway on port %d has the volume", next.port());
                useBoth(lab, by, next, history, running, taken, refused);
                running.kill();
                running = taken;
                owner = 1 - owner;
            }
        }
        Gateway last = gateway(lab, members, ports.get(owner));
        String scrub = last.scrub();
        try (BlockDevice device = Devices.open(last.uri())) {
            VerifiedLoad check = VerifiedLoad.idle(device, history, lab.seed());
            check.checkAll();
        }
        running.end();
        return times + " take-overs, last load " + done + ", " + refused
                + " requests refused by fenced gateways, " + scrub;
    }

    private static Gateway gateway(Lab lab, MemberTargets members, int port) {
        return new Gateway(lab, "raid1:vol", members.config(), port);
    }

    private static BlockDevice open(Gateway gateway) throws StorageException {
        return Devices.open(gateway.uri().replace("no-path-retry=180",
                "no-path-retry=fail&keep-alive=2s&command-timeout=20s"));
    }

    /** The old gateway continues while the new one is under load; whatever the old one answers is judged. */
    private static void useBoth(Lab lab, BlockDevice by, Gateway next, BlockHistory history,
            LunarProcess old, LunarProcess taken, AtomicLong refused) throws Exception {
        var enough = new AtomicBoolean();
        VerifiedLoad reader = VerifiedLoad.idle(by, history, lab.seed());
        try (BlockDevice device = Devices.open(next.uri());
                var load = VerifiedLoad.start(device, history, lab.seed(), lab.random())) {
            load.progress(lab.between(20, 300), taken);
            Thread reading = Thread.ofPlatform().start(() -> {
                while (!enough.get()) {
                    if (!reader.checkOnce()) {
                        refused.incrementAndGet();
                    }
                }
            });
            old.resume();
            load.progress(lab.between(100, 600), taken);
            enough.set(true);
            reading.join();
            reader.failIfBroken();
            load.close();
            load.failIfBroken();
            load.checkAll();
        }
    }
}
