package lunar.raid.metadata;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.ForwardingDevice;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.raid.SlotState;
import lunar.raid.layout.Galois;
import lunar.raid.layout.Layout;
import lunar.raid.layout.Level;
import lunar.raid.metadata.Assembly.Outcome;
import lunar.raid.metadata.bitmap.BadBlocks.Range;
import lunar.raid.metadata.bitmap.IntentBitmap.Intent;
import lunar.raid.metadata.journal.JournalEntry;
import lunar.raid.metadata.page.ChunkedTransfer;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A crash in the middle of the write of a whole stripe, after which a block of it cannot be read. */
class TornStripesTest {
    private static final long STRIPE = 2;
    private static final int BLOCK = TestVolume.BLOCK;
    private static final int CHUNK = TestVolume.CHUNK_BYTES;
    /** The unit of which a block cannot be read, the block, and another one. */
    private static final int UNIT = 1;
    private static final int BAD = 5;
    private static final int OTHER = 2;

    private final long seed = Seed.next();
    private TestVolume test;

    /** So many members that a short write reads what it overwrites, and parity. */
    private Layout create(Level level, String title) throws StorageException {
        test = new TestVolume("seed " + seed + " " + level + title, new Random(seed));
        test.degradedStart = DegradedStart.ALLOWED;
        test.create(level, level == Level.RAID6 ? 7 : 5, 0);
        test.open();
        test.resync();
        test.fill();
        return test.layout();
    }

    private long at(int unit) {
        return test.metadata.record().description().layout().dataBytes()
                + test.layout().memberBlock(STRIPE, unit) * BLOCK;
    }

    private QueuedDevice disk(int unit) { return test.disks.get(test.layout().slot(STRIPE, unit)); }

    private byte[] unit(int unit) throws StorageException {
        var content = new byte[CHUNK];
        ChunkedTransfer.read(disk(unit), at(unit), MemorySegment.ofArray(content));
        return content;
    }

    private byte[][] units() throws StorageException {
        var units = new byte[test.layout().units()][];
        for (int unit = 0; unit < units.length; unit++) {
            units[unit] = unit(unit);
        }
        return units;
    }

    /** Byte by byte, so that it has nothing in common with what it checks. */
    private void computeParity(byte[]... units) {
        int data = test.layout().dataUnits();
        for (int i = 0; i < CHUNK; i++) {
            int p = 0;
            int q = 0;
            for (int unit = 0; unit < data; unit++) {
                p ^= units[unit][i];
                q ^= Galois.times(units[unit][i] & 0xff, Galois.power(unit));
            }
            units[data][i] = (byte) p;
            if (units.length > data + 1) {
                units[data + 1][i] = (byte) q;
            }
        }
    }

    private byte[][] newUnits() {
        var units = new byte[test.layout().units()][CHUNK];
        for (int unit = 0; unit < test.layout().dataUnits(); unit++) {
            for (int i = 0; i < CHUNK; i++) {
                units[unit][i] = (byte) (32 * unit + i / BLOCK + 1);
            }
        }
        computeParity(units);
        return units;
    }

    /** The write is noted, and the crash comes when this much of each unit is in place. */
    private void crash(byte[][] content, int... blocks) throws StorageException {
        Layout layout = test.layout();
        var entry = new JournalEntry(BLOCK, (_, failure) -> assertThat(failure).isNull())
                .asNote(STRIPE);
        for (int unit = 0; unit < layout.units(); unit++) {
            entry.add(layout.slot(STRIPE, unit), layout.memberBlock(STRIPE, unit),
                    MemorySegment.ofArray(content[unit]));
        }
        test.metadata.journal().append(entry);
        boolean _ = test.metadata.bitmap().begin(new Intent((_, _) -> {}).over(STRIPE, 1));
        test.settle();
        for (int unit = 0; unit < layout.units(); unit++) {
            if (blocks[unit] > 0) {
                ChunkedTransfer.write(disk(unit), at(unit), MemorySegment.ofArray(content[unit])
                        .asSlice(0, (long) blocks[unit] * BLOCK));
            }
            disk(unit).flush();
        }
        test.restart();
        disk(UNIT).spoil(at(UNIT) / BLOCK + BAD, 1);
    }

