package lunar.raid.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.concurrent.locks.LockSupport;
import lunar.block.BlockDevice;
import lunar.block.BusyException;
import lunar.block.InvalidRequestException;
import lunar.block.StorageException;
import lunar.raid.SlotState;
import lunar.raid.layout.Level;
import lunar.raid.metadata.Candidate;
import lunar.raid.metadata.record.SuperblockReading;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Spares that are on the superblocks, come and go, and members that a person takes out and back. */
class RunningSparesTest extends RunningFixture {
    /** Stops and starts the volume, which is clean then, and checks its data. */
    private void reopenClean() throws Exception {
        volume.close();
        open();
        assertThat(events.await(VolumeEvent.Started.class).health())
                .isEqualTo(VolumeHealth.CLEAN);
        check();
    }

    private void create(Level level, int members, List<String> spares) throws Exception {
        for (String uri : spares) {
            shelf.add(uri, MEMBER_BYTES);
        }
        spec = shelf.create(level, "music", members, MEMBER_BYTES, spares, OPTIONS);
        open();
        content = new byte[(int) volume.sizeBytes()];
        fill(0, content.length);
        events.awaitThrough(ScanKind.RESYNC);
    }

    private List<String> spares() {
        return volume.status().spares().stream().map(VolumeStatus.Spare::uri).toList();
    }

    private VolumeSpec with(List<String> members, List<String> spares) {
        return new VolumeSpec(spec.level(), spec.name(), members, spares, Optional.empty(),
                OPTIONS);
    }

    @ParameterizedTest
    @EnumSource(value = Level.class, names = {"RAID1", "RAID5", "RAID6", "RAID10"})
    void shouldTakeTheSparesOfItsSuperblocks(Level level) throws Exception {
        create(level, level == Level.RAID10 ? 4 : 5, List.of("spare:0", "spare:1"));
        assertThat(volume.status().spares()).allSatisfy(spare -> {
            assertThat(spare.member()).isPresent();
            assertThat(spare.why()).isEmpty();
        });
        volume.close();
        assertThat(shelf.openCount()).isZero();
        List<String> all = new ArrayList<>(spec.members());
        all.addAll(spec.spares());
        spec = with(all, List.of()); // the superblocks tell which device is what
        open();
        assertThat(spares()).containsExactly("spare:0", "spare:1");
        shelf.disk("disk:1").pull();
        fill(0, 64 << 10);
        assertThat(events.await(VolumeEvent.MemberReplaced.class))
                .isEqualTo(new VolumeEvent.MemberReplaced(1, "spare:0", true));
        events.awaitThrough(ScanKind.REBUILD);
        awaitHealth(VolumeHealth.CLEAN);
        assertThat(spares()).containsExactly("spare:1");
        scrub();
        crash();
        assertThat(volume.status().slots().get(1).uri()).isEqualTo("spare:0");
        check();
    }

    /** It is no spare any more then, and not in its slot yet. */
    @Test
    void shouldNotGiveUpASpareWhileItIsTaken() throws Exception {
        create(Level.RAID5, 3, List.of("spare:0"));
        shelf.disk("spare:0").shut();
        shelf.disk("disk:1").pull();
        fill(0, 64 << 10);
        shelf.disk("spare:0").awaitSomebodyWaiting();
        Thread.sleep(100); // many looks at the spares
        shelf.disk("spare:0").open();
        assertThat(events.await(VolumeEvent.MemberReplaced.class))
                .isEqualTo(new VolumeEvent.MemberReplaced(1, "spare:0", true));
        assertThat(events.all()).as("it was a spare all the time")
                .doesNotHaveAnyElementsOfTypes(VolumeEvent.SpareAdded.class);
        awaitHealth(VolumeHealth.CLEAN);
        check();
    }

    @Test
    void shouldMakeSparesOfWhatPeopleAddAndLetThemGo() throws Exception {
        create(Level.RAID5, 3, List.of());
        shelf.add("spare:a", MEMBER_BYTES);
        shelf.add("spare:small", 1 << 20);
        assertThat(volume.add("spare:a", false)).isEmpty();
        assertThatThrownBy(() -> volume.add("spare:a", false)).hasMessageContaining("already");
        assertThatThrownBy(() -> volume.add("spare:small", false))
                .hasMessageContaining("too small");
        assertThatThrownBy(() -> volume.add("disk:1", false)).hasMessageContaining("at work");
        assertThatThrownBy(() -> volume.remove("disk:1")).hasMessageContaining("not a spare");
        assertThatThrownBy(() -> volume.remove("spare:x")).hasMessageContaining("no spare");
        assertThat(spares()).containsExactly("spare:a");
        volume.close();
        open(); // not named in the URI: it is known to be away
        assertThat(volume.status().spares()).singleElement().satisfies(spare -> {
            assertThat(spare.uri()).isEmpty();
            assertThat(spare.why()).isEqualTo("it is away");
        });
        assertThat(volume.add("spare:a", false)).isEmpty(); // it comes back for what it is
        assertThat(spares()).containsExactly("spare:a");
        volume.remove("spare:a");
        assertThat(volume.status().spares()).isEmpty();
        volume.close();
        try (BlockDevice device = shelf.open("spare:a")) {
            assertThat(Candidate.of("spare:a", device).reading())
                    .isInstanceOf(SuperblockReading.Blank.class);
        }
    }

