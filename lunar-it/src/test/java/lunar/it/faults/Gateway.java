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
    private static final int STARTS = 3;
    private static final int SCRUBS = 10;
    private static final long PAUSE_MS = 500;

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

    LunarProcess start() throws IOException, InterruptedException { return start(Map.of()); }

    /** Starts it and waits until it serves; once more where it refuses since a member did not answer in time. */
    LunarProcess start(Map<String, String> environment) throws IOException, InterruptedException {
        for (int i = 1;; i++) {
            LunarProcess server = launch(environment);
            if (server.serves()) {
                return server;
            }
            int status = server.status();
            String errors = server.errors();
            if (i == STARTS || !errors.contains("would start degraded")) {
                throw new IOException("the server has not started: status " + status
                        + ", and says: " + errors);
            }
        }
    }

    /** Starts it in place of the one that runs the volume, which may be alive. */
    LunarProcess takeOver() throws IOException, InterruptedException {
        return new Gateway(lab, volume + "?take-over=yes", config, port).start();
    }

    String uri() { return "iscsi://127.0.0.1:" + port + "/" + IQN + "/0?no-path-retry=180"; }

    /**
     * A scrub of the volume, which must find nothing; the volume runs or not. It is tried again where it has not ended:
     * on a loaded machine the gateway may be slow to answer, or a member may be missing for a moment.
     */
    String scrub() throws IOException, InterruptedException {
        String said = "";
        for (int i = 0; i < SCRUBS; i++) {
            LunarProcess command = lab.start(Map.of(), "command.err", "raid", "scrub", volume,
                    "--config", config);
            said = command.finish();
            if (command.status() == 0 && said.contains("no differences")) {
                return "scrub: no differences";
            }
            if (said.matches("(?s).*\\d differ.*")) {
                break;
            }
            said += " " + command.errors();
            Thread.sleep(PAUSE_MS);
        }
        throw new AssertionError("the scrub says: " + said);
    }
}
