package lunar.raid.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import lunar.block.BusyException;
import lunar.block.InvalidRequestException;
import lunar.raid.SlotState;
import lunar.raid.layout.Level;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Volumes that get a member more while they are in use. */
class RunningGrowthTest extends RunningFixture {
    private void nameNew() {
        List<String> members = new ArrayList<>(spec.members());
        members.add("disk:new");
        spec = new VolumeSpec(spec.level(), spec.name(), members, spec.spares(), Optional.empty(),
                OPTIONS);
    }

    @Test
    void shouldHaveMoreBlocksWhereItIsLinear() throws Exception {
        create(Level.LINEAR, 2);
        shelf.add("disk:new", 2 * MEMBER_BYTES);
        long before = volume.blockCount();
        assertThat(volume.grow("disk:new", false)).isEqualTo(2);
        assertThat(volume.blockCount()).isGreaterThan(before);
        assertThat(volume.slot("disk:new")).isEqualTo(2);
        content = Arrays.copyOf(content, (int) volume.sizeBytes());
        fill((int) (before * BLOCK) - BLOCK, content.length - (int) (before * BLOCK) + BLOCK);
        check();
        volume.flush();
        nameNew();
        crash();
        check();
    }

    @Test
    void shouldCopyToTheNewMemberOfAMirrorUnderLoad() throws Exception {
        create(Level.RAID1, 2);
        events.awaitThrough(ScanKind.RESYNC);
        shelf.add("disk:new", MEMBER_BYTES);
        var isOver = new AtomicBoolean();
        var failure = new AtomicReference<Throwable>();
        byte[] after = content.clone();
        Thread writer = Thread.ofPlatform().start(() -> {
            try {
                for (int i = 0; !isOver.get(); i++) {
                    byte[] one = new byte[BLOCK];
                    Arrays.fill(one, (byte) i);
                    int at = i % 64 * BLOCK;
                    volume.write(at / BLOCK, MemorySegment.ofArray(one));
                    System.arraycopy(one, 0, after, at, BLOCK);
                }
            } catch (Exception e) {
                failure.set(e);
            }
        });
        assertThat(volume.grow("disk:new", false)).isEqualTo(2);
        events.awaitThrough(ScanKind.REBUILD);
        isOver.set(true);
        writer.join();
        assertThat(failure.get()).isNull();
        content = after;
        awaitHealth(VolumeHealth.CLEAN);
        check();
        scrub();
        nameNew();
        shelf.disk("disk:0").pull();
        shelf.disk("disk:1").pull();
        fill(0, 64 << 10); // the new one has all
        check();
        volume.flush();
        shelf.disk("disk:0").putBack();
        shelf.disk("disk:1").putBack();
        events.awaitThrough(ScanKind.REBUILD);
        crash();
        check();
    }

    @ParameterizedTest
    @EnumSource(value = Level.class, names = {"RAID0", "RAID5", "RAID6", "RAID10"})
    void shouldMoveItsBlocksAndGoOnWithThatAfterACrash(Level level) throws Exception {
        int members = level == Level.RAID0 ? 2 : level.minMembers();
        create(level, members);
        if (level.isRedundant()) {
            events.awaitThrough(ScanKind.RESYNC);
        }
        volume.close();
        VolumeSpec quick = spec;
        spec = spec.withOptions(OPTIONS.withRebuildRate(64 << 10));
        open();
        long before = volume.blockCount();
        shelf.add("disk:new", MEMBER_BYTES);
        assertThat(volume.grow("disk:new", false)).isEqualTo(members);
        awaitScan(ScanKind.RESHAPE);
        assertThat(volume.status().scans()).hasSize(1);
        assertThat(volume.status().health()).isEqualTo(VolumeHealth.RESHAPING);
        assertThat(volume.blockCount()).as("not before the end").isEqualTo(before);
        assertThatThrownBy(() -> volume.scrub(false)).isInstanceOf(BusyException.class)
                .hasMessageContaining("is being reshaped");
        fill(0, 64 << 10);
        check();
        volume.flush();
        spec = quick;
        nameNew();
        crash();
        events.awaitThrough(ScanKind.RESHAPE);
        assertThat(volume.blockCount()).isGreaterThan(before);
        check();
        content = Arrays.copyOf(content, (int) volume.sizeBytes());
        fill(0, content.length);
        if (level.isRedundant()) {
            scrub();
            shelf.disk("disk:0").pull();
        }
        check();
    }

