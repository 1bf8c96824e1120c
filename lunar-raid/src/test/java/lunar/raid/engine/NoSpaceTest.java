package lunar.raid.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import lunar.block.Identity;
import lunar.block.MediumException;
import lunar.block.NoSpaceException;
import lunar.block.StorageException;
import lunar.raid.BackgroundScan;
import lunar.raid.RaidListener;
import lunar.raid.RaidMember;
import lunar.raid.RaidOptions;
import lunar.raid.ScanOptions;
import lunar.raid.Scrub;
import lunar.raid.engine.member.HalfWrittenStripes;
import lunar.raid.engine.member.Slots;
import lunar.raid.engine.stripe.StripeEngine;
import lunar.raid.layout.Level;
import lunar.raid.layout.Shape;
import lunar.store.MemoryDevice;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Members without space: the host hears so, everybody stays in, and nothing that was there before is lost. */
class NoSpaceTest {
    private static final int CHUNK = 8;
    private static final int ROWS = 24;
    private static final int BLOCK = 512;

    private final long seed = Seed.next();
    private final Random random = new Random(seed);
    private final List<ThinDevice> members = new ArrayList<>();
    private final List<String> heard = new ArrayList<>();
    private final RaidListener listener = new RaidListener() {
        @Override
        public void slotFailed(int slot, StorageException cause) { heard.add("failed " + slot); }

        @Override
        public void volumeFailed(StorageException cause) { heard.add("volume failed"); }
    };

    private VolumeEngine volume(Level level, int count) {
        for (int slot = 0; slot < count; slot++) {
            members.add(new ThinDevice(MemoryDevice.create(CHUNK * ROWS * BLOCK, BLOCK), 0));
        }
        return VolumeEngine.of(Shape.of(level, BLOCK, CHUNK, count, CHUNK * ROWS),
                members.stream().map(member -> RaidMember.of(member, 0)).toList(),
                RaidOptions.of(Identity.of("test", new UUID(1, 1))).withListener(listener));
    }

    private byte[] read(VolumeEngine volume) throws StorageException {
        byte[] content = new byte[(int) volume.sizeBytes()];
        volume.read(0, MemorySegment.ofArray(content));
        return content;
    }

    private static Scrub scrub(VolumeEngine volume) {
        Scrub scrub = volume.scrub(false, ScanOptions.DEFAULT);
        assertThat(scrub.hasEnded()).isTrue();
        return scrub;
    }

    /** Members get space by and by; each block reads as written last, or as one of the writes since that failed. */
    @ParameterizedTest
    @EnumSource(Level.class)
    void shouldServeOnWhileMembersAreFull(Level level) throws Exception {
        VolumeEngine volume = volume(level, 4);
        int blocks = (int) volume.blockCount();
        byte[][] known = new byte[blocks][BLOCK];
        var maybe = new ArrayList<List<byte[]>>();
        for (int i = 0; i < blocks; i++) {
            maybe.add(new ArrayList<>());
        }
        int refused = 0;
        for (int round = 0; round < 400; round++) {
            members.get(random.nextInt(4)).space += random.nextInt(6);
            int count = 1 + random.nextInt(random.nextBoolean() ? 4 : 5 * CHUNK);
            int lba = random.nextInt(blocks - Math.min(count, blocks - 1));
            count = Math.min(count, blocks - lba);
            byte[] data = new byte[count * BLOCK];
            random.nextBytes(data);
            boolean isDone = true;
            try {
                volume.write(lba, MemorySegment.ofArray(data));
            } catch (NoSpaceException _) {
                refused++;
                isDone = false;
            }
            for (int i = 0; i < count; i++) {
                byte[] block = Arrays.copyOfRange(data, i * BLOCK, (i + 1) * BLOCK);
                if (isDone) {
                    known[lba + i] = block;
                    maybe.get(lba + i).clear();
                } else {
                    maybe.get(lba + i).add(block);
                }
            }
            requireContent(volume, known, maybe);
            if (round % 10 == 9) {
                volume.resync(ScanOptions.DEFAULT);
                requireContent(volume, known, maybe);
            }
        }
        assertThat(refused).as("seed " + seed).isGreaterThan(20);
        assertThat(heard).isEmpty();
        if (level.isRedundant()) {
            members.forEach(member -> member.space = Integer.MAX_VALUE / 2);
            volume.resync(ScanOptions.DEFAULT);
            assertThat(volume.state().isWhole()).as("seed " + seed).isTrue();
            Scrub scrub = scrub(volume);
            assertThat(scrub.mismatches()).as("seed " + seed).isZero();
            assertThat(scrub.skipped()).as("seed " + seed).isZero();
            requireContent(volume, known, maybe);
            volume.fail(random.nextInt(4), new MediumException("pulled"));
            requireContent(volume, known, maybe);
        }
    }

