package lunar.raid.service;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.ForwardingDevice;
import lunar.block.NoSpaceException;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import lunar.raid.layout.Level;
import lunar.raid.metadata.Creation;
import lunar.store.MemoryDevice;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A volume of thin members, which run out of space and get more. */
class RunningNoSpaceTest extends RunningFixture {
    private static final int METADATA_BLOCKS = (2 << 20) / BLOCK;

    /** Outlives each volume that opens it. */
    private static final class Thin extends ForwardingDevice {
        private final BitSet allocated = new BitSet();
        private int space;

        Thin(BlockDevice below) { super(below); }

        synchronized void space(int blocks) { space = blocks; }

        @Override
        public void submit(BlockRequest request) {
            RequestCompletion.executeAndComplete(request, this);
        }

        @Override
        public synchronized void execute(BlockRequest request) throws StorageException {
            int first = (int) request.lba();
            int end = first + (int) request.blockCount();
            if (request.operation() == Operation.WRITE && first >= METADATA_BLOCKS) {
                int wanted = end - first - allocated.get(first, end).cardinality();
                if (wanted > space) {
                    throw new NoSpaceException(request + ": no space");
                }
                space -= wanted;
                allocated.set(first, end);
            }
            if (request.operation() == Operation.UNMAP) {
                allocated.clear(first, end);
            }
            below().execute(request);
        }

        @Override
        public void close() {}
    }

    private final Map<String, Thin> thin = new HashMap<>();

    private void create(Level level) throws StorageException, InterruptedException {
        var members = new ArrayList<Creation.Member>();
        for (int slot = 0; slot < 3; slot++) {
            var member = new Thin(MemoryDevice.create(MEMBER_BYTES, BLOCK));
            member.space(1 << 20);
            thin.put("thin:" + slot, member);
            members.add(new Creation.Member("thin:" + slot, UUID.randomUUID(), member));
        }
        Creation.create(Creation.Wish.of(UUID.randomUUID(), "thin", 0, level, UUID.randomUUID()),
                members, false);
        spec = new VolumeSpec(level, "thin", members.stream().map(Creation.Member::uri).toList(),
                List.of(), Optional.empty(), OPTIONS);
        start();
        awaitHealth(VolumeHealth.CLEAN); // the first resync takes space for everything
        volume.execute(new BlockRequest().asUnmap(0, volume.blockCount()));
    }

    private void start() throws StorageException {
        events = new EventLog();
        volume = RunningVolume.open(spec, thin::get, List.of(), events);
    }

    /** The whole volume, in pieces. */
    private int fillAll() throws StorageException {
        content = new byte[(int) volume.sizeBytes()];
        byte[] before = content;
        int refused = 0;
        for (int at = 0; at < before.length; at += 8 * BLOCK) {
            try {
                fill(at, Math.min(8 * BLOCK, before.length - at));
            } catch (NoSpaceException _) {
                refused++;
            }
        }
        return refused;
    }

    @ParameterizedTest
    @EnumSource(names = {"RAID1", "RAID5"})
    void shouldGoOnWhenThereIsSpaceAgain(Level level) throws Exception {
        create(level);
        thin.get("thin:0").space(1000);
        thin.get("thin:1").space(700);
        thin.get("thin:2").space(400);
        assertThat(fillAll()).isPositive();
        assertThat(volume.status().slots()).allMatch(slot -> slot.why().isEmpty());
        byte[] found = new byte[content.length];
        volume.read(0, MemorySegment.ofArray(found));
        content = found; // whatever a refused write has left, it stays so
        check();
        volume.close();
        start();
        check();
        thin.values().forEach(member -> member.space(1 << 20));
        awaitHealth(VolumeHealth.CLEAN);
        check();
        scrub();
        assertThat(fillAll()).isZero();
        check();
        assertThat(volume.status().slots()).allMatch(slot -> slot.why().isEmpty());
    }
}
