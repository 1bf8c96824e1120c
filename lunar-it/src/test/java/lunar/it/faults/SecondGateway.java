package lunar.it.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.testkit.FreePorts;

/**
 * Starts two gateways of one volume at the same moment, and the second one again while the first serves the volume,
 * none of them as a take-over. At most one runs the volume; the other refuses, and the first one goes on unharmed.
 */
final class SecondGateway implements Scenario {
    private static final int BLOCKS = 128;

    @Override
    public String name() { return "second-gateway"; }

    @Override
    public String about() { return "two gateways start with one volume, and one is refused"; }

    @Override
    public String play(Lab lab, int times) throws Exception {
        String level = lab.seed() % 2 == 0 ? "raid1" : "raid5";
        var members = new MemberTargets(lab, level.equals("raid1") ? 2 : 3, "");
        members.create(level + ":vol");
        List<Integer> ports = FreePorts.several(2);
        var history = new BlockHistory(BLOCKS);
        int nobody = 0;
        String done = "";
        for (int i = 0; i < times; i++) {
            // Either may come first.
            int first = lab.between(0, 1);
            Gateway one = gateway(lab, level, members, ports.get(first));
            Gateway other = gateway(lab, level, members, ports.get(1 - first));
            LunarProcess starting = launch(lab, one);
            Thread.sleep(lab.between(0, 1) * lab.between(0, 1_000));
            LunarProcess rival = launch(lab, other);
            boolean oneServes = starting.serves();
            if (rival.serves()) {
                if (oneServes) {
                    throw new AssertionError("both gateways serve the volume");
                }
                requireRefused(starting);
                done = use(lab, other, rival, one, history);
            } else {
                requireRefused(rival);
                if (!oneServes) {
                    requireRefused(starting);
                    nobody++;
                    starting = one.start(apart(lab, one));
                }
                done = use(lab, one, starting, other, history);
            }
        }
        String scrub = gateway(lab, level, members, ports.getFirst()).scrub();
        return level + ": " + times + " pairs, neither started " + nobody + " times, last load "
                + done + ", " + scrub;
    }

    private static Gateway gateway(Lab lab, String level, MemberTargets members, int port) {
        return new Gateway(lab, level + ":vol", members.config(), port);
    }

    /** Starts it where it does not see the control socket of the other one. */
    private static LunarProcess launch(Lab lab, Gateway gateway) throws IOException {
        return gateway.launch(apart(lab, gateway));
    }

    private static Map<String, String> apart(Lab lab, Gateway gateway) throws IOException {
        Path runtime = Files.createDirectories(lab.path("runtime-" + gateway.port()));
        return Map.of("XDG_RUNTIME_DIR", runtime.toString());
    }

    private static void requireRefused(LunarProcess gateway)
            throws IOException, InterruptedException {
        if (gateway.status() == 0) {
            throw new AssertionError("a gateway ends as if it had served: " + gateway.errors());
        }
    }

    /** Loads the gateway that serves, starts the other one again meanwhile, and ends the first. */
    private static String use(Lab lab, Gateway gateway, LunarProcess server, Gateway other,
            BlockHistory history) throws Exception {
        lab.say("the gateway on port %d has the volume", gateway.port());
        try (BlockDevice device = Devices.open(gateway.uri())) {
            VerifiedLoad load;
            try (var running = VerifiedLoad.start(device, history, lab.seed(), lab.random())) {
                load = running;
                running.progress(lab.between(20, 200), server);
                LunarProcess second = launch(lab, other);
                if (second.serves()) {
                    throw new AssertionError("a second gateway serves the volume");
                }
                requireRefused(second);
                running.progress(50, server);
                running.round(server);
            }
            load.failIfBroken();
            load.checkAll();
            if (!load.summary().endsWith("flushes")) {
                throw new AssertionError("the second gateway has harmed the first: "
                        + load.summary());
            }
            return load.summary();
        } finally {
            if (lab.random().nextBoolean()) {
                server.kill();
            } else {
                server.end();
            }
        }
    }
}