    @Test
    void shouldPutASpareWhereAPersonWantsIt() throws Exception {
        create(Level.RAID5, 3, List.of("spare:0"));
        volume.replace(2, "spare:0", false);
        events.awaitThrough(ScanKind.REBUILD);
        awaitHealth(VolumeHealth.CLEAN);
        assertThat(volume.status().slots().get(2).uri()).isEqualTo("spare:0");
        assertThat(volume.status().spares()).isEmpty();
        check();
        scrub();
    }

    @Test
    void shouldLookForSparesThatAreAway() throws Exception {
        create(Level.RAID1, 2, List.of("spare:0"));
        volume.close();
        shelf.disk("spare:0").pull();
        open();
        assertThat(spares()).containsExactly("spare:0");
        shelf.disk("disk:0").pull();
        fill(0, 64 << 10);
        events.await(VolumeEvent.MemberFailed.class);
        shelf.disk("spare:0").putBack();
        assertThat(events.await(VolumeEvent.MemberReplaced.class).uri()).isEqualTo("spare:0");
        events.awaitThrough(ScanKind.REBUILD);
        awaitHealth(VolumeHealth.CLEAN);
        check();
    }

    /** A volume that was started without the others has taken it: then it may have the only copy of what was written. */
    @Test
    void shouldNotTakeASpareThatHasBecomeAMemberElsewhere() throws Exception {
        create(Level.RAID1, 2, List.of("spare:0"));
        volume.close();
        shelf.disk("disk:0").pull();
        openForced();
        events.await(VolumeEvent.MemberReplaced.class);
        awaitHealth(VolumeHealth.CLEAN);
        volume.close();

        shelf.disk("disk:1").pull();
        shelf.disk("spare:0").pull();
        shelf.disk("disk:0").putBack();
        openForced();
        shelf.disk("spare:0").putBack();
        for (int i = 0; i < 60_000 && !spareWhy().contains("would be destroyed"); i++) {
            Thread.sleep(1);
        }
        assertThat(spareWhy()).contains("would be destroyed");
        shelf.disk("disk:1").putBack();
        assertThat(awaitWhy(1, "used without")).contains("used without");
        assertThat(volume.status().health()).isEqualTo(VolumeHealth.DEGRADED);
        check();
    }

    private String spareWhy() { return volume.status().spares().getFirst().why(); }

    /** Slot 1's member comes back where a person wants it, and gets what it missed. */
    private void addBack(String name) throws Exception {
        assertThat(volume.add(name, false)).hasValue(1);
        assertThat(events.await(VolumeEvent.MemberReturned.class))
                .isEqualTo(new VolumeEvent.MemberReturned(1, "disk:1", true));
        events.awaitThrough(ScanKind.REBUILD);
        awaitHealth(VolumeHealth.CLEAN);
        check();
        scrub();
    }

    @ParameterizedTest
    @EnumSource(value = Level.class, names = {"RAID1", "RAID5", "RAID6", "RAID10"})
    void shouldKeepOutWhomAPersonTookOut(Level level) throws Exception {
        create(level, 4, List.of());
        volume.fail(1);
        fill(0, 64 << 10);
        volume.flush();
        crash(); // what was said is stable
        assertThat(events.await(VolumeEvent.Started.class).health())
                .isEqualTo(VolumeHealth.DEGRADED);
        assertThat(volume.status().slots().get(1).why()).contains("taken out by hand");
        check();
        volume.close();
        shelf.disk("disk:1").pull();
        open(); // nothing to be asked: it was out before
        assertThatThrownBy(() -> volume.add("1", false))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("does not come back").hasMessageContaining("no answer");
        assertThat(volume.status().slots().get(1).state()).isEqualTo(SlotState.FAILED);
        shelf.disk("disk:1").putBack();
        addBack("disk:1");
        volume.close();
        open();
        assertThat(events.await(VolumeEvent.Started.class).health())
                .isEqualTo(VolumeHealth.CLEAN);
    }

    @ParameterizedTest
    @EnumSource(value = Level.class, names = {"RAID1", "RAID5", "RAID6", "RAID10"})
    void shouldKeepOutWhoseMediumFailed(Level level) throws Exception {
        create(level, 4, List.of());
        shelf.disk("disk:1").wear();
        fill(0, 256 << 10);
        assertThat(events.await(VolumeEvent.MemberFailed.class).slot()).isEqualTo(1);
        volume.flush();
        shelf.disk("disk:1").putBack(); // as if nothing were wrong with it
        crash();
        assertThat(events.await(VolumeEvent.Started.class).health())
                .isEqualTo(VolumeHealth.DEGRADED);
        assertThat(volume.status().slots().get(1).why()).contains("for medium errors");
        check();
        addBack("1");
    }

