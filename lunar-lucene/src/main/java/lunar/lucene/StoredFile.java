package lunar.lucene;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A file of an open directory. Mutable state is guarded by the directory's lock, unless stated otherwise.
 */
final class StoredFile {
    /** Writing until its output is closed; broken when that failed; then whole for good. */
    enum State {
        WRITING, WHOLE, BROKEN
    }

    final long id;
    /** For messages; changes when the file is renamed. */
    volatile String name;
    volatile State state = State.WRITING;
    /** Bytes; grows while the file is written, by its writer alone. */
    volatile long length;
    /** Inputs that are open: while there are any, the units of a deleted file stay its own. */
    int inputs;
    boolean deleted;
    /** Whether a table on the device may contain it: its units are free only after a table without it is committed. */
    boolean committed;
    /** In order. Not changed any longer once the file is whole, and read without the lock then. */
    private final List<UnitRun> runs = new ArrayList<>();
    private long unitCount;
    /** Where each run begins in the file, in units; made when the file is whole. */
    private volatile long[] starts = {};

    StoredFile(long id, String name) {
        this.id = id;
        this.name = name;
    }

    /** A file that is on the device. */
    StoredFile(FileTable.Entry entry) {
        this(entry.id(), entry.name());
        length = entry.length();
        entry.runs().forEach(this::add);
        committed = true;
        seal();
    }

    FileTable.Entry entry() { return new FileTable.Entry(name, id, length, runs); }

    /** Adds units at the end. */
    void add(UnitRun run) {
        UnitRun last = runs.isEmpty() ? null : runs.getLast();
        if (last != null && last.end() == run.first()) {
            runs.set(runs.size() - 1, new UnitRun(last.first(), last.count() + run.count()));
        } else {
            runs.add(run);
        }
        unitCount += run.count();
    }

    List<UnitRun> runs() { return runs; }

    long unitCount() { return unitCount; }

    /** The unit after the last one, where the file would best continue; -1 for an empty file. */
    long after() {
        return runs.isEmpty() ? -1 : runs.getLast().end();
    }

    /** Takes away the units at the end that its bytes do not need. */
    List<UnitRun> trim() {
        List<UnitRun> surplus = new ArrayList<>();
        long excess = unitCount - Math.ceilDiv(length, (long) Layout.UNIT_BYTES);
        while (excess > 0) {
            UnitRun last = runs.removeLast();
            long cut = Math.min(excess, last.count());
            surplus.add(new UnitRun(last.end() - cut, cut));
            if (cut < last.count()) {
                runs.add(new UnitRun(last.first(), last.count() - cut));
            }
            excess -= cut;
            unitCount -= cut;
        }
        return surplus;
    }

    /** The file is whole: nothing changes in it from now on. */
    void seal() {
        long[] at = new long[runs.size()];
        long sum = 0;
        for (int i = 0; i < at.length; i++) {
            at[i] = sum;
            sum += runs.get(i).count();
        }
        starts = at;
        state = State.WHOLE;
    }

    /**
     * Neighbouring units of the device that hold units of the file.
     *
     * @param unit first unit, counted in the file
     * @param most how many at most
     */
    UnitRun locate(long unit, long most) {
        int index = Arrays.binarySearch(starts, unit);
        int run = index >= 0 ? index : -index - 2;
        long skip = unit - starts[run];
        UnitRun found = runs.get(run);
        return new UnitRun(found.first() + skip, Math.min(most, found.count() - skip));
    }
}
