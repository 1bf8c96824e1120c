package lunar.raid.metadata.superblock;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.UUID;
import lunar.raid.SlotState;
import lunar.raid.layout.Level;
import lunar.raid.metadata.page.Page;
import lunar.raid.metadata.record.Consistency;
import lunar.raid.metadata.record.MemberRecord;
import lunar.raid.metadata.record.MetadataLayout;
import lunar.raid.metadata.record.ReshapeRecord;
import lunar.raid.metadata.record.Superblock;
import lunar.raid.metadata.record.SuperblockReading;
import lunar.raid.metadata.record.VolumeDescription;
import lunar.raid.metadata.record.VolumeRecord;
import org.jspecify.annotations.Nullable;

/** The bytes of a {@link Superblock}: docs/raid-format.md, "Superblock". */
final class SuperblockCodec {
    static final long MAGIC = Page.magic("LUNARAID");
    static final int FORMAT_VERSION = 1;

    private static final int MEMBER = 40;
    private static final int INDEX = 56;
    private static final int FLAGS = 60;
    private static final int FEATURES = 64;
    private static final int LEVEL = 68;
    private static final int CONSISTENCY = 72;
    private static final int BLOCK_SIZE = 76;
    private static final int CHUNK_BLOCKS = 80;
    private static final int SLOTS = 84;
    private static final int ENTRIES = 88;
    private static final int JOURNAL_SECTIONS = 92;
    private static final int REGION_STRIPES = 96;
    private static final int EVENTS = 104;
    private static final int CREATED_MS = 112;
    private static final int VOLUME_BLOCKS = 120;
    private static final int DATA_AT = 128;
    private static final int BITMAP_AT = 136;
    private static final int BAD_BLOCKS_AT = 144;
    private static final int JOURNAL_AT = 152;
    private static final int JOURNAL_LENGTH = 160;
    private static final int JOURNAL_DEVICE = 168;
    private static final int JOURNAL_KEY = 184;
    private static final int RESYNC_NEXT = 200;
    private static final int COVERED_SINCE = 208;
    private static final int SLOTS_BEFORE = 216;
    private static final int STAGED_ROWS = 220;
    private static final int RESHAPED_ROWS = 224;
    private static final int CHECKSUMS_AT = 248;
    private static final int NAME = 256;
    private static final int NAME_BYTES = 64;
    private static final int TABLE = 512;
    private static final int TABLE_LINE_BYTES = 40;
    private static final int FAILED_SINCE = 3072;

    private static final int ENTRY_UUID = 0;
    private static final int ENTRY_DATA_BLOCKS = 16;
    private static final int ENTRY_REBUILT_STRIPES = 24;
    private static final int ENTRY_STATE = 32;

    private static final int FLAG_CLEAN = 1;
    /** FAILED, and taken out by the operator, or for errors of its medium. */
    private static final int CODE_OUT = 5;
    private static final int FEATURE_CHECKSUMS = 1;
    /** The volume is being reshaped. */
    private static final int FEATURE_RESHAPE = 2;
    /** A member is FAILED, or being rebuilt, since events that are recorded. */
    private static final int FEATURE_FAILED_SINCE = 4;
    private static final int FEATURES_KNOWN = FEATURE_CHECKSUMS | FEATURE_RESHAPE
            | FEATURE_FAILED_SINCE;
    private static final int CODE_LINEAR = 255;

    private SuperblockCodec() {}

