package lunar.scsi.target.copy;

import java.lang.foreign.MemorySegment;
import java.util.List;
import lunar.block.BlockDevice;
import lunar.block.Capability;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.Status;
import lunar.scsi.block.CapacityData16;
import lunar.scsi.copy.BlockRange;
import lunar.scsi.copy.CscdDescriptor;
import lunar.scsi.copy.PopulateToken;
import lunar.scsi.copy.PopulateTokenList;
import lunar.scsi.copy.RodToken;
import lunar.scsi.copy.WriteUsingToken;
import lunar.scsi.copy.WriteUsingTokenList;
import lunar.scsi.target.Access;
import lunar.scsi.target.CommandHandler;
import lunar.scsi.target.CommandSet;
import lunar.scsi.target.LogicalUnit;
import lunar.scsi.target.Nexus;
import lunar.scsi.target.ScsiTask;
import lunar.scsi.target.UnitNames;
import lunar.scsi.vpd.Identifier;

/** Executes POPULATE TOKEN and WRITE USING TOKEN (SBC-4 sections 5.12 and 5.59), Windows offloaded data transfer. */
public final class RodTokenCommands {
    private static final int INACTIVITY_AT = 4;
    private static final int ROD_TYPE_AT = 8;
    private static final int POPULATE_RANGES_AT = 16;
    private static final int WRITE_RANGES_AT = 536;

    private final CopyUnit copies;
    private final LogicalUnit unit;
    private final BlockDevice device;

    public RodTokenCommands(CopyUnit copies) {
        this.copies = copies;
        unit = copies.unit();
        device = copies.device();
    }

    /** Adds the commands. */
    public void register(CommandSet commands) {
        commands.add(CommandHandler
                .<PopulateToken>of(PopulateToken.class, Access.READ, this::populate)
                .withDataOut(command -> Math.min(command.parameterListLength(),
                        CopyLimits.MAX_TOKEN_LIST_BYTES))
                .takingLong())
                .add(CommandHandler
                        .<WriteUsingToken>of(WriteUsingToken.class, Access.WRITE, this::write)
                        .withDataOut(command -> Math.min(command.parameterListLength(),
                                CopyLimits.MAX_TOKEN_LIST_BYTES))
                        .takingLong());
    }

    private static MemorySegment list(ScsiTask task, long length)
            throws InvalidParameterListException {
        if (task.dataOut().byteSize() < Math.min(length, CopyLimits.MAX_TOKEN_LIST_BYTES)) {
            throw InvalidParameterListException.length();
        }
        return task.dataOut();
    }

    private void populate(ScsiTask task, PopulateToken command) {
        if (command.parameterListLength() == 0) { // an empty list is not an error
            task.good();
            return;
        }
        try {
            var list = PopulateTokenList.decode(list(task, command.parameterListLength()),
                    CopyLimits.MAX_RANGES);
            long inactivity = list.inactivitySeconds();
            if (inactivity > RodTokens.MAX_INACTIVITY_SECONDS) {
                throw InvalidParameterListException.field(INACTIVITY_AT);
            }
            long type = list.rodType().orElse(RodToken.ANY_POINT_IN_TIME);
            if (type != RodToken.CHANGE_VULNERABLE && type != RodToken.ANY_POINT_IN_TIME) {
                throw InvalidParameterListException.field(ROD_TYPE_AT);
            }
            requireRanges(list.ranges(), POPULATE_RANGES_AT);
            var operation = new CopyOperation(PopulateToken.SERVICE_ACTION, false);
            CopyOperations.of(task.nexus(), unit).begin(command.listIdentifier(), operation);
            make(task, list.ranges(),
                    inactivity == 0 ? RodTokens.DEFAULT_INACTIVITY_SECONDS : inactivity, operation);
        } catch (InvalidParameterListException e) {
            task.checkCondition(e.sense());
        } catch (CopyException e) {
            CopyWork.end(task, e);
        }
    }

    /** Creates a token without copying: it represents the blocks in place until they are written. */
    private void make(ScsiTask task, List<BlockRange> ranges, long inactivity,
            CopyOperation operation) throws CopyException {
        var source = new CopySource.Blocks(copies, ranges);
        try {
            RodTokens.Rod rod = copies.copies().tokens().create(task.nexus().initiatorName(),
                    source, inactivity, (identifier, secret) -> token(identifier, secret, source,
                            task.nexus().port().targetName()));
            operation.token(rod.token());
            operation.copied(source.byteCount());
            operation.end(Status.GOOD, null);
            task.good();
        } catch (CopyException e) {
            operation.end(e.status(), e.sense());
            throw e;
        }
    }

    private RodToken token(long identifier, Bytes secret, CopySource.Blocks source,
            String targetName) {
        boolean thin = device.supports(Capability.UNMAP);
        int exponent = Integer.numberOfTrailingZeros(
                device.geometry().physicalBlockSize() / device.blockSize());
        return new RodToken(RodToken.CHANGE_VULNERABLE, identifier,
                CscdDescriptor.disk(UnitNames.of(device.identity()).getFirst(),
                        device.blockSize()),
                source.byteCount(), new CapacityData16(device.blockCount() - 1,
                        device.blockSize(), 0, exponent, thin, thin, 0),
                new Identifier.ScsiName(targetName), secret);
    }

