package lunar.raid.metadata;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.DeviceGoneException;
import lunar.block.ForwardingDevice;
import lunar.block.MediumException;
import lunar.block.NoSpaceException;
import lunar.block.StorageException;
import lunar.raid.SlotState;
import lunar.raid.StripeSet;
import lunar.raid.VolumeState;
import lunar.raid.layout.Layout;
import lunar.raid.layout.Level;
import lunar.raid.metadata.Assembly.Outcome;
import lunar.raid.metadata.bitmap.BadBlocks;
import lunar.raid.metadata.bitmap.BadBlocks.Range;
import lunar.raid.metadata.bitmap.IntentBitmap.Intent;
import lunar.raid.metadata.checksum.ChecksumArea;
import lunar.raid.metadata.checksum.ChecksumFormat;
import lunar.raid.metadata.checksum.ChecksumInvalidation;
import lunar.raid.metadata.checksum.ChecksummedMember;
import lunar.raid.metadata.journal.JournalEntry;
import lunar.raid.metadata.page.MemberSet;
import lunar.raid.metadata.page.Page;
import lunar.raid.metadata.page.PagePair;
import lunar.raid.metadata.record.Consistency;
import lunar.raid.metadata.record.ReshapeRecord;
import lunar.raid.metadata.record.Superblock;
import lunar.raid.metadata.record.SuperblockReading;
import lunar.raid.metadata.record.VolumeRecord;
import lunar.raid.metadata.superblock.SuperblockStore;
import lunar.testkit.SteppedDevice;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A start after a crash whose writes in place meet thin members without space: no member is failed for that, and where
 * a slot is lost nothing of the journal is, until there is space.
 */
class ReplayWithoutSpaceTest {
    private static final int BLOCK = 512;
    private static final int CHUNK = 4096;
    private static final long STRIPE = 5;
    private static final int PARITY = 3;

    /** A disk some blocks of which cannot get space. */
    private static final class Thin extends ForwardingDevice {
        final SteppedDevice disk;
        final BitSet without = new BitSet();
        /** Blocks that cannot be read until they are written. */
        final BitSet unreadable = new BitSet();
        /** Writes of superblocks fail: the machine is down from there on. */
        boolean isDown;

        Thin(SteppedDevice disk) {
            super(disk);
            this.disk = disk;
        }

        @Override
        public void execute(BlockRequest request) throws StorageException {
            if (request.operation() == Operation.WRITE && has(without, request)) {
                throw new NoSpaceException(request + ": no space");
            }
            if (request.operation() == Operation.READ && has(unreadable, request)) {
                throw new MediumException(request + ": unreadable");
            }
            if (request.operation() == Operation.WRITE) {
                unreadable.clear((int) request.lba(),
                        (int) (request.lba() + request.blockCount()));
            }
            if (isDown && request.operation() == Operation.WRITE
                    && request.lba() <= PagePair.STRIDE_BYTES / BLOCK) {
                throw new DeviceGoneException(request + ": down");
            }
            disk.execute(request);
        }

        private static boolean has(BitSet blocks, BlockRequest request) {
            int next = blocks.nextSetBit((int) request.lba());
            return next >= 0 && next < request.lba() + request.blockCount();
        }

        @Override
        public void submit(BlockRequest request) { disk.submit(request); }
    }

    private final List<Thin> disks = new ArrayList<>();

    @BeforeEach
    void create() throws StorageException {
        var members = new ArrayList<Creation.Member>();
        for (int i = 0; i < 4; i++) {
            disks.add(new Thin(new SteppedDevice(4608)));
            members.add(new Creation.Member("disk:" + i, Volumes.member(i), disks.get(i)));
        }
        Creation.create(new Creation.Wish(Volumes.VOLUME, "music", 0, Level.RAID5,
                Consistency.JOURNAL, CHUNK, 0, Volumes.KEY, null), members, false);
        VolumeMetadata metadata = open(-1);
        metadata.keep(new VolumeState(Collections.nCopies(4, SlotState.ACTIVE),
                Collections.nCopies(4, 0L), OptionalLong.empty(), true), // the first resync is done
                failure -> assertThat(failure).isNull());
        endAll();
        stop(metadata);
    }

    private void stop(VolumeMetadata metadata) {
        metadata.stop(failure -> assertThat(failure).isNull());
        endAll();
    }

