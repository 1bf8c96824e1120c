package lunar.raid.metadata;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import lunar.block.BlockDevice;
import lunar.block.InvalidRequestException;
import lunar.block.StorageException;
import lunar.raid.layout.Level;
import lunar.raid.metadata.Assembly.Outcome;
import lunar.raid.metadata.Composition.Resync;
import lunar.raid.metadata.Creation.Member;
import lunar.raid.metadata.Creation.Wish;
import lunar.raid.metadata.bitmap.BadBlocks;
import lunar.raid.metadata.bitmap.IntentBitmap;
import lunar.raid.metadata.journal.JournalReplay;
import lunar.raid.metadata.journal.VolumeJournal;
import lunar.raid.metadata.page.MemberSet;
import lunar.raid.metadata.record.Consistency;
import lunar.raid.metadata.record.MetadataLayout;
import lunar.raid.metadata.record.VolumeRecord;
import lunar.testkit.SteppedDevice;
import org.junit.jupiter.api.Test;

class CreationTest {
    private static final int BLOCKS = 8192;

    private static List<Member> members(int count) {
        var members = new ArrayList<Member>();
        for (int i = 0; i < count; i++) {
            members.add(new Member("file:" + i, Volumes.member(i), new SteppedDevice(BLOCKS)));
        }
        return members;
    }

    private static Wish wish(Level level) {
        return Wish.of(Volumes.VOLUME, "music", 1_795_255_200_000L, level, Volumes.KEY);
    }

    private static Outcome assembly(List<Member> members) {
        return Assembly.of(members.stream()
                .map(member -> Candidate.of(member.uri(), member.device())).toList());
    }

    private static void put(BlockDevice device, long at, byte[] bytes) {
        ((SteppedDevice) device).content().asSlice(at, bytes.length)
                .copyFrom(MemorySegment.ofArray(bytes));
    }

    @Test
    void shouldMakeVolumesOfEveryLevelThatAssemble() throws StorageException {
        for (Level level : Level.values()) {
            List<Member> members = members(4);
            VolumeRecord record = Creation.create(wish(level), members, false);
            assertThat(assembly(members)).isInstanceOfSatisfying(Outcome.Assembled.class, one -> {
                assertThat(one.composition().volume()).isEqualTo(record);
                assertThat(one.composition().isDegraded()).isFalse();
                assertThat(one.composition().resync())
                        .isEqualTo(level.isRedundant() ? Resync.WHOLE : Resync.NONE);
            });
            var set = new MemberSet(4, (_, _) -> {});
            for (int slot = 0; slot < 4; slot++) {
                set.add(slot, members.get(slot).device());
            }
            assertThat(BadBlocks.open(set, record, 0b1111).ranges()).isEmpty();
            if (level.isRedundant()) {
                assertThat(IntentBitmap.open(set, record, 0b1111, true).marked()).isZero();
            }
            if (level.hasParity()) {
                assertThat(record.description().layout().dataBytes()).isEqualTo(2 << 20);
                JournalReplay replay = JournalReplay.of(record, set, 0b1111, set, 0b1111,
                        JournalReplay.ANY);
                assertThat(replay.replayed()).isZero();
                assertThat(replay.begin(0b0011).live()).isZero();
            }
        }
    }

    @Test
    void shouldTakeTheJournalsOwnDevice() throws StorageException {
        List<Member> members = members(3);
        var wish = new Wish(Volumes.VOLUME, "music", 0, Level.RAID5, Consistency.JOURNAL, 4096,
                1 << 20, Volumes.KEY, new UUID(7, 7));
        VolumeRecord record = Creation.create(wish, members, false);
        assertThat(record.description().layout().dataBytes()).isEqualTo(1 << 20);
        var own = new SteppedDevice(2048);
        Creation.createJournal(record, "file:journal", own, false);
        assertThatThrownBy(() -> Creation.createJournal(record, "file:journal", own, false))
                .hasMessageContaining("file:journal has the journal of a Lunar volume");
        assertThatThrownBy(() -> Creation.createJournal(record, "file:small",
                new SteppedDevice(2047), false)).hasMessageContaining("the journal needs 1 MiB");
        var holder = new MemberSet(1, (_, _) -> {});
        holder.add(0, own);
        var set = new MemberSet(3, (_, _) -> {});
        VolumeJournal journal = JournalReplay.of(record, holder, 1, set, 0, JournalReplay.ANY)
                .begin(1);
        assertThat(journal.section(0).copies()).isEqualTo(1);
        assertThat(record.description().layout().journalSections()).isEqualTo(1);
    }

