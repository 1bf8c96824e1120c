package lunar.initiator.scsi;

import java.util.ArrayList;
import java.util.List;
import lunar.initiator.scsi.Copies.Segment;
import lunar.scsi.copy.BlockCopySegment;
import lunar.scsi.copy.CopyOperatingParameters;
import lunar.scsi.copy.CscdDescriptor;

/** Splits a copy into EXTENDED COPY commands within the limits of a copy manager. */
final class CopyPlan {
    private static final int MAX_SEGMENT_BLOCKS = 0xffff;
    private static final int MAX_SEGMENTS = 64;
    private static final int CSCDS = 2;
    /** Bytes for each command: it has to end within its timeout, and progress is reported after each. */
    private static final long COMMAND_BYTES = 16 << 20;

    private final List<List<Segment>> commands = new ArrayList<>();
    private final int maxSegments;
    private final long maxSegmentBlocks;
    private final long maxCommandBlocks;
    private List<Segment> latest = new ArrayList<>();
    private long latestBlocks;

    private CopyPlan(CopyOperatingParameters limits, int blockSize) {
        int told = limits.limits().maxSegments() == 0 ? 1 : limits.limits().maxSegments();
        int descriptorBytes = limits.limits().maxDescriptorBytes();
        int fitting = descriptorBytes == 0
                ? MAX_SEGMENTS
                : (descriptorBytes - CSCDS * CscdDescriptor.LENGTH) / BlockCopySegment.LENGTH;
        maxSegments = Math.max(1, Math.min(MAX_SEGMENTS, Math.min(told, fitting)));
        long blocks = limits.maxSegmentBytes() == 0
                ? MAX_SEGMENT_BLOCKS
                : limits.maxSegmentBytes() / blockSize;
        maxSegmentBlocks = Math.clamp(blocks, 1, MAX_SEGMENT_BLOCKS);
        maxCommandBlocks = Math.max(1, COMMAND_BYTES / blockSize);
    }

    /** Returns the segments of each command; none is empty. */
    static List<List<Segment>> of(List<Segment> wanted, CopyOperatingParameters limits,
            int blockSize) {
        var plan = new CopyPlan(limits, blockSize);
        wanted.forEach(plan::add);
        plan.close();
        return plan.commands;
    }

    private void add(Segment wanted) {
        for (long done = 0; done < wanted.blockCount();) {
            long count = Math.min(maxSegmentBlocks,
                    Math.min(wanted.blockCount() - done, maxCommandBlocks - latestBlocks));
            latest.add(new Segment(wanted.sourceLba() + done, wanted.destinationLba() + done,
                    count));
            latestBlocks += count;
            done += count;
            if (latest.size() == maxSegments || latestBlocks == maxCommandBlocks) {
                close();
            }
        }
    }

    private void close() {
        if (!latest.isEmpty()) {
            commands.add(latest);
            latest = new ArrayList<>();
            latestBlocks = 0;
        }
    }
}