    /** Data that were read once stay the same from then on. */
    private void requireContent(VolumeEngine volume, byte[][] known, List<List<byte[]>> maybe)
            throws StorageException {
        for (int pass = 0; pass < 2; pass++) { // of copies, from another one
            byte[] found = read(volume);
            for (int i = 0; i < known.length; i++) {
                byte[] block = Arrays.copyOfRange(found, i * BLOCK, (i + 1) * BLOCK);
                boolean isMaybe = maybe.get(i).stream()
                        .anyMatch(other -> Arrays.equals(other, block));
                assertThat(isMaybe || Arrays.equals(block, known[i]))
                        .as("seed %d block %d pass %d", seed, i, pass).isTrue();
                known[i] = block;
                maybe.get(i).clear();
            }
        }
    }

    /** A request that holds the state of a moment ago must not take a stripe for whole that a resync takes over. */
    @ParameterizedTest
    @EnumSource(names = {"RAID1", "RAID5"})
    void shouldShowHalfWrittenStripesToRequestsThatHoldOlderState(Level level) {
        VolumeEngine volume = volume(level, 4);
        members.forEach(member -> member.space = Integer.MAX_VALUE / 2);
        StripeEngine engine = volume.engine();
        assertThat(engine.noteLeft(1, true)).isTrue();
        Slots before = engine.slots();
        assertThat(engine.dueResync()).isNotNull();
        for (Slots seen : List.of(before, engine.slots())) {
            assertThat(seen.isWhole()).isFalse();
            assertThat(seen.isStale(1)).isTrue();
            assertThat(seen.isHalfWritten(1)).isTrue();
        }
        volume.resync(ScanOptions.DEFAULT);
        assertThat(List.of(before, engine.slots())).noneMatch(seen -> seen.isStale(1));
        assertThat(volume.state().isWhole()).isTrue();
    }

    /** A copy had space, the other had not: both are as before, at once and without more space. */
    @ParameterizedTest
    @EnumSource(names = {"RAID1", "RAID5", "RAID6", "RAID10"})
    void shouldPutBackAShortWriteThatOneMemberHasNoSpaceFor(Level level) throws Exception {
        for (int full = 0; full < 4; full++) {
            members.clear();
            VolumeEngine volume = volume(level, 4);
            for (int slot = 0; slot < 4; slot++) {
                members.get(slot).space = slot == full ? 0 : 100;
            }
            int refused = 0;
            for (int lba = 0; lba < 4 * CHUNK; lba += CHUNK) {
                try {
                    volume.write(lba, MemorySegment.ofArray(new byte[BLOCK]).fill((byte) 1));
                } catch (NoSpaceException _) {
                    refused++;
                }
            }
            assertThat(refused).isPositive();
            assertThat(heard).isEmpty();
            assertThat(volume.state().isWhole()).isTrue();
            assertThat(scrub(volume).mismatches()).isZero();
            assertThat(scrub(volume).skipped()).isZero();
        }
    }

