package lunar.scsi.target.copy;

import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import lunar.block.BlockDevice;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.SenseSpecific.SegmentPointer;
import lunar.scsi.Status;
import lunar.scsi.copy.BlockCopySegment;
import lunar.scsi.copy.CopyParameterList;
import lunar.scsi.copy.CscdDescriptor;
import lunar.scsi.target.Access;
import lunar.scsi.target.LogicalUnit;
import lunar.scsi.target.Nexus;
import lunar.scsi.target.UnitNames;
import lunar.scsi.vpd.Designator;

/**
 * Copies the segments of one EXTENDED COPY in order, between units of one target that the nexus can access. An error
 * ends the copy with COPY ABORTED and the number of the segment (SPC-5 section 5.18.7.4).
 */
final class SegmentCopy {
    private final CopyUnit unit;
    private final Nexus nexus;
    private final CopyParameterList list;
    private final CopyOperation operation;
    private final Map<CopyUnit, CopyWrites.Writer> writers = new HashMap<>();

    /** Creates a copy that can be stopped from now on by events at its destinations; {@link #run} must follow. */
    SegmentCopy(CopyUnit unit, Nexus nexus, CopyParameterList list, CopyOperation operation) {
        this.unit = unit;
        this.nexus = nexus;
        this.list = list;
        this.operation = operation;
        for (BlockCopySegment segment : list.segments()) {
            find(segment.destination()).ifPresent(this::writer);
        }
    }

    private CopyWrites.Writer writer(CopyUnit to) {
        return writers.computeIfAbsent(to, it -> it.writes().begin(nexus, operation));
    }

    /** Runs the copy. Blocks until done. */
    void run() throws CopyException, InterruptedException {
        try {
            copyAll();
        } finally {
            writers.values().forEach(CopyWrites.Writer::close);
        }
    }

    private void copyAll() throws CopyException, InterruptedException {
        if (list.segments().isEmpty()) {
            return;
        }
        MemorySegment memory = unit.copies().borrow(operation, nexus.initiatorName());
        try {
            for (int i = 0; i < list.segments().size(); i++) {
                copy(i, list.segments().get(i), memory);
                operation.segmentDone();
            }
        } finally {
            unit.copies().giveBack(memory, nexus.initiatorName());
        }
    }

    private void copy(int index, BlockCopySegment segment, MemorySegment memory)
            throws CopyException {
        CopyUnit from = unit(index, segment.source(), BlockCopySegment.SOURCE_AT);
        CopyUnit to = unit(index, segment.destination(), BlockCopySegment.DESTINATION_AT);
        requireAccess(index, from, to);
        BlockDevice source = from.device();
        BlockDevice destination = to.device();
        long bytes = (long) segment.blockCount()
                * (segment.destinationCount() ? destination : source).blockSize();
        if (bytes % source.blockSize() != 0 || bytes % destination.blockSize() != 0) {
            throw aborted(index, AdditionalSense.UNEXPECTED_INEXACT_SEGMENT,
                    BlockCopySegment.BLOCK_COUNT_AT);
        }
        long sourceCount = bytes / source.blockSize();
        long destinationCount = bytes / destination.blockSize();
        requireRange(index, source, segment.sourceLba(), sourceCount,
                BlockCopySegment.SOURCE_LBA_AT);
        requireRange(index, destination, segment.destinationLba(), destinationCount,
                BlockCopySegment.DESTINATION_LBA_AT);
        long distance = segment.destinationLba() - segment.sourceLba();
        boolean backwards = from.store().equals(to.store()) && distance > 0
                && distance < sourceCount;
        try {
            new BlockCopy(operation, to, writer(to), memory).copy(
                    CopySource.Blocks.of(from, segment.sourceLba(), sourceCount), 0,
                    segment.destinationLba(), destinationCount, backwards,
                    () -> requireAccess(index, from, to));
        } catch (CopyException e) { // of the third party
            if (e.status() != Status.CHECK_CONDITION
                    || e.sense().commandSpecific().isPresent()) { // it identifies the segment
                throw e;
            }
            throw new CopyException(Sense.of(SenseKey.COPY_ABORTED, e.sense().additional())
                    .withCommandSpecific(index));
        }
    }

