package lunar.initiator.internal.session;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import lunar.initiator.ReportedReset;
import lunar.initiator.UnflushedWrites;
import lunar.initiator.internal.retry.SenseMapping;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.Lun;
import lunar.scsi.SenseKey;
import org.jspecify.annotations.Nullable;

/**
 * Inspects every unit attention of a session before the command that reported it ends, so that no report of a reset is
 * missed. Keeps the reports until a unit is opened; from then on a reset counts as a loss of the unit's cache
 * ({@link UnflushedWrites}), unless this session has requested it. Thread-safe.
 */
public final class ResetWatch {
    private static final int RESETS = 0x29;
    private static final int NEXUS_LOSS = 0x07;
    private static final int PARAMETERS = 0x2a;
    private static final int MODE_PARAMETERS_CHANGED = 0x01;

    private final Map<Long, ReportedReset> told = new ConcurrentHashMap<>();
    private final Map<Long, List<UnflushedWrites>> open = new ConcurrentHashMap<>();
    /** Units that this session has reset, and that have not reported it yet. */
    private final Set<Long> asked = ConcurrentHashMap.newKeySet();
    /** Number of reports by unit that a volatile cache may be lost. */
    private final Map<Long, Long> losses = new ConcurrentHashMap<>();
    /** Number of reports by unit that mode parameters may have changed. */
    private final Map<Long, AtomicLong> modeChanges = new ConcurrentHashMap<>();
    private final String target;

    public ResetWatch(String target) { this.target = target; }

    /** Takes the sense data of a command that ended with CHECK CONDITION. */
    public void heard(long lun, Bytes sense) {
        if (sense.length() > 0) {
            var decoded = SenseMapping.sense(sense);
            if (decoded.key() == SenseKey.UNIT_ATTENTION) {
                heard(lun, decoded.additional());
            } else if (decoded.deferred() && decoded.key() != SenseKey.RECOVERED_ERROR) {
                lost(lun, "the failure of an earlier command: " + decoded);
            }
        }
    }

    /** Takes a unit attention. */
    public void heard(long lun, AdditionalSense attention) {
        if (changesModes(attention)) {
            modesChanged(lun);
        }
        ReportedReset what = meaning(attention);
        boolean isAnswer = attention.asc() == RESETS && what != ReportedReset.NEXUS_LOSS
                && asked.remove(lun);
        if (what == null || (what == ReportedReset.RESET && isAnswer)) {
            return;
        }
        told.merge(lun, what, (a, b) -> a.compareTo(b) >= 0 ? a : b);
        if (what != ReportedReset.NEXUS_LOSS) {
            lost(lun, attention.toString());
        }
    }

    /** Whether mode parameters may have changed: it says so, or a reset has restored saved ones (SPC-5 7.5.3). */
    private static boolean changesModes(AdditionalSense sense) {
        return sense.asc() == RESETS
                ? sense.ascq() != NEXUS_LOSS
                : sense.asc() == PARAMETERS && sense.ascq() <= MODE_PARAMETERS_CHANGED;
    }

    /** Records that mode parameters of a unit may have changed. */
    public void modesChanged(long lun) {
        AtomicLong count = modeChanges.get(lun);
        if (count != null) {
            count.incrementAndGet();
        }
    }

    /**
     * Returns the number of reports, from the first call for a unit on, that its mode parameters may have changed. It
     * grows before any command ends that the unit has executed after the report.
     */
    public AtomicLong modeChanges(Lun lun) {
        return modeChanges.computeIfAbsent(lun.value(), _ -> new AtomicLong());
    }

    /**
     * Returns the meaning of an additional sense code; null if it does not concern a volatile cache. A logical unit
     * reset (29h/03h) ends tasks and leaves what they have written (SAM-5 section 6.3.3).
     */
    private static @Nullable ReportedReset meaning(AdditionalSense sense) {
        if (sense.asc() != RESETS) {
            return null;
        }
        return switch (sense.ascq()) {
            case 0x00, 0x02 -> ReportedReset.RESET;
            case 0x01, 0x04 -> ReportedReset.POWER_ON;
            case 0x07 -> ReportedReset.NEXUS_LOSS;
            default -> null;
        };
    }

    private void lost(long lun, String what) {
        losses.merge(lun, 1L, Long::sum);
        open.getOrDefault(lun, List.of())
                .forEach(each -> each.lost(target + "/" + new Lun(lun) + " reports: " + what));
    }

    /** Records that this session requests a reset, which is no power failure: the unit's report of it is not a loss. */
    public void asked(Lun lun) {
        asked.add(lun.value());
    }

    /** Records that the target has refused the reset: the next report of one does not answer the request. */
    public void refused(Lun lun) {
        asked.remove(lun.value());
    }

    /** Like {@link #refused}, but for all units, after {@link #askedForAll}. */
    void refusedForAll() {
        asked.clear();
    }

    /** Like {@link #asked}, but for all units that are open. */
    void askedForAll() {
        asked.addAll(open.keySet());
    }

    /** Returns what a unit has reported so far by this session. */
    public ReportedReset told(Lun lun) {
        return told.getOrDefault(lun.value(), ReportedReset.NOTHING);
    }

    /** Returns how often a unit has reported that it may have lost a volatile cache. */
    public long losses(Lun lun) {
        return losses.getOrDefault(lun.value(), 0L);
    }

    /** Registers an opened unit: from now on its resets are losses. */
    public void opened(Lun lun, UnflushedWrites writes) {
        open.computeIfAbsent(lun.value(), _ -> new CopyOnWriteArrayList<>()).add(writes);
    }

    public void closed(Lun lun, UnflushedWrites writes) {
        open.getOrDefault(lun.value(), List.of()).remove(writes);
    }
}
