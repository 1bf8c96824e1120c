package lunar.it.faults;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * Arguments that start a server of a volume or another device, and the URI of its LUN.
 *
 * @param config file that names the volume; empty if the URI alone does
 */
record Gateway(Lab lab, String volume, String config, int port) {
    private static final String IQN = "iqn.2026-11.org.lunar:gateway";

    /** @param more words for {@code serve} */
    List<String> words(String... more) {
        var words = new ArrayList<>(List.of("serve", volume, "--iqn", IQN, "--portal",
                "127.0.0.1:" + port, "--state", lab.path("gateway-state-" + port).toString()));
        if (!config.isEmpty()) {
            words.addAll(List.of("--config", config));
        }
        words.addAll(Arrays.asList(more));
        return words;
    }

    /** Starts it, without waiting for it. */
    LunarProcess launch(Map<String, String> environment, String... more) throws IOException {
        return lab.start(environment, "gateway-" + port + ".err",
                words(more).toArray(String[]::new));
    }

    LunarProcess start() throws IOException { return launch(Map.of()).awaitServing(1); }

    /** Starts it in place of the one that runs the volume, which may be alive. */
    LunarProcess takeOver() throws IOException {
        return new Gateway(lab, volume + "?take-over=yes", config, port).start();
    }

    String uri() { return "iscsi://127.0.0.1:" + port + "/" + IQN + "/0?no-path-retry=180"; }

    /** A scrub of the volume, which must find nothing; the volume runs or not. */
    String scrub() throws IOException, InterruptedException {
        String said = lab.run("raid", "scrub", volume, "--config", config);
        if (!said.contains("no differences")) {
            throw new AssertionError("the scrub says: " + said);
        }
        return "scrub: no differences";
    }
}
