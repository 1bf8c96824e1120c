package lunar.bench.raid;

import java.util.List;

/**
 * Result of a cell.
 *
 * @param megabytes per second, 10^6 bytes, of each window
 * @param cores busy with the initiator and all targets
 */
record IraidFigure(IraidCell cell, List<Double> megabytes, double cores) {
    double mean() { return megabytes.stream().mapToDouble(one -> one).average().orElseThrow(); }
}
