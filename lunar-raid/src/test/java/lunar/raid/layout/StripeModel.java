package lunar.raid.layout;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Random;

/**
 * A stripe on members that are arrays, which runs plans; and beside it the data that should be there, encoded slowly.
 * Blocks of members may be lost or unreadable: then they hold rubbish, and a plan that reads them is wrong.
 */
final class StripeModel {
    static final int BLOCK_BYTES = 16;

    private final Layout layout;
    private final Planner planner;
    private final Random random;
    private final int unitBytes;
    private final byte[][] members;
    private final boolean[][] bad;
    private final byte[] expected;
    private long lost;

    StripeModel(Layout layout, Planner planner, Random random) {
        this.layout = layout;
        this.planner = planner;
        this.random = random;
        unitBytes = layout.chunkBlocks() * BLOCK_BYTES;
        expected = new byte[layout.dataUnits() * unitBytes];
        random.nextBytes(expected);
        members = encoded();
        bad = new boolean[layout.units()][layout.chunkBlocks()];
    }

    /** The expected content of each unit. */
    private byte[][] encoded() {
        var units = new byte[layout.units()][unitBytes];
        for (int at = 0; at < unitBytes; at++) {
            for (int data = 0; data < layout.dataUnits(); data++) {
                byte value = expected[data * unitBytes + at];
                units[data][at] = value;
                for (int unit = layout.dataUnits(); unit < layout.units(); unit++) {
                    boolean isQ = layout.code() == Code.PQ && unit == layout.dataUnits() + 1;
                    units[unit][at] ^= isQ ? times(value, data) : value;
                }
            }
        }
        return units;
    }

    /** A byte times 2 to a power, step by step. */
    private static byte times(byte value, int power) {
        int product = value & 0xff;
        for (int i = 0; i < power; i++) {
            product = (product & 0x80) == 0 ? product << 1 : (product << 1 & 0xff) ^ 0x1d;
        }
        return (byte) product;
    }

    int redundancy() {
        return layout.code() == Code.COPIES
                ? layout.units() - 1
                : layout.units() - layout.dataUnits();
    }

    long unreadable() {
        long set = lost;
        for (int unit = 0; unit < bad.length; unit++) {
            for (boolean one : bad[unit]) {
                set |= one ? 1L << unit : 0;
            }
        }
        return set;
    }

    void lose(int unit) {
        lost |= 1L << unit;
        spoil(unit, 0, layout.chunkBlocks());
    }

    void spoil(int unit, int from, int end) {
        var rubbish = new byte[(end - from) * BLOCK_BYTES];
        random.nextBytes(rubbish);
        System.arraycopy(rubbish, 0, members[unit], from * BLOCK_BYTES, rubbish.length);
        Arrays.fill(bad[unit], from, end, true);
    }

    private void run(Plan plan, MemorySegment buffer, int bufferFrom) {
        var scratch = new byte[layout.units()][unitBytes];
        for (byte[] unit : scratch) {
            random.nextBytes(unit);
        }
        for (Plan.Transfer read : plan.reads()) {
            assertThat(lost >>> read.unit() & 1).as("%s reads a lost unit", plan).isZero();
            for (int block = read.from(); block < read.end(); block++) {
                assertThat(bad[read.unit()][block]).as("%s reads a bad block", plan).isFalse();
            }
            place(read.unit(), read.from(), read.blocks(), read.buffer(), buffer, bufferFrom,
                    scratch).copyFrom(member(read));
        }
        var parity = new Parity();
        for (Plan.Computation sum : plan.computations()) {
            parity.clear();
            for (Plan.Term term : sum.terms()) {
                parity.add(place(term.unit(), sum.from(), sum.blocks(), term.buffer(), buffer,
                        bufferFrom, scratch), term.factor());
            }
            parity.into(place(sum.unit(), sum.from(), sum.blocks(), sum.buffer(), buffer,
                    bufferFrom, scratch));
        }
        for (Plan.Transfer write : plan.writes()) {
            member(write).copyFrom(place(write.unit(), write.from(), write.blocks(),
                    write.buffer(), buffer, bufferFrom, scratch));
            Arrays.fill(bad[write.unit()], write.from(), write.end(), false);
        }
    }

