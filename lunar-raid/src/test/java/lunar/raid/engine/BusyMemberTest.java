package lunar.raid.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import lunar.block.BlockRequest;
import lunar.block.BusyException;
import lunar.block.DeviceGoneException;
import lunar.block.Identity;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.raid.FailurePolicy;
import lunar.raid.RaidListener;
import lunar.raid.RaidMember;
import lunar.raid.RaidOptions;
import lunar.raid.engine.member.Member;
import lunar.raid.engine.member.MemberQueue;
import lunar.raid.layout.Level;
import lunar.raid.layout.Shape;
import lunar.store.MemoryDevice;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A member that has too much to do is waited for, and stays in. */
class BusyMemberTest {
    private static final int CHUNK = 8;
    private static final int ROWS = 64;
    private static final int BLOCK = 512;
    private static final int STALL_TICKS = 60;

    private final Random random = new Random(11);
    private final List<LimitedSpaceDevice> members = new ArrayList<>();
    private final List<String> heard = new ArrayList<>();
    private final ArrayDeque<Runnable> pauses = new ArrayDeque<>();
    private final RaidListener listener = new RaidListener() {
        @Override
        public void slotFailed(int slot, StorageException cause) { heard.add("failed " + slot); }

        @Override
        public void volumeFailed(StorageException cause) { heard.add("volume failed"); }
    };

    private VolumeEngine volume(Level level, int count, int room) {
        for (int slot = 0; slot < count; slot++) {
            members.add(
                    new LimitedSpaceDevice(MemoryDevice.create(CHUNK * ROWS * BLOCK, BLOCK), room,
                            32));
        }
        return VolumeEngine.of(Shape.of(level, BLOCK, CHUNK, count, CHUNK * ROWS),
                members.stream().map(member -> RaidMember.of(member, 0)).toList(),
                RaidOptions.of(Identity.of("test", new UUID(1, 1))).withListener(listener)
                        .withPolicy(new FailurePolicy(2, 1000, STALL_TICKS))
                        .withPauses(pauses::add));
    }

    /** Ends what members hold, in turn, and pauses once no member has anything to do. */
    private void settle() {
        boolean any = true;
        while (any) {
            any = false;
            for (LimitedSpaceDevice member : members) {
                any |= member.step();
            }
            if (!any && !pauses.isEmpty()) {
                pauses.remove().run();
                any = true;
            }
        }
    }

    private record Sent(BlockRequest request, List<StorageException> failures, int[] ends) {}

    private static Sent send(VolumeEngine volume, BlockRequest request) {
        var failures = new ArrayList<StorageException>();
        int[] ends = {0};
        volume.submit(request.onCompletion((_, failure) -> {
            ends[0]++;
            if (failure != null) {
                failures.add(failure);
            }
        }));
        return new Sent(request, failures, ends);
    }

    private byte[] written(VolumeEngine volume) {
        byte[] content = new byte[(int) volume.sizeBytes()];
        random.nextBytes(content);
        requireDone(List.of(send(volume, new BlockRequest().asWrite(0, volume.blockCount(),
                MemorySegment.ofArray(content), false))));
        return content;
    }

