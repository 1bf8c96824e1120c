package lunar.raid.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;
import lunar.raid.layout.Plan.Computation;
import lunar.raid.layout.Plan.Method;
import lunar.raid.layout.Plan.Term;
import lunar.raid.layout.Plan.Transfer;
import lunar.testkit.Seed;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class PlannerTest {
    private static final int CHUNK = 8;

    private static Planner planner(Level level, int members) {
        return Planner.of(Layout.of(Shape.of(level, 512, CHUNK, members, 80)));
    }

    // --- what is chosen ---

    @Test
    void shouldReadOldDataAndOldParityForASmallWrite() {
        Plan plan = planner(Level.RAID5, 5).write(CHUNK + 2, 1, 0, 0);
        assertThat(plan).isNotNull();
        assertThat(plan.method()).isEqualTo(Method.READ_MODIFY_WRITE);
        assertThat(plan.reads()).containsExactly(new Transfer(1, 2, 1, false),
                new Transfer(4, 2, 1, false));
        assertThat(plan.computations()).containsExactly(new Computation(4, false, 2, 1, List.of(
                new Term(4, false, 1), new Term(1, false, 1), new Term(1, true, 1))));
        assertThat(plan.writes()).containsExactly(new Transfer(4, 2, 1, false),
                new Transfer(1, 2, 1, true));
    }

    @Test
    void shouldReadTheRestWhereThatIsLess() {
        Plan plan = planner(Level.RAID5, 5).write(0, 3 * CHUNK, 0, 0);
        assertThat(plan).isNotNull();
        assertThat(plan.method()).isEqualTo(Method.RECONSTRUCT_WRITE);
        assertThat(plan.reads()).containsExactly(new Transfer(3, 0, CHUNK, false));
        assertThat(plan.writes()).hasSize(4);
    }

    @ParameterizedTest
    @EnumSource(value = Level.class, names = {"RAID0", "RAID5", "RAID6"})
    void shouldReadNothingForAWholeStripe(Level level) {
        Layout layout = Layout.of(Shape.of(level, 512, CHUNK, 6, 80));
        Plan plan = Planner.of(layout).write(0, layout.stripeBlocks(), 0, 0);
        assertThat(plan).isNotNull();
        assertThat(plan.method()).isEqualTo(Method.FULL_STRIPE);
        assertThat(plan.reads()).isEmpty();
        assertThat(plan.writes()).hasSize(6).allMatch(write -> write.blocks() == CHUNK);
    }

    @Test
    void shouldWriteEachMemberOnceWhereBandsMeet() {
        // From the middle of the first unit to the end of the last: two bands, of which one is whole.
        Plan plan = planner(Level.RAID5, 4).write(3, 3 * CHUNK - 3, 0, 0);
        assertThat(plan).isNotNull();
        assertThat(plan.reads()).containsExactly(new Transfer(0, 0, 3, false));
        assertThat(plan.writes()).hasSize(4);
    }

    @Test
    void shouldKeepFarBandsApart() {
        // The end of one unit and the beginning of the next: nothing between them is touched.
        Plan plan = planner(Level.RAID5, 6).write(CHUNK - 1, 2, 0, 0);
        assertThat(plan).isNotNull();
        assertThat(plan.reads()).hasSize(4).allMatch(read -> read.blocks() == 1);
        assertThat(plan.writes()).hasSize(4).allMatch(write -> write.blocks() == 1);
    }

    @Test
    void shouldReadEachMemberOnceForADegradedReadOfAStripe() {
        Plan plan = planner(Level.RAID5, 4).read(0, 3 * CHUNK, 1 << 1, 0);
        assertThat(plan).isNotNull();
        assertThat(plan.reads()).containsExactlyInAnyOrder(new Transfer(0, 0, CHUNK, true),
                new Transfer(2, 0, CHUNK, true), new Transfer(3, 0, CHUNK, false));
        assertThat(plan.computations()).hasSize(1);
    }

    @Test
    void shouldNotReadForADegradedWriteWithoutParity() {
        Plan plan = planner(Level.RAID5, 4).write(3, 2, 1 << 3, 1 << 3);
        assertThat(plan).isNotNull();
        assertThat(plan.reads()).isEmpty();
        assertThat(plan.writes()).containsExactly(new Transfer(0, 3, 2, true));
    }

    @Test
    void shouldPreferTheCopyThatIsAskedFor() {
        Planner planner = planner(Level.RAID1, 3);
        assertThat(planner.read(0, 4, 0, 2)).isNotNull().extracting(Plan::reads)
                .isEqualTo(List.of(new Transfer(2, 0, 4, true)));
        assertThat(planner.read(0, 4, 1 << 2, 2)).isNotNull().extracting(Plan::reads)
                .isEqualTo(List.of(new Transfer(0, 0, 4, true)));
        assertThat(planner.read(0, 4, 7, 2)).isNull();
    }

    // --- that it is right ---

    private static Layout randomLayout(Level level, Random random) {
        int members = level.minMembers() + random.nextInt(6);
        return Layout.of(Shape.of(level, 512, CHUNK << random.nextInt(2), members, 160));
    }

    /** Random shapes, ranges and losses, against arrays that are encoded slowly. */
    private static void play(Level level, long seed, int stripes,
            UnaryOperator<Planner> wrapper) {
        var random = new Random(seed);
        for (int i = 0; i < stripes; i++) {
            Layout layout = randomLayout(level, random);
            var model = new StripeModel(layout, wrapper.apply(Planner.of(layout)), random);
            for (int step = 0; step < 24; step++) {
                step(layout, model, random);
            }
        }
    }

    private static void step(Layout layout, StripeModel model, Random random) {
        int from = random.nextInt(layout.stripeBlocks());
        int blocks = 1 + random.nextInt(layout.stripeBlocks() - from);
        int gone = Long.bitCount(model.unreadable());
        switch (random.nextInt(10)) {
            case 0 -> {
                if (gone < model.redundancy()) {
                    model.lose(random.nextInt(layout.units()));
                }
            }
            case 1 -> {
                if (gone < model.redundancy()) {
                    int first = random.nextInt(layout.chunkBlocks());
                    model.spoil(random.nextInt(layout.units()), first,
                            first + 1 + random.nextInt(layout.chunkBlocks() - first));
                }
            }
            case 2 -> {
                if (gone > 0) {
                    assertThat(model.restore()).isTrue();
                }
            }
            case 3 -> {
                if (gone == 0 && model.redundancy() > 0) {
                    assertThat(model.verify()).isTrue();
                }
            }
            case 4, 5, 6 -> assertThat(model.read(from, blocks)).isTrue();
            default -> assertThat(model.write(from, blocks)).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(Level.class)
    void shouldAgreeWithArraysUnderRandomLossesReadsAndWrites(Level level) {
        long seed = Seed.next();
        Throwable failure = catchThrowable(
                () -> play(level, seed, 300, UnaryOperator.identity()));
        assertThat(failure).as("seed %d", seed).isNull();
    }

    @ParameterizedTest
    @EnumSource(value = Level.class, names = {"RAID1", "RAID5", "RAID6", "RAID10"})
    void shouldSeeASingleWrongBit(Level level) {
        long seed = Seed.next();
        var random = new Random(seed);
        for (int i = 0; i < 100; i++) {
            Layout layout = randomLayout(level, random);
            var model = new StripeModel(layout, Planner.of(layout), random);
            assertThat(model.verify()).isTrue();
            model.rot();
            assertThat(model.verify()).as("seed %d", seed).isFalse();
        }
    }

    @Test
    void shouldRefuseWhatIsBeyondTheLevel() {
        assertThat(planner(Level.RAID0, 4).read(0, 8, 1, 0)).isNull();
        assertThat(planner(Level.RAID0, 4).write(0, 8, 1, 1)).isNull();
        assertThat(planner(Level.RAID0, 4).write(8, 8, 1, 1)).isNotNull();
        assertThat(planner(Level.RAID5, 4).read(0, 8, 0b11, 0)).isNull();
        assertThat(planner(Level.RAID5, 4).read(0, 8, 0b1001, 0)).isNull();
        assertThat(planner(Level.RAID5, 4).read(16, 8, 0b11, 0)).isNotNull();
        assertThat(planner(Level.RAID6, 5).read(0, 8, 0b111, 0)).isNull();
        assertThat(planner(Level.RAID6, 5).restore(0b111, 0, 8, 0)).isNull();
        assertThat(planner(Level.RAID1, 2).write(0, 8, 0b11, 0b11)).isNull();
        assertThat(planner(Level.RAID1, 2).write(0, 8, 0b11, 0b01)).isNotNull();
        assertThat(planner(Level.RAID5, 4).verify(0, 8, 1)).isNull();
        assertThat(planner(Level.RAID5, 4).verify(0, 8, 1 << 3)).isNull();
        assertThat(planner(Level.RAID6, 5).verify(0, 8, 1 << 3)).isNotNull();
    }

    // --- that a wrong one is found ---

    /** How one step of a plan is spoilt. */
    private enum Fault {
        PARITY_NOT_WRITTEN, TERM_LEFT_OUT, OTHER_FACTOR, ONE_BLOCK_SHORT, OTHER_MEMBER;

        Plan spoil(Plan plan) {
            var reads = new ArrayList<>(plan.reads());
            var sums = new ArrayList<>(plan.computations());
            var writes = new ArrayList<>(plan.writes());
            switch (this) {
                case PARITY_NOT_WRITTEN -> writes.removeIf(write -> !write.buffer());
                case TERM_LEFT_OUT ->
                    sums.replaceAll(sum -> new Computation(sum.unit(), sum.buffer(),
                            sum.from(), sum.blocks(), sum.terms().size() == 1
                                    ? sum.terms()
                                    : sum.terms().subList(1, sum.terms().size())));
                case OTHER_FACTOR -> sums.replaceAll(sum -> {
                    var terms = new ArrayList<>(sum.terms());
                    Term last = terms.removeLast();
                    terms.add(new Term(last.unit(), last.buffer(), Galois.times(last.factor(), 2)));
                    return new Computation(sum.unit(), sum.buffer(), sum.from(), sum.blocks(),
                            terms);
                });
                case ONE_BLOCK_SHORT -> writes.replaceAll(write -> write.blocks() == 1
                        ? write
                        : new Transfer(write.unit(), write.from(), write.blocks() - 1,
                                write.buffer()));
                case OTHER_MEMBER -> {
                    if (reads.size() > 1 && !reads.getFirst().buffer()) {
                        Transfer first = reads.getFirst();
                        reads.set(0, new Transfer(reads.getLast().unit(), first.from(),
                                first.blocks(), first.buffer()));
                    }
                }
            }
            return new Plan(plan.method(), reads, sums, writes);
        }
    }

    /** A planner with a fault. */
    private record Broken(Planner right, Fault fault) implements Planner {
        private @Nullable Plan spoil(@Nullable Plan plan) {
            return plan == null ? null : fault.spoil(plan);
        }

        @Override
        public @Nullable Plan read(int from, int blocks, long unreadable, int preferred) {
            return spoil(right.read(from, blocks, unreadable, preferred));
        }

        @Override
        public @Nullable Plan write(int from, int blocks, long unreadable, long unwritable) {
            return spoil(right.write(from, blocks, unreadable, unwritable));
        }

        @Override
        public @Nullable Plan restore(long units, int from, int blocks, long unreadable) {
            return spoil(right.restore(units, from, blocks, unreadable));
        }

        @Override
        public @Nullable Plan verify(int from, int blocks, long unreadable) {
            return right.verify(from, blocks, unreadable);
        }
    }

    @ParameterizedTest
    @EnumSource(Fault.class)
    void shouldCatchABrokenPlanner(Fault fault) {
        for (Level level : List.of(Level.RAID5, Level.RAID6)) {
            long seed = Seed.next();
            Throwable failure = catchThrowable(
                    () -> play(level, seed, 300, right -> new Broken(right, fault)));
            assertThat(failure).as("%s, %s, seed %d", level, fault, seed)
                    .isInstanceOf(AssertionError.class);
        }
    }
}
