package lunar.scsi.target.block;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Identity;
import lunar.block.StorageException;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Cdb;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.block.CompareAndWrite;
import lunar.scsi.block.OrWrite;
import lunar.scsi.block.Sanitize;
import lunar.scsi.block.StartStopUnit;
import lunar.scsi.block.SynchronizeCache;
import lunar.scsi.block.VerifyBlocks;
import lunar.scsi.block.WriteAndVerify;
import lunar.scsi.block.WriteAtomic;
import lunar.scsi.block.WriteBlocks;
import lunar.scsi.copy.ExtendedCopy;
import lunar.scsi.copy.PopulateToken;
import lunar.scsi.mode.InformationalExceptionsModePage;
import lunar.scsi.mode.ModeParameters;
import lunar.scsi.target.Access;
import lunar.scsi.target.BufferCommands;
import lunar.scsi.target.CommandSet;
import lunar.scsi.target.IdentityCommands;
import lunar.scsi.target.LogicalUnit;
import lunar.scsi.target.ModeCommands;
import lunar.scsi.target.Nexus;
import lunar.scsi.target.PeripheralDevice;
import lunar.scsi.target.ScsiTask;
import lunar.scsi.target.UnitContext;
import lunar.scsi.target.UnitModes;
import lunar.scsi.target.copy.CopyDevice;
import lunar.scsi.target.copy.CopyOperations;
import lunar.scsi.target.copy.CopyResultCommands;
import lunar.scsi.target.copy.CopyUnit;
import lunar.scsi.target.copy.ExtendedCopyCommands;
import lunar.scsi.target.copy.RodTokenCommands;
import lunar.scsi.vpd.StandardInquiry;
import lunar.scsi.vpd.VpdPage;

/** A direct-access block device (SPC-5, SBC-4) over a {@link BlockDevice}. */
final class Disk implements PeripheralDevice, CopyDevice, ModeCommands.Source {
    private static final int SANITIZE = 0x48;

    private final LogicalUnit unit;
    private final DiskUnit disk;
    private final BlockDevice device;
    private final DiskPages pages;
    private final BlockCommands blocks;
    private final IdentityCommands identity;
    private final int maxTransferBlocks;
    private final AtomicLong capacity;

    /** @throws IOException if the saved state cannot be read, or is damaged */
    Disk(DiskUnit disk, UnitContext context) throws IOException {
        this.disk = disk;
        unit = disk.unit();
        device = disk.device();
        capacity = new AtomicLong(device.blockCount());
        maxTransferBlocks = Math.min(device.limits().maxTransferBlocks(),
                context.maxTransferBytes() / device.blockSize());
        pages = new DiskPages(disk, maxTransferBlocks);
        blocks = new BlockCommands(disk, maxTransferBlocks);
        identity = new IdentityCommands(unit, disk.state(), System::currentTimeMillis);
        disk.resume();
    }

    void present(DiskProfile wanted) { disk.present(wanted); }

    @Override
    public CopyUnit copies() { return disk; }

    // --- data of INQUIRY and MODE SENSE ---

    @Override
    public Identity identity() { return device.identity(); }

    @Override
    public StandardInquiry inquiry() {
        return StandardInquiry
                .disk(identity().vendor(), identity().product(), identity().revision())
                .withRemovable(disk.profile().removable()).withThirdPartyCopy(true);
    }

    @Override
    public List<VpdPage> vpdPages() { return pages.all(); }

    @Override
    public UnitModes<?> modes() { return disk.modes().pages(); }

    @Override
    public int deviceSpecific(ScsiTask task) {
        return ModeParameters.DPO_FUA
                | (disk.writeProtected() || task.nexus().luns().isReadOnly(task.lun())
                        ? ModeParameters.WRITE_PROTECTED
                        : 0);
    }

    @Override
    public ModeParameters.Blocks blocks() {
        return new ModeParameters.Blocks(device.blockCount(), device.blockSize());
    }

    @Override
    public void selected(ScsiTask task, boolean changed) {
        if (changed) {
            disk.modesChanged();
        }
        if (disk.modes().writeThrough()) {
            // The cached data must become stable too (SBC-4 section 4.15). If the cache was off already, the flush of
            // an earlier MODE SELECT may be in progress or may have failed.
            task.request().asFlush();
            task.submit(device, BlockCommands::ended);
        } else {
            task.good();
        }
    }

    @Override
    public boolean descriptorSense() { return disk.modes().descriptorSense(); }

    // --- commands ---

    /** Adds the commands of the disk. */
    void register(CommandSet commands) {
        blocks.register(commands);
        new ModeCommands(unit, this).register(commands);
        new CapacityCommands(device).register(commands);
        new ProvisioningCommands(disk, blocks).register(commands);
        new LbaStatusCommands(device).register(commands);
        new MediumCommands(disk, blocks).register(commands);
        new EraseCommands(disk).register(commands);
        new AtomicCommands(device, blocks, maxTransferBlocks).register(commands);
        new DiagnosticCommands(disk).register(commands);
        new LogCommands(disk).register(commands);
        new BufferCommands().register(commands);
        identity.register(commands);
        new ExtendedCopyCommands(disk).register(commands);
        new RodTokenCommands(disk).register(commands);
        new CopyResultCommands(disk).register(commands);
        if (!disk.makesTokens()) {
            commands.without(ExtendedCopy.OPCODE, PopulateToken.SERVICE_ACTION);
        }
        if (!EraseCommands.supports(device, Sanitize.CRYPTOGRAPHIC_ERASE)) {
            commands.without(SANITIZE, Sanitize.CRYPTOGRAPHIC_ERASE);
        }
    }