    private MemorySegment member(Plan.Transfer transfer) {
        return MemorySegment.ofArray(members[transfer.unit()]).asSlice(
                (long) transfer.from() * BLOCK_BYTES, (long) transfer.blocks() * BLOCK_BYTES);
    }

    private MemorySegment place(int unit, int from, int blocks, boolean inBuffer,
            MemorySegment buffer, int bufferFrom, byte[][] scratch) {
        int data = layout.code() == Code.COPIES ? 0 : unit;
        return inBuffer
                ? buffer.asSlice(
                        (long) (data * layout.chunkBlocks() + from - bufferFrom) * BLOCK_BYTES,
                        (long) blocks * BLOCK_BYTES)
                : MemorySegment.ofArray(scratch[unit]).asSlice((long) from * BLOCK_BYTES,
                        (long) blocks * BLOCK_BYTES);
    }

    /** Writes random data. False where the planner says that it cannot be done. */
    boolean write(int from, int blocks) {
        Plan plan = planner.write(from, blocks, unreadable(), lost);
        if (plan == null) {
            return false;
        }
        var data = new byte[blocks * BLOCK_BYTES];
        random.nextBytes(data);
        System.arraycopy(data, 0, expected, from * BLOCK_BYTES, data.length);
        run(plan, MemorySegment.ofArray(data).asReadOnly(), from);
        for (Plan.Transfer write : plan.writes()) {
            assertThat(lost >>> write.unit() & 1).as("%s writes a lost unit", plan).isZero();
        }
        requireConsistent(plan);
        return true;
    }

    boolean read(int from, int blocks) {
        int preferred = random.nextInt(layout.units());
        Plan plan = planner.read(from, blocks, unreadable(), preferred);
        if (plan == null) {
            return false;
        }
        var data = new byte[blocks * BLOCK_BYTES];
        run(plan, MemorySegment.ofArray(data), from);
        assertThat(data).as("%s", plan).isEqualTo(Arrays.copyOfRange(expected,
                from * BLOCK_BYTES, (from + blocks) * BLOCK_BYTES));
        return true;
    }

    /** Brings back all that is lost or bad. */
    boolean restore() {
        long wanted = unreadable();
        Plan plan = planner.restore(wanted, 0, layout.chunkBlocks(), wanted);
        if (plan == null) {
            return false;
        }
        lost = 0;
        for (Plan.Transfer read : plan.reads()) {
            assertThat(wanted >>> read.unit() & 1).as("%s reads what it restores", plan).isZero();
        }
        run(plan, MemorySegment.NULL, 0);
        assertThat(unreadable()).as("%s leaves units", plan).isZero();
        requireConsistent(plan);
        return true;
    }

    /** Whether a look at everything finds all right. */
    boolean verify() {
        Plan plan = planner.verify(0, layout.chunkBlocks(), unreadable());
        assertThat(plan).isNotNull();
        var scratch = new byte[layout.units()][unitBytes];
        for (Plan.Transfer read : plan.reads()) {
            place(read.unit(), read.from(), read.blocks(), false, MemorySegment.NULL, 0, scratch)
                    .copyFrom(member(read));
        }
        var parity = new Parity();
        boolean right = true;
        for (Plan.Computation sum : plan.computations()) {
            parity.clear();
            for (Plan.Term term : sum.terms()) {
                parity.add(MemorySegment.ofArray(scratch[term.unit()]), term.factor());
            }
            MemorySegment place = MemorySegment.ofArray(scratch[sum.unit()]);
            parity.into(place);
            right &= parity.isZero(place);
        }
        return right;
    }

    /** Flips a bit without any error. */
    void rot() {
        members[random.nextInt(layout.units())][random.nextInt(unitBytes)] ^= 1 << random
                .nextInt(8);
    }

    /** Whatever is not lost or bad is what it should be. */
    void requireConsistent(Object after) {
        byte[][] right = encoded();
        for (int unit = 0; unit < layout.units(); unit++) {
            for (int block = 0; block < layout.chunkBlocks(); block++) {
                if (!bad[unit][block]) {
                    int at = block * BLOCK_BYTES;
                    assertThat(Arrays.mismatch(members[unit], at, at + BLOCK_BYTES, right[unit],
                            at, at + BLOCK_BYTES)).as("unit %d block %d after %s", unit, block,
                                    after)
                            .isEqualTo(-1);
                }
            }
        }
    }
}
