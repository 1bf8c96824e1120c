package lunar.raid.metadata.journal;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32C;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.BusyException;
import lunar.block.DeviceGoneException;
import lunar.block.ForwardingDevice;
import lunar.block.Limits;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.block.spi.RequestValidation;
import lunar.raid.layout.Level;
import lunar.raid.metadata.Volumes;
import lunar.raid.metadata.journal.JournalReplay.Torn;
import lunar.raid.metadata.page.MemberSet;
import lunar.raid.metadata.record.Consistency;
import lunar.raid.metadata.record.VolumeRecord;
import lunar.testkit.Seed;
import lunar.testkit.SteppedDevice;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class StripeJournalTest {
    private static final VolumeRecord VOLUME = Volumes
            .volume(Level.RAID5, 3, Consistency.JOURNAL).withClean(false);
    private static final int RING_AT = (1 << 20) + (128 << 10);
    private static final int DATA_AT = 2 << 20;
    private static final int BLOCK = 512;
    private static final int COPIES = 0b011;

    private final List<SteppedDevice> disks = new ArrayList<>();
    private final List<Integer> failed = new ArrayList<>();
    private final MemberSet members = new MemberSet(3, (slot, _) -> failed.add(slot));
    private final List<JournalEntry> told = new ArrayList<>();
    private VolumeJournal journal;

    @BeforeEach
    void create() throws StorageException {
        for (int slot = 0; slot < 3; slot++) {
            disks.add(new SteppedDevice((DATA_AT >> 9) + 4096));
            members.add(slot, disks.get(slot));
            if ((COPIES & 1 << slot) != 0) {
                SectionReader.create(VOLUME, 0, disks.get(slot));
            }
        }
        journal = reopened().begin(COPIES);
    }

    private JournalReplay reopened() throws StorageException {
        return JournalReplay.of(VOLUME, members, 0b111, members, 0b111, JournalReplay.ANY);
    }

    private JournalEntry entry() {
        return new JournalEntry(BLOCK, (entry, failure) -> {
            assertThat(failure).isNull();
            told.add(entry);
        });
    }

    private static MemorySegment blocks(int count, int fill) {
        MemorySegment blocks = MemorySegment.ofArray(new byte[count * BLOCK]);
        return blocks.fill((byte) fill);
    }

    private JournalEntry data(long stripe, int fill) {
        return entry().asData(stripe).add(0, stripe * 8, blocks(1, fill)).add(2, stripe * 8,
                blocks(1, fill));
    }

    private void endAll() {
        while (disks.stream().anyMatch(disk -> !disk.pending().isEmpty())) {
            disks.forEach(SteppedDevice::endAll);
        }
    }

    private byte inPlace(int slot, long memberBlock) {
        return disks.get(slot).content().get(JAVA_BYTE, DATA_AT + memberBlock * BLOCK);
    }

    @Test
    void shouldWriteGoldenBytes() {
        journal.append(entry().asData(3).add(0, 25, blocks(1, 7)).add(2, 26, blocks(2, 9)));
        endAll();
        assertThat(told).hasSize(1);
        ByteBuffer golden = ByteBuffer.allocate(4096);
        golden.put("LUNARENT".getBytes(StandardCharsets.US_ASCII));
        golden.putLong(0x1f1e1d1c_1b1a4918L).putLong(0x97161514_13121110L);
        golden.putLong(8193).putLong(8193).putLong(0).putInt(4096).putInt(1).putLong(3).putInt(2);
        golden.putInt(0).putLong(0);
        golden.putInt(0).putInt(1).putLong(25).putInt(crc(blocks(1, 7))).putInt(0);
        golden.putInt(2).putInt(2).putLong(26).putInt(crc(blocks(2, 9))).putInt(0);
        golden.putInt(68, crc(MemorySegment.ofBuffer(golden.clear().limit(512))));
        golden.clear().position(512).put(blocks(1, 7).toArray(JAVA_BYTE))
                .put(blocks(2, 9).toArray(JAVA_BYTE));
        for (int slot = 0; slot < 2; slot++) {
            assertThat(disks.get(slot).content().asSlice(RING_AT, 4096).toArray(JAVA_BYTE))
                    .isEqualTo(golden.array());
        }
        assertThat(disks.get(2).content().asSlice(RING_AT, 4096).mismatch(blocks(8, 0)))
                .as("has no copy").isEqualTo(-1);
    }

    private static int crc(MemorySegment of) {
        var crc = new CRC32C();
        crc.update(of.toArray(JAVA_BYTE));
        return (int) crc.getValue();
    }

    @Test
    void shouldLetAllWhoWaitShareAWriteAndWaitForAllCopies() {
        journal.append(data(0, 1));
        for (int stripe = 1; stripe < 20; stripe++) {
            journal.append(data(stripe, 1));
        }
        assertThat(disks.get(0).pending()).hasSize(1);
        disks.get(0).endAll();
        assertThat(told).isEmpty();
        disks.get(1).pending().getFirst().end();
        assertThat(told).hasSize(1);
        assertThat(disks.get(0).pending()).as("19 others in one").hasSize(1)
                .allMatch(step -> step.request().fua());
        endAll();
        assertThat(told).hasSize(20);
        assertThat(disks.get(2).pending()).isEmpty();
    }

    @Test
    void shouldReplayWhatIsStable() throws StorageException {
        journal.append(data(5, 1));
        journal.append(data(5, 2));
        journal.append(data(6, 3));
        endAll();
        JournalReplay replay = reopened();
        assertThat(replay.replayed()).isEqualTo(3);
        assertThat(inPlace(0, 40)).isEqualTo((byte) 2);
        assertThat(inPlace(2, 48)).isEqualTo((byte) 3);
        assertThat(reopened().replayed()).as("until it begins anew").isEqualTo(3);
        replay.begin(COPIES);
        assertThat(reopened().replayed()).isZero();
    }

    @Test
    void shouldFreeOnlyWhatWasFlushedSince() throws StorageException {
        JournalEntry first = data(1, 1);
        JournalEntry second = data(2, 1);
        journal.append(first);
        journal.append(second);
        endAll();
        journal.tick();
        assertThat(disks.get(2).pending()).as("nothing is in place").isEmpty();
        journal.written(first, false);
        assertThat(disks.get(2).pending()).extracting(step -> step.request().operation())
                .containsExactly(Operation.FLUSH);
        journal.written(second, false);
        disks.get(0).endAll();
        disks.get(1).endAll();
        assertThat(journal.live()).isEqualTo(2);
        disks.get(2).endAll();
        assertThat(journal.live()).as("the second was written after the flush began")
                .isEqualTo(1);
        long begun = journal.beforeFlush();
        assertThat(journal.live()).isEqualTo(1);
        journal.afterFlush(begun);
        assertThat(journal.live()).isZero();
        journal.append(data(3, 1));
        endAll();
        assertThat(reopened().replayed()).as("the tail is in the entry").isEqualTo(1);
    }

    @Test
    void shouldWaitForRoomAndGoRoundTheRing() throws StorageException {
        var random = new Random(3);
        var waiting = new ArrayList<JournalEntry>();
        long appended = 0;
        for (int i = 0; i < 400; i++) {
            int count = 1 + random.nextInt(50);
            waiting.add(entry().asData(i).add(1, 8, blocks(count, i)));
            journal.append(waiting.getLast());
            appended++;
            if (i % 40 == 39) { // far more than the ring has room for
                endAll();
            }
        }
        endAll();
        assertThat(told.size()).isBetween(20, 200);
        int done = 0;
        while (told.size() < appended) {
            int before = told.size();
            for (; done < before; done++) {
                journal.written(told.get(done), false);
            }
            endAll();
            assertThat(told.size()).as("written ones make room").isGreaterThan(before);
        }
        assertThat(told).as("in order").isEqualTo(waiting);
        int live = (int) journal.live();
        assertThat(reopened().replayed()).isBetween(told.size() - done, live);
        assertThat(inPlace(1, 8)).as("the last one").isEqualTo((byte) 399);
    }

    @Test
    void shouldTellWhichNotedStripesAreTorn() throws StorageException {
        for (int stripe = 0; stripe < 3; stripe++) {
            JournalEntry note = entry().asNote(stripe);
            for (int slot = 0; slot < 3; slot++) {
                note.add(slot, stripe * 8, blocks(8, 4));
                if (stripe < 1 || (stripe == 1 && slot < 2)) {
                    disks.get(slot).write((DATA_AT >> 9) + stripe * 8, blocks(8, 4));
                }
            }
            journal.append(note);
        }
        journal.append(entry().asNote(9).addZeroes(0, 72, 8).addZeroes(1, 72, 8));
        endAll();
        JournalReplay replay = reopened();
        assertThat(replay.torn()).containsExactly(new Torn(1, 0b011), new Torn(2, 0));
        assertThat(replay.replayed()).isZero();
        assertThat(JournalReplay.of(VOLUME, members, 0b11, members, 0b11, JournalReplay.ANY).torn())
                .as("those that are there have all of it").containsExactly(new Torn(2, 0));
    }

    @Test
    void shouldNotReplayOverWhatWasNotedLater() throws StorageException {
        journal.append(data(1, 1));
        JournalEntry note = entry().asNote(1);
        for (int slot = 0; slot < 3; slot++) {
            note.add(slot, 8, blocks(8, 4));
            disks.get(slot).write((DATA_AT >> 9) + 8, blocks(8, 4));
        }
        journal.append(note);
        endAll();
        JournalReplay replay = reopened();
        assertThat(replay.replayed()).isZero();
        assertThat(replay.torn()).isEmpty();
        assertThat(inPlace(0, 8)).isEqualTo((byte) 4);
    }

    @Test
    void shouldLetDataWaitUntilTheNoteOfTheirStripeIsFree() throws StorageException {
        JournalEntry note = entry().asNote(1).add(0, 8, blocks(8, 4)).add(1, 8, blocks(8, 4));
        journal.append(note);
        endAll();
        journal.append(data(2, 1));
        endAll();
        disks.get(0).write((DATA_AT >> 9) + 8, blocks(8, 4));
        disks.get(1).write((DATA_AT >> 9) + 8, blocks(8, 4));
        journal.append(data(1, 5));
        endAll();
        assertThat(told).hasSize(2);
        journal.written(note, false);
        endAll();
        assertThat(told).hasSize(3);
        disks.get(0).write((DATA_AT >> 9) + 8, blocks(1, 5));
        JournalReplay replay = reopened();
        assertThat(replay.torn()).as("its checksums count no more").isEmpty();
        assertThat(replay.replayed()).isEqualTo(2);
    }

    @Test
    void shouldTakeAnEntryFromAnyCopyAndGiveItToAll() throws StorageException {
        journal.append(data(1, 1));
        journal.append(data(2, 2));
        endAll();
        disks.get(0).write(RING_AT / BLOCK + 1, blocks(1, 99));
        disks.get(1).write(RING_AT / BLOCK + 8, blocks(1, 99));
        assertThat(reopened().replayed()).isEqualTo(2);
        for (int slot = 0; slot < 2; slot++) {
            JournalReplay alone = JournalReplay.of(VOLUME, members, 1L << slot, members, 0b111,
                    JournalReplay.ANY);
            assertThat(alone.replayed()).as("copy " + slot).isEqualTo(2);
        }
    }

    /** Two entries went out at once; a crash left the first one torn and the second one whole. */
    @Test
    void shouldNeverFindWhatWasBehindATornEntry() throws StorageException {
        var quiet = entry().asData(0).add(0, 0, blocks(1, 1)).add(1, 0, blocks(1, 1));
        journal.append(quiet);
        journal.append(entry().asData(1).add(0, 8, blocks(7, 2)));
        journal.append(entry().asData(2).add(0, 16, blocks(1, 3)));
        endAll();
        for (int slot = 0; slot < 2; slot++) {
            disks.get(slot).write((RING_AT + 4096) / BLOCK + 1, blocks(1, 99));
        }
        JournalReplay replay = reopened();
        assertThat(replay.replayed()).isEqualTo(1);
        assertThat(inPlace(0, 16)).isZero();
        journal = replay.begin(COPIES);
        // This one takes the place of the torn one to the byte; the old third one follows it.
        journal.append(entry().asData(1).add(0, 8, blocks(7, 5)));
        endAll();
        assertThat(reopened().replayed()).isEqualTo(1);
        assertThat(inPlace(0, 8)).isEqualTo((byte) 5);
        assertThat(inPlace(0, 16)).isZero();
    }

    @Test
    void shouldWaitUntilAFailedCopyIsDroppedAndLetAnotherJoin() throws StorageException {
        journal.append(data(1, 1));
        disks.get(0).endAll();
        disks.get(1).pending().getFirst().fail(new MediumException("bad"));
        assertThat(failed).containsExactly(1);
        assertThat(told).isEmpty();
        members.drop(1);
        assertThat(told).hasSize(1);
        assertThat(journal.section(0).copies()).isEqualTo(0b001);

        var joined = new ArrayList<String>();
        journal.join(2, () -> joined.add("yes"));
        endAll();
        assertThat(joined).as("an entry is live that it has not").isEmpty();
        journal.written(told.getFirst(), false);
        endAll();
        assertThat(joined).containsExactly("yes");
        journal.append(data(2, 2));
        endAll();
        JournalReplay alone = JournalReplay.of(VOLUME, members, 0b100, members, 0b101,
                JournalReplay.ANY);
        assertThat(alone.replayed()).isEqualTo(1);
        assertThat(inPlace(2, 16)).isEqualTo((byte) 2);
    }

    /** Batches are as long as the members take that had copies at the start; another one may take less. */
    @Test
    void shouldLetAMemberJoinThatTakesShorterWrites() throws StorageException {
        SteppedDevice disk = disks.get(2);
        members.drop(1);
        members.drop(2);
        members.add(2, new ForwardingDevice(disk) {
            @Override
            public Limits limits() { return new Limits(9, 9, 0, 0, 0, 1, 1); }

            @Override
            public void execute(BlockRequest request) throws StorageException {
                RequestValidation.check(request, this);
                below().execute(request);
            }

            @Override
            public void submit(BlockRequest request) { below().submit(request); }
        });
        var joined = new ArrayList<String>();
        journal.join(2, () -> joined.add("yes"));
        endAll();
        assertThat(joined).containsExactly("yes");
        journal.append(entry().asData(1).add(0, 8, blocks(20, 5)));
        disks.get(0).endAll();
        for (int piece = 0; piece < 2; piece++) { // of a write of 24 blocks
            assertThat(disk.pending()).hasSize(1)
                    .allMatch(step -> step.request().blockCount() == 9 && step.request().fua());
            disk.pending().getFirst().end();
        }
        disk.pending().getFirst().fail(new BusyException("busy"));
        assertThat(told).isEmpty();
        endAll();
        assertThat(told).hasSize(1);
        JournalReplay alone = JournalReplay.of(VOLUME, members, 0b100, members, 0b101,
                JournalReplay.ANY);
        assertThat(alone.replayed()).isEqualTo(1);
        assertThat(inPlace(0, 27)).isEqualTo((byte) 5);
    }

    /** A write would run over the end of the ring, and into the data, when it has come there. */
    @Test
    void shouldGoOnWhereWritesBeginAfterOneThatWasTorn() throws StorageException {
        for (int stripe = 0; stripe < 3; stripe++) { // the last two are in one write
            journal.append(data(stripe, 1));
        }
        endAll();
        for (int slot = 0; slot < 2; slot++) { // which lost its end
            disks.get(slot).content().asSlice(RING_AT + 4096 + 1536, BLOCK).fill((byte) 0);
        }
        JournalReplay replay = reopened();
        assertThat(replay.replayed()).isEqualTo(2);
        journal = replay.begin(COPIES);
        journal.append(data(3, 1));
        assertThat(disks.get(0).pending()).singleElement().satisfies(
                step -> assertThat(step.request().lba() * BLOCK).isEqualTo(RING_AT + 8192));
        endAll();
        assertThat(reopened().replayed()).isEqualTo(1);
    }

    /** The next member of the slot would pass for one that has a copy. */
    @Test
    void shouldCountNoCopyOfAMemberThatWasDroppedBeforeItJoined() {
        members.drop(1);
        members.drop(2);
        journal.join(2, () -> {});
        members.add(2, disks.get(2));
        assertThat(journal.section(0).copies()).isEqualTo(0b001);
    }

    @Test
    void shouldFailWhereNoCopyIsLeftAndRefuseWhatIsTooLong() {
        var failures = new ArrayList<StorageException>();
        var entry = new JournalEntry(BLOCK, (_, failure) -> failures.add(failure));
        journal.append(entry.asData(0).add(0, 0, blocks(1, 1)));
        members.drop(0);
        members.drop(1);
        assertThat(failures).singleElement().isInstanceOf(DeviceGoneException.class);
        int most = journal.maxDataBytes(1) / BLOCK;
        assertThatThrownBy(() -> journal.append(entry().asData(0).add(0, 0, blocks(most + 1, 1))))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> journal.append(entry().asData(0)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    /** It would otherwise look for a member that takes its page for ever. */
    @Test
    void shouldComeToRestWhereNoCopyIsLeftThatTakesItsPage() {
        for (int i = 0; i < 40 && disks.get(0).pending().stream()
                .noneMatch(step -> step.request().lba() < RING_AT >> 9); i++) {
            endAll();
            JournalEntry entry = entry().asData(i).add(0, i * 8, blocks(40, 1));
            journal.append(entry);
            disks.get(0).pending().getFirst().end();
            disks.get(1).pending().getFirst().end();
            journal.written(entry, true);
        }
        assertThat(disks.get(0).pending()).as("the page is written").hasSize(1);
        members.drop(0);
        members.drop(1);
        var failures = new ArrayList<StorageException>();
        journal.append(new JournalEntry(BLOCK, (_, failure) -> failures.add(failure)).asData(0)
                .add(0, 0, blocks(1, 1)));
        assertThat(failures).singleElement().isInstanceOf(DeviceGoneException.class);
    }

    @Test
    void shouldSayThatItIsLost() throws StorageException {
        for (SteppedDevice disk : disks) {
            disk.content().asSlice(1 << 20, 128 << 10).fill((byte) 0);
        }
        assertThatThrownBy(this::reopened).isInstanceOf(MediumException.class)
                .hasMessageContaining("the journal of volume 'music'").hasMessageContaining("lost");
    }

    /** Whatever is in the ring: nothing is read or written beyond its place, and nothing is thrown. */
    @Test
    void shouldTakeTheRingForHostile() throws StorageException {
        long seed = Seed.next();
        var random = new Random(seed);
        journal.append(data(5, 1));
        journal.append(data(6, 2));
        endAll();
        byte[] good = disks.get(0).content().asSlice(RING_AT, 8192).toArray(JAVA_BYTE);
        for (int run = 0; run < 2000; run++) {
            ByteBuffer bytes = ByteBuffer.wrap(good.clone());
            for (int i = 1 + random.nextInt(3); i > 0; i--) {
                int at = 24 + random.nextInt(104);
                if (random.nextBoolean()) {
                    bytes.put(at, (byte) random.nextInt());
                } else {
                    bytes.putInt(at & ~3, random.nextInt());
                }
            }
            int extents = bytes.getInt(64);
            int head = extents < 0 || extents > 128 ? 512 : JournalFormat.headBytes(extents);
            bytes.putInt(68, 0);
            bytes.putInt(68, JournalFormat.checksum(bytes, 0, head, new CRC32C()));
            for (int slot = 0; slot < 2; slot++) {
                disks.get(slot).content().asSlice(RING_AT, 8192)
                        .copyFrom(MemorySegment.ofArray(bytes.array()));
            }
            assertThat(reopened().replayed()).as("seed %d run %d", seed, run).isBetween(0, 2);
        }
        random.nextBytes(good);
        disks.get(0).content().asSlice(RING_AT, 8192).copyFrom(MemorySegment.ofArray(good));
        disks.get(1).content().asSlice(RING_AT, 8192).copyFrom(MemorySegment.ofArray(good));
        assertThat(reopened().replayed()).isZero();
    }

    /** Members end before a journal device of its own does: it must not ask them for flush after flush meanwhile. */
    @Test
    void shouldFlushNoMembersOfFailedVolume() throws StorageException {
        var own = new SteppedDevice((DATA_AT >> 9) + 4096);
        var holders = new MemberSet(1, (slot, _) -> failed.add(slot));
        holders.add(0, own);
        SectionReader.create(VOLUME, 0, own);
        VolumeJournal apart = JournalReplay
                .of(VOLUME, holders, 1, members, 0b111, JournalReplay.ANY).begin(1);
        JournalEntry entry = data(0, 1);
        apart.append(entry);
        own.endAll();
        apart.written(entry, false);
        var drained = new ArrayList<String>();
        apart.drain(() -> drained.add("yes"));
        assertThat(disks).as("flushes").allMatch(disk -> disk.pending().size() == 1);
        members.abandon(new DeviceGoneException("too many members are gone"));
        assertThat(drained).isEmpty();
        holders.abandon(new DeviceGoneException("too many members are gone"));
        assertThat(drained).containsExactly("yes");
    }
}
