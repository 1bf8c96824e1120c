package lunar.raid.metadata.bitmap;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import lunar.block.BlockRequest;
import lunar.block.DeviceGoneException;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.raid.layout.Level;
import lunar.raid.metadata.Volumes;
import lunar.raid.metadata.bitmap.IntentBitmap.Intent;
import lunar.raid.metadata.page.MemberSet;
import lunar.raid.metadata.page.Page;
import lunar.raid.metadata.page.PagePair;
import lunar.raid.metadata.record.Consistency;
import lunar.raid.metadata.record.VolumeRecord;
import lunar.testkit.SteppedDevice;
import lunar.testkit.SteppedDevice.Step;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class IntentBitmapTest {
    private static final VolumeRecord VOLUME = Volumes.volume(Level.RAID1, 2, Consistency.BITMAP);
    /** Stripes of a region in these volumes. */
    private static final int REGION = 4;

    private final SteppedDevice left = new SteppedDevice(1024);
    private final SteppedDevice right = new SteppedDevice(1024);
    private final List<Integer> failed = new ArrayList<>();
    private final MemberSet members = new MemberSet(2, (slot, _) -> failed.add(slot));
    private final List<Intent> told = new ArrayList<>();
    private IntentBitmap bitmap;

    @BeforeEach
    void open() throws StorageException {
        for (SteppedDevice device : List.of(left, right)) {
            var page = new Page();
            IntentBitmap.fillBlank(VOLUME, 1, page);
            new PagePair(device, VOLUME.description().layout().bitmapBytes()).write(page);
        }
        members.add(0, left);
        members.add(1, right);
        bitmap = reopened(false);
    }

    private IntentBitmap reopened(boolean unclean) {
        return IntentBitmap.open(members, VOLUME, 0b11, unclean);
    }

    /** As it is on one member only. */
    private IntentBitmap on(int slot) {
        var alone = new MemberSet(2, (_, _) -> {});
        alone.add(slot, slot == 0 ? left : right);
        return IntentBitmap.open(alone, VOLUME, 0b11, true);
    }

    private Intent intent(long stripe, long count) {
        return new Intent((intent, failure) -> {
            assertThat(failure).isNull();
            told.add(intent);
        }).over(stripe, count);
    }

    private void endAll() {
        while (!left.pending().isEmpty() || !right.pending().isEmpty()) {
            left.endAll();
            right.endAll();
        }
    }

    @Test
    void shouldTellWhenABitIsStableOnAllMembers() {
        Intent intent = intent(REGION, 1);
        assertThat(bitmap.begin(intent)).isFalse();
        left.endAll();
        assertThat(told).isEmpty();
        right.endAll();
        assertThat(told).containsExactly(intent);
        assertThat(on(0).nextMarked(0)).isEqualTo(REGION);
        assertThat(on(1).nextMarked(0)).isEqualTo(REGION);
        assertThat(on(1).nextMarked(2L * REGION)).isEqualTo(-1);
        assertThat(bitmap.begin(intent(REGION + 1, REGION - 1))).as("the same region").isTrue();
        assertThat(left.pending()).isEmpty();
    }

    @Test
    void shouldLetAllWhoWaitShareAWrite() {
        var intents = new ArrayList<Intent>();
        for (int i = 0; i < 20; i++) {
            Intent intent = intent(i * REGION, 3);
            intents.add(intent);
            assertThat(bitmap.begin(intent)).isFalse();
        }
        Intent again = intent(0, 1);
        bitmap.begin(again);
        assertThat(left.pending()).hasSize(1);
        left.endAll();
        right.pending().getFirst().end();
        assertThat(told).as("the first intent, and one that waits for the same bit")
                .containsExactly(intents.getFirst(), again);
        assertThat(left.pending()).hasSize(1);
        endAll();
        assertThat(told).hasSize(21);
        assertThat(left.pending()).as("19 others in one write").isEmpty();
    }

    @Test
    void shouldTakeBitsAwayLaterAndAfterAFlush() {
        Intent intent = intent(0, 1);
        bitmap.begin(intent);
        endAll();
        bitmap.tick();
        bitmap.tick();
        assertThat(left.pending()).as("in use").isEmpty();
        bitmap.end(intent);
        bitmap.tick();
        assertThat(left.pending()).as("used since the last tick").isEmpty();
        bitmap.tick();
        assertThat(left.pending()).extracting(step -> step.request().operation())
                .containsExactly(BlockRequest.Operation.FLUSH);
        left.endAll();
        assertThat(bitmap.isMarked(0)).isTrue();
        endAll();
        assertThat(bitmap.isMarked(0)).isFalse();
        assertThat(on(0).nextMarked(0)).isEqualTo(-1);
    }

    @Test
    void shouldKeepABitThatIsWantedDuringTheFlush() {
        Intent intent = intent(0, 1);
        bitmap.begin(intent);
        endAll();
        bitmap.end(intent);
        bitmap.tick();
        bitmap.tick();
        assertThat(bitmap.begin(intent)).isTrue();
        bitmap.end(intent);
        endAll();
        assertThat(bitmap.isMarked(0)).isTrue();
        assertThat(on(0).nextMarked(0)).isZero();
    }

    @Test
    void shouldWaitForABitThatIsBeingTakenAway() {
        Intent intent = intent(0, 1);
        bitmap.begin(intent);
        endAll();
        bitmap.end(intent);
        bitmap.tick();
        bitmap.tick();
        left.endAll();
        right.pending().getFirst().end();
        assertThat(left.pending()).as("the page without it").hasSize(1);
        told.clear();
        assertThat(bitmap.begin(intent)).as("the medium may have it no more").isFalse();
        left.endAll();
        right.pending().getFirst().end();
        assertThat(told).isEmpty();
        endAll();
        assertThat(told).containsExactly(intent);
        assertThat(on(1).nextMarked(0)).isZero();
    }

    @Test
    void shouldKeepAllBitsWhileAMemberIsOut() {
        Intent intent = intent(0, 1);
        bitmap.begin(intent);
        endAll();
        bitmap.end(intent);
        members.drop(1);
        for (int i = 0; i < 3; i++) {
            bitmap.tick();
            endAll();
        }
        assertThat(bitmap.isMarked(0)).isTrue();
        members.add(1, right);
        bitmap.hold(true);
        bitmap.tick();
        endAll();
        assertThat(bitmap.isMarked(0)).as("the member is there and still stale").isTrue();
        bitmap.hold(false);
        bitmap.tick();
        endAll();
        assertThat(bitmap.isMarked(0)).isFalse();
    }

    @Test
    void shouldWaitUntilAFailedMemberIsDropped() {
        Intent intent = intent(0, 1);
        bitmap.begin(intent);
        left.endAll();
        right.pending().getFirst().fail(new MediumException("bad"));
        assertThat(failed).containsExactly(1);
        assertThat(told).as("the others must learn of the failure first").isEmpty();
        members.drop(1);
        assertThat(told).containsExactly(intent);
    }

    @Test
    void shouldNotTouchABufferThatALostMemberHolds() {
        bitmap.begin(intent(0, 1));
        Step stalled = right.pending().getFirst();
        byte[] was = stalled.request().buffer().toArray(JAVA_BYTE);
        left.endAll();
        members.drop(1);
        bitmap.begin(intent(8L * REGION, 1));
        left.endAll();
        members.add(1, right);
        bitmap.begin(intent(16L * REGION, 1));
        assertThat(stalled.request().buffer()
                .toArray(JAVA_BYTE)).isEqualTo(was);
        left.endAll();
        right.pending().getLast().end();
        assertThat(told).hasSize(3);
        stalled.end();
        assertThat(told).as("its late end means nothing").hasSize(3);
    }

    @Test
    void shouldFailWhereNoMemberIsLeft() {
        var failures = new ArrayList<StorageException>();
        bitmap.begin(new Intent((_, failure) -> failures.add(failure)).over(0, 1));
        members.drop(0);
        members.drop(1);
        assertThat(failures).singleElement().isInstanceOf(DeviceGoneException.class);
    }

    @Test
    void shouldComeBackWithTheNewestCopy() {
        Intent intent = intent(12, 1);
        bitmap.begin(intent);
        endAll();
        bitmap.end(intent);
        bitmap.begin(intent(40, 1));
        left.endAll();
        IntentBitmap after = reopened(true);
        assertThat(after.marked()).isEqualTo(2);
        assertThat(after.nextUnsynced(0)).isEqualTo(12);
        assertThat(after.nextUnsynced(14)).isEqualTo(14);
        assertThat(after.nextUnsynced(16)).isEqualTo(40);
        assertThat(reopened(false).nextUnsynced(0)).as("stopped in order").isEqualTo(-1);
        assertThat(on(1).marked()).as("one write behind").isEqualTo(1);

        after.synced(12);
        after.synced(40);
        for (int i = 0; i < 3; i++) {
            after.tick();
            left.endAll();
            right.endAll();
            endAll();
        }
        assertThat(after.marked()).isZero();
        assertThat(after.nextUnsynced(0)).isEqualTo(-1);
    }

    @Test
    void shouldTakeAllForDirtyWhereNoCopyIsWhole() {
        bitmap.begin(intent(12, 1));
        endAll();
        int at = (int) VOLUME.description().layout().bitmapBytes();
        for (SteppedDevice device : List.of(left, right)) {
            for (long place : List.of(0L, (long) PagePair.STRIDE_BYTES)) {
                long there = at + place + 100;
                device.content().set(JAVA_BYTE, there, (byte) 1);
            }
        }
        IntentBitmap after = reopened(true);
        assertThat(after.marked()).isEqualTo(after.regions());
        assertThat(after.nextUnsynced(0)).isZero();
    }

    @Test
    void shouldKeepWithinItsPage() {
        assertThat(IntentBitmap.regionStripes(1)).isEqualTo(1);
        assertThat(IntentBitmap.regionStripes(8192)).isEqualTo(1);
        assertThat(IntentBitmap.regionStripes(8193)).isEqualTo(2);
        for (long stripes = 1; stripes > 0; stripes *= 3) {
            assertThat(IntentBitmap.regions(stripes, IntentBitmap.regionStripes(stripes)))
                    .isBetween(1, 8192);
        }
        assertThat(IntentBitmap.regionStripes(IntentBitmap.MAX_REGIONS, 1)).isEqualTo(1);
        assertThat(IntentBitmap.regionStripes(IntentBitmap.MAX_REGIONS + 1, 1)).isEqualTo(2);
        assertThat(IntentBitmap.regionStripes(4L * IntentBitmap.MAX_REGIONS + 1, 1)).isEqualTo(8);
        assertThatThrownBy(() -> IntentBitmap.regions(1 << 20, 1))
                .hasMessageContaining("too small");
        assertThatThrownBy(() -> bitmap.begin(intent(512, 1))).hasMessageContaining("of 512");
    }
}
