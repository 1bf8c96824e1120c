package lunar.raid.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.random.RandomGenerator;
import lunar.raid.layout.Layout;
import lunar.raid.layout.Level;
import lunar.raid.layout.Shape;
import lunar.raid.simulation.EventCounts.Event;
import org.jspecify.annotations.Nullable;

/**
 * The state that the parts of a simulation share: its seed and all that follows from it, its members, and what is yet
 * to happen.
 */
final class SimWorld {
    static final int CHUNK_BLOCKS = 8;
    /** With metadata a MiB, and one more for a journal. */
    private static final int METADATA_BLOCKS = 2048;
    private static final int JOURNAL_BLOCKS = 2048;
    /** And one for checksums. */
    private static final int SUM_BLOCKS = 2048;
    private static final int PLAIN_OFFSET = 3;

    /**
     * Of a thousand steps, where bits of the bitmap are taken away as early as they may: a bit that goes too early does
     * harm only while the write that needs it is under way.
     */
    private static final int EAGER_TICKS = 100;

    final long seed;
    final RandomGenerator random;
    final Faults faults;
    /** Of all members; blocks that are not moved yet are in another one. */
    Layout layout;
    final EventCounts tally = new EventCounts();
    final List<SimMember> members = new ArrayList<>();
    final List<UUID> uuids = new ArrayList<>();
    /** Events besides the requests of members, in any order. */
    final List<Runnable> events = new ArrayList<>();
    /** Steps of a thousand that are ticks for metadata alone. */
    final int metadataTicks;
    /** A digest of all events: two runs of a seed have the same. */
    final StringBuilder log = new StringBuilder();
    /** Whether more may be lost than the level survives: then requests may fail. */
    boolean isCollapsing;
    /** How often a member has lost something, or was lost. */
    int losses;
    /** Power supplies so far: what began before a crash does not end after it. */
    int incarnation;
    /** Whether checksums are looked at when the host reads. */
    final boolean verifies;
    private int made;
    /** The first failure, which is lost where a completion throws it. */
    private @Nullable AssertionError failure;

    SimWorld(Level level, long seed, Faults faults) {
        this.seed = seed;
        this.faults = faults;
        random = new SplittableRandom(seed);
        // Not drawn from the others, so that these seeds do what they did.
        boolean isEager = faults.metadata() && !level.hasParity()
                && new SplittableRandom(~seed).nextInt(2) == 0;
        metadataTicks = isEager ? EAGER_TICKS : 0;
        verifies = faults.checksums() && random.nextInt(3) > 0;
        int count = level.minMembers() + random.nextInt(3);
        int rows = 2 + random.nextInt(5);
        layout = Layout.of(Shape.of(level, SimMember.BLOCK_BYTES, CHUNK_BLOCKS, count,
                (long) rows * CHUNK_BLOCKS));
        for (int slot = 0; slot < count; slot++) {
            members.add(newMember());
            members.get(slot).zero();
            uuids.add(newUuid());
        }
    }

    UUID newUuid() { return new UUID(random.nextLong() | 1, random.nextLong()); }

    SimMember newMember() {
        int blocks = (int) (layout.shape().memberBlocks().getFirst() + dataOffset());
        return new SimMember(made++, faults.metadata() ? dataOffset() : 0, blocks, random, tally);
    }

    /** The block of a member at which its data begin. */
    int dataOffset() {
        return !faults.metadata()
                ? PLAIN_OFFSET
                : sumsAt() + (faults.checksums() ? SUM_BLOCKS : 0);
    }

    /** The block of a member at which its checksums begin, if it has any. */
    int sumsAt() {
        return METADATA_BLOCKS + (layout.code().isParity() ? JOURNAL_BLOCKS : 0);
    }

    /** Does something at some time, unless a crash comes before. */
    void later(Runnable work) {
        int mine = incarnation;
        events.add(() -> {
            if (mine == incarnation) {
                work.run();
            }
        });
    }

    /** Performs an event, if there is any. */
    void proceed() {
        int able = 0;
        for (SimMember member : members) {
            able += member.hasPending() ? 1 : 0;
        }
        int choice = random.nextInt(able + events.size() + 1);
        if (choice >= able) {
            if (choice < able + events.size()) {
                events.remove(choice - able).run();
                check();
            }
            return;
        }
        for (SimMember member : members) {
            if (member.hasPending() && choice-- == 0) {
                tally.count(Event.MEMBER_REQUEST);
                member.proceed();
                check();
                return;
            }
        }
    }

    boolean isIdle() {
        return events.isEmpty() && members.stream().noneMatch(SimMember::hasPending);
    }

    /** All that was under way is no more. */
    void crash() {
        log.append('C');
        incarnation++;
        events.clear();
    }

    AssertionError failure(String message) {
        return note(new AssertionError(this + ": " + message));
    }

    AssertionError failure(String message, Throwable cause) {
        return note(new AssertionError(this + ": " + message + ": " + cause, cause));
    }

    private AssertionError note(AssertionError noted) {
        if (failure == null) {
            failure = noted;
        }
        return noted;
    }

    /** Throws the first failure: a device only logs what a completion throws. */
    void check() {
        if (failure != null) {
            throw failure;
        }
    }

    void require(boolean holds, String otherwise) {
        if (!holds) {
            throw failure(otherwise);
        }
    }

    @Override
    public String toString() {
        return "seed %d, %s, %d members, %s".formatted(seed, layout.shape().level(),
                members.size(), faults);
    }
}
