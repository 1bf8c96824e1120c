package lunar.raid.layout;

import java.util.List;

/**
 * What a request to one stripe takes: reads, then computations in this order, then writes. Positions are blocks of a
 * unit.
 *
 * <p>Data are in two places. The <i>buffer</i> is the request's own: what a write brings, where a read goes. The
 * <i>scratch</i> has room for each unit: what is read beside, what is computed.
 *
 * @param method how parity is brought up to date
 * @param reads member reads; no two of one place overlap
 * @param sums computations
 * @param writes member writes; no two of one unit overlap
 */
public record Plan(Method method, List<Transfer> reads, List<Sum> sums, List<Transfer> writes) {
    /** How a plan gets at redundancy. */
    public enum Method {
        /** What is wanted is read or written, and that is all. */
        DIRECT,
        /** The stripe is written whole, so nothing is read. */
        FULL_STRIPE,
        /** Old data and old parity are read, the difference goes into the parity. */
        READ_MODIFY_WRITE,
        /** The data that are not written are read, and parity is computed anew. */
        RECONSTRUCT_WRITE,
        /** What cannot be read is computed from the rest. */
        RECOVER
    }

    /**
     * A read or write of a member.
     *
     * @param unit whose member
     * @param from first block
     * @param blocks how many
     * @param buffer whether the data are in the request's buffer, not in the scratch
     */
    public record Transfer(int unit, int from, int blocks, boolean buffer) {
        /** The block after the last. */
        public int end() { return from + blocks; }
    }

    /**
     * A computation: the sum of terms is put in the scratch, or the buffer, of a unit.
     *
     * @param unit where it goes
     * @param buffer whether to the request's buffer
     * @param from first block, of the result and of each term
     * @param blocks how many
     * @param terms at least one; the place of the result may be among them
     */
    public record Sum(int unit, boolean buffer, int from, int blocks, List<Term> terms) {}

    /** A unit's blocks times a factor other than 0. */
    public record Term(int unit, boolean buffer, int factor) {}

    public Plan {
        reads = List.copyOf(reads);
        sums = List.copyOf(sums);
        writes = List.copyOf(writes);
    }
}