    /** However long the time is after which what has not gone well is tried again. */
    @Test
    void shouldBeginToMoveBlocksAtOnceAndAgain() throws Exception {
        RunTiming quick = OPTIONS.timing();
        spec = shelf.create(Level.RAID5, "music", 3, MEMBER_BYTES,
                OPTIONS.withTiming(new RunTiming(quick.tick(), quick.metadataTicks(),
                        quick.firstRetry(), Duration.ofHours(1), quick.spareAfter(), quick.open(),
                        quick.stop())));
        open();
        content = new byte[(int) volume.sizeBytes()];
        fill(0, content.length);
        events.awaitThrough(ScanKind.RESYNC);
        for (int slot = 3; slot < 6; slot++) {
            shelf.add("disk:" + slot, MEMBER_BYTES);
            assertThat(volume.grow("disk:" + slot, false)).isEqualTo(slot);
            events.awaitThrough(ScanKind.RESHAPE);
            awaitHealth(VolumeHealth.CLEAN);
            check();
        }
        scrub();
    }

    @Test
    void shouldGoOnWithTheCopyAfterACrash() throws Exception {
        create(Level.RAID1, 2);
        events.awaitThrough(ScanKind.RESYNC);
        volume.close();
        VolumeSpec quick = spec;
        spec = spec.withOptions(OPTIONS.withRebuildRate(64 << 10));
        open();
        shelf.add("disk:new", MEMBER_BYTES);
        volume.grow("disk:new", false);
        assertThat(volume.status().slots().get(2).state()).isEqualTo(SlotState.REBUILDING);
        assertThat(events.await(VolumeEvent.MemberAdded.class))
                .isEqualTo(new VolumeEvent.MemberAdded(2, "disk:new"));
        spec = quick;
        nameNew();
        crash();
        events.awaitThrough(ScanKind.REBUILD);
        awaitHealth(VolumeHealth.CLEAN);
        check();
        scrub();
    }

    @Test
    void shouldKeepItsSparesAndLookAfterItself() throws Exception {
        shelf.add("spare:0", MEMBER_BYTES);
        spec = shelf.create(Level.RAID1, "music", 2, MEMBER_BYTES, List.of("spare:0"), OPTIONS);
        open();
        content = new byte[(int) volume.sizeBytes()];
        fill(0, content.length);
        events.awaitThrough(ScanKind.RESYNC);
        shelf.add("disk:new", MEMBER_BYTES);
        volume.grow("disk:new", false);
        events.awaitThrough(ScanKind.REBUILD);
        awaitHealth(VolumeHealth.CLEAN);
        shelf.disk("disk:new").pull();
        fill(0, 64 << 10);
        assertThat(events.await(VolumeEvent.MemberReplaced.class))
                .isEqualTo(new VolumeEvent.MemberReplaced(2, "spare:0", true));
        events.awaitThrough(ScanKind.REBUILD);
        awaitHealth(VolumeHealth.CLEAN);
        volume.fail(0);
        check();
        volume.add("0", false);
        events.awaitThrough(ScanKind.REBUILD);
        awaitHealth(VolumeHealth.CLEAN);
        scrub();
    }

    @Test
    void shouldSayWhyItCannotAndGoOn() throws Exception {
        create(Level.RAID1, 2);
        events.awaitThrough(ScanKind.RESYNC);
        shelf.add("disk:small", 1 << 20);
        assertThatThrownBy(() -> volume.grow("disk:small", false))
                .isInstanceOf(InvalidRequestException.class).hasMessageContaining("needs at least");
        assertThatThrownBy(() -> volume.grow("disk:1", false))
                .hasMessageContaining("a member or a spare already");
        assertThatThrownBy(() -> volume.grow("disk:none", false))
                .hasMessageContaining("no answer");
        volume.fail(0);
        shelf.add("disk:new", MEMBER_BYTES);
        assertThatThrownBy(() -> volume.grow("disk:new", false)).hasMessageContaining("degraded");
        fill(0, 64 << 10);
        check();
    }

    /** Two members that are no pair after it are one before. */
    @Test
    void shouldKeepOneOfEachPairOfBothLayouts() throws Exception {
        create(Level.RAID10, 3);
        events.awaitThrough(ScanKind.RESYNC);
        volume.close();
        VolumeSpec quick = spec;
        spec = spec.withOptions(OPTIONS.withRebuildRate(64 << 10));
        open();
        shelf.add("disk:new", MEMBER_BYTES);
        volume.grow("disk:new", false);
        volume.fail(1);
        assertThatThrownBy(() -> volume.fail(2)).isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("cannot do without slot 2 now");
        assertThatThrownBy(() -> volume.add("1", false)).hasMessageContaining("being reshaped");
        check();
        volume.close();
        spec = quick;
        nameNew();
        open();
        events.awaitThrough(ScanKind.RESHAPE);
        volume.fail(2);
        check();
        volume.add("1", false);
        events.awaitThrough(ScanKind.REBUILD);
        volume.add("2", false);
        events.awaitThrough(ScanKind.REBUILD);
        awaitHealth(VolumeHealth.CLEAN);
        scrub();
        check();
    }
}
