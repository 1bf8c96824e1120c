package lunar.it.faults;

import java.util.Map;
import java.util.Set;

/** Waits until a volume has restored its redundancy. */
final class VolumeWait {
    private static final long PATIENCE_MS = 600_000;
    private static final long PAUSE_MS = 200;
    private static final Set<Integer> SOUND_OR_NOT = Set.of(0, 3);

    private VolumeWait() {}

    /** Until the volume has all its members and they agree; the load continues meanwhile. */
    static void untilClean(Lab lab, Gateway gateway, VerifiedLoad load) throws Exception {
        long endNanos = System.nanoTime() + PATIENCE_MS * 1_000_000;
        String said = "";
        while (System.nanoTime() - endNanos < 0) {
            load.failIfBroken();
            // On a loaded machine the gateway may be slow to answer, for which the command fails.
            LunarProcess command = lab.start(Map.of(), "command.err", "raid", "status",
                    gateway.volume(), "--json", "--config", gateway.config());
            said = command.finish();
            if (SOUND_OR_NOT.contains(command.status()) && said.contains("\"clean\"")) {
                return;
            }
            said += " " + command.errors();
            Thread.sleep(PAUSE_MS);
        }
        throw new AssertionError("the volume does not become clean: " + said);
    }
}
