package lunar.raid.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import lunar.block.BlockDevice;
import lunar.block.BusyException;
import lunar.block.OwnershipLostException;
import lunar.block.StorageException;
import lunar.raid.OwnershipOptions;
import lunar.raid.layout.Level;
import lunar.raid.metadata.record.OwnerRecord;
import lunar.raid.metadata.superblock.OwnerRecordStore;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Two gateways and one volume. */
class OwnershipTest {
    private static final OwnershipOptions QUICK = new OwnershipOptions(Duration.ofMillis(20),
            Duration.ofSeconds(2), Duration.ofSeconds(3), Duration.ZERO, false, true);
    private static final RunOptions OPTIONS = RunOptions.DEFAULT.withOwnership(QUICK);
    private static final RunOptions TAKING = OPTIONS.withOwnership(QUICK.withTakeOver(true));

    private static RunningVolume start(VolumeSpec spec, SharedDisks disks)
            throws StorageException {
        return RunningVolume.open(spec, disks.new Gateway());
    }

    private static MemorySegment block(int content) {
        var block = MemorySegment.ofArray(new byte[512]);
        return block.fill((byte) content);
    }

    private static byte read(BlockDevice device) throws StorageException {
        MemorySegment found = block(0);
        device.read(7, found);
        return found.get(java.lang.foreign.ValueLayout.JAVA_BYTE, 0);
    }

    private static OwnerRecord record(SharedDisks disks, String uri) throws StorageException {
        return new OwnerRecordStore(disks.disk(uri)).read().orElseThrow();
    }

    /** The record of a process of another host. */
    private static OwnerRecord elsewhere(UUID volume, long epoch) {
        return new OwnerRecord(volume, epoch, UUID.randomUUID(), 1, false, 20, 0,
                new OwnerRecord.ProcessId(UUID.randomUUID(), 1, 4711, 1, 0, "alpha"), "");
    }

