package lunar.initiator;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.Lun;
import lunar.scsi.SenseKey;

/**
 * Sees every unit attention of a session before the command that got it ends, whoever sent that command, so that none
 * which tells of a reset is missed. Until a unit is opened it keeps what was told; from then on a reset is a loss of
 * the unit's cache ({@link UnflushedWrites}), unless this session has asked for it. Any thread.
 */
final class ResetWatch {
    private final Map<Long, ResetTold> told = new ConcurrentHashMap<>();
    private final Map<Long, List<UnflushedWrites>> open = new ConcurrentHashMap<>();
    /** Units that this session has reset, and that have not told it yet. */
    private final Set<Long> asked = ConcurrentHashMap.newKeySet();
    private final String target;

    ResetWatch(String target) { this.target = target; }

    /** A command ended with CHECK CONDITION. */
    void heard(long lun, Bytes sense) {
        if (sense.length() > 0) {
            var decoded = SenseMapping.sense(sense);
            if (decoded.key() == SenseKey.UNIT_ATTENTION) {
                heard(lun, decoded.additional());
            } else if (decoded.deferred() && decoded.key() != SenseKey.RECOVERED_ERROR) {
                lost(lun, "the failure of an earlier command: " + decoded);
            }
        }
    }

    /** A unit attention has come. */
    void heard(long lun, AdditionalSense attention) {
        ResetTold what = ResetTold.of(attention);
        boolean isAnswer = attention.asc() == ResetTold.ASC && what != ResetTold.NEXUS_LOSS
                && asked.remove(lun);
        if (what == null || (what == ResetTold.RESET && isAnswer)) {
            return;
        }
        told.merge(lun, what, ResetTold::and);
        if (what != ResetTold.NEXUS_LOSS) {
            lost(lun, attention.toString());
        }
    }

    private void lost(long lun, String what) {
        open.getOrDefault(lun, List.of())
                .forEach(each -> each.lost(target + "/" + new Lun(lun) + " reports: " + what));
    }

    /** This session asks for a reset, which is no power failure: what the units tell of it is not a loss. */
    void asked(Lun lun) {
        asked.add(lun.value());
    }

    /** The target has not done it: the next reset is no answer to it. */
    void refused(Lun lun) {
        asked.remove(lun.value());
    }

    /** The same of all units, after {@link #askedForAll}. */
    void refusedForAll() { asked.clear(); }

    /** The same of all units that are open. */
    void askedForAll() { asked.addAll(open.keySet()); }

    /** What a unit has told so far by this session. */
    ResetTold told(Lun lun) {
        return told.getOrDefault(lun.value(), ResetTold.NOTHING);
    }

    /** From now on resets of a unit are losses. */
    void opened(Lun lun, UnflushedWrites writes) {
        open.computeIfAbsent(lun.value(), _ -> new CopyOnWriteArrayList<>()).add(writes);
    }

    void closed(Lun lun, UnflushedWrites writes) {
        open.getOrDefault(lun.value(), List.of()).remove(writes);
    }
}