    /** No member must be failed. */
    private VolumeMetadata open(int missing) throws StorageException {
        return open(missing, (slot, why) -> {
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
        var composition = ((Outcome.Assembled) Assembly.of(candidates, DegradedStart.ALLOWED))
                .composition();
        return VolumeMetadata.open(composition,
                new VolumeDevices(devices, List.of(), null), OpenOptions.DEFAULT, faults);
    }

    private static Layout layout(VolumeMetadata metadata) {
        return Layout.of(metadata.record().shape());
    }

    private static long firstBlock(Layout layout, int unit) {
        return (2L << 20) / BLOCK + layout.memberBlock(STRIPE, unit);
    }

    private MemorySegment unit(Layout layout, int unit) {
        return disks.get(layout.slot(STRIPE, unit)).disk.content()
                .asSlice(firstBlock(layout, unit) * BLOCK, CHUNK);
    }

    private int content(Layout layout, int unit) { return unit(layout, unit).get(JAVA_BYTE, 7); }

    private void fill(Layout layout, int... contents) {
        for (int unit = 0; unit < contents.length; unit++) {
            unit(layout, unit).fill((byte) contents[unit]);
        }
    }

    private BitSet without(Layout layout, int unit) {
        BitSet without = disks.get(layout.slot(STRIPE, unit)).without;
        int first = (int) firstBlock(layout, unit);
        without.set(first, first + CHUNK / BLOCK);
        return without;
    }

    private void endAll() {
        while (disks.stream().anyMatch(disk -> !disk.disk.pending().isEmpty())) {
            disks.forEach(disk -> disk.disk.endAll());
        }
    }

    private static JournalEntry entry() {
        return new JournalEntry(BLOCK, (_, failure) -> assertThat(failure).isNull());
    }

    private static void add(JournalEntry entry, Layout layout, int unit, int content) {
        entry.add(layout.slot(STRIPE, unit), layout.memberBlock(STRIPE, unit),
                MemorySegment.ofArray(new byte[CHUNK]).fill((byte) content));
    }

    /** A write of unit 0 with its parity is logged, and the crash comes before either is in place. */
    private void crash(VolumeMetadata metadata, int content, int parity) {
        JournalEntry entry = entry().asData(STRIPE);
        add(entry, layout(metadata), 0, content);
        add(entry, layout(metadata), PARITY, parity);
        metadata.journal().append(entry);
        boolean _ = metadata.bitmap().begin(new Intent((_, _) -> {}).over(STRIPE, 1));
        endAll();
    }

    /** A write of all units is noted, and the crash comes when unit 0 is in place. */
    private void crashOfAWholeStripe(VolumeMetadata metadata, int content) {
        JournalEntry entry = entry().asNote(STRIPE);
        for (int unit = 0; unit < 4; unit++) {
            add(entry, layout(metadata), unit, content);
        }
        metadata.journal().append(entry);
        boolean _ = metadata.bitmap().begin(new Intent((_, _) -> {}).over(STRIPE, 1));
        unit(layout(metadata), 0).fill((byte) content);
        endAll();
    }

    private static void requireResyncOfStripe(VolumeMetadata metadata) {
        assertThat(metadata.resyncedStripes()).isPresent();
        assertThat(metadata.stale().next(STRIPE)).isEqualTo(STRIPE);
    }

    /** The data of the lost slot are in the parity alone: an entry that is in place in part would change them. */
    @ParameterizedTest
    @ValueSource(ints = {0, PARITY})
    void shouldKeepTheJournalWhileASlotIsLostUntilThereIsSpace(int full) throws Exception {
        VolumeMetadata whole = open(-1);
        Layout layout = layout(whole);
        fill(layout, 1, 5, 2, 1 ^ 5 ^ 2);
        stop(whole);
        int missing = layout.slot(STRIPE, 1);
        crash(open(missing), 3, 3 ^ 5 ^ 2);

        BitSet without = without(layout, full);
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> open(missing)).isInstanceOf(NoSpaceException.class)
                    .hasMessageContaining("slot " + layout.slot(STRIPE, full))
                    .hasMessageContaining("start the volume again");
            endAll();
        }
        without.clear();
        VolumeMetadata after = open(missing);
        endAll();
        assertThat(content(layout, 0)).isEqualTo(3);
        assertThat(content(layout, 0) ^ content(layout, 2) ^ content(layout, PARITY))
                .as("unit 1, which is lost").isEqualTo(5);
        assertThat(after.journal().live()).isZero();
        assertThat(after.stale().next(0)).isEqualTo(StripeSet.NONE);
        assertThat(after.badBlocks().ranges()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, PARITY})
    void shouldStartWithAResyncWhereAllMembersAreThere(int full) throws Exception {
        VolumeMetadata whole = open(-1);
        Layout layout = layout(whole);
        fill(layout, 1, 5, 2, 1 ^ 5 ^ 2);
        crash(whole, 3, 3 ^ 5 ^ 2);
        BitSet _ = without(layout, full);
        requireResyncOfStripe(open(-1));
    }

