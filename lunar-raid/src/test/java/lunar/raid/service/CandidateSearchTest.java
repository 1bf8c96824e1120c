package lunar.raid.service;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Devices;
import lunar.block.ForwardingDevice;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import lunar.raid.layout.Level;
import lunar.raid.metadata.Creation;
import lunar.raid.metadata.record.SuperblockReading;
import lunar.raid.metadata.record.VolumeRecord;
import lunar.raid.metadata.superblock.SuperblockStore;
import org.junit.jupiter.api.Test;

class CandidateSearchTest {
    /** Reads what was there at first, until it is told to forget that. */
    private static final class Stale extends ForwardingDevice {
        private boolean hasForgotten;

        Stale(BlockDevice below) { super(below); }

        @Override
        public void execute(BlockRequest request) throws StorageException {
            if (hasForgotten || request.operation() != BlockRequest.Operation.READ) {
                below().execute(request);
            } else {
                MemorySegment _ = request.buffer().fill((byte) 0);
            }
        }

        @Override
        public void submit(BlockRequest request) {
            try {
                execute(request);
                RequestCompletion.succeed(request);
            } catch (StorageException e) {
                RequestCompletion.fail(request, e);
            }
        }

        @Override
        public void forget(long lba, long blockCount) {
            hasForgotten = lba == 0 && blockCount == blockCount();
        }
    }

    @Test
    void shouldNotBelieveACacheWhatAnotherOwnerMayHaveChanged() throws Exception {
        BlockDevice disk = Devices.open("ram:4MiB");
        VolumeRecord _ = Creation.create(
                Creation.Wish.of(UUID.randomUUID(), "music", 0, Level.RAID0, UUID.randomUUID()),
                List.of(new Creation.Member("disk:0", UUID.randomUUID(), disk),
                        new Creation.Member("disk:1", UUID.randomUUID(),
                                Devices.open("ram:4MiB"))),
                List.of(), false);
        assertThat(new SuperblockStore(disk).read()).isInstanceOf(SuperblockReading.Found.class);
        try (ExecutorService workers = Executors.newVirtualThreadPerTaskExecutor()) {
            CandidateSearch.Found found = CandidateSearch
                    .open(List.of("disk:0"), _ -> new Stale(disk), RunTiming.DEFAULT, workers)
                    .getFirst();
            assertThat(found.candidate.reading()).isInstanceOf(SuperblockReading.Blank.class);
            found.lookAgain();
            assertThat(found.candidate.reading()).isInstanceOf(SuperblockReading.Found.class);
            found.close();
        }
    }
}
