package lunar.bench;

import java.util.List;

/**
 * What a client does to a LUN; always reads.
 *
 * @param name for people and for the results
 * @param requestBytes bytes of a request
 * @param random whether places are random, else in order from the start of the LUN
 * @param depth requests in flight, of one session
 * @param oneCore whether both ends share one core: with one request in flight, the wake-up of an idle second core
 *        costs more than either program, and hides what is compared
 */
record Work(String name, int requestBytes, boolean random, int depth, boolean oneCore) {
    static final List<Work> ALL = List.of(
            new Work("4 KiB random read, depth 1, one core", 4096, true, 1, true),
            new Work("4 KiB random read, depth 32", 4096, true, 32, false),
            new Work("256 KiB sequential read, depth 8", 256 << 10, false, 8, false));
}
