package lunar.it.faults;

import java.util.Set;

/** Waits until a volume has restored its redundancy. */
final class VolumeWait {
    private static final long PATIENCE_MS = 300_000;
    private static final long PAUSE_MS = 200;
    private static final Set<Integer> SOUND_OR_NOT = Set.of(0, 3);

    private VolumeWait() {}

    /** Until the volume has all its members and they agree; the load continues meanwhile. */
    static void untilClean(Lab lab, Gateway gateway, VerifiedLoad load) throws Exception {
        long endNanos = System.nanoTime() + PATIENCE_MS * 1_000_000;
        String said = "";
        while (System.nanoTime() - endNanos < 0) {
            load.failIfBroken();
            said = lab.run(SOUND_OR_NOT, "raid", "status", gateway.volume(), "--json", "--config",
                    gateway.config());
            if (said.contains("\"clean\"")) {
                return;
            }
            Thread.sleep(PAUSE_MS);
        }
        throw new AssertionError("the volume does not become clean: " + said);
    }
}
