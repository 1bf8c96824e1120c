package lunar.raid.layout;

import java.util.List;

/**
 * The steps of a request to one stripe: reads, then computations in this order, then writes. Positions are blocks of a
 * unit.
 *
 * <p>Data are in two locations. The <i>buffer</i> is the request's own: the data of a write, or the target of a read.
 * The <i>scratch</i> has room for each unit: for what else is read, and for what is computed.
 *
 * @param method how parity is brought up to date
 * @param reads member reads; no two of one location overlap
 * @param computations computations
 * @param writes member writes; no two of one unit overlap
 */
public record Plan(Method method, List<Transfer> reads, List<Computation> computations,
        List<Transfer> writes) {
    /** How a plan deals with redundancy. */
    public enum Method {
        /** Only the requested data are read or written. */
        DIRECT,
        /** The stripe is written whole, so nothing is read. */
        FULL_STRIPE,
        /** Old data and old parity are read, and parity is changed by the difference. */
        READ_MODIFY_WRITE,
        /** The data that are not written are read, and parity is computed anew. */
        RECONSTRUCT_WRITE,
        /** Units that cannot be read are computed from the others. */
        RECOVER
    }

    /**
     * A read or write of a member.
     *
     * @param unit the unit on the member
     * @param from first block
     * @param blocks how many
     * @param buffer whether the data are in the request's buffer, not in the scratch
     */
    public record Transfer(int unit, int from, int blocks, boolean buffer) {
        /** Returns the block after the last. */
        public int end() { return from + blocks; }
    }

    /**
     * A computation: the sum of terms is put in the scratch, or the buffer, of a unit.
     *
     * @param unit the unit of the result
     * @param buffer whether the result goes to the request's buffer
     * @param from first block, of the result and of each term
     * @param blocks how many
     * @param terms at least one; the location of the result may be among them
     */
    public record Computation(int unit, boolean buffer, int from, int blocks, List<Term> terms) {}

    /** A unit's blocks times a factor other than 0. */
    public record Term(int unit, boolean buffer, int factor) {}

    public Plan {
        reads = List.copyOf(reads);
        computations = List.copyOf(computations);
        writes = List.copyOf(writes);
    }
}
