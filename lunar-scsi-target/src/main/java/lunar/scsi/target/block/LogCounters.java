package lunar.scsi.target.block;

import java.util.concurrent.atomic.LongAdder;
import lunar.block.BlockRequest;

/** Counters of the log pages of a logical unit, since its start or the last LOG SELECT. Thread-safe. */
final class LogCounters {
    /** Counters of one error counter page (SPC-5 section 7.3.7). */
    static final class Family {
        private final LongAdder blocks = new LongAdder();
        private final LongAdder errors = new LongAdder();

        void processed(long count) { blocks.add(count); }

        void failed() { errors.increment(); }

        long blocks() { return blocks.sum(); }

        long errors() { return errors.sum(); }

        void reset() {
            blocks.reset();
            errors.reset();
        }
    }

    final Family writes = new Family();
    final Family reads = new Family();
    final Family verifies = new Family();
    final LongAdder starts = new LongAdder();

    /** Counts a request to the device. */
    void count(BlockRequest request) {
        switch (request.operation()) {
            case READ -> reads.processed(request.blockCount());
            case WRITE, WRITE_ZEROES, COMPARE_AND_WRITE -> writes.processed(request.blockCount());
            case FLUSH, UNMAP -> {
                // transfers no host data
            }
        }
    }
}
