package lunar.raid.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import lunar.block.LostWritesException;
import lunar.block.StorageException;
import lunar.raid.SlotState;
import lunar.raid.layout.Level;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Members that have lost writes and vouch for nothing until a person accepts that, such as files whose sync failed. */
@Timeout(300)
class LatchedMembersTest extends RunningFixture {
    /** As often as a disk is asked in vain before that is known to last. */
    private static final int MANY = 200;

    /** With pauses after which so many questions would take minutes, and not the time of a test. */
    private void createPatient(Level level, int members, Duration lastRetry)
            throws StorageException {
        RunTiming quick = OPTIONS.timing();
        spec = shelf.create(level, "music", members, MEMBER_BYTES,
                OPTIONS.withTiming(new RunTiming(quick.tick(), quick.metadataTicks(),
                        quick.firstRetry(), lastRetry, quick.spareAfter(), quick.open(),
                        quick.stop())));
        open();
        content = new byte[(int) volume.sizeBytes()];
        fill(0, content.length);
    }

    @ParameterizedTest
    @EnumSource(value = Level.class, names = {"RAID1", "RAID5"})
    void shouldDoWithoutOneOfThem(Level level) throws Exception {
        createPatient(level, 3, Duration.ofSeconds(1));
        volume.flush();
        shelf.disk("disk:1").latch();
        fill(0, 64 << 10);
        volume.flush();
        volume.writeThrough(0, MemorySegment.ofArray(content).asSlice(0, BLOCK));
        // It may have been opened again since it failed, and waits for a rebuild that fails as well.
        assertThat(volume.status().slots().get(1).state()).isNotEqualTo(SlotState.ACTIVE);
        check();
        volume.close();
        assertThat(shelf.disk("disk:1").refusedSyncs()).isLessThan(MANY);
        shelf.disk("disk:1").acceptLoss();
        open();
        awaitHealth(VolumeHealth.CLEAN);
        check();
        scrub();
    }

    @Test
    void shouldVouchForNothingWithoutAnyOther() throws Exception {
        createPatient(Level.RAID1, 2, Duration.ofSeconds(1));
        volume.flush();
        shelf.disk("disk:0").latch();
        shelf.disk("disk:1").latch();
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(volume::flush).isInstanceOf(StorageException.class);
            assertThatThrownBy(() -> volume.writeThrough(0,
                    MemorySegment.ofArray(content).asSlice(0, BLOCK)))
                    .isInstanceOf(StorageException.class);
        }
        volume.close();
        assertThat(shelf.disk("disk:0").refusedSyncs()).isLessThan(MANY);
        shelf.disk("disk:0").acceptLoss();
        shelf.disk("disk:1").acceptLoss();
        open();
        awaitHealth(VolumeHealth.CLEAN);
        volume.flush();
        check();
    }

    /** However long the time is after which what has not gone well is tried again. */
    @Test
    void shouldResyncAtOnceAfterEachLoss() throws Exception {
        createPatient(Level.RAID5, 3, Duration.ofHours(1));
        for (int i = 0; i < 2; i++) {
            events.awaitThrough(ScanKind.RESYNC);
            awaitHealth(VolumeHealth.CLEAN);
            volume.flush();
            fill(0, 64 << 10);
            shelf.disk("disk:0").lose(1);
            shelf.disk("disk:1").lose(1);
            assertThatThrownBy(volume::flush).isInstanceOf(LostWritesException.class);
        }
        awaitHealth(VolumeHealth.CLEAN);
        check();
        scrub();
    }

    /** Superblocks that are under way meet the losses, too. */
    @Test
    void shouldKeepAllMembersWhereMoreHaveLostTheirCacheThanItCanDoWithout() throws Exception {
        create(Level.RAID5, 3);
        volume.flush();
        shelf.disk("disk:0").lose(3);
        shelf.disk("disk:1").lose(3);
        fill(0, 64 << 10);
        assertThatThrownBy(volume::flush).isInstanceOf(LostWritesException.class);
        awaitHealth(VolumeHealth.CLEAN);
        volume.flush();
        crash();
        assertThat(volume.status().slots()).extracting(VolumeStatus.Slot::state)
                .containsOnly(SlotState.ACTIVE);
        check();
    }
}