    /** Returns the unit of a CSCD ID. */
    private CopyUnit unit(int index, int id, int at) throws CopyException {
        Optional<CopyUnit> found = find(id);
        if (found.isEmpty()) {
            throw aborted(index, AdditionalSense.UNREACHABLE_COPY_TARGET, at);
        }
        if (id != CscdDescriptor.THIS_UNIT) {
            int size = found.get().device().blockSize();
            CscdDescriptor wanted = list.cscds().get(id);
            if (wanted.blockLength() != 0 && wanted.blockLength() != size) {
                throw aborted(index, AdditionalSense.INCORRECT_COPY_TARGET_DEVICE_TYPE, at);
            }
        }
        return found.get();
    }

    private Optional<CopyUnit> find(int id) {
        if (id == CscdDescriptor.THIS_UNIT) {
            return Optional.of(unit);
        }
        if (id >= list.cscds().size() || list.cscds().get(id).isNull()) {
            return Optional.empty();
        }
        Designator wanted = list.cscds().get(id).designator();
        return nexus.luns().units().stream().map(LogicalUnit::device)
                .filter(CopyDevice.class::isInstance)
                .map(device -> ((CopyDevice) device).copies())
                .filter(it -> hasName(it, wanted)).findFirst();
    }

    private static boolean hasName(CopyUnit unit, Designator name) {
        return name.association() == Designator.Association.LOGICAL_UNIT
                && UnitNames.of(unit.device().identity()).stream()
                        .anyMatch(it -> it.identifier().equals(name.identifier()));
    }

    /**
     * Requires that the nexus may read the source and write the destination; called before a segment and again for each
     * of its pieces.
     */
    private void requireAccess(int index, CopyUnit from, CopyUnit to) throws CopyException {
        requireAccess(index, from, Access.READ);
        requireAccess(index, to, Access.WRITE);
        if (to.writeProtected() || nexus.luns().isReadOnly(to.unit())) {
            throw aborted(index, AdditionalSense.WRITE_PROTECTED, BlockCopySegment.DESTINATION_AT);
        }
    }

    private void requireAccess(int index, CopyUnit it, Access access) throws CopyException {
        if (!it.equals(unit) && !nexus.luns().units().contains(it.unit())) {
            throw unreachable(index);
        }
        Status conflict = it.unit().reservations().conflict(nexus, nexus.registrant(), access);
        if (conflict != null) {
            throw new CopyException(conflict);
        }
        if (!it.unit().access().isActive(nexus.port())) {
            throw unreachable(index);
        }
        Sense obstacle = it.obstacle();
        if (obstacle != null) {
            throw new CopyException(
                    Sense.of(SenseKey.COPY_ABORTED, obstacle.additional())
                            .withCommandSpecific(index));
        }
    }

    private static CopyException unreachable(int index) {
        return new CopyException(
                Sense.of(SenseKey.COPY_ABORTED, AdditionalSense.UNREACHABLE_COPY_TARGET)
                        .withCommandSpecific(index));
    }

    /** Requires a range within the device; the error identifies the field that is too large. */
    private void requireRange(int index, BlockDevice device, long lba, long count, int at)
            throws CopyException {
        if (lba < 0 || lba > device.blockCount() || count > device.blockCount() - lba) {
            throw aborted(index, AdditionalSense.NONE, at);
        }
    }

    private static CopyException aborted(int index, AdditionalSense why, int at) {
        return new CopyException(Sense.of(SenseKey.COPY_ABORTED, why).withCommandSpecific(index)
                .withSpecific(new SegmentPointer(true, at, OptionalInt.empty())));
    }
}
