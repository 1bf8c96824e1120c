package lunar.raid.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import lunar.block.StorageException;
import lunar.raid.layout.Level;
import lunar.raid.metadata.bitmap.IntentBitmap;
import lunar.raid.metadata.bitmap.IntentBitmap.Intent;
import lunar.raid.metadata.journal.JournalEntry;
import lunar.raid.metadata.journal.JournalReplay;
import lunar.raid.metadata.journal.VolumeJournal;
import lunar.raid.metadata.page.MemberSet;
import lunar.raid.metadata.record.Consistency;
import lunar.raid.metadata.record.VolumeRecord;
import lunar.store.MemoryDevice;
import lunar.testkit.CompilerPatience;
import org.junit.jupiter.api.Test;

/** Entries of the journal and bits of the bitmap leave no garbage, once the pools are full. */
class MetadataAllocationTest {
    private static final VolumeRecord VOLUME = Volumes.volume(Level.RAID5, 3, Consistency.JOURNAL,
            3);
    private static final int ROUNDS = 20_000;

    private final MemberSet members = new MemberSet(3, (_, why) -> {
        throw new AssertionError(why);
    });
    private int told;

    @Test
    void shouldAllocateNothingForEntriesAndBits() throws StorageException {
        for (int slot = 0; slot < 3; slot++) {
            MemoryDevice device = MemoryDevice.create(4 << 20, 512);
            VolumeJournal.createCopies(VOLUME, slot, device);
            members.add(slot, device);
        }
        VolumeJournal journal = JournalReplay
                .of(VOLUME, members, 0b111, members, 0b111, JournalReplay.ANY).begin(0b111);
        IntentBitmap bitmap = IntentBitmap.open(members, VOLUME, 0b111, false);
        long first = allocated(journal, bitmap);
        long steady = first;
        int runs = 1;
        var patience = new CompilerPatience();
        while (runs == 1 || (steady >= 2L * ROUNDS && patience.lasts())) {
            steady = allocated(journal, bitmap);
            runs++;
        }
        assertThat(told).isEqualTo(runs * ROUNDS);
        assertThat(steady).as("bytes for %d entries, %d at first", ROUNDS, first)
                .isLessThan(2L * ROUNDS);
    }

    private long allocated(VolumeJournal journal, IntentBitmap bitmap) {
        MemorySegment data = Arena.ofAuto().allocate(4096);
        var entry = new JournalEntry(512, (_, failure) -> {
            assert failure == null;
            told++;
        });
        var intent = new Intent((_, failure) -> {
            assert failure == null;
        });
        var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < ROUNDS; i++) {
            int stripe = i % 500;
            boolean _ = bitmap.begin(intent.over(stripe, 1));
            journal.append(entry.asData(stripe).add(0, stripe * 8L, data).add(2, stripe * 8L,
                    data));
            journal.written(entry, false);
            bitmap.end(intent);
        }
        return threads.getCurrentThreadAllocatedBytes() - before;
    }
}
