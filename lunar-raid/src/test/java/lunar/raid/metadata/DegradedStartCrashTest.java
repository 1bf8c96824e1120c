package lunar.raid.metadata;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Random;
import java.util.stream.IntStream;
import lunar.block.StorageException;
import lunar.raid.layout.Layout;
import lunar.raid.layout.Level;
import lunar.raid.metadata.Assembly.Outcome;
import lunar.raid.metadata.Composition.Use;
import lunar.raid.metadata.bitmap.IntentBitmap.Intent;
import lunar.raid.metadata.journal.JournalEntry;
import lunar.raid.metadata.page.ChunkedTransfer;
import lunar.testkit.Seed;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A start without a member after a crash, which a power cut ends at any of its requests; then the member is back. It
 * has all that the journal had, or is known not to be up to date.
 */
class DegradedStartCrashTest {
    private static final long STRIPE = 2;
    private static final int BLOCK = TestVolume.BLOCK;
    private static final int CHUNK = TestVolume.CHUNK_BYTES;
    private static final int MEMBERS = 4;

    private final long seed = Seed.next();
    private TestVolume test;
    private int inSync;
    private int stale;

    private void create(String title) throws StorageException {
        test = new TestVolume("seed " + seed + title, new Random(seed));
        test.create(Level.RAID5, MEMBERS, 0);
        test.open();
        test.resync();
        test.fill();
        test.stop();
        test.open();
        test.degradedStart = DegradedStart.ALLOWED;
    }

    private long at(int unit) {
        return test.metadata.record().description().layout().dataBytes()
                + test.layout().memberBlock(STRIPE, unit) * BLOCK;
    }

    private QueuedDevice disk(int unit) { return test.disks.get(test.layout().slot(STRIPE, unit)); }

    private MemorySegment unit(int unit) throws StorageException {
        MemorySegment content = MemorySegment.ofArray(new byte[CHUNK]);
        ChunkedTransfer.read(disk(unit), at(unit), content);
        return content;
    }

    /** A write of unit 0, with its parity, is logged, or of all units noted; nothing of it, or unit 1, is in place. */
    private void crash(boolean isWhole) throws StorageException {
        Layout layout = test.layout();
        JournalEntry entry = new JournalEntry(BLOCK,
                (_, failure) -> assertThat(failure).isNull());
        entry = isWhole ? entry.asNote(STRIPE) : entry.asData(STRIPE);
        MemorySegment content = MemorySegment.ofArray(new byte[CHUNK]).fill((byte) 7);
        int parity = layout.units() - 1;
        MemorySegment sum = MemorySegment.ofArray(new byte[CHUNK]).copyFrom(content);
        for (int unit = 1; unit < parity; unit++) {
            MemorySegment one = isWhole ? content : unit(unit);
            for (int i = 0; i < CHUNK; i++) {
                byte is = sum.get(JAVA_BYTE, i);
                sum.set(JAVA_BYTE, i, (byte) (is ^ one.get(JAVA_BYTE, i)));
            }
        }
        for (int unit = 0; unit < layout.units(); unit++) {
            if (isWhole || unit == 0 || unit == parity) {
                entry.add(layout.slot(STRIPE, unit), layout.memberBlock(STRIPE, unit),
                        unit == parity ? sum : content);
            }
        }
        test.metadata.journal().append(entry);
        boolean _ = test.metadata.bitmap().begin(new Intent((_, _) -> {}).over(STRIPE, 1));
        test.settle();
        if (isWhole) {
            ChunkedTransfer.write(disk(1), at(1), content);
            disk(1).flush();
        }
        test.restart();
    }

    /** Opens the volume, unless the power of a member is cut after so many of its requests. */
    private boolean opens(int missing, int cut, int cutAfter) throws StorageException {
        test.composition = ((Outcome.Assembled) test.assembly(missing)).composition();
        test.disks.get(cut).cutAfter(cutAfter);
        try {
            VolumeMetadata.open(test.composition, test.devices(), test.options, (_, _) -> {});
        } catch (StorageException _) {
            assertThat(test.isCut()).as(test.title()).isTrue();
        }
        return !test.isCut();
    }

    /** With the member back, which the journal's write did not reach. */
    private void requireTrueRedundancy(int back) throws StorageException {
        test.open();
        Use use = test.composition.slots().get(back).use();
        if (use == Use.IN_SYNC) {
            inSync++;
        } else {
            stale++;
            assertThat(use).as(test.title()).isEqualTo(Use.STALE_COVERED);
            assertThat(test.metadata.missed().contains(STRIPE)).as(test.title()).isTrue();
            test.makeWhole();
        }
        test.checkRedundancy();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldNotTakeTheMissingMemberForCompleteAfterASecondCrash(boolean isWhole)
            throws StorageException {
        for (int cut : IntStream.range(0, MEMBERS).toArray()) {
            boolean isDone = false;
            for (int cutAfter = 0; !isDone; cutAfter++) {
                create(" whole stripe " + isWhole + ", disk " + cut + " cut after " + cutAfter);
                crash(isWhole);
                int missing = test.layout().slot(STRIPE, 0);
                if (cut == missing) {
                    break;
                }
                isDone = opens(missing, cut, cutAfter);
                test.restart();
                requireTrueRedundancy(missing);
                test.close();
            }
        }
        assertThat(inSync).isPositive();
        assertThat(stale).isPositive();
    }
}