    @Test
    void shouldStartWithAResyncWhereTheParityOfATornStripeHasNoSpace() throws Exception {
        VolumeMetadata whole = open(-1);
        Layout layout = layout(whole);
        crashOfAWholeStripe(whole, 3);
        BitSet _ = without(layout, PARITY);
        requireResyncOfStripe(open(-1));
    }

    /** Else the next start would take a stripe that was written in part for one whose redundancy is true. */
    @Test
    void shouldKeepTheJournalUntilTheResyncIsNoted() throws Exception {
        VolumeMetadata whole = open(-1);
        Layout layout = layout(whole);
        fill(layout, 1, 5, 2, 1 ^ 5 ^ 2);
        crash(whole, 3, 3 ^ 5 ^ 2);
        BitSet without = without(layout, 0);
        disks.forEach(disk -> disk.isDown = true);
        assertThatThrownBy(() -> open(-1, (_, _) -> {})).isInstanceOf(StorageException.class);
        endAll();
        disks.forEach(disk -> disk.isDown = false);
        without.clear();
        requireWhole(open(-1), layout);
    }

    /** The reshape is past the stripe, and has staged the next rows. */
    @Test
    void shouldKeepTheJournalWhereStagedRowsHaveNoSpaceEither() throws Exception {
        VolumeMetadata whole = open(-1);
        Layout layout = layout(whole);
        fill(layout, 1, 5, 2, 1 ^ 5 ^ 2);
        crash(whole, 3, 3 ^ 5 ^ 2);
        var reshape = new ReshapeRecord(3, STRIPE + 1, 2);
        for (int slot = 0; slot < 4; slot++) {
            var store = new SuperblockStore(disks.get(slot));
            var found = ((SuperblockReading.Found) store.read()).superblock();
            store.write(new Superblock(found.generation() + 1, slot,
                    found.volume().withReshape(reshape)));
        }
        BitSet without = without(layout, 0);
        int last = without.length();
        without.set(last, last + CHUNK / BLOCK);
        assertThatThrownBy(() -> open(-1)).isInstanceOf(NoSpaceException.class)
                .hasMessageContaining("staged");
        endAll();
        without.clear();
        VolumeMetadata after = open(-1);
        requireWhole(after, layout);
        assertThat(after.record().reshape()).isEqualTo(new ReshapeRecord(3, STRIPE + 3, 0));
    }

    private void requireWhole(VolumeMetadata after, Layout layout) {
        assertThat(after.replayed()).isEqualTo(1);
        assertThat(content(layout, 0)).isEqualTo(3);
        assertThat(content(layout, PARITY)).isEqualTo(3 ^ 5 ^ 2);
    }

    /** The member has what it staged; others do not have it. */
    @Test
    void shouldKeepStagedRowsOfAMemberWithoutSpace() throws Exception {
        int rows = 2;
        VolumeRecord volume = Volumes.volume(Level.RAID5, 4, Consistency.JOURNAL, 4)
                .withReshape(new ReshapeRecord(3, 0, rows));
        var members = new MemberSet(4, (slot, why) -> {
            throw new AssertionError(why);
        });
        for (int slot = 0; slot < 4; slot++) {
            var thin = new Thin(new SteppedDevice(
                    (int) (volume.description().layout().dataBytes() / BLOCK) + 4096));
            disks.set(slot, thin);
            members.add(slot, thin);
            var page = new Page();
            BadBlocks.fillBlank(volume, 1, page);
            new PagePair(thin, volume.description().layout().badBlocksBytes()).write(page);
            thin.disk.content().asSlice(volume.description().layout().stagingBytes(),
                    rows * CHUNK).fill((byte) (slot + 1));
        }
        long data = volume.description().layout().dataBytes();
        BadBlocks badBlocks = BadBlocks.open(members, volume, 0b1111);
        disks.get(2).without.set((int) (data / BLOCK));
        assertThatThrownBy(() -> StagedRows.bringInPlace(volume, members, 0b1111, badBlocks))
                .isInstanceOf(NoSpaceException.class).hasMessageContaining("slot 2");
        disks.get(2).without.clear();
        VolumeRecord moved = StagedRows.bringInPlace(volume, members, 0b1111, badBlocks);
        assertThat(moved.reshape()).isEqualTo(new ReshapeRecord(3, rows, 0));
        assertThat(disks.get(2).disk.content().get(JAVA_BYTE, data)).isEqualTo((byte) 3);
    }

