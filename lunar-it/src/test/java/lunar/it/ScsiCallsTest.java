package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.UnaryOperator;
import lunar.block.DeviceGoneException;
import lunar.block.InvalidRequestException;
import lunar.block.MiscompareException;
import lunar.block.NotSupportedException;
import lunar.block.OutOfRangeException;
import lunar.block.StorageException;
import lunar.initiator.Initiator;
import lunar.initiator.LunDevice;
import lunar.initiator.ScsiResult;
import lunar.initiator.SenseException;
import lunar.initiator.Session;
import lunar.initiator.scsi.ScsiUnit;
import lunar.initiator.scsi.UnitIdentity;
import lunar.scsi.Lun;
import lunar.scsi.SenseKey;
import lunar.scsi.SenseSpecific;
import lunar.scsi.block.LbaStatusList.Extent;
import lunar.scsi.block.LbaStatusList.Provisioning;
import lunar.scsi.block.UnmapParameterList.Range;
import lunar.scsi.command.SupportedOperationCode;
import lunar.scsi.command.TaskManagementSupport;
import lunar.scsi.log.LogPage;
import lunar.scsi.mode.CachingModePage;
import lunar.scsi.mode.ControlModePage;
import lunar.scsi.mode.ModePage;
import lunar.scsi.mode.ModeSense;
import lunar.scsi.primary.TargetPortGroups;
import lunar.scsi.target.StateStore;
import lunar.scsi.vpd.BlockLimits;
import lunar.scsi.vpd.StandardInquiry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests an application's SCSI calls on units of Lunar's target: effects and results. */
class ScsiCallsTest {
    private static final int BLOCK = 512;

    private static MemorySegment random(int blocks) {
        byte[] bytes = new byte[blocks * BLOCK];
        new Random(blocks).nextBytes(bytes);
        return MemorySegment.ofArray(bytes);
    }

    private static MemorySegment filled(int blocks, int value) {
        return MemorySegment.ofArray(new byte[blocks * BLOCK]).fill((byte) value);
    }

    private static byte[] read(LunDevice disk, long lba, int blocks) throws StorageException {
        var data = MemorySegment.ofArray(new byte[blocks * BLOCK]);
        disk.read(lba, data);
        return data.toArray(ValueLayout.JAVA_BYTE);
    }

    private static byte[] bytes(MemorySegment data) { return data.toArray(ValueLayout.JAVA_BYTE); }

    /** Fills the disk, by more than one write. */
    private static void fill(LunDevice disk, int value) throws StorageException {
        for (long at = 0; at < disk.blockCount(); at += 4096) {
            disk.write(at, filled(4096, value));
        }
    }

    /** Work of a test on a disk of 8 MiB. */
    @FunctionalInterface
    private interface Use {
        void with(LunDevice disk, ScsiUnit unit) throws Exception;
    }

    private static void onDisk(Use use) throws Exception {
        try (var target = ServedTarget.of("ram:8MiB", "ram:4MiB");
                var initiator = Initiator.create("iqn.2026-11.org.lunar:calls");
                Session session = initiator.login(target.url(0));
                LunDevice disk = session.open(Lun.ZERO)) {
            use.with(disk, ScsiUnit.of(disk));
        }
    }

    @Test
    void shouldReportWhatAUnitIs() throws Exception {
        onDisk((disk, unit) -> {
            assertThat(unit.inquiry().standard().deviceType()).isEqualTo(StandardInquiry.DISK);
            for (int code : unit.inquiry().pages()) {
                assertThat(unit.inquiry().page(code).pageCode()).isEqualTo(code);
            }
            assertThat(unit.inquiry().pages()).contains(0x00, 0x80, 0x83, 0x8f, 0xb0, 0xb2);
            assertThat(unit.inquiry().find(BlockLimits.CODE, BlockLimits.class))
                    .contains(unit.blocks().limits());
            assertThat(unit.inquiry().find(0xee, BlockLimits.class)).isEmpty();
            assertThat(unit.capacity().lastLba()).isEqualTo(disk.blockCount() - 1);
            assertThat(unit.blockSize()).isEqualTo(BLOCK);
            assertThat(unit.luns(0)).containsExactly(Lun.of(0), Lun.of(1));
            assertThat(unit.luns(1)).contains(Lun.REPORT_LUNS);
            unit.requireReady();
            assertThat(unit.requestSense().key()).isEqualTo(SenseKey.NO_SENSE);
        });
    }

