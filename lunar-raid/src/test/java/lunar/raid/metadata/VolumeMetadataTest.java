package lunar.raid.metadata;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import lunar.block.BlockDevice;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import lunar.raid.SlotState;
import lunar.raid.VolumeState;
import lunar.raid.layout.Layout;
import lunar.raid.layout.Level;
import lunar.raid.metadata.Assembly.Outcome;
import lunar.raid.metadata.bitmap.BadBlocks.Range;
import lunar.raid.metadata.bitmap.IntentBitmap.Intent;
import lunar.raid.metadata.journal.JournalEntry;
import lunar.raid.metadata.record.Consistency;
import lunar.raid.metadata.record.MemberRecord;
import lunar.testkit.SteppedDevice;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class VolumeMetadataTest {
    private static final int CHUNK = 4096;
    private static final long STRIPE = 5;

    private final List<SteppedDevice> disks = new ArrayList<>();
    private Composition composition;

    @BeforeEach
    void create() throws StorageException {
        var members = new ArrayList<Creation.Member>();
        for (int i = 0; i < 4; i++) {
            disks.add(new SteppedDevice(4608));
            members.add(new Creation.Member("disk:" + i, Volumes.member(i), disks.get(i)));
        }
        Creation.create(new Creation.Wish(Volumes.VOLUME, "music", 0, Level.RAID5,
                Consistency.JOURNAL, CHUNK, 0, Volumes.KEY, null), members, false);
    }

    private VolumeMetadata open(int missing) throws StorageException {
        return open(missing, (_, why) -> {
            throw new AssertionError(why);
        });
    }

    private VolumeMetadata open(int missing, FaultListener faults) throws StorageException {
        var candidates = new ArrayList<Candidate>();
        var devices = new ArrayList<BlockDevice>();
        for (int slot = 0; slot < 4; slot++) {
            candidates.add(slot == missing
                    ? Candidate.unreachable("disk:" + slot, "lost")
                    : Candidate.of("disk:" + slot, disks.get(slot)));
            devices.add(slot == missing ? null : disks.get(slot));
        }
        composition = ((Outcome.Assembled) Assembly.of(candidates, DegradedStart.ALLOWED))
                .composition();
        return VolumeMetadata.open(composition,
                new VolumeDevices(devices, List.of(), null), OpenOptions.DEFAULT, faults);
    }

    private void endAll() {
        while (disks.stream().anyMatch(disk -> !disk.pending().isEmpty())) {
            disks.forEach(SteppedDevice::endAll);
        }
    }

    private MemorySegment unit(Layout layout, int unit) {
        long at = (2L << 20) + layout.memberBlock(STRIPE, unit) * 512;
        return disks.get(layout.slot(STRIPE, unit)).content().asSlice(at, CHUNK);
    }

    /** A whole stripe is noted, and the crash comes when two of its units are written. */
    private Layout crashInTheMiddle(VolumeMetadata metadata, boolean withBit) {
        Layout layout = Layout.of(metadata.record().shape());
        var entry = new JournalEntry(512, (_, failure) -> assertThat(failure).isNull())
                .asNote(STRIPE);
        MemorySegment content = MemorySegment.ofArray(new byte[CHUNK]).fill((byte) 3);
        for (int unit = 0; unit < 4; unit++) {
            entry.add(layout.slot(STRIPE, unit), layout.memberBlock(STRIPE, unit), content);
        }
        metadata.journal().append(entry);
        if (withBit) {
            boolean _ = metadata.bitmap().begin(new Intent((_, _) -> {}).over(STRIPE, 1));
            unit(layout, 0).copyFrom(content);
            unit(layout, 3).copyFrom(content);
        }
        endAll();
        return layout;
    }

    @Test
    void shouldMakeParityAnewOfTornStripes() throws StorageException {
        Layout layout = crashInTheMiddle(open(-1), true);
        VolumeMetadata after = open(-1);
        assertThat(after.badBlocks().ranges()).isEmpty();
        assertThat(unit(layout, 0).get(JAVA_BYTE, 7)).isEqualTo((byte) 3);
        assertThat(unit(layout, 3).get(JAVA_BYTE, 7)).as("parity of 3, 0 and 0")
                .isEqualTo((byte) 3);
        unit(layout, 1).fill((byte) 1);
        assertThat(open(-1).journal().live()).isZero();
        assertThat(unit(layout, 3).get(JAVA_BYTE, 7)).as("not mended again").isEqualTo((byte) 3);
    }

    @Test
    void shouldSayWhatIsLostWhereAMemberIsMissing() throws StorageException {
        Layout layout = crashInTheMiddle(open(-1), true);
        unit(layout, 2).fill((byte) 8);
        int missing = layout.slot(STRIPE, 1);
        VolumeMetadata after = open(missing);
        var lost = new Range(missing, layout.memberBlock(STRIPE, 1), CHUNK / 512);
        assertThat(after.badBlocks().ranges()).containsExactly(lost);
        assertThat(unit(layout, 3).get(JAVA_BYTE, 7)).as("parity with zeroes in its place")
                .isEqualTo((byte) (3 ^ 8));
        assertThat(after.record().members().get(missing).state()).isEqualTo(SlotState.FAILED);
        assertThat(open(missing).badBlocks().ranges()).as("kept").containsExactly(lost);
    }

    @Test
    void shouldLoseNothingWhereNothingWasWrittenYet() throws StorageException {
        Layout layout = crashInTheMiddle(open(-1), false);
        VolumeMetadata after = open(layout.slot(STRIPE, 1));
        assertThat(after.badBlocks().ranges()).isEmpty();
    }

    @Test
    void shouldLoseNothingWhereAllIsWritten() throws StorageException {
        Layout layout = crashInTheMiddle(open(-1), true);
        for (int unit = 0; unit < 4; unit++) {
            unit(layout, unit).fill((byte) 3);
        }
        assertThat(open(layout.slot(STRIPE, 1)).badBlocks().ranges()).isEmpty();
    }

    @Test
    void shouldLetAMemberThatWasAwayComeBack() throws StorageException {
        open(-1).stop(failure -> assertThat(failure).isNull());
        endAll();
        VolumeMetadata degraded = open(2);
        boolean _ = degraded.bitmap().begin(new Intent((_, _) -> {}).over(STRIPE, 1));
        endAll();
        VolumeMetadata back = open(-1);
        assertThat(composition.slots().get(2).use()).isEqualTo(Composition.Use.STALE_COVERED);
        assertThat(back.missed().contains(STRIPE)).isTrue();
        assertThat(back.raidMembers().get(2).device()).isNull();
        back.admit(2, disks.get(2), Volumes.member(2), false);
        endAll();
        for (int i = 0; i < 3; i++) {
            back.tick();
            endAll();
        }
        assertThat(back.missed().contains(STRIPE)).as("bits stay until it is ACTIVE").isTrue();
    }

    private static VolumeState state(SlotState third) {
        return new VolumeState(
                List.of(SlotState.ACTIVE, SlotState.ACTIVE, third, SlotState.ACTIVE),
                List.of(0L, 0L, 0L, 0L), OptionalLong.empty(), true);
    }

    private void keep(VolumeMetadata metadata, VolumeState state) {
        var kept = new ArrayList<@Nullable StorageException>();
        metadata.keep(state, kept::add);
        endAll();
        assertThat(kept).containsExactly((StorageException) null);
    }

    /** The failure was reported while the slot was still without a member: no listener took it. */
    @Test
    void shouldGiveUpWhoHadFailedBeforeTheVolumeKnewThatItHasCome() throws StorageException {
        var failed = new ArrayList<Integer>();
        VolumeMetadata metadata = open(2, (slot, _) -> failed.add(slot));
        SteppedDevice bad = new SteppedDevice(4608);
        disks.set(2, bad);
        metadata.admit(2, bad, Volumes.member(7), true);
        while (failed.isEmpty()) {
            assertThat(bad.pending()).isNotEmpty();
            List.copyOf(bad.pending())
                    .forEach(step -> step.fail(new DeviceGoneException("pulled")));
            disks.forEach(disk -> {
                if (!disk.equals(bad)) {
                    disk.endAll();
                }
            });
        }
        keep(metadata, state(SlotState.FAILED)); // for some other reason
        var joined = new ArrayList<Integer>();
        metadata.whenJoined(2, () -> joined.add(2));
        failed.clear();
        keep(metadata, state(SlotState.REBUILDING));
        assertThat(failed).containsExactly(2);
        assertThat(joined).isEmpty();
        MemberRecord line = metadata.record().members().get(2);
        assertThat(line.state()).isEqualTo(SlotState.FAILED);
        assertThat(line.uuid()).isEqualTo(Volumes.member(2));

        disks.set(2, new SteppedDevice(4608));
        metadata.admit(2, disks.get(2), Volumes.member(8), true);
        keep(metadata, state(SlotState.REBUILDING));
        assertThat(metadata.record().members().get(2).state()).isEqualTo(SlotState.REBUILDING);
        assertThat(metadata.record().members().get(2).uuid()).isEqualTo(Volumes.member(8));
    }
}
