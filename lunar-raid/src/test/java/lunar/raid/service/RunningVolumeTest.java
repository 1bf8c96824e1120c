package lunar.raid.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import lunar.block.BusyException;
import lunar.block.DeviceGoneException;
import lunar.block.InvalidRequestException;
import lunar.block.StorageException;
import lunar.raid.SlotState;
import lunar.raid.layout.Level;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Volumes that look after themselves, on disks that are pulled, put back, hang and lose their power. */
class RunningVolumeTest extends RunningFixture {
    @ParameterizedTest
    @EnumSource(Level.class)
    void shouldHaveWhatWasWrittenWhenItIsStartedAgain(Level level) throws Exception {
        create(level, Math.max(3, level.minMembers()));
        if (level.isRedundant()) {
            events.awaitThrough(ScanKind.RESYNC);
            scrub();
        }
        check();
        assertThat(volume.status().health()).isEqualTo(VolumeHealth.CLEAN);
        assertThat(volume.status().traffic().writtenBytes()).isEqualTo(content.length);
        assertThat(volume.status().traffic().readBytes()).isEqualTo(content.length);
        UUID uuid = volume.uuid();
        volume.close();
        assertThat(events.await(VolumeEvent.Stopped.class).inOrder()).isTrue();
        assertThat(shelf.openCount()).isZero();
        shelf.cut();
        open();
        assertThat(events.await(VolumeEvent.Started.class).health())
                .isEqualTo(VolumeHealth.CLEAN);
        assertThat(volume.uuid()).isEqualTo(uuid);
        assertThat(volume.identity().uuid()).isEqualTo(uuid);
        check();
    }

    @Test
    void shouldGiveAMemberThatCameBackWhatItMissed() throws Exception {
        create(Level.RAID5, 4);
        events.awaitThrough(ScanKind.RESYNC);
        shelf.disk("disk:2").pull();
        fill(BLOCK * 40, 128 << 10);
        assertThat(events.await(VolumeEvent.MemberFailed.class).slot()).isEqualTo(2);
        assertThat(volume.status().health()).isEqualTo(VolumeHealth.DEGRADED);
        check();
        shelf.disk("disk:2").putBack();
        assertThat(events.await(VolumeEvent.MemberReturned.class))
                .isEqualTo(new VolumeEvent.MemberReturned(2, "disk:2", true));
        events.awaitThrough(ScanKind.REBUILD);
        awaitHealth(VolumeHealth.CLEAN);
        scrub();
        shelf.disk("disk:0").pull();
        fill(0, 64 << 10);
        check();
    }

    @Test
    void shouldTakeBackWhoWasAwayWhileItWasStopped() throws Exception {
        create(Level.RAID1, 2);
        events.awaitThrough(ScanKind.RESYNC);
        shelf.disk("disk:1").pull();
        fill(0, 1 << 20);
        events.await(VolumeEvent.MemberFailed.class);
        volume.close();
        shelf.disk("disk:1").putBack();
        open();
        events.await(VolumeEvent.MemberReturned.class); // the rebuild may be through already
        awaitHealth(VolumeHealth.CLEAN);
        shelf.disk("disk:0").pull();
        check();
    }

    /** However many events the volume counts: the bitmap does not have what was written to that member alone. */
    @Test
    void shouldNotTakeBackAMemberThatWasUsedAlone() throws Exception {
        create(Level.RAID1, 2);
        events.awaitThrough(ScanKind.RESYNC);
        shelf.disk("disk:1").pull();
        fill(0, BLOCK);
        events.await(VolumeEvent.MemberFailed.class);
        volume.close();

        shelf.disk("disk:0").pull();
        shelf.disk("disk:1").putBack();
        openForced();
        volume.write(1000, MemorySegment.ofArray(new byte[BLOCK]));
        volume.close();

        shelf.disk("disk:1").pull();
        shelf.disk("disk:0").putBack();
        for (int i = 0; i < 4; i++) { // each time it counts events
            open();
            volume.close();
        }
        open();
        shelf.disk("disk:1").putBack();
        String why = awaitWhy(1, "used without");
        assertThat(why).contains("replace it");
        assertThat(volume.status().health()).isEqualTo(VolumeHealth.DEGRADED);
        check();
        volume.replace(1, "disk:1", true); // as the message says
        awaitHealth(VolumeHealth.CLEAN);
        shelf.disk("disk:0").pull();
        check();
    }

