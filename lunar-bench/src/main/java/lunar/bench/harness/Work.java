package lunar.bench.harness;

/**
 * Workload of a client on a LUN.
 *
 * @param name name in reports and results
 * @param requestBytes size of a request
 * @param random whether access is random, otherwise sequential from the start of the LUN
 * @param depth requests in flight per session
 * @param oneCore whether both ends share one core: with one request in flight, the wake-up of an idle second core
 *        costs more than either program, and hides what is compared
 */
public record Work(String name, Operation operation, int requestBytes, boolean random, int depth,
        boolean oneCore) {

    /** Which way the data go. */
    public enum Operation {
        READ,
        WRITE,
        /** Reads and writes in equal numbers. */
        MIXED,
        /** TEST UNIT READY, one at a time. */
        NO_DATA
    }

    public boolean writes() { return operation == Operation.WRITE || operation == Operation.MIXED; }
}
