package lunar.fs;

import static lunar.fs.LittleEndian.u16;
import static lunar.fs.LittleEndian.u32;
import static lunar.fs.LittleEndian.u8;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The master boot record: four entries at byte 446, and 55h AAh at the end. An extended partition contains a chain of
 * such records, each with a logical partition, relative to the record, and a link, relative to the start of the
 * extended partition.
 *
 * <pre>
 *  0  boot indicator, 00h or 80h      4  type      8  first sector, 32 bits      12  sectors, 32 bits
 * </pre>
 */
final class Mbr {
    static final int PROTECTIVE = 0xee;

    private static final int RECORD_BYTES = 512;
    private static final int ENTRIES = 446;
    private static final int ENTRY_BYTES = 16;
    private static final int PRIMARY = 4;
    private static final int SIGNATURE = 0xaa55;
    private static final int MAX_LOGICAL = 128;
    private static final Set<Integer> EXTENDED = Set.of(0x05, 0x0f, 0x85);

    private static final Map<Integer, String> TYPES = Map.ofEntries(Map.entry(0x01, "FAT12"),
            Map.entry(0x04, "FAT16"), Map.entry(0x06, "FAT16"), Map.entry(0x07, "NTFS or exFAT"),
            Map.entry(0x0b, "FAT32"), Map.entry(0x0c, "FAT32"), Map.entry(0x0e, "FAT16"),
            Map.entry(0x82, "Linux swap"), Map.entry(0x83, "Linux"), Map.entry(0x8e, "Linux LVM"),
            Map.entry(0xa5, "FreeBSD"), Map.entry(0xee, "GPT"), Map.entry(0xef, "EFI system"),
            Map.entry(0xfd, "Linux RAID"));

    private final VolumeReader whole;
    private final int sectorBytes;
    private final List<String> notices;
    private final List<Volume> volumes = new ArrayList<>();

    private Mbr(VolumeReader whole, int sectorBytes, List<String> notices) {
        this.whole = whole;
        this.sectorBytes = sectorBytes;
        this.notices = notices;
    }

    private record Entry(int boot, int type, long first, long sectors) {
        static Entry of(byte[] record, int index) {
            int at = ENTRIES + index * ENTRY_BYTES;
            return new Entry(u8(record, at), u8(record, at + 4), u32(record, at + 8),
                    u32(record, at + 12));
        }

        boolean isUsed() { return type != 0 && sectors != 0; }

        boolean isExtended() { return EXTENDED.contains(type); }
    }

    /** Returns the partitions; none if there is no record or it is invalid. */
    static List<Volume> read(VolumeReader whole, int sectorBytes, List<String> notices)
            throws IOException {
        var told = new ArrayList<String>();
        var table = new Mbr(whole, sectorBytes, told);
        table.readPrimary();
        if (!table.volumes.isEmpty()) {
            notices.addAll(told);
        }
        return table.volumes;
    }

    /** Whether a protective record says that the table is a GPT. */
    static boolean isProtective(VolumeReader whole) throws IOException {
        byte[] record = whole.read(0, RECORD_BYTES);
        if (u16(record, RECORD_BYTES - 2) != SIGNATURE) {
            return false;
        }
        for (int i = 0; i < PRIMARY; i++) {
            if (Entry.of(record, i).type() == PROTECTIVE) {
                return true;
            }
        }
        return false;
    }

    private void readPrimary() throws IOException {
        byte[] record = whole.read(0, RECORD_BYTES);
        if (u16(record, RECORD_BYTES - 2) != SIGNATURE) {
            return;
        }
        var entries = new ArrayList<Entry>();
        for (int i = 0; i < PRIMARY; i++) {
            Entry entry = Entry.of(record, i);
            if ((entry.boot() & 0x7f) != 0) {
                return; // the boot code of something else
            }
            entries.add(entry);
        }
        for (int i = 0; i < PRIMARY; i++) {
            Entry entry = entries.get(i);
            if (entry.isUsed() && !entry.isExtended()) {
                add(i + 1, entry, 0);
            }
        }
        for (Entry entry : entries) {
            if (entry.isUsed() && entry.isExtended()) {
                readLogical(entry);
            }
        }
    }

    private void readLogical(Entry extended) throws IOException {
        var seen = new HashSet<Long>();
        int number = PRIMARY + 1;
        long at = extended.first();
        while (true) {
            if (!seen.add(at) || seen.size() > MAX_LOGICAL) {
                notices.add("the chain of logical partitions contains a cycle");
                return;
            }
            long position = at * sectorBytes;
            byte[] record = whole.has(position, RECORD_BYTES)
                    ? whole.read(position, RECORD_BYTES)
                    : new byte[RECORD_BYTES];
            if (u16(record, RECORD_BYTES - 2) != SIGNATURE) {
                notices.add("the chain of logical partitions is broken at sector " + at);
                return;
            }
            Entry logical = Entry.of(record, 0);
            if (logical.isUsed() && !logical.isExtended()) {
                add(number++, logical, at);
            }
            Entry link = Entry.of(record, 1);
            if (!link.isUsed() || !link.isExtended()) {
                return;
            }
            at = extended.first() + link.first();
        }
    }

    private void add(int number, Entry entry, long base) {
        String type = TYPES.getOrDefault(entry.type(),
                String.format("type %02Xh", entry.type()));
        PartitionTable.onDevice(whole, new Volume(number, type, "",
                (base + entry.first()) * sectorBytes, entry.sectors() * sectorBytes), notices)
                .ifPresent(volumes::add);
    }
}
