package lunar.raid.run;

import java.time.Duration;
import java.util.Optional;
import lunar.raid.FailurePolicy;
import lunar.raid.meta.Consent;

/**
 * How a volume is run.
 *
 * @param rebuildBytesPerSecond what a rebuild, resync or scrub may do to each member, or {@link #UNLIMITED}
 * @param stallTimeout how long a member request may take before its member is failed; zero where it may for ever
 * @param consent whether it may start without members that had all data when it was used last
 * @param lostJournal whether it may start without what its journal had
 * @param configFile the file that names its members, for a {@link VolumeHost} that keeps it true; nothing else is done
 *        with it
 * @param verifyReads whether what hosts read is compared with checksums, where the volume has any
 * @param timing how often what is done
 * @param ownership how it is made sure that no other process runs the volume
 */
public record RunOptions(long rebuildBytesPerSecond, Duration stallTimeout, Consent consent,
        LostJournal lostJournal, Optional<String> configFile, boolean verifyReads,
        RunTiming timing, OwnershipOptions ownership) {
    private static final long MIN_RATE = 4096;
    private static final Duration MAX_STALL = Duration.ofHours(24);

    /** As fast as members go. */
    public static final long UNLIMITED = 0;
    /** No limit of rate; a member that says nothing for a minute is failed. */
    public static final RunOptions DEFAULT = new RunOptions(UNLIMITED, Duration.ofMinutes(1),
            Consent.NONE, LostJournal.REFUSE, Optional.empty(), false, RunTiming.DEFAULT,
            OwnershipOptions.DEFAULT);

    public RunOptions {
        if (rebuildBytesPerSecond != UNLIMITED && rebuildBytesPerSecond < MIN_RATE) {
            throw new IllegalArgumentException("a rebuild rate of " + rebuildBytesPerSecond
                    + " bytes per second would never end; at least 4k, or 0 for no limit");
        }
        if (stallTimeout.isNegative() || stallTimeout.compareTo(MAX_STALL) > 0) {
            throw new IllegalArgumentException(
                    "a stall timeout is of 0 (never) to " + MAX_STALL.toHours() + " hours");
        }
    }

    public RunOptions withRebuildRate(long bytesPerSecond) {
        return new RunOptions(bytesPerSecond, stallTimeout, consent, lostJournal, configFile,
                verifyReads, timing, ownership);
    }

    public RunOptions withStallTimeout(Duration timeout) {
        return new RunOptions(rebuildBytesPerSecond, timeout, consent, lostJournal, configFile,
                verifyReads, timing, ownership);
    }

    public RunOptions withTiming(RunTiming other) {
        return new RunOptions(rebuildBytesPerSecond, stallTimeout, consent, lostJournal,
                configFile, verifyReads, other, ownership);
    }

    public RunOptions withConsent(Consent other) {
        return new RunOptions(rebuildBytesPerSecond, stallTimeout, other, lostJournal, configFile,
                verifyReads, timing, ownership);
    }

    public RunOptions withLostJournal(LostJournal other) {
        return new RunOptions(rebuildBytesPerSecond, stallTimeout, consent, other, configFile,
                verifyReads, timing, ownership);
    }

    public RunOptions withConfigFile(String path) {
        return new RunOptions(rebuildBytesPerSecond, stallTimeout, consent, lostJournal,
                Optional.of(path), verifyReads, timing, ownership);
    }

    public RunOptions withVerifyReads(boolean verifies) {
        return new RunOptions(rebuildBytesPerSecond, stallTimeout, consent, lostJournal,
                configFile, verifies, timing, ownership);
    }

    public RunOptions withOwnership(OwnershipOptions other) {
        return new RunOptions(rebuildBytesPerSecond, stallTimeout, consent, lostJournal,
                configFile, verifyReads, timing, other);
    }

    /** When a member is given up. */
    FailurePolicy policy() {
        return new FailurePolicy(FailurePolicy.DEFAULT.retries(),
                FailurePolicy.DEFAULT.maxRepairs(), stallTicks());
    }

    /** Calls of the engine's tick that a member request may take; 0 for any number. */
    private int stallTicks() {
        if (stallTimeout.isZero()) {
            return 0;
        }
        return (int) Math.max(2, Math.ceilDiv(stallTimeout.toMillis(), timing.tick().toMillis()));
    }
}