    /** A volume whose first stripe was written, but for its parity, which has no space. */
    private VolumeEngine withoutParity() throws Exception {
        VolumeEngine volume = volume(Level.RAID5, 3);
        int parity = volume.layout().slot(0, 2);
        members.forEach(member -> member.space = 1000);
        members.get(parity).space = 0;
        assertThatThrownBy(() -> volume.write(0,
                MemorySegment.ofArray(new byte[2 * CHUNK * BLOCK]).fill((byte) 1)))
                .isInstanceOf(NoSpaceException.class);
        return volume;
    }

    /** All data units were written, and parity was not: nothing is computed from it until a resync. */
    @Test
    void shouldComputeNothingFromParityThatWasNotWritten() throws Exception {
        VolumeEngine volume = withoutParity();
        assertThat(volume.state().resyncedStripes()).hasValue(0);
        byte[] before = read(volume);
        assertThat(scrub(volume).skipped()).isEqualTo(1);
        volume.resync(ScanOptions.DEFAULT);
        assertThat(volume.state().resyncedStripes()).as("still full").hasValue(0);
        volume.fail(volume.layout().slot(0, 0), new MediumException("pulled"));
        for (int pass = 0; pass < 2; pass++) { // a resync cannot make anything of it either
            assertThatThrownBy(() -> volume.read(0, MemorySegment.ofArray(new byte[BLOCK])))
                    .as("pass " + pass).isInstanceOf(MediumException.class);
            volume.resync(ScanOptions.DEFAULT);
        }
        MemorySegment rest = MemorySegment.ofArray(new byte[CHUNK * BLOCK]);
        volume.read(CHUNK, rest);
        assertThat(rest.mismatch(MemorySegment.ofArray(before).asSlice(CHUNK * BLOCK,
                CHUNK * BLOCK))).isEqualTo(-1);
    }

    @Test
    void shouldMakeParityTrueWhenThereIsSpace() throws Exception {
        VolumeEngine volume = withoutParity();
        byte[] before = read(volume);
        members.get(volume.layout().slot(0, 2)).space = 1000;
        BackgroundScan resync = volume.resync(ScanOptions.DEFAULT);
        assertThat(resync.hasEnded()).isTrue();
        assertThat(volume.state().isWhole()).isTrue();
        assertThat(scrub(volume).mismatches()).isZero();
        volume.fail(volume.layout().slot(0, 0), new MediumException("pulled"));
        assertThat(read(volume)).isEqualTo(before);
    }

    /** A slot is lost already: what only parity has of it outlives a write that has no space. */
    @ParameterizedTest
    @EnumSource(names = {"RAID5", "RAID6"})
    void shouldKeepWhatALostMemberHadWhileOthersAreFull(Level level) throws Exception {
        VolumeEngine volume = volume(level, 5);
        members.forEach(member -> member.space = 60);
        byte[] content = new byte[30 * BLOCK];
        random.nextBytes(content);
        volume.write(0, MemorySegment.ofArray(content));
        for (int slot = 0; slot < (level == Level.RAID5 ? 1 : 2); slot++) {
            volume.fail(slot, new MediumException("pulled"));
        }
        heard.clear();
        byte[] known = read(volume);
        int refused = 0;
        for (int round = 0; round < 300; round++) {
            members.get(random.nextInt(5)).space = random.nextInt(4);
            int count = 1 + random.nextInt(2 * CHUNK);
            int lba = random.nextInt((int) volume.blockCount() - count);
            byte[] data = new byte[count * BLOCK];
            random.nextBytes(data);
            boolean isDone = true;
            try {
                volume.write(lba, MemorySegment.ofArray(data));
            } catch (NoSpaceException _) {
                isDone = false;
                refused++;
            }
            byte[] found = read(volume);
            for (int i = 0; i < found.length / BLOCK; i++) {
                boolean isWritten = i >= lba && i < lba + count;
                int at = i * BLOCK;
                boolean isNew = isWritten && Arrays.equals(found, at, at + BLOCK, data,
                        (i - lba) * BLOCK, (i - lba + 1) * BLOCK);
                boolean isOld = Arrays.equals(found, at, at + BLOCK, known, at, at + BLOCK);
                assertThat(isNew || (isOld && !(isWritten && isDone)))
                        .as("seed %d round %d block %d", seed, round, i).isTrue();
            }
            known = found;
        }
        assertThat(refused).isPositive();
        assertThat(heard).isEmpty();
    }