    @Test
    void shouldPutASpareInThePlaceOfAMember() throws Exception {
        spec = shelf.create(Level.RAID6, "music", 5, MEMBER_BYTES, OPTIONS);
        shelf.add("spare:small", 1 << 20);
        shelf.add("spare:good", MEMBER_BYTES);
        spec = new VolumeSpec(spec.level(), spec.name(), spec.members(),
                List.of("spare:gone", "spare:small", "spare:good"), Optional.empty(), OPTIONS);
        open();
        content = new byte[(int) volume.sizeBytes()];
        fill(0, content.length);
        events.awaitThrough(ScanKind.RESYNC);
        shelf.disk("disk:1").pull();
        fill(0, 64 << 10);
        assertThat(events.await(VolumeEvent.MemberReplaced.class))
                .isEqualTo(new VolumeEvent.MemberReplaced(1, "spare:good", true));
        events.awaitThrough(ScanKind.REBUILD);
        awaitHealth(VolumeHealth.CLEAN);
        scrub();
        assertThat(volume.status().slots().get(1).uri()).isEqualTo("spare:good");
        assertThat(volume.status().spares()).extracting(VolumeStatus.Spare::uri)
                .containsExactly("spare:gone", "spare:small");
        volume.close();
        shelf.cut();
        open(); // the old member is still named first, and is not taken for one
        assertThat(events.await(VolumeEvent.Started.class).health())
                .isEqualTo(VolumeHealth.CLEAN);
        assertThat(volume.status().slots().get(1).uri()).isEqualTo("spare:good");
        check();
    }

    @Test
    void shouldDoWhatPeopleWantOfSlots() throws Exception {
        create(Level.RAID5, 3);
        events.awaitThrough(ScanKind.RESYNC);
        shelf.add("disk:new", MEMBER_BYTES);
        shelf.add("disk:small", 1 << 20);
        assertThat(volume.slot("disk:1")).isEqualTo(1);
        assertThat(volume.slot("1")).isEqualTo(1);
        assertThatThrownBy(() -> volume.slot("3")).isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("no slot 3");
        volume.fail(1);
        assertThat(volume.status().slots().get(1).state()).isEqualTo(SlotState.FAILED);
        assertThat(volume.status().slots().get(1).why()).contains("by hand");
        assertThatThrownBy(() -> volume.fail(0)).isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("cannot do without slot 0");
        assertThatThrownBy(() -> volume.replace(1, "disk:small", false))
                .hasMessageContaining("too small");
        assertThatThrownBy(() -> volume.replace(1, "disk:0", false))
                .hasMessageContaining("member already");
        assertThatThrownBy(() -> volume.replace(1, "disk:1", false))
                .hasMessageContaining("would be destroyed");
        check();
        volume.replace(1, "disk:new", false);
        events.awaitThrough(ScanKind.REBUILD);
        awaitHealth(VolumeHealth.CLEAN);
        assertThat(volume.slot("disk:new")).isEqualTo(1);
        volume.replace(0, "disk:1", true); // of one that has not failed
        events.awaitThrough(ScanKind.REBUILD);
        awaitHealth(VolumeHealth.CLEAN);
        check();
        scrub();
    }