    static void encode(Superblock superblock, Page page) {
        VolumeRecord volume = superblock.volume();
        VolumeDescription what = volume.description();
        ByteBuffer to = page.clear().bytes();
        Page.putUuid(to, MEMBER, superblock.memberUuid());
        to.putInt(INDEX, superblock.index());
        to.putInt(FLAGS, volume.clean() ? FLAG_CLEAN : 0);
        to.putInt(FEATURES, what.layout().hasChecksums() ? FEATURE_CHECKSUMS : 0);
        to.putInt(LEVEL, code(what.level())).putInt(CONSISTENCY, what.consistency().code());
        to.putInt(BLOCK_SIZE, what.blockSize()).putInt(CHUNK_BLOCKS, what.chunkBlocks());
        to.putInt(SLOTS, what.slots()).putInt(ENTRIES, volume.members().size());
        to.putLong(REGION_STRIPES, what.regionStripes());
        to.putLong(EVENTS, volume.events()).putLong(CREATED_MS, what.createdMs());
        to.putLong(VOLUME_BLOCKS, what.volumeBlocks());
        MetadataLayout layout = what.layout();
        to.putLong(DATA_AT, layout.dataBytes()).putLong(BITMAP_AT, layout.bitmapBytes());
        to.putLong(BAD_BLOCKS_AT, layout.badBlocksBytes());
        to.putLong(JOURNAL_AT, layout.journalBytes());
        to.putLong(JOURNAL_LENGTH, layout.journalLengthBytes());
        to.putInt(JOURNAL_SECTIONS, layout.journalSections());
        to.putLong(CHECKSUMS_AT, layout.checksumsBytes());
        UUID journal = what.journalDevice();
        Page.putUuid(to, JOURNAL_DEVICE, journal == null ? MemberRecord.NIL_UUID : journal);
        Page.putUuid(to, JOURNAL_KEY, what.journalKey());
        to.putLong(RESYNC_NEXT, volume.resyncNext());
        to.putLong(COVERED_SINCE, volume.coveredSince());
        ReshapeRecord reshape = volume.reshape();
        if (reshape != null) {
            to.putInt(FEATURES, to.getInt(FEATURES) | FEATURE_RESHAPE);
            to.putInt(SLOTS_BEFORE, reshape.slotsBefore());
            to.putInt(STAGED_ROWS, reshape.stagedRows()).putLong(RESHAPED_ROWS, reshape.rows());
        }
        to.put(NAME, what.name().getBytes(StandardCharsets.US_ASCII));
        for (int i = 0; i < volume.members().size(); i++) {
            MemberRecord member = volume.members().get(i);
            int at = TABLE + i * TABLE_LINE_BYTES;
            Page.putUuid(to, at + ENTRY_UUID, member.uuid());
            to.putLong(at + ENTRY_DATA_BLOCKS, member.dataBlocks());
            to.putLong(at + ENTRY_REBUILT_STRIPES, member.rebuiltStripes());
            to.put(at + ENTRY_STATE, (byte) (member.isOut() ? CODE_OUT : code(member.state())));
            if (member.failedSince() != 0) {
                to.putInt(FEATURES, to.getInt(FEATURES) | FEATURE_FAILED_SINCE);
                to.putLong(FAILED_SINCE + i * Long.BYTES, member.failedSince());
            }
        }
        page.seal(MAGIC, FORMAT_VERSION, superblock.generation(), what.uuid());
    }

    static SuperblockReading decode(Page page) {
        if (!page.hasMagic(MAGIC)) {
            return new SuperblockReading.Blank();
        }
        if (!page.isWhole()) {
            return new SuperblockReading.Damaged("its checksum is wrong");
        }
        if (page.version() != FORMAT_VERSION) {
            return new SuperblockReading.Unknown("format version " + page.version());
        }
        if ((page.bytes().getInt(FEATURES) & ~FEATURES_KNOWN) != 0) {
            return new SuperblockReading.Unknown(
                    "features " + Integer.toHexString(page.bytes().getInt(FEATURES)) + "h");
        }
        try {
            var superblock = parse(page);
            // Reserved bytes are 0, and each state has one encoding: anything else is of a later format.
            var again = new Page();
            encode(superblock, again);
            if (again.segment().mismatch(page.segment()) >= 0) {
                return new SuperblockReading.Damaged("byte "
                        + again.segment().mismatch(page.segment()) + " is not as it must be");
            }
            return new SuperblockReading.Found(superblock);
        } catch (IllegalArgumentException e) {
            return new SuperblockReading.Damaged(String.valueOf(e.getMessage()));
        }
    }