    /** Full members that took nothing of a write, or parts that are alike, leave nothing to be put right. */
    @ParameterizedTest
    @EnumSource(names = {"RAID1", "RAID5", "RAID6", "RAID10"})
    void shouldTakeAStripeForConsistentThatNoMemberHasWritten(Level level) throws Exception {
        VolumeEngine volume = volume(level, 4);
        MemorySegment data = MemorySegment.ofArray(new byte[3 * BLOCK]).fill((byte) 1);
        for (int space = 0; space < 3; space++) {
            int most = space;
            members.forEach(member -> member.space = most);
            long lba = (long) space * volume.layout().stripeBlocks();
            assertThatThrownBy(() -> volume.write(lba, data)).isInstanceOf(NoSpaceException.class);
            assertThat(volume.state().isWhole()).as("space " + space).isTrue();
        }
        members.forEach(member -> member.space = 0);
        members.get(volume.layout().slot(3, 0)).space = 1;
        assertThatThrownBy(() -> volume.write(3L * volume.layout().stripeBlocks(), data))
                .isInstanceOf(NoSpaceException.class);
        assertThat(volume.state().isWhole()).as("one took a part").isFalse();
        members.forEach(member -> member.space = 100);
        volume.resync(ScanOptions.DEFAULT);
        assertThat(volume.state().isWhole()).isTrue();
        assertThat(scrub(volume).mismatches()).isZero();
        assertThat(heard).isEmpty();
    }

    /** So many writes to full members fail that no more can be noted: the next ones are refused, and all goes on. */
    @ParameterizedTest
    @EnumSource(names = {"RAID1", "RAID5"})
    void shouldRefuseWritesWhenTooManyStripesWaitForSpace(Level level) throws Exception {
        int rows = HalfWrittenStripes.MAX + 10;
        for (int slot = 0; slot < 3; slot++) {
            members.add(new ThinDevice(MemoryDevice.create((long) rows * CHUNK * BLOCK, BLOCK), 0));
        }
        VolumeEngine volume = VolumeEngine.of(Shape.of(level, BLOCK, CHUNK, 3, CHUNK * rows),
                members.stream().map(member -> RaidMember.of(member, 0)).toList(),
                RaidOptions.of(Identity.of("test", new UUID(1, 1))).withListener(listener));
        int stripeBlocks = volume.layout().stripeBlocks();
        MemorySegment data = MemorySegment.ofArray(new byte[2 * BLOCK]).fill((byte) 1);
        for (int stripe = 0; stripe < rows; stripe++) {
            if (stripe < HalfWrittenStripes.MAX - 1) {
                volume.engine().slots().halfWritten().add(stripe); // as by a write
                continue;
            }
            members.get(volume.layout().slot(stripe, 0)).space = 1; // it takes a part, the others nothing
            long lba = (long) stripe * stripeBlocks;
            assertThatThrownBy(() -> volume.write(lba, data)).isInstanceOf(NoSpaceException.class);
        }
        assertThat(heard).isEmpty();
        members.forEach(member -> member.space = 100); // enough, but nobody knows
        long last = (rows - 1L) * stripeBlocks;
        assertThatThrownBy(() -> volume.write(last, data)).isInstanceOf(NoSpaceException.class)
                .hasMessageContaining("too many stripes");
        volume.unmap(last, stripeBlocks);
        volume.engine().slots().halfWritten().remove(0); // as by a resync
        volume.write(last, data);
        assertThat(heard).isEmpty();
    }
}
