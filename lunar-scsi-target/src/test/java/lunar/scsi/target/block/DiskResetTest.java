package lunar.scsi.target.block;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import lunar.block.BlockRequest;
import lunar.block.ForwardingDevice;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import lunar.scsi.CdbForm;
import lunar.scsi.mode.ModeSelect;
import lunar.scsi.target.Blocks;
import lunar.scsi.target.LogicalUnit;
import lunar.scsi.target.LogicalUnits;
import lunar.scsi.target.StateStore;
import lunar.scsi.target.UnitContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests which flushes a reset of a disk waits for. */
class DiskResetTest {
    private static final int WCE = 4;

    @TempDir
    Path directory;

    /** Memory that completes requests only on demand. */
    private static final class HeldRequests extends ForwardingDevice {
        final List<BlockRequest> held = new ArrayList<>();

        HeldRequests() { super(new Blocks()); }

        @Override
        public void submit(BlockRequest request) { held.add(request); }

        @Override
        public void execute(BlockRequest request) throws StorageException {
            below().execute(request);
        }
    }

    /** Changes the write cache of a unit. */
    private static void switchCache(LogicalUnit unit, boolean on, boolean save) throws Exception {
        byte[] data = HexFormat.of().parseHex("00000000" + "0812" + "00".repeat(18));
        data[6] = (byte) (on ? WCE : 0);
        var command = new ModeSelect(CdbForm.CDB6, true, false, save, data.length);
        var disk = (Disk) unit.device();
        disk.modes().change(command, MemorySegment.ofArray(data), disk.blocks());
    }

    /** An initiator whose reset was rejected after a timeout sends another one. */
    @Test
    void shouldWaitForTheFlushOfAnEarlierReset() throws Exception {
        try (var device = new HeldRequests()) {
            LogicalUnit unit = LogicalUnits.open(
                    DiskSpec.of(device).withState(StateStore.inDirectory(directory)),
                    "iqn.2026-11.org.lunar:t", new UnitContext(1 << 20, 10_000));
            switchCache(unit, false, true);
            switchCache(unit, true, false);
            CompletableFuture<Void> first = unit.reset();
            CompletableFuture<Void> second = unit.reset();
            assertThat(device.held).as("it was off before the second").hasSize(1);
            assertThat(first).isNotDone();
            assertThat(second).isNotDone();

            switchCache(unit, true, false);
            CompletableFuture<Void> third = unit.reset();
            assertThat(device.held).as("written to while it was on").hasSize(2);
            RequestCompletion.succeed(device.held.get(1));
            assertThat(third).isNotDone();
            RequestCompletion.succeed(device.held.get(0));
            assertThat(List.of(first, second, third)).allMatch(CompletableFuture::isDone);
            assertThat(unit.reset()).isDone();
        }
    }
}