    @Test
    void shouldRecognizeAUnitOnEveryPath() throws Exception {
        try (var target = ServedTarget.of("ram:1MiB", "ram:1MiB");
                var initiator = Initiator.create("iqn.2026-11.org.lunar:calls");
                Session one = initiator.login(target.url(0));
                Session other = initiator.login(target.url(0))) {
            List<ScsiUnit> here = ScsiUnit.scan(one);
            List<ScsiUnit> there = ScsiUnit.scan(other);
            assertThat(here).hasSize(2);
            assertThat(UnitIdentity.sameUnit(here.get(0), there.get(0))).isTrue();
            assertThat(UnitIdentity.sameUnit(here.get(1), there.get(1))).isTrue();
            assertThat(UnitIdentity.sameUnit(here.get(0), there.get(1))).isFalse();
            assertThat(here.get(0).identity().names()).isNotEmpty();

            ScsiUnit nothing = ScsiUnit.of(one, Lun.of(7));
            assertThatThrownBy(nothing::requireReady).isInstanceOf(DeviceGoneException.class);
        }
    }

    @Test
    void shouldUnmapAndSayWhatIsMapped() throws Exception {
        onDisk((disk, unit) -> {
            fill(disk, 0x5a);
            unit.blocks().unmap(List.of(new Range(0, 4096), new Range(8192, 4096)), false);

            assertThat(read(disk, 0, 4096)).containsOnly(0);
            assertThat(read(disk, 4096, 4096)).containsOnly(0x5a);
            assertThat(read(disk, 8192, 4096)).containsOnly(0);
            assertThat(unit.blocks().status(0, 8)).containsExactly(
                    new Extent(0, 4096, Provisioning.DEALLOCATED),
                    new Extent(4096, 4096, Provisioning.MAPPED),
                    new Extent(8192, 4096, Provisioning.DEALLOCATED),
                    new Extent(12288, 4096, Provisioning.MAPPED));
            assertThat(unit.blocks().status(5000, 1))
                    .containsExactly(new Extent(5000, 3192, Provisioning.MAPPED));
        });
    }

    @Test
    void shouldUnmapMoreRangesThanOneCommandTakes() throws Exception {
        onDisk((disk, unit) -> {
            fill(disk, 1);
            var ranges = new ArrayList<Range>();
            for (int i = 0; i < 8000; i++) {
                ranges.add(new Range(2L * i, 1));
            }
            unit.blocks().unmap(ranges, false);
            for (long at : new long[]{0, 8192 - 2, 15_998}) {
                byte[] read = read(disk, at, 2);
                assertThat(read[0]).isZero();
                assertThat(read[BLOCK]).isEqualTo((byte) 1);
            }
            assertThat(read(disk, 16_000, 384)).containsOnly(1);
        });
    }

    @Test
    void shouldWriteOneBlockToMany() throws Exception {
        onDisk((disk, unit) -> {
            MemorySegment block = random(1);
            unit.blocks().writeSame(10, 100, block, false);
            for (int i = 0; i < 100; i += 33) {
                assertThat(read(disk, 10 + i, 1)).isEqualTo(bytes(block));
            }
            unit.blocks().writeZeroes(20, 5, true);
            assertThat(read(disk, 20, 5)).containsOnly(0);
            unit.blocks().writeZeroes(20, 0, true);
            assertThat(read(disk, 25, 1)).as("no blocks are not all blocks")
                    .isEqualTo(bytes(block));
            assertThatThrownBy(() -> unit.blocks().writeSame(0, 1, random(2), false))
                    .isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(() -> unit.blocks().writeSame(16384, 1, block, false))
                    .isInstanceOf(OutOfRangeException.class);
        });
    }

    @Test
    void shouldWriteOnlyWhatIsAsExpected() throws Exception {
        onDisk((disk, unit) -> {
            disk.write(7, filled(2, 0xaa));
            unit.blocks().compareAndWrite(7, filled(2, 0xaa), filled(2, 0xbb));
            assertThat(read(disk, 7, 2)).containsOnly(0xbb);

            MemorySegment expected = filled(2, 0xbb);
            expected.set(ValueLayout.JAVA_BYTE, 700, (byte) 0);
            assertThatThrownBy(
                    () -> unit.blocks().compareAndWrite(7, expected, filled(2, 0xcc)))
                    .isInstanceOfSatisfying(MiscompareException.class,
                            e -> assertThat(e.offsetBytes()).isEqualTo(700));
            assertThat(read(disk, 7, 2)).containsOnly(0xbb);

            unit.blocks().orWrite(7, filled(1, 0x44));
            assertThat(read(disk, 7, 1)).containsOnly(0xff);
            unit.blocks().writeAtomic(8, filled(4, 0x11));
            assertThat(read(disk, 8, 4)).containsOnly(0x11);
        });
    }