    /** Half of the data units are new, and the one with the block is not. */
    private byte[][] tear(Level level, String title) throws StorageException {
        Layout layout = create(level, title);
        byte[][] before = units();
        byte[][] content = newUnits();
        var blocks = new int[layout.units()];
        for (int unit = 0; unit < layout.dataUnits(); unit += 2) {
            blocks[unit] = CHUNK / BLOCK;
            before[unit] = content[unit];
        }
        crash(content, blocks);
        return before;
    }

    private void requireTrueParity() throws StorageException {
        byte[][] found = units();
        byte[][] right = units();
        computeParity(right);
        for (int unit = test.layout().dataUnits(); unit < found.length; unit++) {
            assertThat(found[unit]).as(test.title() + " unit " + unit).isEqualTo(right[unit]);
        }
    }

    private long block(int unit, int block) {
        return STRIPE * test.layout().stripeBlocks() + (long) unit * CHUNK / BLOCK + block;
    }

    private Range lost() {
        return new Range(test.layout().slot(STRIPE, UNIT),
                test.layout().memberBlock(STRIPE, UNIT) + BAD, 1);
    }

    /** By requests of a host. */
    private void requireContent(byte[][] expected, boolean isLost) {
        for (int unit = 0; unit < test.layout().dataUnits(); unit++) {
            for (int block = 0; block < CHUNK / BLOCK; block++) {
                var found = new byte[BLOCK];
                StorageException failure = test.does(new BlockRequest().asRead(block(unit, block),
                        1, MemorySegment.ofArray(found)));
                String what = test.title() + " unit " + unit + " block " + block;
                if (isLost && unit == UNIT && block == BAD) {
                    assertThat(failure).as(what).isInstanceOf(MediumException.class);
                } else {
                    assertThat(failure).as(what).isNull();
                    assertThat(MemorySegment.ofArray(found).mismatch(MemorySegment
                            .ofArray(expected[unit])
                            .asSlice((long) block * BLOCK, BLOCK))).as(what).isEqualTo(-1);
                }
            }
        }
    }

    private void write(byte[][] expected, int block, int content) {
        MemorySegment data = MemorySegment.ofArray(new byte[BLOCK]).fill((byte) content);
        assertThat(test.does(new BlockRequest().asWrite(block(UNIT, block), 1, data, true)))
                .as(test.title()).isNull();
        MemorySegment.copy(data, JAVA_BYTE, 0, expected[UNIT], block * BLOCK, BLOCK);
    }

    @ParameterizedTest
    @EnumSource(names = {"RAID5", "RAID6"})
    void shouldLoseTheUnreadableBlockAloneAndKeepParityTrue(Level level) throws StorageException {
        byte[][] expected = tear(level, "");
        test.open();
        requireTrueParity();
        assertThat(test.metadata.badBlocks().ranges()).as(test.title()).containsExactly(lost());
        assertThat(unit(UNIT)).as(test.title()).endsWith(
                MemorySegment.ofArray(expected[UNIT]).asSlice((BAD + 1) * BLOCK).toArray(JAVA_BYTE))
                .startsWith(MemorySegment.ofArray(expected[UNIT]).asSlice(0, BAD * BLOCK)
                        .toArray(JAVA_BYTE));
        requireContent(expected, true);

        write(expected, OTHER, 0x77);
        test.fail(test.layout().slot(STRIPE, UNIT));
        requireContent(expected, true);
        write(expected, BAD, 0x78);
        requireContent(expected, false);
        if (level == Level.RAID6) {
            test.fail(test.layout().slot(STRIPE, 0));
            requireContent(expected, false);
        }
        test.close();
    }

