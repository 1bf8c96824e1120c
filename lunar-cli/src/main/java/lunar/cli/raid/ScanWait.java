package lunar.cli.raid;

import lunar.cli.raid.control.StatusPicture;
import lunar.cli.raid.control.VolumeControl;

import lunar.cli.command.Console;

import java.io.IOException;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** Waits until a volume's background scans have ended, with a progress bar on a terminal. */
final class ScanWait {
    private static final long LOOK_MS = 200;
    /** Polls without a running scan before giving up; a stopped scan restarts soon. */
    private static final int MAX_IDLE = 50;

    private final Console console;
    private final VolumeControl volume;

    ScanWait(Console console, VolumeControl volume) {
        this.console = console;
        this.volume = volume;
    }

    /**
     * Until redundancy is what it can be.
     *
     * @return the state then
     */
    JsonNode forRedundancy() throws IOException, InterruptedException {
        int idle = 0;
        while (true) {
            JsonNode status = volume.status();
            boolean isBusy = List.of("resyncing", "rebuilding", "reshaping")
                    .contains(status.path("state").asString(""));
            boolean scans = draw(status, List.of("resync", "rebuild", "reshape"));
            idle = scans ? 0 : idle + 1;
            if ((!isBusy && !scans) || idle > MAX_IDLE) {
                clear();
                return status;
            }
            Thread.sleep(LOOK_MS);
        }
    }

    /** Waits until no scrub continues and returns the state then. */
    JsonNode forScrub() throws IOException, InterruptedException {
        while (true) {
            JsonNode status = volume.status();
            if (!draw(status, List.of("scrub"))) {
                clear();
                return status;
            }
            Thread.sleep(LOOK_MS);
        }
    }

    /** Whether there is a scan of these kinds. */
    private boolean draw(JsonNode status, List<String> kinds) {
        for (JsonNode scan : status.path("walks")) {
            if (kinds.contains(scan.path("kind").asString(""))) {
                if (console.isTerminal()) {
                    String slot = scan.path("slot").isNumber()
                            ? " of slot " + scan.path("slot").asInt(0)
                            : "";
                    console.err().print("\r" + scan.path("kind").asString("") + slot + " "
                            + StatusPicture.bar(scan) + "\u001b[K");
                    console.err().flush();
                }
                return true;
            }
        }
        return false;
    }

    private void clear() {
        if (console.isTerminal()) {
            console.err().print("\r\u001b[K");
            console.err().flush();
        }
    }
}