    @Override
    public long dataInBytes(ScsiTask task) { return blocks.dataInBytes(task); }

    @Override
    public boolean acceptPlain(ScsiTask task) { return blocks.acceptPlain(task); }

    @Override
    public Access plainAccess(ScsiTask task) { return BlockCommands.plainAccess(task); }

    @Override
    public void executePlain(ScsiTask task) { blocks.executePlain(task); }

    @Override
    public void begin(Access access) {
        if (access.needsMedium()) { // first, so that either this command or an erasure detects the other
            disk.medium().enter();
        }
    }

    @Override
    public void end(Access access) {
        if (access.needsMedium()) {
            disk.medium().leave();
        }
    }

    @Override
    public Optional<Sense> obstacle(Access access) {
        return access.needsMedium() ? disk.medium().obstacle() : Optional.empty();
    }

    @Override
    public Optional<Sense> executing(ScsiTask task) {
        if (owesLoss(task)) { // only after a loss
            return Optional.of(Sense.lostWrites());
        }
        if (disk.copies().tokens().any()) { // tokens are rare
            WrittenBlocks.revokeTokens(disk.copies().tokens(), disk.store(), task);
        }
        return Optional.empty();
    }

    /** Whether a command must report lost writes, because its success would guarantee that they are stable. */
    private boolean owesLoss(ScsiTask task) {
        return disk.losses().any()
                && (task.isPlain() ? blocks.vouches(task) : vouches(task.cdb()))
                && disk.losses().take(task.nexus());
    }

    private boolean vouches(Cdb cdb) {
        return switch (cdb) {
            case SynchronizeCache _,WriteAndVerify _ -> true;
            case WriteBlocks write -> write.fua() || disk.modes().writeThrough();
            case WriteAtomic write -> write.fua() || disk.modes().writeThrough();
            case CompareAndWrite write -> write.fua() || disk.modes().writeThrough();
            case OrWrite write -> write.fua() || disk.modes().writeThrough();
            case StartStopUnit command -> MediumCommands.flushes(command);
            default -> false;
        };
    }

    @Override
    public Optional<Sense> pollable() {
        return disk.medium().running().map(LongOperation::sense)
                .or(() -> disk.erasures().failed().map(Erasure::failure))
                .or(() -> disk.selfTest().inBackground().map(LongOperation::sense))
                .or(this::failurePrediction);
    }

    /** Returns a simulated exception that is to be reported on request (SPC-5 section 6.39). */
    private Optional<Sense> failurePrediction() {
        return disk.modes().simulatedException() == InformationalExceptionsModePage.ON_REQUEST
                ? Optional.of(Sense.of(SenseKey.NO_SENSE,
                        AdditionalSense.FAILURE_PREDICTION_FALSE))
                : Optional.empty();
    }

    @Override
    public void failed(ScsiTask task) {
        LogCounters counters = disk.counters();
        if (task.cdb() instanceof VerifyBlocks) {
            counters.verifies.failed();
        } else if (task.request().operation() == BlockRequest.Operation.READ) {
            counters.reads.failed();
        } else {
            counters.writes.failed();
        }
    }

    @Override
    public void lostWrites(ScsiTask task) {
        disk.lostWrites(task.aborted() ? null : task.nexus()); // the outcome of an aborted task is not reported
    }

    // --- events of the unit ---

    @Override
    public CompletableFuture<Void> reset() { return disk.reset(); }

    @Override
    public CompletableFuture<Void> resetByOther() { return disk.resetByOther(); }

    @Override
    public void arriving() { disk.checkLosses(); }

    @Override
    public CompletableFuture<Void> nexusLost(Nexus nexus) {
        disk.medium().prevent(nexus, false);
        return cancel(nexus);
    }

    @Override
    public CompletableFuture<Void> cancel(Nexus nexus) {
        return CopyOperations.cancel(nexus, unit);
    }

    @Override
    public CompletableFuture<Void> stopChanges(Predicate<Nexus> of) {
        return disk.writes().stop(of);
    }

    @Override
    public CompletableFuture<Void> quiet() {
        return disk.medium().here().map(LongOperation::end)
                .orElseGet(() -> CompletableFuture.completedFuture(null));
    }

    @Override
    public void startFollowing() throws IOException {
        disk.startFollowing();
        identity.begin();
    }

    @Override
    public CompletableFuture<Void> stopFollowing() {
        identity.end();
        return disk.stopFollowing();
    }

    /** {@inheritDoc} Nexuses are told of another capacity (SBC-4 section 4.5). */
    @Override
    public void refresh() throws StorageException {
        try {
            device.refresh();
        } finally {
            long now = device.blockCount();
            if (capacity.getAndSet(now) != now) {
                unit.establish(AdditionalSense.CAPACITY_DATA_HAS_CHANGED);
            }
        }
    }
}
