package lunar.raid.layout;

import org.jspecify.annotations.Nullable;

/**
 * Caches plans, since most requests to a volume are alike: a request for which there is a plan makes no garbage. Of
 * plans that share an entry the last one stays. Any number of threads may use it concurrently: entries are immutable,
 * and a thread that does not see one yet makes its plan anew.
 */
final class PlanCache implements Planner {
    private static final int PLACES = 1024;
    private static final int UNUSED_BITS = Integer.SIZE - Integer.numberOfTrailingZeros(PLACES);
    private static final int FACTOR = 0x9e3779b1;

    private enum Question {
        READ, WRITE, RESTORE, VERIFY
    }

    /** A plan, and the question that it answers. */
    private record Entry(Question question, int from, int blocks, long first, long second,
            Plan plan) {
        boolean answers(Question other, int otherFrom, int otherBlocks, long otherFirst,
                long otherSecond) {
            return from == otherFrom && blocks == otherBlocks && first == otherFirst
                    && second == otherSecond && question == other;
        }
    }

    private final Planner planner;
    private final @Nullable Entry[] entries = new @Nullable Entry[PLACES];

    PlanCache(Planner planner) { this.planner = planner; }

    private @Nullable Plan plan(Question question, int from, int blocks, long first,
            long second) {
        int place = place(from, blocks, first, second);
        Entry entry = entries[place];
        if (entry != null && entry.answers(question, from, blocks, first, second)) {
            return entry.plan;
        }
        Plan plan = switch (question) {
            case READ -> planner.read(from, blocks, first, (int) second);
            case WRITE -> planner.write(from, blocks, first, second);
            case RESTORE -> planner.restore(first, from, blocks, second);
            case VERIFY -> planner.verify(from, blocks, first);
        };
        if (plan != null) {
            entries[place] = new Entry(question, from, blocks, first, second, plan);
        }
        return plan;
    }

    /** Returns the entry of a question; its kind is left out, since questions hardly ever differ in that alone. */
    private static int place(int from, int blocks, long first, long second) {
        int hash = 31 * (31 * Long.hashCode(first) + Long.hashCode(second)) + from;
        return ((31 * hash + blocks) * FACTOR) >>> UNUSED_BITS;
    }

    @Override
    public @Nullable Plan read(int from, int blocks, long unreadable, int preferred) {
        return plan(Question.READ, from, blocks, unreadable, preferred);
    }

    @Override
    public @Nullable Plan write(int from, int blocks, long unreadable, long unwritable) {
        return plan(Question.WRITE, from, blocks, unreadable, unwritable);
    }

    @Override
    public @Nullable Plan restore(long units, int from, int blocks, long unreadable) {
        return plan(Question.RESTORE, from, blocks, units, unreadable);
    }

    @Override
    public @Nullable Plan verify(int from, int blocks, long unreadable) {
        return plan(Question.VERIFY, from, blocks, unreadable, 0);
    }
}