    /** All else is new, and of the unit the blocks before the one that cannot be read. */
    @ParameterizedTest
    @EnumSource(names = {"RAID5", "RAID6"})
    void shouldLoseNothingWhereTheRestIsInPlace(Level level) throws StorageException {
        Layout layout = create(level, "");
        byte[][] content = newUnits();
        var blocks = new int[layout.units()];
        for (int unit = 0; unit < blocks.length; unit++) {
            blocks[unit] = unit == UNIT ? BAD : CHUNK / BLOCK;
        }
        if (level == Level.RAID6) {
            blocks[layout.units() - 2] = 1; // and of P
        }
        crash(content, blocks);
        test.open();
        assertThat(test.metadata.badBlocks().ranges()).as(test.title()).isEmpty();
        assertThat(units()).as(test.title()).isDeepEqualTo(content);
        requireContent(content, false);
        test.close();
    }

    /** The second parity makes up for the block, or for the member, and here it has to for both. */
    @ParameterizedTest
    @EnumSource(names = "RAID6")
    void shouldLoseNothingOfAMissingMemberWhereTheRestIsInPlace(Level level)
            throws StorageException {
        Layout layout = create(level, "");
        byte[][] content = newUnits();
        var blocks = new int[layout.units()];
        for (int unit = 0; unit < blocks.length; unit++) {
            blocks[unit] = unit == 0 ? 0 : unit == UNIT ? BAD : CHUNK / BLOCK;
        }
        crash(content, blocks);
        test.open(layout.slot(STRIPE, 0));
        assertThat(test.metadata.badBlocks().ranges()).as(test.title()).isEmpty();
        assertThat(unit(UNIT)).as(test.title()).isEqualTo(content[UNIT]);
        requireContent(content, false);
        test.close();
    }

    /** Wherever the power fails in the start that mends it, the next one ends it. */
    @ParameterizedTest
    @EnumSource(names = {"RAID5", "RAID6"})
    void shouldMendTornStripesAfterAPowerCutInTheMiddleOfThat(Level level)
            throws StorageException {
        int parity = create(level, "").units() - 1;
        test.close();
        for (int unit : new int[]{UNIT, parity}) {
            boolean isDone = false;
            for (int cutAfter = 0; !isDone; cutAfter++) {
                byte[][] expected = tear(level, ", unit " + unit + " cut after " + cutAfter);
                isDone = opens(unit, cutAfter);
                test.restart();
                test.open();
                assertThat(test.volume.state().slots()).as(test.title())
                        .containsOnly(SlotState.ACTIVE);
                requireTrueParity();
                assertThat(test.metadata.badBlocks().ranges()).as(test.title())
                        .containsExactly(lost());
                requireContent(expected, true);
                test.close();
            }
        }
    }

    @Test
    void shouldFailAMemberThatDoesNotTakeZeroesInPlaceOfTheBlock() throws StorageException {
        byte[][] _ = tear(Level.RAID5, "");
        test.composition = ((Outcome.Assembled) test.assembly()).composition();
        var devices = new ArrayList<BlockDevice>(test.devices().slots());
        int slot = test.layout().slot(STRIPE, UNIT);
        long bad = at(UNIT) / BLOCK + BAD;
        devices.set(slot, new ForwardingDevice(devices.get(slot)) {
            @Override
            public void execute(BlockRequest request) throws StorageException {
                if (request.operation() == Operation.WRITE && request.lba() <= bad
                        && bad < request.lba() + request.blockCount()) {
                    throw new MediumException(request + ": worn out");
                }
                below().execute(request);
            }

            @Override
            public void submit(BlockRequest request) { below().submit(request); }
        });
        var failed = new ArrayList<Integer>();
        assertThatThrownBy(() -> VolumeMetadata.open(test.composition,
                new VolumeDevices(devices, List.of(), null), test.options,
                (one, _) -> failed.add(one))).isInstanceOf(MediumException.class)
                .hasMessageContaining("worn out");
        assertThat(failed).containsExactly(slot);
        test.close();
    }

    /** Opens the volume, unless the power of a unit's member is cut after so many of its requests. */
    private boolean opens(int unit, int cutAfter) throws StorageException {
        test.composition = ((Outcome.Assembled) test.assembly()).composition();
        disk(unit).cutAfter(cutAfter);
        try {
            VolumeMetadata.open(test.composition, test.devices(), test.options, (_, _) -> {});
        } catch (StorageException _) {
            assertThat(test.isCut()).as(test.title()).isTrue();
        }
        return !test.isCut();
    }
}
