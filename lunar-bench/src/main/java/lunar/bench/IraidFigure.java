package lunar.bench;

import java.util.List;

/**
 * What a cell gave.
 *
 * @param megabytes per second, 10^6 bytes, of each window
 * @param cores busy with all of it: initiator, targets and all else
 * @param wireMbits per second on the loopback interface, both ways, with all headers
 */
record IraidFigure(IraidCell cell, List<Double> megabytes, double cores, double wireMbits) {
    double mean() { return megabytes.stream().mapToDouble(one -> one).average().orElseThrow(); }
}
