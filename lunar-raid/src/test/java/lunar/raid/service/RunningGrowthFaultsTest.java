package lunar.raid.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import lunar.block.StorageException;
import lunar.raid.layout.Level;
import lunar.raid.metadata.DegradedStart;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Members that break while a volume gets one more, at each change of their metadata. It goes on, or it stops, and then
 * the next start has all that was acknowledged.
 */
class RunningGrowthFaultsTest extends RunningFixture {
    private static final int SMALL_BYTES = 2 << 20;
    private static final int MAX_CHANGES = 400;
    private static final String NEW = "disk:new";

    /** Writes block after block until it is told to end, or the volume does. */
    private final class Writer {
        private volatile boolean isOver;
        /** The block that may have been written. */
        private volatile int uncertain = -1;
        private final Thread thread = Thread.ofPlatform().start(this::run);

        private void run() {
            for (int i = 0; !isOver; i++) {
                byte[] one = new byte[BLOCK];
                Arrays.fill(one, (byte) i);
                int block = i % 64;
                try {
                    volume.write(block, MemorySegment.ofArray(one));
                    System.arraycopy(one, 0, content, block * BLOCK, BLOCK);
                } catch (StorageException e) {
                    uncertain = block;
                    return;
                }
            }
        }

        void join() throws InterruptedException {
            thread.join();
            isOver = true;
        }

        void end() throws InterruptedException {
            isOver = true;
            join();
        }
    }

    private void createSmall(Level level) throws Exception {
        spec = shelf.create(level, "music", 2, SMALL_BYTES, OPTIONS);
        open();
        content = new byte[(int) volume.sizeBytes()];
        fill(0, content.length);
        if (level.isRedundant()) {
            events.awaitThrough(ScanKind.RESYNC);
        }
        shelf.add(NEW, SMALL_BYTES);
    }

    private VolumeSpec with(List<String> members, DegradedStart degradedStart) {
        return new VolumeSpec(spec.level(), spec.name(), members, spec.spares(), Optional.empty(),
                OPTIONS.withDegradedStart(degradedStart));
    }

    /** The content of the volume, including the block that may have been written. */
    private void check(Writer writer) throws StorageException {
        int block = writer.uncertain;
        if (block >= 0) {
            volume.read(block, MemorySegment.ofArray(content).asSlice((long) block * BLOCK, BLOCK));
            writer.uncertain = -1;
        }
        check();
    }

    /** Why it did not grow; null where it did. */
    private @Nullable StorageException grow() {
        try {
            assertThat(volume.grow(NEW, false)).isEqualTo(2);
            return null;
        } catch (StorageException e) {
            return e;
        }
    }

    private static boolean isEnd(StorageException failure) {
        return failure.getMessage().contains("the volume stops");
    }

    @ParameterizedTest
    @CsvSource({"LINEAR, disk:new", "LINEAR, disk:0", "LINEAR, disk:1", "RAID1, disk:new",
            "RAID1, disk:0", "RAID1, disk:1"})
    void shouldHaveAllThatWasAcknowledged(Level level, String victim) throws Exception {
        int stops = 0;
        int goesOn = 0;
        boolean hasGrown = false;
        for (int step = 0; !hasGrown; step++) {
            int changes = step / 2;
            assertThat(changes).as("seed " + seed).isLessThan(MAX_CHANGES);
            createSmall(level);
            var writer = new Writer();
            shelf.disk(victim).pullAfter(changes, step % 2 == 1);
            StorageException failure = grow();
            hasGrown = failure == null;
            String what = "seed " + seed + ", " + changes + " changes: " + failure;
            if (failure != null && isEnd(failure)) {
                stops++;
                writer.join();
                events.await(VolumeEvent.VolumeFailed.class);
                assertThat(events.await(VolumeEvent.Stopped.class).inOrder()).as(what).isFalse();
                assertThatThrownBy(() -> volume.flush()).as(what)
                        .isInstanceOf(StorageException.class);
            } else {
                goesOn += hasGrown ? 0 : 1;
                writer.end();
                shelf.disk(victim).putBack();
                check(writer);
            }
            volume.close();
            assertThat(shelf.openCount()).as(what).isZero();
            shelf.disk(victim).putBack();
            List<String> named = new ArrayList<>(spec.members());
            named.add(NEW);
            if (level == Level.RAID1) {
                startWithout(what, victim, named, writer);
            }
            spec = with(named, DegradedStart.REFUSED);
            open();
            check(writer);
            fill(0, 64 << 10);
            check();
            volume.close();
        }
        assertThat(stops).as("seed " + seed).isPositive();
        if (level == Level.RAID1 || victim.equals(NEW)) {
            assertThat(goesOn).as("seed " + seed).isPositive();
        }
    }

    @Test
    void shouldGoOnWithoutAMemberThatSaysNothing() throws Exception {
        createSmall(Level.RAID1);
        volume.close();
        // Long enough for the members that answer, also on a machine under load.
        spec = spec.withOptions(OPTIONS.withStallTimeout(Duration.ofSeconds(6)));
        open();
        shelf.disk("disk:1").hang();
        assertThatThrownBy(() -> volume.grow(NEW, false)).isInstanceOf(StorageException.class)
                .hasMessageContaining("wait until it is whole");
        assertThat(events.await(VolumeEvent.MemberFailed.class).why())
                .contains("has not answered");
        fill(0, 64 << 10);
        check();
        assertThat(volume.status().slots()).hasSize(2);
    }

    /** The one that broke is away for the next start, which says that it may be, and is there for the one after. */
    private void startWithout(String what, String victim, List<String> named, Writer writer)
            throws Exception {
        shelf.disk(victim).pull();
        spec = with(named, DegradedStart.FORCED);
        open();
        check(writer);
        fill(0, 64 << 10);
        volume.close();
        assertThat(shelf.openCount()).as(what).isZero();
        shelf.disk(victim).putBack();
    }
}
