package lunar.raid.metadata.superblock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.zip.CRC32C;
import lunar.raid.SlotState;
import lunar.raid.layout.Level;
import lunar.raid.metadata.Volumes;
import lunar.raid.metadata.page.Page;
import lunar.raid.metadata.record.Consistency;
import lunar.raid.metadata.record.MemberRecord;
import lunar.raid.metadata.record.ReshapeRecord;
import lunar.raid.metadata.record.Superblock;
import lunar.raid.metadata.record.SuperblockReading;
import lunar.raid.metadata.record.VolumeRecord;
import org.junit.jupiter.api.Test;

class SuperblockTest {
    private static final int CHECKSUM = 12;
    private static final int GOLDEN_CHECKSUM = 0xe120_4a68;

    private static Superblock example() {
        VolumeRecord volume = Volumes.withSpare(Volumes.volume(Level.RAID5, 3, Consistency.JOURNAL),
                Volumes.member(9));
        MemberRecord second = volume.members().get(1);
        return new Superblock(21, 2,
                volume.with(1, second.rebuilt(100)).withClean(true).withResyncNext(5));
    }

    /** By hand, from docs/raid-format.md. */
    private static ByteBuffer golden() {
        ByteBuffer page = ByteBuffer.allocate(4096);
        page.put("LUNARAID".getBytes(StandardCharsets.US_ASCII)).putInt(1).putInt(0).putLong(21);
        page.putLong(0x0f0e0d0c_0b0a4908L).putLong(0x87060504_03020100L);
        page.putLong(0xaaaa0000_00004000L).putLong(0x80000000_00000003L);
        page.putInt(2).putInt(1).putInt(0).putInt(5).putInt(2);
        page.putInt(512).putInt(8).putInt(3).putInt(4).putInt(1);
        page.putLong(4).putLong(7).putLong(1_795_255_200_000L).putLong(8192);
        page.putLong(2 << 20).putLong(128 << 10).putLong(256 << 10).putLong(1 << 20)
                .putLong(1 << 20);
        page.putLong(0).putLong(0).putLong(0x1f1e1d1c_1b1a4918L).putLong(0x97161514_13121110L);
        page.putLong(5).putLong(7);
        page.put(256, "music".getBytes(StandardCharsets.US_ASCII));
        line(page, 512, 1, 1, 0);
        line(page, 552, 2, 3, 100);
        line(page, 592, 3, 1, 0);
        line(page, 632, 10, 4, 0);
        return seal(page);
    }

    private static void line(ByteBuffer page, int at, long member, int state, long rebuilt) {
        page.putLong(at, 0xaaaa0000_00004000L).putLong(at + 8, 0x80000000_00000000L | member)
                .putLong(at + 16, 4096).putLong(at + 24, rebuilt).put(at + 32, (byte) state);
    }

    private static ByteBuffer seal(ByteBuffer page) {
        var crc = new CRC32C();
        crc.update(page.putInt(CHECKSUM, 0).array());
        return page.putInt(CHECKSUM, (int) crc.getValue());
    }

    private static SuperblockReading decode(ByteBuffer bytes) {
        var page = new Page();
        page.bytes().put(0, bytes.array());
        return SuperblockCodec.decode(page);
    }

    @Test
    void shouldEncodeGoldenBytes() {
        var page = new Page();
        SuperblockCodec.encode(example(), page);
        assertThat(page.bytes().clear()).isEqualTo(golden().clear());
        assertThat(golden().getInt(CHECKSUM)).as("the checksum of the golden bytes, for ever")
                .isEqualTo(GOLDEN_CHECKSUM);
    }

    @Test
    void shouldSayWhereChecksumsAre() {
        var example = new Superblock(21, 2, Volumes.withChecksums(example().volume()));
        var page = new Page();
        SuperblockCodec.encode(example, page);
        ByteBuffer golden = golden().putInt(64, 1).putLong(128, 3 << 20).putLong(248, 2 << 20);
        assertThat(page.bytes().clear()).isEqualTo(seal(golden).clear());
        assertThat(decode(golden)).isEqualTo(new SuperblockReading.Found(example));
    }

