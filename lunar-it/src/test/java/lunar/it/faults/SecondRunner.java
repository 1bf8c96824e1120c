package lunar.it.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.testkit.FreePorts;

/**
 * Runs commands on a served volume from where the server's control socket is not visible: with another {@code
 * $XDG_RUNTIME_DIR}, or in a mount namespace with its own {@code /tmp} and {@code /run}. The commands reach the server
 * or fail; none runs the volume a second time, and none destroys it.
 */
final class SecondRunner implements Scenario {
    private static final int BLOCKS = 128;
    private static final List<String> APART = List.of("unshare", "--mount", "--propagation",
            "private", "sh", "-c", "mount -t tmpfs none /run && exec \"$@\"", "sh");

    private final boolean namespace;

    /** @param namespace whether commands run in a mount namespace of their own, which takes root */
    SecondRunner(boolean namespace) {
        this.namespace = namespace;
    }

    @Override
    public String name() { return namespace ? "second-namespace" : "second-runtime"; }

    @Override
    public String about() {
        return "commands on a served volume from another "
                + (namespace ? "mount namespace" : "runtime directory");
    }

    @Override
    public String missing() {
        return namespace && !System.getProperty("user.name").equals("root")
                ? "a mount namespace takes root"
                : "";
    }

    @Override
    public String play(Lab lab, int times) throws Exception {
        var members = new MemberTargets(lab, 3, "");
        members.create("raid5:vol");
        var ports = FreePorts.several(2);
        var gateway = new Gateway(lab, "raid5:vol", members.config(), ports.getFirst());
        var second = new Gateway(lab, "raid5:vol", members.config(), ports.getLast());
        LunarProcess server = gateway.start(runtime(lab, "runtime-a"));
        BlockDevice device = lab.with(Devices.open(gateway.uri()));
        var history = new BlockHistory(BLOCKS);
        VerifiedLoad load;
        int refused = 0;
        try (var running = VerifiedLoad.start(device, history, lab.seed(), lab.random())) {
            load = running;
            for (int i = 0; i < times; i++) {
                running.progress(lab.between(20, 200), server);
                List<String> words = words(lab, second);
                LunarProcess command = lab.with(LunarProcess.start(namespace ? APART : List.of(),
                        runtime(lab, "runtime-b"), lab.path("second.err"), words));
                String said = command.finish();
                lab.say("%s: %s %s", String.join(" ", words), said, command.errors());
                boolean harmless = words.contains("scrub") || words.contains("status");
                if (command.status() == 0 && !harmless) {
                    throw new AssertionError(words + " ran beside the server: " + said);
                }
                refused += command.status() == 0 ? 0 : 1;
            }
        }
        load.failIfBroken();
        load.checkAll();
        device.close();
        server.end();
        return times + " commands, " + refused + " refused, " + load.summary() + ", "
                + gateway.scrub();
    }

    private static List<String> words(Lab lab, Gateway second) {
        var words = new ArrayList<String>();
        switch (lab.random().nextInt(4)) {
            case 0 -> {
                return second.words();
            }
            case 1 -> words.addAll(List.of("raid", "destroy", "raid5:vol"));
            case 2 -> words.addAll(List.of("raid", "scrub", "raid5:vol", "--repair"));
            default -> words.addAll(List.of("raid", "status", "raid5:vol"));
        }
        words.addAll(List.of("--config", second.config()));
        return words;
    }

    private static Map<String, String> runtime(Lab lab, String name) throws IOException {
        Path folder = Files.createDirectories(lab.path(name));
        return Map.of("XDG_RUNTIME_DIR", folder.toString());
    }
}