    private void requireDone(List<Sent> sent) {
        settle();
        assertThat(sent).allSatisfy(one -> {
            assertThat(one.failures).isEmpty();
            assertThat(one.ends[0]).isEqualTo(1);
        });
        assertThat(heard).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Level.class)
    void shouldReadManyBlocksAtOnceFromMembersThatTakeFew(Level level) {
        VolumeEngine volume = volume(level, 4, 5);
        byte[] content = written(volume);
        var reads = new ArrayList<Sent>();
        for (int i = 0; i < 1000; i++) {
            int blocks = 1 + random.nextInt(6 * CHUNK);
            long lba = random.nextLong(volume.blockCount() - blocks);
            reads.add(send(volume, new BlockRequest().asRead(lba, blocks,
                    MemorySegment.ofArray(new byte[blocks * BLOCK]))));
        }
        requireDone(reads);
        assertThat(members).allSatisfy(member -> assertThat(member.refused).isPositive());
        for (Sent read : reads) {
            assertThat(read.request.buffer().mismatch(MemorySegment.ofArray(content).asSlice(
                    read.request.lba() * BLOCK, read.request.buffer().byteSize())))
                    .isEqualTo(-1);
        }
        assertThat(volume.state().isWhole()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(Level.class)
    void shouldWriteToMembersThatTakeOneRequest(Level level) {
        VolumeEngine volume = volume(level, 4, 1);
        byte[] content = written(volume);
        var writes = new ArrayList<Sent>();
        for (int i = 0; i < 200; i++) {
            int blocks = 1 + random.nextInt(6 * CHUNK);
            int lba = random.nextInt((int) volume.blockCount() - blocks);
            writes.add(send(volume, new BlockRequest().asWrite(lba, blocks,
                    MemorySegment.ofArray(content).asSlice((long) lba * BLOCK,
                            (long) blocks * BLOCK),
                    false)));
            writes.add(send(volume, new BlockRequest().asFlush()));
        }
        requireDone(writes);
        MemorySegment found = MemorySegment.ofArray(new byte[content.length]);
        requireDone(List.of(send(volume, new BlockRequest().asRead(0, volume.blockCount(),
                found))));
        assertThat(found.mismatch(MemorySegment.ofArray(content))).isEqualTo(-1);
    }

    /** A target that is busy with something else: it has none of our requests that could end. */
    @Test
    void shouldPauseEverLongerWhileAMemberTakesNothing() {
        VolumeEngine volume = volume(Level.RAID1, 2, 8);
        byte[] content = written(volume);
        members.get(1).room = 0;
        Sent write = send(volume, new BlockRequest().asWrite(0, 1,
                MemorySegment.ofArray(content).asSlice(0, BLOCK), false));
        members.getFirst().step();
        var rounds = new ArrayList<Integer>();
        for (int i = 0; i < 8; i++) {
            int asked = members.get(1).refused;
            int passed = 0;
            while (members.get(1).refused == asked) {
                pauses.remove().run();
                passed++;
            }
            rounds.add(passed);
        }
        assertThat(rounds).containsExactly(1, 2, 4, 8, 16, 32, 64, 64);
        assertThat(write.ends[0]).isZero();
        members.get(1).room = 1;
        requireDone(List.of(write));
        assertThat(pauses).isEmpty();
    }

    @Test
    void shouldGiveUpAMemberThatIsBusyForEver() throws Exception {
        VolumeEngine volume = volume(Level.RAID5, 3, 8);
        written(volume);
        members.get(1).room = 0;
        var sent = new ArrayList<Sent>();
        for (int i = 0; i < 8; i++) {
            sent.add(send(volume, new BlockRequest().asWrite(i * 2L * CHUNK, 2 * CHUNK,
                    MemorySegment.ofArray(new byte[2 * CHUNK * BLOCK]), false)));
        }
        settle();
        assertThat(heard).containsExactly("failed 1");
        assertThat(sent).allSatisfy(one -> {
            assertThat(one.failures).isEmpty();
            assertThat(one.ends[0]).isEqualTo(1);
        });
        assertThat(members.get(1).refused).isGreaterThan(MemberQueue.MAX_PAUSES);
    }

    /** As of an iSCSI member that has its own patience, and says that it is busy every half minute. */
    @Test
    void shouldGiveUpABusyMemberAfterAsManyTicksAsItMaySayNothing() {
        VolumeEngine volume = volume(Level.RAID1, 2, 8);
        byte[] content = written(volume);
        members.get(1).room = 0;
        Sent write = send(volume, new BlockRequest().asWrite(0, 1,
                MemorySegment.ofArray(content).asSlice(0, BLOCK), false));
        members.getFirst().step();
        for (int i = 0; i < 2; i++) {
            assertThat(heard).isEmpty();
            for (int tick = 0; tick < STALL_TICKS / 2; tick++) {
                volume.tick();
            }
            int asked = members.get(1).refused;
            while (members.get(1).refused == asked) {
                pauses.remove().run();
            }
        }
        assertThat(heard).containsExactly("failed 1");
        assertThat(write.ends[0]).isEqualTo(1);
        assertThat(write.failures).isEmpty();
    }

    private void passTicks(VolumeEngine volume) {
        for (int tick = 0; tick < STALL_TICKS; tick++) {
            volume.tick();
        }
    }

    /** The last member refuses a read, then fails it for a bad block; its next refusal comes much later. */
    @Test
    void shouldNotCountRefusalsFromBeforeAMediumError() {
        VolumeEngine volume = volume(Level.RAID1, 2, 8);
        written(volume);
        assertThat(volume.fail(0, new DeviceGoneException("pulled"))).isTrue();
        heard.clear();
        LimitedSpaceDevice last = members.get(1);
        BlockRequest read = new BlockRequest().asRead(0, 1, MemorySegment.ofArray(new byte[BLOCK]));
        last.refused = 0;
        last.room = 0;
        Sent first = send(volume, read);
        assertThat(last.refused).isEqualTo(1);
        last.room = 1;
        last.isUnreadable = true;
        settle();
        assertThat(first.failures).singleElement().isInstanceOf(MediumException.class);
        passTicks(volume);
        last.room = 0;
        Sent second = send(volume, read);
        assertThat(last.refused).isEqualTo(2);
        last.room = 1;
        last.isUnreadable = false;
        requireDone(List.of(second));
    }

    /** A long write in pieces: the member refuses the first one, accepts it later, and refuses the second one. */
    @Test
    void shouldNotCountRefusalsFromBeforeASuccessfulPiece() {
        VolumeEngine volume = volume(Level.RAID1, 2, 8);
        byte[] content = written(volume);
        LimitedSpaceDevice busy = members.get(1);
        busy.refused = 0;
        busy.maxTransferBlocks = 1;
        busy.room = 0;
        Sent write = send(volume, new BlockRequest().asWrite(0, 2,
                MemorySegment.ofArray(content).asSlice(0, 2 * BLOCK), false));
        members.getFirst().step();
        assertThat(busy.refused).isEqualTo(1);
        passTicks(volume);
        busy.room = 1;
        pauses.remove().run();
        busy.room = 0;
        busy.step();
        assertThat(busy.refused).isEqualTo(2);
        busy.room = 1;
        requireDone(List.of(write));
    }

    /** Without redundancy the host hears that the volume is busy, and may try again. */
    @Test
    void shouldTellTheHostWhereNobodyElseHasTheBlocks() {
        VolumeEngine volume = volume(Level.RAID0, 2, 8);
        written(volume);
        members.get(1).room = 0;
        var sent = new ArrayList<Sent>();
        for (int i = 0; i < 4; i++) {
            sent.add(send(volume, new BlockRequest().asRead(CHUNK, CHUNK,
                    MemorySegment.ofArray(new byte[CHUNK * BLOCK]))));
        }
        settle();
        assertThat(heard).isEmpty();
        assertThat(sent).allSatisfy(one -> assertThat(one.failures)
                .singleElement().isInstanceOf(BusyException.class));
        members.get(1).room = 1;
        requireDone(List.of(send(volume, new BlockRequest().asRead(CHUNK, CHUNK,
                MemorySegment.ofArray(new byte[CHUNK * BLOCK])))));
    }

    @Test
    void shouldEndWhatWaitsForABusyMemberWhenTheVolumeIsClosed() throws Exception {
        VolumeEngine volume = volume(Level.RAID0, 2, 8);
        written(volume);
        members.get(1).room = 0;
        Sent read = send(volume, new BlockRequest().asRead(CHUNK, CHUNK,
                MemorySegment.ofArray(new byte[CHUNK * BLOCK])));
        volume.close();
        assertThat(read.failures).singleElement().isInstanceOf(DeviceGoneException.class);
    }

    @Test
    void shouldSendNoMoreThanAMemberWants() {
        VolumeEngine volume = volume(Level.RAID5, 4, Integer.MAX_VALUE);
        byte[] content = written(volume);
        members.forEach(member -> member.most = 0);
        var reads = new ArrayList<Sent>();
        for (int i = 0; i < 1000; i++) {
            reads.add(send(volume, new BlockRequest().asRead(0, volume.blockCount(),
                    MemorySegment.ofArray(new byte[content.length]))));
        }
        requireDone(reads);
        assertThat(members).allSatisfy(
                member -> assertThat(member.most).isEqualTo(MemberQueue.MIN_DEPTH));
    }

    /** The window follows what the member takes, down and up again. */
    @Test
    void shouldAdaptToWhatAMemberTakes() {
        VolumeEngine volume = volume(Level.LINEAR, 1, 100);
        written(volume);
        Member member = volume.engine().slots().member(0);
        members.getFirst().room = 3;
        var sent = new ArrayList<Sent>();
        for (int i = 0; i < 1000; i++) {
            sent.add(send(volume, new BlockRequest().asRead(i % 64, 1,
                    MemorySegment.ofArray(new byte[BLOCK]))));
        }
        assertThat(member.queue.window()).isEqualTo(3);
        assertThat(members.getFirst().held()).isEqualTo(3);
        requireDone(sent);
        members.getFirst().room = Integer.MAX_VALUE;
        for (int i = 0; i < 20_000; i++) {
            requireDone(List.of(send(volume, new BlockRequest().asRead(0, 1,
                    MemorySegment.ofArray(new byte[BLOCK])))));
        }
        assertThat(member.queue.window()).isEqualTo(MemberQueue.MIN_DEPTH);
    }
}
