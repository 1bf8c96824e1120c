package lunar.lucene;

import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Free units of the device. Allocates best-fit, so that long runs stay available for long files. Not thread-safe.
 */
final class FreeSpace {
    private final TreeMap<Long, UnitRun> byFirst = new TreeMap<>();
    private final TreeSet<UnitRun> byCount = new TreeSet<>(Comparator
            .comparingLong(UnitRun::count).thenComparingLong(UnitRun::first));
    private long units;

    FreeSpace(UnitRun all) { add(all); }

    long units() { return units; }

    /**
     * Allocates units: directly after a file's last one if they are free, otherwise elsewhere. Returns fewer than
     * requested if no run is long enough.
     *
     * @param after preferred start of the run
     * @return null if nothing is free
     */
    @Nullable
    UnitRun allocate(long wanted, long after) {
        UnitRun run = byFirst.get(after);
        if (run == null) {
            run = byCount.ceiling(new UnitRun(0, wanted));
        }
        if (run == null) {
            run = byCount.isEmpty() ? null : byCount.last();
        }
        if (run == null) {
            return null;
        }
        var taken = new UnitRun(run.first(), Math.min(wanted, run.count()));
        boolean was = reserve(taken);
        assert was;
        return taken;
    }

    /** Takes just these units; false if one of them is not free. */
    boolean reserve(UnitRun wanted) {
        Map.Entry<Long, UnitRun> entry = byFirst.floorEntry(wanted.first());
        if (entry == null || entry.getValue().end() < wanted.end()) {
            return false;
        }
        UnitRun run = entry.getValue();
        remove(run);
        if (run.first() < wanted.first()) {
            add(new UnitRun(run.first(), wanted.first() - run.first()));
        }
        if (wanted.end() < run.end()) {
            add(new UnitRun(wanted.end(), run.end() - wanted.end()));
        }
        return true;
    }

    /** Gives units back, which grow together with their neighbours. */
    void free(UnitRun run) {
        long first = run.first();
        long end = run.end();
        Map.Entry<Long, UnitRun> before = byFirst.lowerEntry(end);
        if (before != null && before.getValue().end() >= first) {
            UnitRun left = before.getValue();
            if (left.end() > first) {
                throw new IllegalStateException(run + " is already free, in " + left);
            }
            remove(left);
            first = left.first();
        }
        UnitRun right = byFirst.get(end);
        if (right != null) {
            remove(right);
            end = right.end();
        }
        add(new UnitRun(first, end - first));
    }

    private void add(UnitRun run) {
        byFirst.put(run.first(), run);
        byCount.add(run);
        units += run.count();
    }

    private void remove(UnitRun run) {
        byFirst.remove(run.first());
        byCount.remove(run);
        units -= run.count();
    }
}