    private void requireRanges(List<BlockRange> ranges, int at)
            throws InvalidParameterListException, CopyException {
        if (BlockRange.count(ranges) > CopyLimits.maxTokenBlocks(device)) {
            throw InvalidParameterListException.field(at);
        }
        long blocks = device.blockCount();
        for (BlockRange range : ranges) {
            if (range.lba() < 0 || range.lba() > blocks
                    || range.blockCount() > blocks - range.lba()) {
                throw new CopyException(
                        Sense.of(SenseKey.ILLEGAL_REQUEST, AdditionalSense.LBA_OUT_OF_RANGE));
            }
        }
    }

    private void write(ScsiTask task, WriteUsingToken command) {
        if (command.parameterListLength() == 0) { // an empty list is not an error
            task.good();
            return;
        }
        try {
            var list = WriteUsingTokenList.decode(list(task, command.parameterListLength()),
                    CopyLimits.MAX_RANGES);
            requireRanges(list.ranges(), WRITE_RANGES_AT);
            if (copies.writeProtected()) {
                throw new CopyException(
                        Sense.of(SenseKey.DATA_PROTECT, AdditionalSense.WRITE_PROTECTED));
            }
            var operation = new CopyOperation(WriteUsingToken.SERVICE_ACTION, list.immediate());
            CopyOperations.of(task.nexus(), unit).begin(command.listIdentifier(), operation);
            Nexus nexus = task.nexus();
            CopyWrites.Writer writer = copies.writes().begin(nexus, operation);
            CopyWork.start(task, unit, operation, list.immediate(), () -> {
                try (writer) {
                    write(list, operation, nexus, writer);
                }
            });
        } catch (InvalidParameterListException e) {
            task.checkCondition(e.sense());
        } catch (CopyException e) {
            CopyWork.end(task, e);
        }
    }

    /** Writes the data of a token. Blocks until done. */
    private void write(WriteUsingTokenList list, CopyOperation operation, Nexus nexus,
            CopyWrites.Writer writer) throws CopyException, InterruptedException {
        if (RodToken.type(list.token()) == RodToken.ZEROES) {
            if (!RodToken.hasValidLength(list.token())) {
                throw new CopyException(Sense.of(SenseKey.ILLEGAL_REQUEST,
                        AdditionalSense.INVALID_TOKEN_LENGTH));
            }
            write(list, new CopySource.Zeroes(), operation, nexus, writer, () -> {});
            return;
        }
        RodTokens tokens = copies.copies().tokens();
        RodTokens.Rod rod = tokens.use(list.token());
        try {
            requireApart(rod.source(), list.ranges());
            write(list, rod.source(), operation, nexus, writer, () -> tokens.requireAlive(rod));
        } finally {
            if (list.deleteToken()) {
                tokens.delete(rod);
            }
            tokens.giveBack(rod);
        }
    }

    /** Requires that source and destination do not overlap: otherwise the first piece would revoke the token. */
    private void requireApart(CopySource.Blocks source, List<BlockRange> ranges)
            throws CopyException {
        for (BlockRange to : ranges) {
            for (BlockRange from : source.ranges()) {
                if (source.store().equals(copies.store())
                        && to.lba() < from.lba() + from.blockCount()
                        && from.lba() < to.lba() + to.blockCount()) {
                    throw new CopyException(Sense.of(SenseKey.ILLEGAL_REQUEST,
                            AdditionalSense.INVALID_OPERATION_FOR_COPY));
                }
            }
        }
    }

    private void write(WriteUsingTokenList list, CopySource source, CopyOperation operation,
            Nexus nexus, CopyWrites.Writer writer, BlockCopy.Guard alive)
            throws CopyException, InterruptedException {
        BlockCopy.Guard guard = () -> {
            alive.check();
            requireAccess(nexus);
        };
        int block = device.blockSize();
        long available = source.byteCount() / block;
        if (list.offset() < 0 || list.offset() >= available) {
            throw new CopyException(Sense.invalidFieldInParameterList(
                    WriteUsingTokenList.OFFSET_AT, 7));
        }
        MemorySegment memory = copies.copies().borrow(operation, nexus.initiatorName());
        try {
            var copy = new BlockCopy(operation, copies, writer, memory);
            long at = list.offset();
            for (BlockRange range : list.ranges()) {
                long count = Math.min(range.blockCount(), available - at);
                copy.copy(source, at * block, range.lba(), count, false, guard);
                at += count;
                if (count < range.blockCount()) { // longer than the token
                    throw new CopyException(Sense
                            .of(SenseKey.COPY_ABORTED,
                                    AdditionalSense.COPY_TARGET_DEVICE_DATA_UNDERRUN)
                            .withInformation(at - list.offset()));
                }
            }
        } finally {
            copies.copies().giveBack(memory, nexus.initiatorName());
        }
    }

    /** Checks, for each piece, that the command may still write: access may have changed since it began. */
    private void requireAccess(Nexus nexus) throws CopyException {
        Status conflict = unit.reservations().conflict(nexus, nexus.registrant(), Access.WRITE);
        if (conflict != null) {
            throw new CopyException(conflict);
        }
        if (copies.writeProtected() || nexus.luns().isReadOnly(unit)) {
            throw new CopyException(
                    Sense.of(SenseKey.DATA_PROTECT, AdditionalSense.WRITE_PROTECTED));
        }
    }
}