    @Test
    void shouldVerifyWithAndWithoutData() throws Exception {
        onDisk((disk, unit) -> {
            MemorySegment data = random(64);
            unit.blocks().writeAndVerify(100, data);
            assertThat(read(disk, 100, 64)).isEqualTo(bytes(data));
            unit.blocks().verify(0, disk.blockCount());
            unit.blocks().verify(100, data);
            data.set(ValueLayout.JAVA_BYTE, 12_345,
                    (byte) ~data.get(ValueLayout.JAVA_BYTE, 12_345));
            assertThatThrownBy(() -> unit.blocks().verify(100, data))
                    .isInstanceOf(MiscompareException.class);
            assertThatThrownBy(() -> unit.blocks().verify(disk.blockCount(), 1))
                    .isInstanceOf(OutOfRangeException.class);
            unit.blocks().synchronize(0, 100);
            unit.blocks().prefetch(0, 100);
        });
    }

    @Test
    void shouldChangeAModePageThatSurvives(@TempDir Path folder) throws Exception {
        var state = StateStore.inDirectory(folder);
        UnaryOperator<ModePage> switchCache = page -> page
                .withParameters(page.parameters().with(0, page.parameters().at(0) ^ 0x04));
        boolean before;
        try (var target = ServedTarget.ofUnit(unit -> unit.withState(state),
                UnaryOperator.identity(), "ram:1MiB");
                var initiator = Initiator.create("iqn.2026-11.org.lunar:calls");
                Session session = initiator.login(target.url(0))) {
            var modes = ScsiUnit.of(session, Lun.ZERO).modes();
            before = ((CachingModePage) modes.page(CachingModePage.CODE)).writeCacheEnabled();
            var changed = (CachingModePage) modes.change(CachingModePage.CODE, 0, switchCache,
                    true);
            assertThat(changed.writeCacheEnabled()).isNotEqualTo(before);
            assertThat(modes.saved(CachingModePage.CODE, 0).orElseThrow().parameters())
                    .isEqualTo(changed.parameters());
            var defaults = (CachingModePage) modes.page(ModeSense.PageControl.DEFAULT,
                    CachingModePage.CODE, 0);
            assertThat(defaults.writeCacheEnabled()).isEqualTo(before);
            assertThat(modes.all(ModeSense.PageControl.CURRENT).page(ControlModePage.CODE))
                    .isPresent();
        }
        try (var target = ServedTarget.ofUnit(unit -> unit.withState(state),
                UnaryOperator.identity(), "ram:1MiB");
                var initiator = Initiator.create("iqn.2026-11.org.lunar:calls");
                Session session = initiator.login(target.url(0))) {
            var modes = ScsiUnit.of(session, Lun.ZERO).modes();
            assertThat(((CachingModePage) modes.page(CachingModePage.CODE)).writeCacheEnabled())
                    .as("after a restart").isNotEqualTo(before);
            modes.revertToDefaults(true);
            assertThat(((CachingModePage) modes.page(CachingModePage.CODE)).writeCacheEnabled())
                    .isEqualTo(before);
        }
    }

    @Test
    void shouldPointAtTheFieldThatIsRejected() throws Exception {
        onDisk((_, unit) -> assertThatThrownBy(() -> unit.modes().change(CachingModePage.CODE, 0,
                page -> page.withParameters(page.parameters().with(0, 0xff)), false))
                .isInstanceOfSatisfying(InvalidRequestException.class,
                        e -> assertThat(SenseException.of(e).orElseThrow().fieldPointer())
                                .map(SenseSpecific.FieldPointer::inCdb).contains(false)));
    }

    @Test
    void shouldReadLogPagesAndSetThemBack() throws Exception {
        onDisk((disk, unit) -> {
            disk.write(0, random(8));
            for (int code : unit.logs().pages()) {
                assertThat(unit.logs().page(code).code()).isEqualTo(code);
            }
            assertThat(unit.logs().pages()).contains(LogPage.WRITE_ERRORS);
            unit.logs().reset();
            assertThat(unit.logs().page(LogPage.WRITE_ERRORS).parameters())
                    .allSatisfy(counter -> assertThat(counter.number()).isZero());
            assertThatThrownBy(() -> unit.logs().page(0x3e))
                    .isInstanceOf(InvalidRequestException.class);
        });
    }