    @Test
    void shouldRetryAMemberThatIsAwayAtOnceIfThatIsWanted() throws Exception {
        create(Level.RAID1, 2);
        events.awaitThrough(ScanKind.RESYNC);
        volume.close();
        var patient = new RunTiming(Duration.ofMillis(5), 2, Duration.ofHours(1),
                Duration.ofHours(1), Duration.ZERO, Duration.ofSeconds(20), Duration.ofSeconds(20));
        spec = spec.withOptions(OPTIONS.withTiming(patient));
        open();
        shelf.disk("disk:1").pull();
        fill(0, 64 << 10);
        events.await(VolumeEvent.MemberFailed.class);
        shelf.disk("disk:1").putBack();
        volume.retryRecovery();
        assertThat(events.await(VolumeEvent.MemberReturned.class).slot()).isEqualTo(1);
        awaitHealth(VolumeHealth.CLEAN);
        check();
    }

    @Test
    void shouldGoOnWithARebuildThatWasInterrupted() throws Exception {
        create(Level.RAID5, 3);
        events.awaitThrough(ScanKind.RESYNC);
        volume.close();
        VolumeSpec quick = spec;
        spec = spec.withOptions(OPTIONS.withRebuildRate(64 << 10));
        open();
        shelf.add("disk:new", MEMBER_BYTES);
        volume.replace(2, "disk:new", false);
        var begun = events.await(VolumeEvent.ScanBegan.class);
        assertThat(begun).isEqualTo(new VolumeEvent.ScanBegan(ScanKind.REBUILD, OptionalInt.of(2)));
        awaitScan(ScanKind.REBUILD);
        VolumeStatus status = volume.status();
        assertThat(status.health()).isEqualTo(VolumeHealth.REBUILDING);
        assertThat(status.scans()).singleElement().satisfies(scan -> {
            assertThat(scan.kind()).isEqualTo(ScanKind.REBUILD);
            assertThat(scan.percent()).isLessThan(100);
        });
        volume.close();
        List<String> members = new ArrayList<>(quick.members());
        members.set(2, "disk:new");
        spec = new VolumeSpec(quick.level(), quick.name(), members, List.of(), Optional.empty(),
                OPTIONS);
        open();
        assertThat(events.await(VolumeEvent.Started.class).health())
                .isEqualTo(VolumeHealth.REBUILDING);
        events.awaitThrough(ScanKind.REBUILD);
        awaitHealth(VolumeHealth.CLEAN);
        check();
        scrub();
    }

    @ParameterizedTest
    @EnumSource(value = Level.class, names = {"RAID1", "RAID5", "RAID6", "RAID10"})
    void shouldHaveWhatWasFlushedAfterAPowerCut(Level level) throws Exception {
        create(level, Math.max(3, level.minMembers()));
        for (int round = 0; round < 4; round++) {
            fill(random.nextInt(64) * BLOCK, 64 << 10);
            volume.flush();
            byte[] later = new byte[16 << 10]; // is there or not
            random.nextBytes(later);
            int at = content.length - later.length;
            volume.submitWrite(at / BLOCK, MemorySegment.ofArray(later));
            crash();
            MemorySegment found = MemorySegment.ofArray(new byte[later.length]);
            volume.read(at / BLOCK, found);
            System.arraycopy(found.toArray(ValueLayout.JAVA_BYTE), 0, content, at, later.length);
            check();
        }
        if (volume.status().health() != VolumeHealth.CLEAN) {
            events.awaitThrough(ScanKind.RESYNC);
        }
        awaitHealth(VolumeHealth.CLEAN);
        scrub();
    }

    @Test
    void shouldFailAMemberThatSaysNothing() throws Exception {
        create(Level.RAID1, 2);
        events.awaitThrough(ScanKind.RESYNC);
        volume.close();
        // Long enough for the members that answer, also on a machine under load.
        spec = spec.withOptions(OPTIONS.withStallTimeout(Duration.ofSeconds(6)));
        open();
        shelf.disk("disk:0").hang();
        check();
        assertThat(events.await(VolumeEvent.MemberFailed.class).why())
                .contains("has not answered");
        fill(0, 64 << 10);
        check();
    }

