package lunar.raid.service;

import java.time.Duration;
import java.util.Optional;
import lunar.raid.FailurePolicy;
import lunar.raid.OwnershipOptions;
import lunar.raid.metadata.DegradedStart;

/**
 * Options of a running volume.
 *
 * @param rebuildBytesPerSecond limit of a rebuild, resync or scrub on each member, or {@link #UNLIMITED}
 * @param stallTimeout how long a member request may take before its member is failed; zero for no limit
 * @param degradedStart whether the volume may start without members that had all data when it was last used
 * @param lostJournal whether the volume may start without the content of its journal
 * @param configFile the file that names its members, for a {@link VolumeHost} that keeps it up to date; not used
 *        otherwise
 * @param verifyReads whether reads of hosts are verified against checksums, if the volume has any
 * @param timing intervals of periodic work
 * @param ownership options that keep other processes from running the volume
 */
public record RunOptions(long rebuildBytesPerSecond, Duration stallTimeout,
        DegradedStart degradedStart,
        LostJournalPolicy lostJournal, Optional<String> configFile, boolean verifyReads,
        RunTiming timing, OwnershipOptions ownership) {
    private static final long MIN_RATE = 4096;
    private static final Duration MAX_STALL = Duration.ofHours(24);

    /** No limit: as fast as members go. */
    public static final long UNLIMITED = 0;
    /** No rate limit; a member that does not answer for a minute is failed. */
    public static final RunOptions DEFAULT = new RunOptions(UNLIMITED, Duration.ofMinutes(1),
            DegradedStart.REFUSED, LostJournalPolicy.REFUSE, Optional.empty(), false,
            RunTiming.DEFAULT,
            OwnershipOptions.DEFAULT);

    public RunOptions {
        requireRate(rebuildBytesPerSecond);
        if (stallTimeout.isNegative() || stallTimeout.compareTo(MAX_STALL) > 0) {
            throw new IllegalArgumentException(
                    "a stall timeout is of 0 (never) to " + MAX_STALL.toHours() + " hours");
        }
    }

    /** @throws IllegalArgumentException if a rate is out of range; the message is one line for the operator */
    static void requireRate(long bytesPerSecond) {
        if (bytesPerSecond != UNLIMITED && bytesPerSecond < MIN_RATE) {
            throw new IllegalArgumentException("a rebuild rate of " + bytesPerSecond
                    + " bytes per second would never end; at least 4k, or 0 for no limit");
        }
    }

    public RunOptions withRebuildRate(long bytesPerSecond) {
        return new RunOptions(bytesPerSecond, stallTimeout, degradedStart, lostJournal, configFile,
                verifyReads, timing, ownership);
    }

    public RunOptions withStallTimeout(Duration timeout) {
        return new RunOptions(rebuildBytesPerSecond, timeout, degradedStart, lostJournal,
                configFile,
                verifyReads, timing, ownership);
    }

    public RunOptions withTiming(RunTiming other) {
        return new RunOptions(rebuildBytesPerSecond, stallTimeout, degradedStart, lostJournal,
                configFile, verifyReads, other, ownership);
    }

    public RunOptions withDegradedStart(DegradedStart other) {
        return new RunOptions(rebuildBytesPerSecond, stallTimeout, other, lostJournal, configFile,
                verifyReads, timing, ownership);
    }

    public RunOptions withLostJournal(LostJournalPolicy other) {
        return new RunOptions(rebuildBytesPerSecond, stallTimeout, degradedStart, other, configFile,
                verifyReads, timing, ownership);
    }

    public RunOptions withConfigFile(String path) {
        return new RunOptions(rebuildBytesPerSecond, stallTimeout, degradedStart, lostJournal,
                Optional.of(path), verifyReads, timing, ownership);
    }

    public RunOptions withVerifyReads(boolean verifies) {
        return new RunOptions(rebuildBytesPerSecond, stallTimeout, degradedStart, lostJournal,
                configFile, verifies, timing, ownership);
    }

    public RunOptions withOwnership(OwnershipOptions other) {
        return new RunOptions(rebuildBytesPerSecond, stallTimeout, degradedStart, lostJournal,
                configFile, verifyReads, timing, other);
    }

    /** Returns when a member is failed. */
    FailurePolicy policy() {
        return new FailurePolicy(FailurePolicy.DEFAULT.retries(),
                FailurePolicy.DEFAULT.maxRepairs(), stallTicks());
    }

    /** Returns the calls of the engine's tick that a member request may take; 0 for no limit. */
    private int stallTicks() {
        if (stallTimeout.isZero()) {
            return 0;
        }
        return (int) Math.max(2, Math.ceilDiv(stallTimeout.toMillis(), timing.tick().toMillis()));
    }
}