    @Test
    void shouldReportWhichCommandsThereAre() throws Exception {
        onDisk((_, unit) -> {
            assertThat(unit.commands().all().commands()).hasSizeGreaterThan(50);
            assertThat(unit.commands().one(0x28).support())
                    .isEqualTo(SupportedOperationCode.Support.STANDARD);
            assertThat(unit.commands().one(0x9e, 0x10).usage().length()).isEqualTo(16);
            assertThat(unit.commands().one(0xff).support())
                    .isEqualTo(SupportedOperationCode.Support.NOT_SUPPORTED);
            assertThat(unit.commands().taskManagement())
                    .contains(TaskManagementSupport.Function.LOGICAL_UNIT_RESET);
        });
    }

    @Test
    void shouldReportAndSetAccessStates() throws Exception {
        onDisk((disk, unit) -> {
            int own = unit.portGroups().own().orElseThrow();
            assertThat(unit.portGroups().report().groups()).singleElement()
                    .satisfies(group -> assertThat(group.number()).isEqualTo(own));
            unit.portGroups().set(Map.of(own, TargetPortGroups.State.STANDBY));
            assertThat(unit.portGroups().report(true).groups().getFirst().state())
                    .isEqualTo(TargetPortGroups.State.STANDBY);
            assertThatThrownBy(() -> unit.blocks().verify(0, 1))
                    .isInstanceOf(DeviceGoneException.class);
            unit.portGroups().set(Map.of(own, TargetPortGroups.State.ACTIVE_OPTIMIZED));
            unit.blocks().verify(0, 1);
            assertThatThrownBy(
                    () -> unit.portGroups().set(Map.of(999, TargetPortGroups.State.STANDBY)))
                    .isInstanceOf(InvalidRequestException.class);
            assertThat(disk.blockCount()).isPositive();
        });
    }

    @Test
    void shouldTestLabelAndRestartAUnit() throws Exception {
        onDisk((_, unit) -> {
            var care = unit.maintenance();
            care.selfTest();
            care.beginSelfTest(false);
            assertThat(unit.logs().page(LogPage.SELF_TEST_RESULTS).parameters()).isNotEmpty();
            Instant time = Instant.parse("2030-01-02T03:04:05Z");
            care.setClock(time);
            assertThat(care.clock()).isBetween(time, time.plusSeconds(60));
            assertThat(care.label()).isEmpty();
            care.setLabel("Datenbank äöü");
            assertThat(care.label()).isEqualTo("Datenbank äöü");
            assertThatThrownBy(() -> care.setLabel("x".repeat(256)))
                    .isInstanceOf(InvalidRequestException.class);
            care.stop();
            care.start();
            unit.requireReady();
        });
    }

    @Test
    void shouldEjectAMediumAndPreventItsRemoval() throws Exception {
        try (var target = ServedTarget.ofUnit(unit -> unit.withRemovable(true),
                UnaryOperator.identity(), "ram:1MiB");
                var initiator = Initiator.create("iqn.2026-11.org.lunar:calls");
                Session session = initiator.login(target.url(0))) {
            ScsiUnit unit = ScsiUnit.of(session, Lun.ZERO);
            unit.maintenance().preventRemoval(true);
            assertThatThrownBy(unit.maintenance()::eject)
                    .isInstanceOf(InvalidRequestException.class);
            unit.maintenance().preventRemoval(false);
            unit.maintenance().eject();
            assertThatThrownBy(unit::requireReady).isInstanceOf(DeviceGoneException.class);
            unit.maintenance().load();
            unit.requireReady();
        }
    }

    @Test
    void shouldPassBytesThroughWithTheSenseTakenApart() throws Exception {
        onDisk((_, unit) -> {
            var data = MemorySegment.ofArray(new byte[36]);
            ScsiResult inquiry = unit.execute(new byte[]{0x12, 0, 0, 0, 36, 0}, data,
                    MemorySegment.NULL);
            assertThat(inquiry.isGood()).isTrue();
            assertThat(new String(bytes(data.asSlice(8, 8)), StandardCharsets.US_ASCII))
                    .startsWith(unit.inquiry().standard().vendor());

            ScsiResult refused = unit.execute(new byte[]{0x12, 0, 1, 0, 36, 0}, data,
                    MemorySegment.NULL);
            assertThat(refused.sense().orElseThrow().fieldPointer())
                    .map(SenseSpecific.FieldPointer::byteAt).contains(2);
            assertThatThrownBy(() -> refused.orThrow("INQUIRY"))
                    .isInstanceOf(InvalidRequestException.class);
            ScsiResult unknown = unit.execute(new byte[]{(byte) 0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                    MemorySegment.NULL, MemorySegment.NULL);
            assertThatThrownBy(() -> unknown.orThrow("C0h"))
                    .isInstanceOf(NotSupportedException.class);
        });
    }
}
