package lunar.filter;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;

/**
 * Faults that a {@link FaultFilter} injects. A request is affected if its operation is listed and it overlaps a bad
 * range, or at random.
 *
 * @param kind type of fault
 * @param rate probability for a request outside the bad ranges, 0 to 1
 * @param operations affected operations
 * @param ranges ranges that are always bad
 */
public record FaultPlan(Kind kind, double rate, Set<Operation> operations, List<Range> ranges) {
    /** A plan without faults. */
    public static final FaultPlan NONE = errors(0);

    /** The effect of a fault on a request. */
    public enum Kind {
        /** It fails with {@link lunar.block.MediumException} and changes nothing. */
        ERROR,
        /** A write fails after it has written its first blocks; other operations pass. */
        TORN,
        /** A read succeeds with one wrong bit; other operations pass. */
        CORRUPT
    }

    /** Blocks from the first to the last. */
    public record Range(long firstLba, long lastLba) {
        public Range {
            if (firstLba < 0 || lastLba < firstLba) {
                throw new IllegalArgumentException(
                        "not a range of blocks: " + firstLba + "-" + lastLba);
            }
        }
    }

    public FaultPlan {
        if (!(rate >= 0 && rate <= 1)) {
            throw new IllegalArgumentException(
                    "the fault rate must be between 0 and 1, not " + rate);
        }
        operations = Set.copyOf(operations);
        ranges = List.copyOf(ranges);
    }

    /** A share of all requests fails. */
    public static FaultPlan errors(double rate) {
        return new FaultPlan(Kind.ERROR, rate, EnumSet.allOf(Operation.class), List.of());
    }

    /** Returns this plan with another kind of fault. */
    public FaultPlan withKind(Kind value) {
        return new FaultPlan(value, rate, operations, ranges);
    }

    /** Returns this plan for these operations only. */
    public FaultPlan withOperations(Operation first, Operation... rest) {
        return new FaultPlan(kind, rate, EnumSet.of(first, rest), ranges);
    }

    /** Returns this plan with one more bad range. */
    public FaultPlan withRange(long firstLba, long lastLba) {
        var more = new ArrayList<>(ranges);
        more.add(new Range(firstLba, lastLba));
        return new FaultPlan(kind, rate, operations, more);
    }

    boolean concerns(BlockRequest request) {
        boolean possible = switch (kind) {
            case ERROR -> true;
            case TORN -> request.operation() == Operation.WRITE;
            case CORRUPT -> request.operation() == Operation.READ && request.blockCount() > 0;
        };
        return possible && operations.contains(request.operation());
    }

    boolean isBad(BlockRequest request) {
        long end = request.lba() + request.blockCount();
        for (Range range : ranges) {
            if (request.lba() <= range.lastLba && range.firstLba < end) {
                return true;
            }
        }
        return false;
    }
}
