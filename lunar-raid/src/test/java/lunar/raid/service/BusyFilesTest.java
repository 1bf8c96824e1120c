package lunar.raid.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import lunar.block.BlockRequest;
import lunar.block.StorageException;
import lunar.raid.layout.Level;
import lunar.raid.metadata.Creation;
import lunar.store.FileDevice;
import lunar.store.FileOptions;
import lunar.testkit.Seed;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** More requests at once than the queues of files take: each is served, and every member stays in. */
class BusyFilesTest {
    private static final int MEMBER_BYTES = 8 << 20;
    private static final int CHUNK_BYTES = 4096;
    private static final int READ_BYTES = 512 << 10;
    private static final int DEPTH = 1024;

    @TempDir
    Path folder;
    private final long seed = Seed.next();
    private final Random random = new Random(seed);

    @BeforeEach
    void requireDirect() throws IOException {
        Path probe = folder.resolve("probe");
        Files.createFile(probe);
        try (var _ = FileDevice.open(probe, FileOptions.BUFFERED.withCreateBytes(1 << 20)
                .withIo(FileOptions.Io.DIRECT))) {
            Files.size(probe);
        } catch (StorageException e) {
            assumeTrue(false, "no direct I/O here: " + e.getMessage());
        }
    }

    private FileDevice open(String uri) throws StorageException {
        return FileDevice.open(Path.of(uri), FileOptions.BUFFERED.withIo(FileOptions.Io.DIRECT));
    }

    private VolumeSpec create(Level level, int count) throws IOException {
        var members = new ArrayList<Creation.Member>();
        for (int slot = 0; slot < count; slot++) {
            Path file = folder.resolve(slot + ".img");
            members.add(new Creation.Member(file.toString(), UUID.randomUUID(),
                    FileDevice.open(file, FileOptions.BUFFERED.withCreateBytes(MEMBER_BYTES)
                            .withIo(FileOptions.Io.DIRECT))));
        }
        Creation.Wish wish = Creation.Wish.of(UUID.randomUUID(), "files", 0, level,
                UUID.randomUUID());
        Creation.create(new Creation.Wish(wish.uuid(), wish.name(), wish.createdMs(), level,
                wish.consistency(), CHUNK_BYTES, wish.journalBytes(), wish.journalKey(),
                wish.journalDevice(), false), members, false);
        for (Creation.Member member : members) {
            member.device().close();
        }
        return new VolumeSpec(level, "files",
                members.stream().map(Creation.Member::uri).toList(), List.of(), Optional.empty(),
                RunOptions.DEFAULT);
    }

    @ParameterizedTest
    @EnumSource(names = {"RAID0", "RAID5", "RAID10"})
    void shouldServeLongReadsAtGreatDepth(Level level) throws Exception {
        var failed = new ConcurrentLinkedQueue<VolumeEvent>();
        try (Arena arena = Arena.ofShared();
                RunningVolume volume = RunningVolume.open(create(level, 4), this::open, List.of(),
                        event -> {
                            if (event instanceof VolumeEvent.MemberFailed
                                    || event instanceof VolumeEvent.VolumeFailed) {
                                failed.add(event);
                            }
                        })) {
            MemorySegment content = arena.allocate(volume.sizeBytes() / READ_BYTES * READ_BYTES,
                    4096);
            for (long at = 0; at < content.byteSize(); at += 8) {
                content.set(ValueLayout.JAVA_LONG, at, random.nextLong());
            }
            for (long at = 0; at < content.byteSize(); at += READ_BYTES) {
                volume.write(at / volume.blockSize(), content.asSlice(at, READ_BYTES));
            }
            int blocks = READ_BYTES / volume.blockSize();
            var ended = new CountDownLatch(DEPTH);
            var failures = new ConcurrentLinkedQueue<StorageException>();
            var requests = new ArrayList<BlockRequest>();
            for (int i = 0; i < DEPTH; i++) {
                requests.add(new BlockRequest().asRead(
                        random.nextLong(content.byteSize() / volume.blockSize() - blocks + 1),
                        blocks, arena.allocate(READ_BYTES, 4096)).onCompletion((_, failure) -> {
                            if (failure != null) {
                                failures.add(failure);
                            }
                            ended.countDown();
                        }));
            }
            requests.forEach(volume::submit);
            assertThat(ended.await(5, TimeUnit.MINUTES)).isTrue();
            assertThat(failures).as("seed " + seed).isEmpty();
            assertThat(failed).isEmpty();
            assertThat(requests).allSatisfy(request -> assertThat(request.buffer()
                    .mismatch(content.asSlice(request.lba() * volume.blockSize(), READ_BYTES)))
                    .isEqualTo(-1));
        }
    }
}
