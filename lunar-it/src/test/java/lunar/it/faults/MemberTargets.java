package lunar.it.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import lunar.testkit.FreePorts;

/** Targets in processes of their own, each with one LUN that is a member of a volume. */
final class MemberTargets {
    private static final String IQN = "iqn.2026-11.org.lunar:member";

    /** Longer than a killed member takes to start again, on a machine under load too. */
    private static final int PATIENCE_SECONDS = 120;

    /** More than that: a member that is being started is not failed. */
    private static final String STALL_TIMEOUT = "stall-timeout = \"4m\"\n";
    private static final int CREATIONS = 3;

    private final Lab lab;
    private final String filter;
    private final List<Integer> ports;
    /** Where the volume reaches them; the ports of proxies, where there are any. */
    private final List<Integer> seen;
    /** Seconds for which the volume waits for each without a path. */
    private final List<Integer> noPathRetry;
    private final List<LunarProcess> processes = new ArrayList<>();

    /**
     * Starts them.
     *
     * @param filter before each file, such as {@code volatile:}; may be empty
     */
    MemberTargets(Lab lab, int count, String filter) throws IOException {
        this.lab = lab;
        this.filter = filter;
        ports = FreePorts.several(count);
        seen = new ArrayList<>(ports);
        noPathRetry = new ArrayList<>(Collections.nCopies(count, PATIENCE_SECONDS));
        for (int member = 0; member < count; member++) {
            processes.add(launch(member));
        }
        for (LunarProcess process : processes) {
            process.awaitServing(1);
        }
    }

    private LunarProcess launch(int member) throws IOException {
        return lab.start(Map.of(), "member" + member + ".err", "serve",
                filter + "file:" + lab.path("m" + member) + "?size=8MiB", "--iqn", IQN + member,
                "--portal", "127.0.0.1:" + ports.get(member), "--state",
                lab.path("state" + member).toString());
    }

    int count() { return processes.size(); }

    /** Puts a network before a member that can freeze. */
    FaultProxy proxy(int member) throws IOException {
        FaultProxy proxy = lab.with(new FaultProxy(ports.get(member)));
        seen.set(member, proxy.port());
        return proxy;
    }

    /** Makes the volume created next continue without a member that it cannot reach for about five seconds. */
    void doWithout(int member) {
        noPathRetry.set(member, 1);
    }

    /** URI of a member's LUN, as the volume reaches it. */
    String uri(int member) {
        return "iscsi://127.0.0.1:" + seen.get(member) + "/" + IQN + member
                + "/0?keep-alive=2s&command-timeout=20s&no-path-retry="
                + noPathRetry.get(member);
    }

    LunarProcess process(int member) { return processes.get(member); }

    /** SIGKILL; what a {@code volatile:} filter holds is lost. */
    void kill(int member) throws InterruptedException {
        processes.get(member).kill();
    }

    void restart(int member) throws IOException {
        processes.set(member, launch(member).awaitServing(1));
    }

    /** Creates a volume of them. */
    void create(String volume) throws IOException, InterruptedException {
        var words = new ArrayList<>(List.of("raid", "create", volume, "--assume-clean", "--config",
                config()));
        if (!volume.startsWith("raid1:")) {
            words.addAll(List.of("--chunk", "16k"));
        }
        for (int member = 0; member < count(); member++) {
            words.add(uri(member));
        }
        for (int i = 1;; i++) {
            try {
                lab.run(words.toArray(String[]::new));
                Files.writeString(lab.path("lunar.toml"), STALL_TIMEOUT, StandardOpenOption.APPEND);
                return;
            } catch (AssertionError e) {
                if (i == CREATIONS) { // else a member may have been late to answer
                    throw e;
                }
            }
        }
    }

    String config() { return lab.path("lunar.toml").toString(); }
}