    @Test
    void shouldRefuseChecksumsWithoutRoom() {
        VolumeRecord volume = Volumes.withChecksums(example().volume());

        var table = new ArrayList<>(volume.members());
        table.replaceAll(line -> new MemberRecord(line.uuid(), line.state(), 256 * 1008 + 1,
                line.rebuiltStripes()));

        assertThatThrownBy(() -> volume.withMembers(table))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldDecodeGoldenBytes() {
        assertThat(decode(golden())).isEqualTo(new SuperblockReading.Found(example()));
    }

    @Test
    void shouldComeBackFromBytesForEveryLevelAndPolicy() {
        for (Level level : Level.values()) {
            for (Consistency consistency : policies(level)) {
                var one = new Superblock(3, 1, Volumes.volume(level, 4, consistency));
                var page = new Page();
                SuperblockCodec.encode(one, page);
                assertThat(SuperblockCodec.decode(page))
                        .isEqualTo(new SuperblockReading.Found(one));
            }
        }
    }

    @Test
    void shouldSayHowFarAReshapeIs() {
        VolumeRecord volume = Volumes.volume(Level.RAID5, 4, Consistency.JOURNAL);
        var one = new Superblock(3, 1, volume.withReshape(new ReshapeRecord(3, 258, 2)));
        var page = new Page();
        SuperblockCodec.encode(one, page);
        ByteBuffer bytes = page.bytes();
        assertThat(bytes.getInt(64)).isEqualTo(2);
        assertThat(bytes.getInt(216)).isEqualTo(3);
        assertThat(bytes.getInt(220)).isEqualTo(2);
        assertThat(bytes.getLong(224)).isEqualTo(258);
        assertThat(SuperblockCodec.decode(page)).isEqualTo(new SuperblockReading.Found(one));
        assertThatThrownBy(() -> volume.withReshape(new ReshapeRecord(4, 0, 0)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> volume.withReshape(new ReshapeRecord(3, 512, 1)))
                .isInstanceOf(IllegalArgumentException.class);
        VolumeRecord pairs = Volumes.volume(Level.RAID10, 3, Consistency.BITMAP);
        assertThat(pairs.withReshape(new ReshapeRecord(2, 2, 2)).reshape()).isNotNull();
        for (ReshapeRecord between : List.of(new ReshapeRecord(2, 1, 0),
                new ReshapeRecord(2, 2, 1))) {
            assertThatThrownBy(() -> pairs.withReshape(between)).as("in the middle of a stripe")
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    private static List<Consistency> policies(Level level) {
        if (level.hasParity()) {
            return List.of(Consistency.values());
        }
        return level.isRedundant()
                ? List.of(Consistency.NONE, Consistency.BITMAP)
                : List.of(Consistency.NONE);
    }

    @Test
    void shouldRefuseEveryFlippedBit() {
        ByteBuffer bytes = golden();
        for (int bit = 0; bit < 8 * Page.BYTES; bit++) {
            byte was = bytes.get(bit / 8);
            bytes.put(bit / 8, (byte) (was ^ 1 << bit % 8));
            assertThat(decode(bytes)).as("bit " + bit).isNotInstanceOfAny(
                    SuperblockReading.Found.class, SuperblockReading.Unknown.class);
            bytes.put(bit / 8, was);
        }
        assertThat(decode(bytes)).isInstanceOf(SuperblockReading.Found.class);
    }

    @Test
    void shouldSayWhatIsNewerThanItself() {
        assertThat(decode(seal(golden().putInt(8, 2))))
                .isEqualTo(new SuperblockReading.Unknown("format version 2"));
        assertThat(decode(seal(golden().putInt(64, 0x30))))
                .isEqualTo(new SuperblockReading.Unknown("features 30h"));
    }

    @Test
    void shouldTellWhoWasTakenOut() {
        assertThat(decode(seal(golden().put(512 + 32, (byte) 5))))
                .isInstanceOfSatisfying(SuperblockReading.Found.class, found -> {
                    MemberRecord line = found.superblock().volume().members().getFirst();
                    assertThat(line.state()).isEqualTo(SlotState.FAILED);
                    assertThat(line.isOut()).isTrue();
                    assertThat(line.as(SlotState.ACTIVE).isOut()).isFalse();
                    assertThat(line.as(SlotState.FAILED).isOut()).isTrue();
                });
    }

    @Test
    void shouldSaySinceWhenMembersAreFailed() {
        VolumeRecord volume = example().volume();
        var one = new Superblock(21, 2,
                volume.with(2, volume.members().get(2).as(SlotState.FAILED)));
        var page = new Page();
        SuperblockCodec.encode(one, page);
        ByteBuffer golden = golden().putInt(64, 4).put(592 + 32, (byte) 2).putLong(3072 + 16, 8);
        assertThat(page.bytes().clear()).isEqualTo(seal(golden).clear());
        assertThat(decode(golden)).isEqualTo(new SuperblockReading.Found(one));
        refused("a failure without its feature", golden.putInt(64, 0));
        refused("a feature without a failure", golden().putInt(64, 4));
        refused("an ACTIVE member that has failed", golden().putInt(64, 4).putLong(3072, 1));
        refused("a negative failure",
                golden().putInt(64, 4).put(592 + 32, (byte) 2).putLong(3072 + 16, -1));
    }

    /** Each of these has a right checksum: made by a faulty program, or by an attacker. */
    @Test
    void shouldRefuseWhatIsOutOfLimits() {
        refused("line of the table", golden().putInt(56, 4));
        refused("negative line", golden().putInt(56, -1));
        refused("unknown flag", golden().putInt(60, 2));
        refused("level", golden().putInt(68, 4));
        refused("level without parity but a journal", golden().putInt(68, 0));
        refused("policy", golden().putInt(72, 3));
        refused("policy without its journal", golden().putInt(72, 1));
        refused("block size", golden().putInt(76, 1024));
        refused("chunk", golden().putInt(80, 7));
        refused("huge chunk", golden().putInt(80, 1 << 30));
        refused("too few slots", golden().putInt(84, 2));
        refused("many slots", golden().putInt(84, 65));
        refused("long table", golden().putInt(88, 65));
        refused("huge table", golden().putInt(88, Integer.MAX_VALUE));
        refused("negative table", golden().putInt(88, -1));
        refused("journal in no sections", golden().putInt(92, 0));
        refused("journal in short sections", golden().putInt(92, 5));
        refused("journal in many sections",
                golden().putLong(160, 64 << 20).putLong(128, 65 << 20).putInt(92, 65));
        refused("negative sections", golden().putInt(92, -1));
        refused("no region", golden().putLong(96, 0));
        refused("no events", golden().putLong(104, 0));
        refused("created before all", golden().putLong(112, -1));
        refused("larger than its members", golden().putLong(120, 8193));
        refused("no blocks", golden().putLong(120, 0));
        refused("data in the journal", golden().putLong(128, 1 << 20));
        refused("data far away", golden().putLong(128, 1L << 60));
        refused("data not aligned", golden().putLong(128, (2 << 20) + 4096));
        refused("bitmap in the superblock", golden().putLong(136, 4096));
        refused("bad blocks in the bitmap", golden().putLong(144, 192 << 10));
        refused("journal in the bitmap", golden().putLong(152, 192 << 10));
        refused("long journal", golden().putLong(160, Long.MAX_VALUE - 4095));
        refused("negative journal", golden().putLong(160, -4096));
        refused("journal here and there", golden().putLong(168, 1));
        refused("no key", golden().putLong(184, 0).putLong(192, 0));
        refused("next stripe", golden().putLong(200, -2));
        refused("covered since the future", golden().putLong(208, 8));
        refused("reserved", golden().put(216, (byte) 1));
        refused("name", golden().put(256, (byte) 0));
        refused("name with a hole", golden().put(262, (byte) 'x'));
        refused("name with a line end", golden().put(257, (byte) '\n'));
        refused("state", golden().put(512 + 32, (byte) 6));
        refused("spare in a slot", golden().put(512 + 32, (byte) 4));
        refused("rebuilt and active", golden().putLong(512 + 24, 1));
        refused("rebuilt beyond its end", golden().putLong(552 + 24, 4097));
        refused("no data blocks", golden().putLong(512 + 16, 0));
        refused("members of two sizes", golden().putLong(512 + 16, 4104));
        refused("impossible size", golden().putLong(632 + 16, Long.MAX_VALUE));
        refused("active without a member", golden().putLong(512, 0).putLong(520, 0));
        refused("twice", golden().putLong(520, 0x80000000_00000002L));
        refused("end of table", golden().put(672, (byte) 1));
        refused("end of page", golden().put(4095, (byte) 1));
        refused("other member than its line", golden().putLong(48, 0x80000000_00000001L));
        refused("generation", golden().putLong(16, 0));
        refused("no generation after it", golden().putLong(16, Long.MAX_VALUE));
        refused("no events after it", golden().putLong(104, Long.MAX_VALUE));
    }

    private static void refused(String what, ByteBuffer bytes) {
        assertThat(decode(seal(bytes))).as(what).isInstanceOf(SuperblockReading.Damaged.class);
    }

    @Test
    void shouldLetSlotsBeEmpty() {
        VolumeRecord volume = Volumes.volume(Level.RAID6, 4, Consistency.BITMAP);
        var empty = new MemberRecord(MemberRecord.NIL_UUID, SlotState.FAILED,
                Volumes.MEMBER_BLOCKS, 0);
        var one = new Superblock(1, 3, volume.with(0, empty).with(2, empty));
        var page = new Page();
        SuperblockCodec.encode(one, page);
        assertThat(SuperblockCodec.decode(page)).isEqualTo(new SuperblockReading.Found(one));
        assertThatThrownBy(() -> new Superblock(1, 0, one.volume()))
                .hasMessageContaining("no member");
    }

    @Test
    void shouldCountEventsAndSinceWhenTheBitmapCovers() {
        VolumeRecord volume = Volumes.volume(Level.RAID5, 3, Consistency.BITMAP);
        VolumeRecord whole = volume.next();
        assertThat(whole.events()).isEqualTo(8);
        assertThat(whole.coveredSince()).isEqualTo(8);
        VolumeRecord degraded = whole
                .with(1, whole.members().get(1).as(SlotState.FAILED)).next().next();
        assertThat(degraded.events()).isEqualTo(10);
        assertThat(degraded.coveredSince()).as("the last one with all members").isEqualTo(8);
        assertThat(degraded.indexOf(Volumes.member(1))).hasValue(1);
        assertThat(degraded.indexOf(new UUID(1, 1))).isEmpty();
        assertThat(degraded.slotsThatAre(SlotState.FAILED)).isEqualTo(0b010);
    }
}