    /**
     * Requests that wait for metadata end with the volume, so that it can be closed; its members hold a whole volume.
     */
    @ParameterizedTest
    @EnumSource(value = Level.class, names = {"RAID1", "RAID5", "RAID6", "RAID10"})
    void shouldEndAllRequestsWhenMoreMembersAreGoneThanItSurvives(Level level) throws Exception {
        create(level, 4);
        events.awaitThrough(ScanKind.RESYNC);
        volume.close();
        spec = spec.withOptions(OPTIONS.withStallTimeout(Duration.ofSeconds(2)));
        open();
        for (int disk = 0; disk < 4; disk++) {
            shelf.disk("disk:" + disk).hang();
        }
        var requests = new ArrayList<CompletableFuture<Void>>();
        for (int block = 0; block < 64; block++) {
            requests.add(volume.submitWrite(block,
                    MemorySegment.ofArray(content).asSlice(block * BLOCK, BLOCK)));
        }
        requests.add(volume.submitFlush());
        String why = events.await(VolumeEvent.VolumeFailed.class).why();
        assertThat(why).contains("has not answered");
        for (CompletableFuture<Void> request : requests) {
            assertThatThrownBy(() -> request.get(60, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(StorageException.class)
                    .hasMessageContaining("has not answered");
        }
        assertThat(volume.status().health()).isEqualTo(VolumeHealth.FAILED);
        volume.close();
        assertThat(events.await(VolumeEvent.Stopped.class).inOrder()).isFalse();
        assertThat(shelf.openCount()).isZero();
        shelf.cut();
        open();
        check();
        awaitHealth(VolumeHealth.CLEAN);
        scrub();
    }

    @Test
    void shouldSayInOneLineWhyItCannotBeHad() throws Exception {
        create(Level.RAID5, 3);
        volume.close();
        assertRefused(new VolumeSpec(Level.RAID6, "music", spec.members(), List.of(),
                Optional.empty(), OPTIONS), "raid5:music");
        assertRefused(new VolumeSpec(Level.RAID5, "film", spec.members(), List.of(),
                Optional.empty(), OPTIONS), "raid5:music");
        shelf.disk("disk:0").pull();
        shelf.disk("disk:1").pull();
        assertRefused(spec, "no answer");
        assertThat(shelf.openCount()).isZero();
    }

    private void assertRefused(VolumeSpec wrong, String why) {
        assertThatThrownBy(() -> RunningVolume.open(wrong, shelf))
                .isInstanceOf(StorageException.class).hasMessageContaining(why)
                .hasMessageNotContaining("\n");
    }

    @Test
    void shouldAskItsHostBeforeAnythingIsWritten() throws Exception {
        create(Level.RAID1, 2);
        volume.close();
        VolumeHost refusing = (_, title, _) -> {
            throw new BusyException(title + " runs already");
        };
        assertThatThrownBy(() -> RunningVolume.open(spec, shelf, List.of(refusing), events))
                .isInstanceOf(BusyException.class).hasMessage("raid1:music runs already");
        assertThat(shelf.openCount()).isZero();
        var told = new ArrayList<String>();
        VolumeHost host = (uuid, title, _) -> {
            told.add("claim " + title + " " + uuid.equals(volume.uuid()));
            return new VolumeHost.Claim() {
                @Override
                public void running(RunningVolume which) { told.add("running " + which); }

                @Override
                public void close() { told.add("closed, " + shelf.openCount() + " open"); }
            };
        };
        RunningVolume.open(spec, shelf, List.of(host), events).close();
        assertThat(told).containsExactly("claim raid1:music true", "running raid1:music",
                "closed, 0 open");
    }

    @Test
    void shouldTakeNoRequestsOnceItIsClosed() throws Exception {
        create(Level.RAID5, 3);
        events.awaitThrough(ScanKind.RESYNC);
        volume.close();
        volume.close();
        volume.flush(); // all is stable
        assertThatThrownBy(() -> volume.read(0, MemorySegment.ofArray(new byte[BLOCK])))
                .isInstanceOf(DeviceGoneException.class);
    }
}