    private static OwnerRecordStore write(SharedDisks disks, String uri, OwnerRecord record)
            throws StorageException {
        var place = new OwnerRecordStore(disks.disk(uri));
        var _ = place.read();
        assertThat(place.swap(record)).isTrue();
        return place;
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldRefuseASecondGatewayUntilTheFirstHasStopped(boolean reserves) throws Exception {
        var disks = new SharedDisks(reserves);
        VolumeSpec spec = disks.create(Level.RAID1, 2, OPTIONS);
        try (RunningVolume first = start(spec, disks)) {
            first.write(7, block(1));
            assertThatThrownBy(() -> start(spec, disks)).isInstanceOf(BusyException.class)
                    .hasMessageContaining("raid1:music is in use by process "
                            + ProcessHandle.current().pid() + " of this host");
            assertThat(disks.holder("disk:0").get() != 0).isEqualTo(reserves);
            first.write(7, block(2));
        }
        assertThat(record(disks, "disk:0").released()).isTrue();
        assertThat(disks.holder("disk:0").get()).isZero();
        try (RunningVolume second = start(spec, disks)) {
            assertThat(read(second)).isEqualTo((byte) 2);
            assertThat(record(disks, "disk:1").epoch()).isEqualTo(2);
        }
    }

    @Test
    void shouldRefuseWhileTheRecordOfAnotherHostGoesOn() throws Exception {
        var disks = new SharedDisks(false);
        VolumeSpec spec = disks.create(Level.RAID5, 3, OPTIONS);
        UUID volume;
        try (RunningVolume before = start(spec, disks)) {
            volume = before.uuid();
        }
        OwnerRecord owner = elsewhere(volume, 5);
        OwnerRecordStore place = write(disks, "disk:2", owner);
        var stopped = new AtomicBoolean();
        Thread beats = Thread.ofVirtual().start(() -> {
            try {
                for (OwnerRecord next = owner; !stopped.get(); next = next.next()) {
                    assertThat(place.swap(next)).isTrue();
                    Thread.sleep(1);
                }
            } catch (StorageException | InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        var patient = new OwnershipOptions(QUICK.beat(), QUICK.lease(), Duration.ofSeconds(60),
                Duration.ZERO, false, true); // it ends at the first beat that is seen
        assertThatThrownBy(() -> start(spec.withOptions(OPTIONS.withOwnership(patient)), disks))
                .isInstanceOf(BusyException.class)
                .hasMessageContaining("in use by host alpha pid 4711");
        stopped.set(true);
        beats.join();
        assertThat(new OwnerRecordStore(disks.disk("disk:0")).read().orElseThrow().epoch())
                .as("it has not touched other members").isEqualTo(1);
    }

    @Test
    void shouldTakeOverFromAHostThatIsSilent() throws Exception {
        var disks = new SharedDisks(false);
        VolumeSpec spec = disks.create(Level.RAID1, 2, OPTIONS);
        UUID volume;
        try (RunningVolume before = start(spec, disks)) {
            before.write(7, block(3));
            volume = before.uuid();
        }
        OwnerRecordStore _ = write(disks, "disk:1", elsewhere(volume, 9));
        try (RunningVolume after = start(spec, disks)) {
            assertThat(read(after)).isEqualTo((byte) 3);
            assertThat(record(disks, "disk:0").epoch()).isEqualTo(10);
        }
    }

    @ParameterizedTest
    @EnumSource(value = Level.class, names = {"RAID0", "RAID1", "RAID5", "RAID10"})
    void shouldAnswerNothingMoreOnceItWasTakenOver(Level level) throws Exception {
        for (boolean reserves : List.of(false, true)) {
            var disks = new SharedDisks(reserves);
            VolumeSpec spec = disks.create(level, 4, OPTIONS);
            var events = new EventLog();
            try (RunningVolume first = RunningVolume.open(spec, disks.new Gateway(), List.of(),
                    events)) {
                first.write(7, block(1));
                try (RunningVolume second = start(spec.withOptions(TAKING), disks)) {
                    second.write(7, block(2));
                    second.flush();
                    assertThat(events.await(VolumeEvent.VolumeFailed.class).why())
                            .contains("was taken over");
                    assertThat(first.isCurrent()).isFalse();
                    assertThatThrownBy(() -> read(first))
                            .isInstanceOf(OwnershipLostException.class);
                    assertThatThrownBy(() -> first.write(7, block(9)))
                            .isInstanceOf(OwnershipLostException.class);
                    assertThatThrownBy(first::flush).isInstanceOf(OwnershipLostException.class);
                    assertThatThrownBy(() -> first.submitWrite(7, block(9)).get())
                            .hasCauseInstanceOf(OwnershipLostException.class);
                    assertThat(first.status().health()).isEqualTo(VolumeHealth.FAILED);
                    first.close();
                    assertThat(record(disks, "disk:0").released()).isFalse();
                    second.write(8, block(4));
                    assertThat(read(second)).isEqualTo((byte) 2);
                    assertThat(second.status().health()).isNotEqualTo(VolumeHealth.DEGRADED);
                }
            }
            try (RunningVolume third = start(spec, disks)) {
                assertThat(read(third)).isEqualTo((byte) 2);
                assertThat(third.status().slots()).allMatch(slot -> slot.why().isEmpty());
            }
        }
    }

    @Test
    void shouldLoseTheVolumeToAReservationAlone() throws Exception {
        var disks = new SharedDisks(true);
        VolumeSpec spec = disks.create(Level.RAID1, 2, OPTIONS);
        var events = new EventLog();
        try (RunningVolume volume = RunningVolume.open(spec, disks.new Gateway(), List.of(),
                events)) {
            disks.holder("disk:0").set(77);
            disks.holder("disk:1").set(77);
            assertThat(events.await(VolumeEvent.VolumeFailed.class).why())
                    .contains("reserved");
            assertThatThrownBy(() -> read(volume)).isInstanceOf(OwnershipLostException.class);
        }
        assertThatThrownBy(() -> start(spec, disks)).isInstanceOf(BusyException.class)
                .hasMessageContaining("is reserved by another host").hasMessageContaining("77");
    }

    @Test
    void shouldReserveAnewWhatATargetHasForgotten() throws Exception {
        var disks = new SharedDisks(true);
        VolumeSpec spec = disks.create(Level.RAID1, 2, OPTIONS);
        try (RunningVolume volume = start(spec, disks)) {
            long key = disks.holder("disk:1").getAndSet(0);
            assertThat(key >>> 48).isEqualTo(0x4c4e);
            for (int i = 0; i < 60_000 && disks.holder("disk:1").get() == 0; i++) {
                Thread.sleep(1);
            }
            assertThat(disks.holder("disk:1").get()).isEqualTo(key);
            volume.write(7, block(1));
        }
    }

    @Test
    void shouldWriteARecordOfItsOwnOverOneThatIsBroken() throws Exception {
        var disks = new SharedDisks(false);
        VolumeSpec spec = disks.create(Level.RAID1, 2, OPTIONS);
        long lba = OwnerRecordStore.AT_BYTES / 512;
        disks.disk("disk:0").write(lba, block(0x55));
        assertThat(new OwnerRecordStore(disks.disk("disk:0")).read()).isEqualTo(Optional.empty());
        try (RunningVolume volume = start(spec, disks)) {
            volume.write(7, block(1));
            assertThat(record(disks, "disk:0").volume()).isEqualTo(volume.uuid());
        }
    }

    @Test
    void shouldGiveUpAMemberThatIsAnotherVolumes() throws Exception {
        var disks = new SharedDisks(false);
        VolumeSpec spec = disks.create(Level.RAID1, 2, OPTIONS);
        var events = new EventLog();
        try (RunningVolume volume = RunningVolume.open(spec, disks.new Gateway(), List.of(),
                events)) {
            OwnerRecord other = elsewhere(UUID.randomUUID(), 1);
            var place = new OwnerRecordStore(disks.disk("disk:1"));
            do { // until no beat comes between
                var _ = place.read();
            } while (!place.swap(other));
            assertThat(events.await(VolumeEvent.MemberFailed.class).why())
                    .contains("is a member of another volume now");
            volume.write(7, block(1));
            assertThat(read(volume)).isEqualTo((byte) 1);
        }
    }

    @Test
    void shouldNotReleaseAVolumeWhoseScrubHangs() throws Exception {
        var disks = new SharedDisks(true);
        RunTiming daily = RunTiming.DEFAULT;
        VolumeSpec spec = disks.create(Level.RAID1, 2,
                OPTIONS.withTiming(new RunTiming(daily.tick(), daily.metadataTicks(),
                        daily.firstRetry(), daily.lastRetry(), daily.spareAfter(), daily.open(),
                        Duration.ofMillis(500))));
        var events = new EventLog();
        SharedDisks.Gateway gateway = disks.new Gateway();
        RunningVolume volume = RunningVolume.open(spec, gateway, List.of(), events);
        events.awaitThrough(ScanKind.RESYNC);
        gateway.cut();
        assertThat(volume.scrub(true)).isTrue();
        volume.close();
        assertThat(record(disks, "disk:0").released()).isFalse();
        assertThat(disks.holder("disk:0").get()).isNotZero();
    }

    @ParameterizedTest
    @EnumSource(value = Level.class, names = {"RAID0", "RAID1", "RAID5", "RAID10"})
    void shouldSendHostsToTheOwnerThatHasReservedTheMembers(Level level) throws Exception {
        var disks = new SharedDisks(true);
        var slow = new OwnershipOptions(Duration.ofMillis(500), Duration.ofSeconds(2),
                Duration.ofSeconds(3), Duration.ZERO, false, true);
        VolumeSpec spec = disks.create(level, 4, OPTIONS.withOwnership(slow));
        SharedDisks.Gateway gateway = disks.new Gateway();
        try (RunningVolume volume = RunningVolume.open(spec, gateway)) {
            volume.write(7, block(1));
            gateway.preempt(77);
            StorageException last = null;
            for (int i = 0; i < 60_000 && !(last instanceof OwnershipLostException); i++) {
                try {
                    volume.write(7, block(2));
                } catch (StorageException e) {
                    last = e;
                    assertThat(e).isInstanceOfAny(BusyException.class,
                            OwnershipLostException.class);
                }
                Thread.sleep(1);
            }
            assertThat(last).isInstanceOf(OwnershipLostException.class);
        }
    }

    /** Its members have failed for their reservation, and the volume with them, before a beat told why. */
    @RepeatedTest(5)
    void shouldGoOnAskingForOwnerOnceVolumeHasFailed() throws Exception {
        var disks = new SharedDisks(true);
        RunTiming daily = RunTiming.DEFAULT;
        VolumeSpec spec = disks.create(Level.RAID1, 4,
                OPTIONS.withTiming(new RunTiming(Duration.ofMillis(1), daily.metadataTicks(),
                        daily.firstRetry(), daily.lastRetry(), daily.spareAfter(), daily.open(),
                        daily.stop())));
        SharedDisks.Gateway gateway = disks.new Gateway();
        var events = new EventLog();
        try (RunningVolume volume = RunningVolume.open(spec, gateway, List.of(), events)) {
            volume.write(7, block(1));
            gateway.silence(true);
            gateway.preempt(77);
            var write = volume.submitWrite(7, block(2));
            Thread.sleep(50); // some ticks
            gateway.silence(false);
            VolumeEvent.VolumeFailed _ = events.await(VolumeEvent.VolumeFailed.class,
                    failed -> failed.why().contains("was taken over"));
            assertThatThrownBy(write::get).hasCauseInstanceOf(StorageException.class);
            assertThatThrownBy(() -> volume.write(7, block(3)))
                    .isInstanceOf(OwnershipLostException.class);
        }
    }
}
