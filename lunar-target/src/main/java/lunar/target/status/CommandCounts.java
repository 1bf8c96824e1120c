package lunar.target.status;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import lunar.scsi.SenseKey;

/**
 * Counts of SCSI commands that have ended since a session began or a unit is served, and the number of those that have
 * not ended.
 *
 * @param reads latencies of READ commands with status GOOD
 * @param writes latencies of WRITE commands with status GOOD
 * @param others latencies of all other commands with status GOOD
 * @param readBytes data sent to initiators by successful commands
 * @param writtenBytes data received from initiators by successful commands
 * @param conditions commands that ended with CHECK CONDITION, by sense key; keys without commands are not in it
 * @param conflicts commands that ended with RESERVATION CONFLICT
 * @param busy commands that ended with BUSY or TASK SET FULL
 * @param aborted commands that were aborted
 * @param delayed commands that were delayed by a limit
 * @param inFlight commands that have arrived and not ended
 */
public record CommandCounts(Latencies reads, Latencies writes, Latencies others, long readBytes,
        long writtenBytes, Map<SenseKey, Long> conditions, long conflicts, long busy, long aborted,
        long delayed, long inFlight) {
    /** No command. */
    public static final CommandCounts NONE = new CommandCounts(Latencies.NONE, Latencies.NONE,
            Latencies.NONE, 0, 0, Map.of(), 0, 0, 0, 0, 0);

    public CommandCounts {
        var copy = new EnumMap<SenseKey, Long>(SenseKey.class);
        copy.putAll(conditions);
        conditions = Collections.unmodifiableMap(copy);
    }

    /** Returns the commands of both. */
    public CommandCounts plus(CommandCounts other) {
        var sum = new EnumMap<SenseKey, Long>(SenseKey.class);
        sum.putAll(conditions);
        other.conditions.forEach((key, count) -> sum.merge(key, count, Long::sum));
        return new CommandCounts(reads.plus(other.reads), writes.plus(other.writes),
                others.plus(other.others), readBytes + other.readBytes,
                writtenBytes + other.writtenBytes, sum, conflicts + other.conflicts,
                busy + other.busy, aborted + other.aborted, delayed + other.delayed,
                inFlight + other.inFlight);
    }

    /** Returns a copy with no command in flight. */
    public CommandCounts withoutInFlight() {
        return new CommandCounts(reads, writes, others, readBytes, writtenBytes, conditions,
                conflicts, busy, aborted, delayed, 0);
    }

    /** Returns the number of commands that ended with status GOOD. */
    public long good() {
        return reads.count() + writes.count() + others.count();
    }
}