    @Test
    void shouldRefuseWhatIsSomebodyElses() throws StorageException {
        List<Member> members = members(3);
        Creation.create(wish(Level.RAID5), members, false);
        assertThatThrownBy(() -> Creation.create(wish(Level.RAID5), members, false))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("file:0 has a member of volume 'music' (" + Volumes.VOLUME
                        + "), which would be destroyed: name another device, or force it");
        Creation.create(wish(Level.RAID1), members, true);
        Creation.destroy(members.get(0).device());
        assertThat(Creation.occupant(members.get(0).device())).isEmpty();
        assertThat(Creation.occupant(members.get(1).device())).isPresent();
        put(members.get(1).device(), 100, new byte[]{9});
        assertThat(Creation.occupant(members.get(1).device()).orElseThrow())
                .contains("that cannot be read");
    }

    @Test
    void shouldKnowPartitionTablesAndFileSystems() throws StorageException {
        byte[] mbr = new byte[512];
        mbr[446 + 4] = (byte) 0x83;
        mbr[446 + 12] = 1;
        mbr[510] = 0x55;
        mbr[511] = (byte) 0xaa;
        int end = BLOCKS * 512;
        byte[] md = HexFormat.of().parseHex("fc4e2ba9");
        record Case(long at, byte[] bytes, String what) {}
        for (Case one : List.of(new Case(0, mbr, "MBR"), new Case(512, text("EFI PART"), "GPT"),
                new Case(1080, HexFormat.of().parseHex("53ef"), "ext4"),
                new Case(0, text("XFSB"), "XFS"), new Case(0x10040, text("_BHRfS_M"), "Btrfs"),
                new Case(512, text("LABELONE"), "LVM"), new Case(4096, md, "md"),
                new Case(end - (64 << 10), md, "md"), new Case(end - 8192, md, "md"),
                new Case(end - 512, text("EFI PART"), "second copy"))) {
            var device = new SteppedDevice(BLOCKS);
            assertThat(Creation.occupant(device)).isEmpty();
            put(device, one.at(), one.bytes());
            assertThat(Creation.occupant(device).orElseThrow()).contains(one.what());
            List<Member> members = members(2);
            members.add(new Member("file:x", Volumes.member(5), device));
            assertThatThrownBy(() -> Creation.create(wish(Level.RAID5), members, false))
                    .hasMessageStartingWith("file:x has ")
                    .hasMessageContaining(one.what());
            assertThat(assembly(members)).as("nothing was touched")
                    .isInstanceOf(Outcome.Refused.class);
            Creation.create(wish(Level.RAID5), members, true);
            Creation.destroy(device);
            assertThat(Creation.occupant(device)).as(one.what() + " is gone").isEmpty();
        }
    }

    private static byte[] text(String text) { return text.getBytes(StandardCharsets.US_ASCII); }

    @Test
    void shouldRefuseDevicesThatDoNotFit() {
        assertThatThrownBy(() -> Creation.create(wish(Level.RAID5), members(2), false))
                .hasMessageContaining("at least 3");
        List<Member> small = members(2);
        small.add(new Member("file:small", Volumes.member(5), new SteppedDevice(4096)));
        assertThatThrownBy(() -> Creation.create(wish(Level.RAID5), small, false)).hasMessage(
                "file:small is too small: of its 2 MiB the metadata take 2 MiB");
        List<Member> doubled = members(3);
        doubled.set(2, new Member("iscsi://again", Volumes.member(8), doubled.get(0).device()));
        assertThatThrownBy(() -> Creation.create(wish(Level.RAID5), doubled, false))
                .hasMessage("file:0 and iscsi://again are the same device: name each once");
        assertThat(assembly(doubled)).isInstanceOf(Outcome.Refused.class);
        assertThatThrownBy(() -> Creation.create(Wish.of(Volumes.VOLUME, "my music", 0,
                Level.RAID1, Volumes.KEY), members(2), false)).hasMessageContaining("name");
    }

    @Test
    void shouldLeaveDataAreasAlone() throws StorageException {
        List<Member> members = members(2);
        for (Member member : members) {
            ((SteppedDevice) member.device()).content().fill((byte) 7);
        }
        VolumeRecord record = Creation.create(wish(Level.RAID1), members, false);
        long data = record.description().layout().dataBytes();
        assertThat(data).isEqualTo(1 << 20);
        for (Member member : members) {
            MemorySegment content = ((SteppedDevice) member.device()).content();
            assertThat(content.get(JAVA_BYTE, data - 1)).isZero();
            for (long at = data; at < content.byteSize(); at += 4096) {
                assertThat(content.get(JAVA_BYTE, at)).isEqualTo((byte) 7);
            }
        }
    }

    @Test
    void shouldChooseJournalsByTheSizeOfMembers() {
        Map.of(1L << 20, 1L << 20, 1L << 30, 4L << 20, 1L << 40, 64L << 20)
                .forEach((member, journal) -> assertThat(
                        MetadataLayout.journalLengthBytes(member)).isEqualTo(journal));
    }
}