    private static Superblock parse(Page page) {
        ByteBuffer from = page.bytes();
        var layout = new MetadataLayout(from.getLong(BITMAP_AT), from.getLong(BAD_BLOCKS_AT),
                from.getLong(JOURNAL_AT), from.getLong(JOURNAL_LENGTH),
                from.getInt(JOURNAL_SECTIONS), from.getLong(CHECKSUMS_AT), from.getLong(DATA_AT));
        UUID journal = Page.uuid(from, JOURNAL_DEVICE);
        var what = new VolumeDescription(page.volume(), name(from), from.getLong(CREATED_MS),
                level(from.getInt(LEVEL)), from.getInt(BLOCK_SIZE), from.getInt(CHUNK_BLOCKS),
                from.getInt(SLOTS), from.getLong(VOLUME_BLOCKS),
                Consistency.of(from.getInt(CONSISTENCY)), from.getLong(REGION_STRIPES),
                Page.uuid(from, JOURNAL_KEY), orNull(journal), layout);
        int entries = from.getInt(ENTRIES);
        if (entries < 0 || entries > Superblock.MAX_MEMBERS) {
            throw new IllegalArgumentException("a table of " + entries + " entries");
        }
        var members = new ArrayList<MemberRecord>(entries);
        for (int i = 0; i < entries; i++) {
            int at = TABLE + i * TABLE_LINE_BYTES;
            int code = from.get(at + ENTRY_STATE);
            members.add(new MemberRecord(Page.uuid(from, at + ENTRY_UUID),
                    code == CODE_OUT ? SlotState.FAILED : state(code),
                    from.getLong(at + ENTRY_DATA_BLOCKS),
                    from.getLong(at + ENTRY_REBUILT_STRIPES), code == CODE_OUT,
                    from.getLong(FAILED_SINCE + i * Long.BYTES)));
        }
        var volume = new VolumeRecord(what, from.getLong(EVENTS),
                (from.getInt(FLAGS) & FLAG_CLEAN) != 0, from.getLong(RESYNC_NEXT),
                from.getLong(COVERED_SINCE), members, reshape(from));
        return new Superblock(page.generation(), from.getInt(INDEX), volume);
    }

    private static @Nullable ReshapeRecord reshape(ByteBuffer from) {
        return (from.getInt(FEATURES) & FEATURE_RESHAPE) == 0
                ? null
                : new ReshapeRecord(from.getInt(SLOTS_BEFORE), from.getLong(RESHAPED_ROWS),
                        from.getInt(STAGED_ROWS));
    }

    private static @Nullable UUID orNull(UUID uuid) {
        return uuid.equals(MemberRecord.NIL_UUID) ? null : uuid;
    }

    private static String name(ByteBuffer from) {
        var bytes = new byte[NAME_BYTES];
        from.get(NAME, bytes);
        int length = 0;
        while (length < NAME_BYTES && bytes[length] != 0) {
            length++;
        }
        return new String(bytes, 0, length, StandardCharsets.US_ASCII);
    }

    private static int code(SlotState state) {
        return switch (state) {
            case ACTIVE -> 1;
            case FAILED -> 2;
            case REBUILDING -> 3;
            case SPARE -> 4;
        };
    }

    private static SlotState state(int code) {
        for (SlotState state : SlotState.values()) {
            if (code(state) == code) {
                return state;
            }
        }
        throw new IllegalArgumentException("no state has the number " + code);
    }

    private static int code(Level level) {
        return switch (level) {
            case LINEAR -> CODE_LINEAR;
            case RAID0 -> 0;
            case RAID1 -> 1;
            case RAID5 -> 5;
            case RAID6 -> 6;
            case RAID10 -> 10;
        };
    }

    private static Level level(int code) {
        for (Level level : Level.values()) {
            if (code(level) == code) {
                return level;
            }
        }
        throw new IllegalArgumentException("no level has the number " + code);
    }
}