    /** A page that never got space is as blank as it is to become. */
    @Test
    void shouldLoseChecksumsWherePagesHaveNoSpace() throws Exception {
        VolumeRecord volume = Volumes
                .withChecksums(Volumes.volume(Level.RAID5, 4, Consistency.JOURNAL, 4));
        ChecksumArea area = ChecksumArea.of(volume);
        var thin = new Thin(new SteppedDevice(
                (int) (area.pageAtBytes(ChecksumFormat.pages(area.blocks())) / BLOCK)));
        var members = new MemberSet(4, (_, why) -> {
            throw new AssertionError(why);
        });
        members.add(0, new ChecksummedMember(thin, area, 1, false));
        var page = new Page();
        page.bytes().putInt(ChecksumFormat.at(ChecksumFormat.PER_PAGE + 3), 77);
        area.seal(page, 1);
        thin.write(area.pageAtBytes(1) / BLOCK, page.segment());
        thin.without.set((int) (area.pageAtBytes(0) / BLOCK), (int) (area.pageAtBytes(1) / BLOCK));
        thin.without.set((int) (area.pageAtBytes(2) / BLOCK), (int) thin.blockCount());

        new ChecksumInvalidation(area, volume, members).lose(StripeSet.ALL);

        thin.read(area.pageAtBytes(1) / BLOCK, page.segment());
        assertThat(area.isMine(page, 1)).isTrue();
        assertThat(page.bytes().getInt(ChecksumFormat.at(ChecksumFormat.PER_PAGE + 3)))
                .isEqualTo(ChecksumFormat.UNKNOWN);
    }

    /** Else the parity would not be that of the zeroes that its bad blocks count as. */
    @Test
    void shouldKeepTheNotesOfATornStripeWhileASlotIsLostUntilThereIsSpace() throws Exception {
        VolumeMetadata whole = open(-1);
        Layout layout = layout(whole);
        crashOfAWholeStripe(whole, 3);
        unit(layout, 2).fill((byte) 8);
        int missing = layout.slot(STRIPE, 1);
        BitSet without = without(layout, PARITY);
        assertThatThrownBy(() -> open(missing)).isInstanceOf(NoSpaceException.class)
                .hasMessageContaining("slot " + layout.slot(STRIPE, PARITY))
                .hasMessageContaining("start the volume again");
        endAll();
        without.clear();
        assertThat(open(missing).badBlocks().ranges()).containsExactly(
                new Range(missing, layout.memberBlock(STRIPE, 1), CHUNK / BLOCK));
        assertThat(content(layout, PARITY)).isEqualTo(3 ^ 8);
    }

    /** Else they would go on to be what they were, and parity would be made for zeroes. */
    @Test
    void shouldKeepTheNotesOfATornStripeUntilUnreadableBlocksHaveSpace() throws Exception {
        VolumeMetadata whole = open(-1);
        Layout layout = layout(whole);
        crashOfAWholeStripe(whole, 3);
        unit(layout, 1).fill((byte) 8);
        int slot = layout.slot(STRIPE, 1);
        disks.get(slot).unreadable.set((int) firstBlock(layout, 1));
        BitSet without = without(layout, 1);
        assertThatThrownBy(() -> open(-1)).isInstanceOf(NoSpaceException.class)
                .hasMessageContaining("slot " + slot).hasMessageContaining("cannot be read")
                .hasMessageContaining("start the volume again");
        endAll();
        without.clear();
        assertThat(open(-1).badBlocks().ranges())
                .containsExactly(new Range(slot, layout.memberBlock(STRIPE, 1), 1));
        assertThat(unit(layout, 1).get(JAVA_BYTE, 7)).isZero();
        assertThat(unit(layout, 1).get(JAVA_BYTE, BLOCK)).isEqualTo((byte) 8);
        assertThat(unit(layout, PARITY).get(JAVA_BYTE, 7)).isEqualTo((byte) 3);
        assertThat(unit(layout, PARITY).get(JAVA_BYTE, BLOCK)).isEqualTo((byte) (3 ^ 8));
    }
}
