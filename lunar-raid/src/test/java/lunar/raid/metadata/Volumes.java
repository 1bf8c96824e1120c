package lunar.raid.metadata;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import lunar.raid.SlotState;
import lunar.raid.layout.Layout;
import lunar.raid.layout.Level;
import lunar.raid.layout.Shape;
import lunar.raid.metadata.record.Consistency;
import lunar.raid.metadata.record.MemberRecord;
import lunar.raid.metadata.record.MetadataLayout;
import lunar.raid.metadata.record.VolumeDescription;
import lunar.raid.metadata.record.VolumeRecord;

/** Volumes for tests. */
public final class Volumes {
    public static final UUID VOLUME = UUID.fromString("0f0e0d0c-0b0a-4908-8706-050403020100");
    public static final UUID KEY = UUID.fromString("1f1e1d1c-1b1a-4918-9716-151413121110");
    public static final int CHUNK_BLOCKS = 8;
    public static final long MEMBER_BLOCKS = 4096;
    public static final long JOURNAL_BYTES = MetadataLayout.ALIGNMENT_BYTES;

    private Volumes() {}

    public static UUID member(int index) {
        return new UUID(0xaaaa_0000_0000_4000L, 0x8000_0000_0000_0000L | index + 1);
    }

    public static VolumeDescription description(Level level, int slots, Consistency consistency,
            MetadataLayout layout) {
        boolean journal = consistency == Consistency.JOURNAL;
        Shape shape = Shape.of(level, 512, CHUNK_BLOCKS, slots, MEMBER_BLOCKS);
        return new VolumeDescription(VOLUME, "music", 1_795_255_200_000L, level, 512,
                CHUNK_BLOCKS, slots, Layout.of(shape).volumeBlocks(), consistency,
                consistency == Consistency.NONE ? 0 : 4, journal ? KEY : MemberRecord.NIL_UUID,
                null,
                layout);
    }

    /** Returns a volume whose members keep checksums. */
    public static VolumeRecord withChecksums(VolumeRecord volume) {
        VolumeDescription what = volume.description();
        MetadataLayout layout = what.layout();
        return volume.withDescription(new VolumeDescription(what.uuid(), what.name(),
                what.createdMs(), what.level(), what.blockSize(), what.chunkBlocks(),
                what.slots(), what.volumeBlocks(), what.consistency(), what.regionStripes(),
                what.journalKey(), what.journalDevice(),
                layout.withChecksums(layout.dataBytes() + MEMBER_BLOCKS * 512, 512)));
    }

    public static VolumeRecord volume(Level level, int slots, Consistency consistency) {
        return volume(level, slots, consistency, 1);
    }

    public static VolumeRecord volume(Level level, int slots, Consistency consistency,
            int journalSections) {
        var members = new ArrayList<MemberRecord>();
        for (int i = 0; i < slots; i++) {
            members.add(MemberRecord.active(member(i), MEMBER_BLOCKS));
        }
        var layout = MetadataLayout.of(consistency, JOURNAL_BYTES, journalSections);
        return new VolumeRecord(description(level, slots, consistency, layout), 7, true,
                VolumeRecord.IN_SYNC, 7, members);
    }

    public static VolumeRecord withEvents(VolumeRecord volume, long events) {
        return new VolumeRecord(volume.description(), events, volume.clean(), volume.resyncNext(),
                Math.min(volume.coveredSince(), events), volume.members());
    }

    public static VolumeRecord withSpare(VolumeRecord volume, UUID spare) {
        var members = new ArrayList<>(volume.members());
        members.add(new MemberRecord(spare, SlotState.SPARE, MEMBER_BLOCKS, 0));
        return volume.withMembers(List.copyOf(members));
    }
}