    @Test
    void shouldTakeASpareForAMemberThatWasTakenOut() throws Exception {
        create(Level.RAID6, 4, List.of("spare:0"));
        volume.fail(3);
        assertThat(events.await(VolumeEvent.MemberReplaced.class).uri()).isEqualTo("spare:0");
        events.awaitThrough(ScanKind.REBUILD);
        awaitHealth(VolumeHealth.CLEAN);
        reopenClean();
    }

    /** Both change the superblocks. */
    @Test
    void shouldNotGrowWhileASpareIsComing() throws Exception {
        create(Level.RAID1, 2, List.of());
        shelf.add("spare:0", MEMBER_BYTES);
        shelf.add("disk:new", MEMBER_BYTES);
        var failure = new AtomicReference<Throwable>();
        var seen = new AtomicReference<List<String>>();
        volume.addListener(event -> {
            if (event instanceof VolumeEvent.MemberAdded) {
                seen.set(spares());
            }
        });
        shelf.disk("spare:0").shut();
        Thread joining = start(() -> volume.add("spare:0", false), failure);
        shelf.disk("spare:0").awaitSomebodyWaiting();
        Thread growing = start(() -> volume.grow("disk:new", false), failure);
        while (growing.isAlive()
                && !(LockSupport.getBlocker(growing) instanceof AbstractQueuedSynchronizer)) {
            Thread.onSpinWait();
        }
        shelf.disk("spare:0").open();
        joining.join();
        growing.join();
        assertThat(failure.get()).isNull();
        events.await(VolumeEvent.MemberAdded.class);
        events.awaitThrough(ScanKind.REBUILD);
        assertThat(seen.get()).containsExactly("spare:0");
        volume.close();
        spec = with(List.of("disk:0", "disk:1", "disk:new"), List.of("spare:0"));
        open();
        check();
    }

    private void requireRefused(Act act, Class<? extends StorageException> type, String why) {
        assertThatThrownBy(act::run).isInstanceOf(type).hasMessageContaining(why)
                .hasMessageNotContaining("\n");
        assertThat(volume.status().slots()).extracting(VolumeStatus.Slot::state)
                .containsOnly(SlotState.ACTIVE);
    }

    @Test
    void shouldNeverTakeWhatItHasUnderAnotherUri() throws Exception {
        create(Level.RAID5, 3, List.of("spare:0"));
        awaitHealth(VolumeHealth.CLEAN);
        shelf.alias("other:1", shelf.disk("disk:1"));
        shelf.alias("other:spare", shelf.disk("spare:0"));
        for (boolean force : List.of(true, false)) {
            String why = "other:1 is the member of slot 1 under another URI";
            requireRefused(() -> volume.replace(2, "other:1", force),
                    InvalidRequestException.class, why);
            requireRefused(() -> volume.replace(1, "other:1", force),
                    InvalidRequestException.class, why);
            requireRefused(() -> volume.add("other:1", force), InvalidRequestException.class, why);
            requireRefused(() -> volume.grow("other:1", force), InvalidRequestException.class,
                    why);
            why = "other:spare is a spare of the volume under another URI";
            requireRefused(() -> volume.replace(2, "other:spare", force),
                    InvalidRequestException.class, why);
            requireRefused(() -> volume.grow("other:spare", force),
                    InvalidRequestException.class, why);
        }
        volume.replace(1, "disk:1", true); // it is out of its slot then
        events.awaitThrough(ScanKind.REBUILD);
        awaitHealth(VolumeHealth.CLEAN);
        assertThat(volume.status().slots().get(1).uri()).isEqualTo("disk:1");
        assertThat(spares()).containsExactly("spare:0");
        check();
        scrub();
        reopenClean();
    }

    @Test
    void shouldNotTakeAMemberOfAnotherVolumeThatRuns() throws Exception {
        create(Level.RAID1, 2, List.of());
        awaitHealth(VolumeHealth.CLEAN);
        var far = new Shelf(new Random(seed + 2));
        VolumeSpec films = far.create(Level.RAID1, "films", 2, MEMBER_BYTES, OPTIONS);
        shelf.alias("far:0", far.disk("disk:0"));
        try (RunningVolume other = RunningVolume.open(films, far)) {
            String why = "far:0 is a member of a volume that is in use by process "
                    + ProcessHandle.current().pid();
            requireRefused(() -> volume.replace(1, "far:0", true), BusyException.class, why);
            requireRefused(() -> volume.add("far:0", true), BusyException.class, why);
            requireRefused(() -> volume.grow("far:0", true), BusyException.class, why);
            assertThat(other.status().slots()).extracting(VolumeStatus.Slot::state)
                    .containsOnly(SlotState.ACTIVE);
        }
        volume.replace(1, "far:0", true); // nobody uses it now
        events.awaitThrough(ScanKind.REBUILD);
        awaitHealth(VolumeHealth.CLEAN);
        check();
    }

    private interface Act {
        void run() throws Exception;
    }

    private static Thread start(Act act, AtomicReference<Throwable> failure) {
        return Thread.ofPlatform().start(() -> {
            try {
                act.run();
            } catch (Throwable e) {
                failure.set(e);
            }
        });
    }
}
